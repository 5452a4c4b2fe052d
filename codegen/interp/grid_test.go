package interp

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

func mustCompileGrid(t testing.TB, src string) *GridKernel {
	t.Helper()
	f, err := loop.ParseFunc(src)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	k, err := CompileGrid(f, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return k
}

// example is the grid function of that name in the README of the loop language.
func example(t testing.TB, name string) *GridKernel {
	t.Helper()
	text, err := os.ReadFile("../../ir/loop/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "```") {
		if part = strings.TrimPrefix(part, "\n"); strings.HasPrefix(part, "func "+name+"(") {
			return mustCompileGrid(t, part)
		}
	}
	t.Fatalf("no example %s", name)
	return nil
}

// eachOrder runs a grid in several orders of its blocks and threads.
func eachOrder(t testing.TB, blocks int64, run func(Launch)) {
	for seed := range uint64(5) {
		run(Launch{Blocks: blocks, Seed: seed})
	}
}

// Each row of a random matrix times a vector, as eight lanes and as a plain sum in
// the same order compute it.
func TestGridSpMV(t *testing.T) {
	k := example(t, "spmv_lanes")
	rng := rand.New(rand.NewPCG(1, 2))
	const rows, cols = 100, 50
	pos, crd, vals := []uint32{0}, []uint32{}, []float64{}
	for range rows {
		for range rng.IntN(40) {
			crd, vals = append(crd, uint32(rng.IntN(cols))), append(vals, rng.NormFloat64())
		}
		pos = append(pos, uint32(len(crd)))
	}
	x := make([]float64, cols)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	want := make([]float64, rows)
	for i := range want {
		var part [8]float64
		for p := pos[i]; p < pos[i+1]; p++ {
			part[(p-pos[i])%8] += float64(vals[p] * x[crd[p]])
		}
		for half := 4; half > 0; half /= 2 {
			for l := range half {
				part[l] += part[l+half]
			}
		}
		want[i] = part[0]
	}
	eachOrder(t, (rows+31)/32, func(l Launch) {
		y := make([]float64, rows)
		bufs := []Memory{memory(pos), memory(crd), memory(vals), memory(x), memory(y)}
		if st, err := k.Run(bufs, []int64{rows}, l); st != 0 || err != nil {
			t.Fatalf("status %d, %v", st, err)
		}
		if !slices.Equal(y, want) {
			t.Errorf("seed %d: got %v, want %v", l.Seed, y, want)
		}
	})
}

func TestGridPrefixSum(t *testing.T) {
	k := example(t, "prefix")
	const n = 700
	x, want := make([]int64, n), make([]int64, n)
	for i := range x {
		x[i] = int64(i*i%17 - 5)
		if i%256 > 0 {
			want[i] = want[i-1] + x[i-1]
		}
	}
	sums := []int64{want[255] + x[255], want[511] + x[511], want[n-1] + x[n-1]}
	eachOrder(t, 3, func(l Launch) {
		y, s := make([]int64, n), make([]int64, 3)
		if st, err := k.Run([]Memory{memory(x), memory(y), memory(s)}, []int64{n}, l); st != 0 || err != nil {
			t.Fatalf("status %d, %v", st, err)
		}
		if !slices.Equal(y, want) || !slices.Equal(s, sums) {
			t.Errorf("seed %d: got %v and %v", l.Seed, y, s)
		}
	})
}

func TestGridHistogram(t *testing.T) {
	k := example(t, "histogram")
	x, want := make([]uint8, 1000), make([]uint32, 256)
	for i := range x {
		x[i] = uint8(i * i)
		want[x[i]]++
	}
	eachOrder(t, 3, func(l Launch) {
		counts := make([]uint32, 256)
		if st, err := k.Run([]Memory{memory(x), memory(counts)}, []int64{1000}, l); st != 0 || err != nil {
			t.Fatalf("status %d, %v", st, err)
		}
		if !slices.Equal(counts, want) {
			t.Errorf("seed %d: got %v", l.Seed, counts)
		}
	})
}

// What 64 threads in each of two blocks make of y, of 128 zeros; n is 3.
func TestGridFunctions(t *testing.T) {
	const head = "func f(y: []i64, u: []u32, z: []c128, x: []f64; n: i64) grid threads 64 {\nshared s: [64]i64\nlet i: i64 = block() * 64 + thread()\n"
	for _, c := range []struct {
		name, body string
		want       func(i int64) int64
	}{
		{"registers", "y[i] = block() * 1000000 + blocks() * 100000 + thread() * 1000 + warp() * 100 + lane()", func(i int64) int64 {
			return i/64*1000000 + 200000 + i%64*1000 + i%64/32*100 + i%32
		}},
		{"shuffle", "let v: i64 = shuffle(i, n)\ny[i] = v", func(i int64) int64 { return i&^31 + 3 }},
		{"shuffle by lane", "let v: i64 = shuffle(i, 31 - lane())\ny[i] = v", func(i int64) int64 { return i&^31 + 31 - i%32 }},
		{"shuffle in segments", "let v: i64 = shuffle_down(i, 3, 8)\ny[i] = v", func(i int64) int64 {
			if i%8 < 5 {
				return i + 3
			}
			return i
		}},
		{"shuffle twice over", "var v: i64 = i\nfor k = 0 to 5 {\nlet w: i64 = shuffle_xor(v, shl(1, k))\nv = v + w\n}\ny[i] = v", func(i int64) int64 {
			return 32*(i&^31) + 31*16
		}},
		{"shuffle of complex", "let v: c128 = shuffle_up(complex(f64(i), f64(-i)), 1)\ny[i] = i64(real(v)) * 1000 + i64(imag(v))", func(i int64) int64 {
			if i%32 > 0 {
				i--
			}
			return 999 * i
		}},
		{"shuffle of bool", "let v: bool = shuffle_xor(i % 2 == 0, 1)\ny[i] = i64(v)", func(i int64) int64 { return i % 2 }},
		{"shuffle of narrow", "let v: i8 = shuffle_xor(i8(i - 5), 1)\nlet w: f32 = shuffle(f32(i) + 0.5:f32, 1)\ny[i] = i64(v) * 1000 + i64(w * 2.0:f32)", func(i int64) int64 {
			return int64(int8((i^1)-5))*1000 + 2*(i&^31+1) + 1
		}},
		{"ballot", "let b: u32 = ballot(lane() % n == warp())\ny[i] = i64(b)", func(i int64) int64 {
			b := int64(0)
			for k := range int64(32) {
				if k%3 == i%64/32 {
					b |= 1 << k
				}
			}
			return b
		}},
		{"barrier", "s[thread()] = i\nbarrier\ny[i] = s[63 - thread()]", func(i int64) int64 { return i&^63 + 63 - i%64 }},
		{"barriers in a loop", "s[thread()] = i\nbarrier\nfor k = 0 to n {\nlet v: i64 = s[(thread() + 1) % 64]\nbarrier\ns[thread()] = v\nbarrier\n}\ny[i] = s[thread()]", func(i int64) int64 { return i&^63 + (i+3)%64 }},
		{"barrier of the warp", "s[thread()] = i\nbarrier_warp\nlet v: i64 = s[thread() - lane() + 31 - lane()]\nbarrier_warp\ns[thread()] = v\nbarrier\ny[i] = s[63 - thread()]", func(i int64) int64 {
			k := 63 - i%64
			return i&^63 + k&^31 + 31 - k%32
		}},
		{"uneven loops before a barrier", "var v: i64 = 0\nfor k = 0 to thread() {\nv = v + k\n}\ns[thread()] = v\nbarrier\ny[i] = s[thread() - lane()]", func(i int64) int64 { k := i % 64 &^ 31; return k * (k - 1) / 2 }},
		{"atomics", "s[thread()] = 0\nbarrier\natomic_add(s[0], i)\natomic_max(s[1], i)\natomic_min(s[2], -i)\natomic_or(s[3], shl(1, lane()))\natomic_and(s[4], i)\nbarrier\ny[i] = s[thread()]", func(i int64) int64 {
			b := i &^ 63
			return []int64{64*b + 63*32, b + 63, -b - 63, 1<<32 - 1, 0, 0}[min(i%64, 5)]
		}},
		{"atomic on a buffer", "atomic_add(u[0], 1:u32)\ny[i] = 0", func(int64) int64 { return 0 }},
		{"old values", "if thread() == 0 {\ns[0] = 0\n}\nbarrier\nlet old: i64 = atomic_add(s[0], 1)\natomic_exchange(y[block() * 64 + old], old)", func(i int64) int64 { return i % 64 }},
		{"compare and swap", "if thread() < 32 {\ns[thread()] = -1\n}\nbarrier\nvar k: i64 = thread() % 32\nlet was: i64 = atomic_cas(s[k], -1, 1)\nbarrier\nif was == -1 {\natomic_add(s[k], 10)\n}\nbarrier\ny[i] = s[k]", func(int64) int64 { return 11 }},
		{"a uniform while", "var k: i64 = 0\nwhile k < n {\nbarrier\nk = k + 1\n}\ny[i] = k", func(int64) int64 { return 3 }},
		{"exchange defines", "atomic_exchange(s[thread()], i)\nbarrier\ny[i] = s[63 - thread()]", func(i int64) int64 { return i&^63 + 63 - i%64 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := mustCompileGrid(t, head+c.body+"\n}\n")
			eachOrder(t, 2, func(l Launch) {
				y, u, z, x := make([]int64, 128), make([]uint32, 1), make([]complex128, 1), make([]float64, 1)
				if st, err := k.Run([]Memory{memory(y), memory(u), memory(z), memory(x)}, []int64{3}, l); st != 0 || err != nil {
					t.Fatalf("status %d, %v", st, err)
				}
				for i, got := range y {
					if want := c.want(int64(i)); got != want {
						t.Fatalf("seed %d: y[%d] is %d, want %d", l.Seed, i, got, want)
					}
				}
				if c.name == "atomic on a buffer" && u[0] != 128 {
					t.Errorf("u is %d", u[0])
				}
			})
		})
	}
}

// Whatever the order, what breaks a rule is found, or is not there.
func TestGridRules(t *testing.T) {
	const head = "func f(y: []i64, readonly r: []i64; n: i64) grid threads 64 {\nshared s: [64]i64\nlet t: i64 = thread()\n"
	for _, c := range []struct{ name, body, want string }{
		{"own elements", "s[t] = 1\ns[t] = s[t] + 1", ""},
		{"all store to one", "s[0] = t", " of block "},
		{"store and load", "s[t] = 1\ny[block() * 64 + t] = s[63 - t]", "s["},
		{"load and store", "s[t] = 1\nbarrier\ny[block() * 64 + t] = s[63 - t]\ns[t] = 2", "race on s["},
		{"loads of many, then a store", "s[t] = 1\nbarrier\nlet v: i64 = s[0]\nif t == 0 {\ns[0] = v\n}", "race on s[0]"},
		{"loads of all, then a store behind a barrier", "s[t] = 1\nbarrier\nlet v: i64 = s[0]\nbarrier\nif t == 0 {\ns[0] = v\n}", ""},
		{"in a warp, not ordered by a shuffle", "s[t] = 1\nlet a: i64 = shuffle(n, 0)\ny[block() * 64 + t] = s[t - lane() + 31 - lane()]", "race on s["},
		{"in a warp, ordered by its barrier", "s[t] = 1\nbarrier_warp\ny[block() * 64 + t] = s[t - lane() + 31 - lane()]", ""},
		{"beyond the warp, not ordered by its barrier", "s[t] = 1\nbarrier_warp\ny[block() * 64 + t] = s[63 - t]", "s["},
		{"an older load of another warp", "s[t] = 1\nbarrier\nlet v: i64 = s[0]\nbarrier_warp\nif t == 33 {\ns[0] = v\n}", "race on s[0]"},
		{"atomics", "if t == 0 {\ns[0] = 0\n}\nbarrier\natomic_add(s[0], 1)", ""},
		{"atomic and load", "if t == 0 {\ns[0] = 0\n}\nbarrier\natomic_add(s[0], 1)\ny[block() * 64 + t] = s[0]", "race on s[0]"},
		{"atomic and store", "if t == 0 {\ns[0] = 0\n}\natomic_exchange(s[0], 1)", "race on s[0]"},
		{"a buffer in a block", "y[block() * 64 + t / 2] = t", "race on y["},
		{"a buffer in a block, behind a barrier", "y[block() * 64 + t] = t\nbarrier\nlet v: i64 = y[block() * 64 + 63 - t]\nbarrier\ny[block() * 64 + t] = v", ""},
		{"a buffer between blocks", "y[t] = t", "race on y["},
		{"a buffer between blocks, behind barriers", "barrier\nif t == 0 {\ny[0] = block()\n}\nbarrier", "race on y[0]: store by threads of block"},
		{"one block stores, all load", "if block() == 0 & t == 0 {\ny[0] = 1\n}\nbarrier\nif y[0] == 7 {\ny[128 + block() * 64 + t] = 1\n}", "race on y[0]"},
		{"blocks load", "s[t] = y[t]", ""},
		{"blocks load and one changes", "s[t] = y[t]\nif block() == 1 & t == 0 {\natomic_add(y[5], 1)\n}", "race on y[5]"},
		{"a read-only buffer", "s[t] = r[0] + r[t]", ""},
		{"undefined", "y[block() * 64 + t] = s[t]", "which was not written: shared arrays start undefined"},
		{"undefined in the next block", "if block() == 0 {\ns[t] = 1\n}\ny[block() * 64 + t] = s[t]", "which was not written"},
		{"atomic on undefined", "atomic_add(s[t], 1)", "which was not written"},
		{"out of range", "s[t + n] = 1", "is out of range: it has 64 elements"},
		{"out of range of a buffer", "if block() == 1 {\ny[300 + t] = 1\n}", "of buffer y is out of range: it has 256 elements"},
		{"negative", "atomic_exchange(s[t - 1], 1)", "index -1 of buffer s is out of range"},
		{"what should be even is not", "s[t] = 0\nbarrier\nif s[0] == 0 {\nif t == 5 {\ns[0] = 1\n}\nbarrier\n}", "race on s[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := mustCompileGrid(t, head+c.body+"\n}\n")
			eachOrder(t, 2, func(l Launch) {
				st, err := k.Run([]Memory{memory(make([]int64, 256)), memory(make([]int64, 64))}, []int64{3}, l)
				switch {
				case c.want == "" && (st != 0 || err != nil):
					t.Errorf("seed %d: status %d, %v", l.Seed, st, err)
				case c.want != "" && (st >= 0 || err == nil || !strings.Contains(err.Error(), c.want)):
					t.Errorf("seed %d: status %d, %v; want %s", l.Seed, st, err, c.want)
				}
			})
		})
	}
}

// The status is the greatest of all threads', whatever the order.
func TestGridStatus(t *testing.T) {
	k := mustCompileGrid(t, `func f(y: []i64; n: i64) grid threads 64 {
  if n == thread() | n == thread() + 1 {
    if lane() == 5 {
      fail 1 "five"
    }
    fail 0 "another"
  }
  y[block() * 64 + thread()] = 1
}
`)
	for _, c := range []struct{ n, want int64 }{{100, 0}, {6, 2}, {5, 2}, {7, 1}, {64, 1}} {
		eachOrder(t, 2, func(l Launch) {
			if st, err := k.Run([]Memory{memory(make([]int64, 128))}, []int64{c.n}, l); st != c.want || err != nil {
				t.Errorf("n = %d, seed %d: status %d, %v; want %d", c.n, l.Seed, st, err, c.want)
			}
		})
	}
	// Of two blocks the first is worse.
	k = mustCompileGrid(t, "func f(y: []i64) grid threads 32 {\nif block() == 0 {\nfail 1 \"first\"\n}\nif block() == 1 {\nfail 0 \"second\"\n}\n}\n")
	eachOrder(t, 3, func(l Launch) {
		if st, err := k.Run([]Memory{memory(make([]int64, 1))}, nil, l); st != 2 || err != nil {
			t.Errorf("seed %d: status %d, %v; want 2", l.Seed, st, err)
		}
	})
	// All threads of a warp fail before a shuffle of the others.
	k = mustCompileGrid(t, "func f(y: []i64) grid threads 64 {\nif warp() == 1 {\nfail 0 \"one\"\n}\nlet v: i64 = shuffle(lane(), 3)\ny[block() * 32 + lane()] = v\n}\n")
	y := make([]int64, 64)
	if st, err := k.Run([]Memory{memory(y)}, nil, Launch{Blocks: 2}); st != 1 || err != nil || y[63] != 3 {
		t.Errorf("status %d, %v, y %v", st, err, y)
	}
}

func TestGridCalls(t *testing.T) {
	k := mustCompileGrid(t, "func f(y: []i64; n: i64) grid threads 32 {\nbarrier\n}\n")
	y := []Memory{memory(make([]int64, 1))}
	for _, c := range []struct {
		bufs   []Memory
		args   []int64
		blocks int64
		want   string
	}{
		{y, []int64{1}, 0, ""},
		{y, []int64{1}, 1, ""},
		{nil, []int64{1}, 1, "takes 1 buffers, got 0"},
		{y, nil, 1, "takes 1 scalar arguments, got 0"},
		{y, []int64{1}, -1, "not on -1"},
		{y, []int64{1}, 1 << 31, "not on 2147483648"},
		{[]Memory{{Len: 3}}, []int64{1}, 1, "has 3 elements at address"},
	} {
		st, err := k.Run(c.bufs, c.args, Launch{Blocks: c.blocks})
		if c.want == "" && (st != 0 || err != nil) {
			t.Errorf("status %d, %v", st, err)
		}
		var bad *CallError
		if c.want != "" && (st != StatusBadCall || !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("status %d, %v; want %s", st, err, c.want)
		}
	}
	ordinary, err := loop.ParseFunc("func f() chunk c, lo, hi {\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CompileGrid(ordinary, nil); err == nil || !strings.Contains(err.Error(), "no grid function") {
		t.Error(err)
	}
	grid, err := loop.ParseFunc("func f() grid threads 32 {\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(grid, nil); err == nil || !strings.Contains(err.Error(), "is a grid function") {
		t.Error(err)
	}
	uneven, err := loop.ParseFunc("func f() grid threads 32 {\nif lane() == 0 {\nbarrier\n}\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	var wrong *loop.VerifyError
	if _, err := CompileGrid(uneven, nil); !errors.As(err, &wrong) {
		t.Error(err)
	}
}

// What the verifier refuses ends with an error, too.
func TestGridMismatch(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"if lane() == 3 {\nbarrier\n}", "come to a barrier"},
		{"if warp() == 1 {\nbarrier\n}", "come to a barrier"},
		{"if warp() == 0 {\nbarrier\n} else {\nbarrier\n}", "come to a barrier"},
		{"if lane() == 3 {\nlet v: i64 = shuffle_up(1, 2)\n}", "come to shuffle_up"},
		{"if lane() == 3 {\nlet v: u32 = ballot(true)\n} else {\nbarrier_warp\n}", "come to a"},
		{"if lane() == 3 {\nfail 0 \"x\"\n}\nbarrier", "come to a barrier"},
	} {
		f, err := loop.ParseFunc("func f() grid threads 64 {\n" + c.body + "\n}\n")
		if err != nil {
			t.Fatal(err)
		}
		k, err := compileGrid(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		eachOrder(t, 1, func(l Launch) {
			st, err := k.Run(nil, nil, l)
			var wrong *MismatchError
			if st != StatusMisused || !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: status %d, %v; want %s", c.body, st, err, c.want)
			}
		})
	}
}

// A grid ends soon after it is asked to, within a block as between blocks.
func TestGridStop(t *testing.T) {
	for _, c := range []struct{ body, at string }{
		{"var k: i64 = 0\nwhile k >= 0 {\nk = k + 0\n}", "in a loop"},
		{"var k: i64 = 0\nwhile k >= 0 {\nbarrier\nk = k + 0\n}", "at barriers"},
		{"atomic_exchange(y[0], 1)", "between blocks"},
	} {
		k := mustCompileGrid(t, "func f(y: []i64) grid threads 32 {\n"+c.body+"\n}\n")
		var stop atomic.Uint32
		time.AfterFunc(20*time.Millisecond, func() { stop.Store(1) })
		st, err := k.Run([]Memory{memory(make([]int64, 1))}, nil, Launch{Blocks: 1<<31 - 1, Stop: &stop})
		if st != loop.StatusStopped || err != nil {
			t.Errorf("%s: status %d, %v", c.at, st, err)
		}
	}
}

func BenchmarkGridPrefix(b *testing.B) {
	k := example(b, "prefix")
	const n = 256 * 64
	bufs := []Memory{memory(make([]int64, n)), memory(make([]int64, n)), memory(make([]int64, 64))}
	for b.Loop() {
		if st, err := k.Run(bufs, []int64{n}, Launch{Blocks: 64}); st != 0 || err != nil {
			b.Fatal(st, err)
		}
	}
	// About 40 statements for each thread.
	b.ReportMetric(40*n*float64(b.N)/b.Elapsed().Seconds(), "thread-stmts/s")
}

// Most stages of small programs are one block that does little.
func BenchmarkGridSmall(b *testing.B) {
	for _, c := range []struct{ name, barrier string }{{"alone", ""}, {"barrier", "barrier\n"}} {
		b.Run(c.name, func(b *testing.B) {
			k := mustCompileGrid(b, "func f(y: []i64; n: i64) grid threads 256 {\n"+c.barrier+"let i: i64 = thread()\nif i < n {\ny[i] = i\n}\n}\n")
			bufs := []Memory{memory(make([]int64, 10))}
			for b.Loop() {
				if st, err := k.Run(bufs, []int64{10}, Launch{Blocks: 1}); st != 0 || err != nil {
					b.Fatal(st, err)
				}
			}
		})
	}
}
