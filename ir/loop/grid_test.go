package loop

import (
	"strings"
	"testing"
)

// inGrid is a grid function with the given body.
func inGrid(body string) string {
	return "func f(readonly r: []f64, w: []i64, u: []u32, x: []f64, h: []i16; n: i64) grid threads 64 {\n  shared s: [64]i64\n" + body + "\n}\n"
}

// Where all threads meet, the function verifies; else the error names the
// statement and what decides.
func TestDivergence(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"if n > 3 {\nbarrier\n}", ""},
		{"if block() < blocks() {\nbarrier\n}", ""},
		{"for i = 0 to w[n] {\nbarrier\n}", ""},
		{"if thread() < 3 {\nbarrier\n}", "differs between them in: if thread() < 3 { (in: barrier)"},
		{"if warp() == 0 {\nbarrier\n}", "not all threads of the block may come here"},
		{"if warp() == 0 {\nbarrier_warp\nlet a: i64 = shuffle(n, 0)\n}", ""},
		{"if lane() == 0 {\nbarrier_warp\n}", "not all threads of the warp may come here"},
		{"if lane() == 0 {\nlet a: i64 = shuffle(n, 0)\n}", "(in: let a: i64 = shuffle(n, 0))"},
		{"if r[thread()] > 0.0 {\nlet a: u32 = ballot(true)\n}", "if r[thread()] > 0.0"},
		{"if r[n] > 0.0 {\nlet a: u32 = ballot(true)\n}", ""},
		{"if r[warp()] > 0.0 {\nlet a: u32 = ballot(true)\n}", ""},
		{"if r[warp()] > 0.0 {\nbarrier\n}", "if r[warp()] > 0.0"},
		// What is assigned under uneven control is uneven.
		{"var a: i64 = 0\nif thread() == 0 {\na = 1\n}\nif a == 0 {\nbarrier\n}", "if a == 0"},
		{"var a: i64 = 0\nif n == 0 {\na = 1\n}\nif a == 0 {\nbarrier\n}", ""},
		{"var a: i64 = 0\nfor i = 0 to thread() {\na = a + 1\n}\nif a == 0 {\nbarrier\n}", "if a == 0"},
		{"var a: i64 = 0\nwhile a < lane() {\na = a + 1\n}\nfor i = 0 to a {\nbarrier_warp\n}", "for i = 0 to a"},
		// Through a chain of variables that a loop turns round.
		{"var a: i64 = 0\nvar b: i64 = 0\nvar c: i64 = 0\nfor i = 0 to 4 {\nif a > 0 {\nbarrier\n}\na = b\nb = c\nc = thread()\n}", "if a > 0"},
		{"var a: i64 = 0\nvar b: i64 = 0\nfor i = 0 to 4 {\nif a > 0 {\nbarrier\n}\na = b\nb = n\n}", ""},
		// Shuffles, ballots and atomics.
		{"let a: i64 = shuffle(thread(), 0)\nif a == 0 {\nbarrier_warp\n}", ""},
		{"let a: i64 = shuffle(thread(), 0)\nif a == 0 {\nbarrier\n}", "if a == 0"},
		{"let a: i64 = shuffle(n, lane())\nif a == 0 {\nbarrier_warp\n}", "if a == 0"},
		{"let a: i64 = shuffle_xor(n, lane())\nif a == 0 {\nbarrier\n}", ""},
		{"let a: i64 = shuffle(thread(), 0, 16)\nif a == 0 {\nbarrier_warp\n}", "if a == 0"},
		{"let a: i64 = shuffle_xor(thread(), 1)\nif a == 0 {\nbarrier_warp\n}", "if a == 0"},
		{"let a: u32 = ballot(lane() == n)\nif a == 0:u32 {\nbarrier_warp\n}", ""},
		{"let a: u32 = ballot(lane() == n)\nif a == 0:u32 {\nbarrier\n}", "if a == 0:u32"},
		{"let a: u32 = ballot(n == 0)\nif a == 0:u32 {\nbarrier\n}", ""},
		{"let a: i64 = atomic_add(w[0], 1)\nif a == 0 {\nbarrier_warp\n}", "if a == 0"},
		// Failures.
		{"if n == 0 {\nfail 0 \"x\"\n}\nbarrier", ""},
		{"barrier\nif thread() == n {\nfail 0 \"x\"\n}", ""},
		{"if thread() == n {\nfail 0 \"x\"\n}\nbarrier", "some may have failed before"},
		{"if warp() == n {\nfail 0 \"x\"\n}\nlet a: u32 = ballot(true)", ""},
		{"if warp() == n {\nfail 0 \"x\"\n}\nbarrier", "some may have failed before"},
		{"for i = 0 to n {\nbarrier\nif thread() == i {\nfail 0 \"x\"\n}\n}", "some may have failed before"},
		{"for i = 0 to n {\nif n > 2 {\nlet a: u32 = ballot(true)\n}\nif lane() == i {\nfail 0 \"x\"\n}\n}", "some may have failed before"},
	} {
		f, err := ParseFunc(inGrid(c.body))
		if err != nil {
			t.Errorf("%v in\n%s", err, inGrid(c.body))
			continue
		}
		wantError(t, f.Verify(nil), c.want, f.String())
	}
}

func wantError(t *testing.T, err error, want, text string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%v\n%s", err, text)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("gives %v\nwants %s\n%s", err, want, text)
	}
}

// A statement that stands at two places is as uneven as the worse of them.
func TestDivergenceSharedStatement(t *testing.T) {
	f, err := ParseFunc(inGrid("var a: i64 = 0\nif thread() == 0 {\nw[0] = 1\n}\nif a == 0 {\nbarrier\n}"))
	if err != nil {
		t.Fatal(err)
	}
	set := &If{Cond: Truth(true), Then: []Stmt{&Assign{Var: 1, Value: Int(1)}}}
	then := &f.Body[1].(*If).Then
	*then = append(*then, set)
	f.Body = append(f.Body, set)
	wantError(t, f.Verify(nil), "if a == 0", f.String())
}

func TestVerifyGrid(t *testing.T) {
	const base = "barrier\nlet a: i64 = shuffle(n, 0)\nlet b: u32 = ballot(true)\nlet c: i64 = atomic_cas(w[0], 1, 2)"
	find := func(f *Func, k int) Stmt { return f.Body[k] }
	for _, c := range []struct {
		change func(*Func)
		want   string
	}{
		{func(*Func) {}, ""},
		{func(f *Func) { f.Grid = nil }, "declares variable -1"},
		{func(f *Func) { f.Chunk = 0 }, "a grid function has no chunk"},
		{func(f *Func) { f.Grid.Threads = 48 }, "a block of 48 threads; it is a multiple of 32 up to 1024"},
		{func(f *Func) { f.Grid.Threads = 0 }, "a block of 0 threads"},
		{func(f *Func) { f.Grid.Threads = 2048 }, "a block of 2048 threads"},
		{func(f *Func) { f.Grid.Shared[0].Name = "no name" }, `"no name" cannot name a shared array`},
		{func(f *Func) { f.Grid.Shared[0].Elem = Invalid }, "shared array 0 has no element type"},
		{func(f *Func) { f.Grid.Shared[0].Len = -1 }, "the shared array s has -1 elements"},
		{func(f *Func) { f.Grid.Shared[0].Len = 6145 }, "take more than 49152 bytes"},
		{func(f *Func) { f.Grid.Shared[0].Len = 6144 }, ""},
		{func(f *Func) { f.Grid.Shared[0].Len = 1 << 60 }, "take more than 49152 bytes"},
		{func(f *Func) { find(f, 0).(*Barrier).Scope = 7 }, "a barrier of scope 7"},
		{func(f *Func) { find(f, 1).(*Shuffle).Kind = 9 }, "a shuffle of kind 9"},
		{func(f *Func) { find(f, 1).(*Shuffle).Width = 12 }, "segments of 12 lanes"},
		{func(f *Func) { find(f, 1).(*Shuffle).Width = 0 }, "segments of 0 lanes"},
		{func(f *Func) { find(f, 1).(*Shuffle).Width = 64 }, "segments of 64 lanes"},
		{func(f *Func) { find(f, 1).(*Shuffle).Lane = Truth(true) }, "the lane is of type bool, not i64"},
		{func(f *Func) { find(f, 1).(*Shuffle).Value = Truth(true) }, "a is of type i64, its value of type bool"},
		{func(f *Func) { find(f, 1).(*Shuffle).Value = nil }, "missing (nil)"},
		{func(f *Func) { find(f, 2).(*Ballot).Cond = Int(1) }, "the condition is of type i64, not bool"},
		{func(f *Func) { find(f, 3).(*Atomic).Op = 99 }, "invalid is not defined on elements of type i64"},
		{func(f *Func) { find(f, 3).(*Atomic).Expected = nil }, "missing (nil)"},
		{func(f *Func) { find(f, 3).(*Atomic).Expected = Truth(true) }, "the expected value is of type bool, not i64"},
		{func(f *Func) { find(f, 3).(*Atomic).Op = AtomicAdd }, "atomic_add expects no value"},
		{func(f *Func) { find(f, 3).(*Atomic).Value = Truth(true) }, "the value is of type bool, not i64"},
		{func(f *Func) { find(f, 3).(*Atomic).Index = Truth(true) }, "the index is of type bool, not i64"},
		{func(f *Func) { find(f, 3).(*Atomic).Buf = 99 }, "uses buffer 99"},
		{func(f *Func) { find(f, 3).(*Atomic).Buf = 0 }, "changes r, which is read-only"},
		{func(f *Func) { find(f, 3).(*Atomic).Buf = 4 }, "atomic_cas is not defined on elements of type i16"},
		{func(f *Func) { find(f, 3).(*Atomic).Buf = 3 }, "atomic_cas is not defined on elements of type f64"},
		{func(f *Func) { f.Body = append(f.Body, &Let{Var: 1, Value: &Special{Reg: 99}}) }, "a register that does not exist"},
	} {
		f, err := ParseFunc(inGrid(base))
		if err != nil {
			t.Fatal(err)
		}
		c.change(f)
		wantError(t, f.Verify(nil), c.want, f.String())
	}
}

// A quick function has the parameters of the one that it stands in for, and is well formed itself.
func TestVerifyQuick(t *testing.T) {
	quick := func(f *Func) *Func {
		q, err := ParseFunc(inGrid("w[0] = n"))
		if err != nil {
			t.Fatal(err)
		}
		f.Quick = q
		return q
	}
	for _, c := range []struct {
		change func(f *Func)
		want   string
	}{
		{func(f *Func) { quick(f) }, ""},
		{func(f *Func) { quick(f).Grid.Threads = 32 }, "has blocks of 32 threads, not 64"},
		{func(f *Func) { quick(f).Grid = nil }, "which is a grid function too"},
		{func(f *Func) { quick(quick(f)) }, "has a quick one itself"},
		{func(f *Func) { q := quick(f); q.Args = q.Args[:0] }, "has 0 scalar parameters, not 1"},
		{func(f *Func) { q := quick(f); q.Bufs = q.Bufs[1:] }, "has other buffers"},
		{func(f *Func) { quick(f).Bufs[0].ReadOnly = false }, "has other buffers"},
		{func(f *Func) { quick(f).Bufs[0].Elem = U8 }, "has other buffers"},
		{func(f *Func) { quick(f).Fails = []string{"no"} }, "the quick function fails with other messages"},
		{func(f *Func) { quick(f); f.Fails = []string{"no"} }, "the quick function fails with other messages"},
		{func(f *Func) { q := quick(f); q.Body = append(q.Body, &Barrier{Scope: 9}) }, "the quick function: a barrier of scope 9"},
	} {
		f, err := ParseFunc(inGrid("w[0] = n"))
		if err != nil {
			t.Fatal(err)
		}
		c.change(f)
		wantError(t, f.Verify(nil), c.want, f.String())
	}
}

// Ordinary functions, and scalar ones, have no grid constructs.
func TestVerifyNoGrid(t *testing.T) {
	for _, body := range []string{
		"barrier", "w[0] = thread()", "let a: u32 = ballot(true)", "let a: f64 = shuffle_up(1.0, 1)", "atomic_add(w[0], 1)",
	} {
		f, err := ParseFunc("func f(w: []i64) chunk c, lo, hi {\n" + body + "\n}")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Verify(nil); err == nil || !strings.Contains(err.Error(), "grid function") {
			t.Errorf("%s: %v", body, err)
		}
	}
	s, err := ParseScalar("scalar f_i64() i64 {\nreturn lane()\n}")
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Verify(nil), "lane() has no value outside of a grid function", s.String())
}

func TestParseGridErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"func f() grid thread 64 {}", `1:15: expected "threads", found "thread"`},
		{"func f() grid threads many {}", `1:23: expected the number of threads in a block, up to 1024, found "many"`},
		{"func f() grid threads 99999999999999999999 {}", `1:23: expected the number of threads`},
		{inGrid("shared t: [1.5]i64"), `3:12: expected the number of elements, up to 49152, found "1.5"`},
		{inGrid("shared s: [1]i64"), `3:8: "s" is already declared`},
		{inGrid("w[0] = 1\nshared t: [1]i64"), `4:1: expected a statement, found "shared"`},
		{inGrid("barrier 1"), `3:9: expected a statement or "}", found "1"`},
		{inGrid("let a: i64 = shuffle(1.0, 0)"), `3:14: the variable is of type i64, this value of type f64`},
		{inGrid("let a: i64 = shuffle(1, 0.0)"), `3:25: the lane is of type i64`},
		{inGrid("let a: i64 = shuffle(1, 0, 33)"), `3:28: expected the width of a segment, up to 32, found "33"`},
		{inGrid("let a: i64 = 1 + shuffle(1, 0)"), `3:18: shuffle is a statement of its own`},
		{inGrid("var a: i64 = shuffle(1, 0)"), `3:14: shuffle is a statement of its own`},
		{inGrid("let a: i64 = ballot(true)"), `3:14: the variable is of type i64, this value of type u32`},
		{inGrid("let a: i64 = thread(1)"), `3:14: thread takes 0 arguments, not 1`},
		{inGrid("atomic_add(n, 1)"), `3:12: "n" is no buffer`},
		{inGrid("atomic_add(w, 1)"), `3:13: expected "[", found ","`},
		{inGrid("atomic_add(h[0], 1:i16)"), `3:1: atomic_add is not defined on elements of type i16`},
		{inGrid("atomic_min(x[0], 1.0)"), `3:1: atomic_min is not defined on elements of type f64`},
		{inGrid("atomic_add(x[0], 1.0)"), `3:1: atomic_add is not defined on elements of type f64`},
		{inGrid("atomic_cas(w[0], 1)"), `3:19: expected ",", found ")"`},
	} {
		_, err := ParseFunc(c.src)
		wantError(t, err, c.want, c.src)
	}
}

// Words of the constructs stay names, as far as the text can tell them apart.
func TestGridNames(t *testing.T) {
	src := `func f(barrier: []i64; thread: i64) grid threads 32 {
  shared shared: [32]i64
  shared barrier.1: [32]i64
  let shuffle: i64 = thread() + thread
  var barrier_warp: i64 = shuffle
  barrier
  barrier_warp
  barrier_warp = barrier[0]
  barrier[0] = shuffle
  shared[0] = shuffle
  let ballot: i64 = shuffle(shuffle, 0)
  let atomic_add: i64 = ballot
  let grid: i64 = atomic_add(barrier.1[0], atomic_add)
}
`
	if got := roundTrip(t, src, ParseFunc); got != src {
		t.Errorf("printed\n%s\nwant\n%s", got, src)
	}
}

func TestShuffleSource(t *testing.T) {
	for _, c := range []struct {
		kind          ShuffleKind
		lane, operand int64
		width         int
		want          int64
	}{
		{ShuffleIndex, 5, 9, 32, 9}, {ShuffleIndex, 5, 33, 32, 1}, {ShuffleIndex, 5, -1, 32, 31},
		{ShuffleIndex, 13, 2, 8, 10}, {ShuffleIndex, 13, 9, 8, 9},
		{ShuffleXor, 5, 4, 32, 1}, {ShuffleXor, 13, 9, 8, 12}, {ShuffleXor, 3, 64, 32, 3},
		{ShuffleUp, 5, 2, 32, 3}, {ShuffleUp, 1, 2, 32, 1}, {ShuffleUp, 9, 2, 8, 9}, {ShuffleUp, 11, 2, 8, 9}, {ShuffleUp, 5, 32, 32, 5},
		{ShuffleDown, 5, 2, 32, 7}, {ShuffleDown, 31, 1, 32, 31}, {ShuffleDown, 7, 1, 8, 7}, {ShuffleDown, 6, 1, 8, 7},
		{ShuffleIndex, 13, 2, 1, 13},
	} {
		if got := c.kind.Source(c.lane, c.operand, c.width); got != c.want {
			t.Errorf("%s of lane %d, %d, width %d: lane %d, want %d", c.kind, c.lane, c.operand, c.width, got, c.want)
		}
	}
}

// A function built from Go prints as it would be written, with shared arrays
// behind buffers that came later.
func TestGridBuilder(t *testing.T) {
	b := NewGridBuilder("sum", 64)
	part := b.Shared("part", F64, 2)
	x := b.Buf("x", F64, ReadOnly)
	y := b.Buf("y", F64, ReadWrite)
	c := b.Buf("count", U32, ReadWrite)
	i := b.Let("i", b.Add(b.Mul(b.Special(BlockIndex), Int(64)), b.Special(ThreadIndex)))
	v := b.Shuffle("v", ShuffleDown, b.Load(x, i), Int(16), WarpSize)
	b.Store(part, b.Special(WarpIndex), v)
	b.Barrier(BlockScope)
	b.Barrier(WarpScope)
	b.Store(y, Int(0), b.Load(part, Int(1)))
	some := b.Ballot("some", b.Lt(v, Float(F64, 0)))
	old := b.AtomicOld("old", AtomicMax, c, Int(0), some)
	b.CompareAndSwap("was", c, Int(1), old, some)
	b.Atomic(AtomicOr, c, Int(2), some)
	f := b.Func()
	if err := f.Verify(nil); err != nil {
		t.Error(err)
	}
	want := `func sum(readonly x: []f64, y: []f64, count: []u32) grid threads 64 {
  shared part: [2]f64
  let i: i64 = block() * 64 + thread()
  let v: f64 = shuffle_down(x[i], 16)
  part[warp()] = v
  barrier
  barrier_warp
  y[0] = part[1]
  let some: u32 = ballot(v < 0.0)
  let old: u32 = atomic_max(count[0], some)
  let was: u32 = atomic_cas(count[1], old, some)
  atomic_or(count[2], some)
}
`
	if got := f.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if again := roundTrip(t, want, ParseFunc); again != want {
		t.Errorf("read back\n%s", again)
	}
	if got, want := f.Stats().String(), "statements 10 loops 0 whiles 0 branches 0 loads 2 stores 2 calls 0 barriers 2 shuffles 2 atomics 3"; got != want {
		t.Errorf("stats %s, want %s", got, want)
	}
	// Nothing of it is dead, though nothing reads was.
	if got := RemoveDead(f).String(); got != want {
		t.Errorf("without dead code\n%s", got)
	}
}

// A stage of a program runs its function for chunks.
func TestVerifyProgramGrid(t *testing.T) {
	prog, err := ParseProgram(`program p {
  buffer y: []i64 inout
  stage s {
    run(y)
    func f(y: []i64) grid threads 32 {
      barrier
    }
  }
}
`)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, prog.Verify(nil), "has a grid function but no number of blocks", "")
}

func TestAtomicApply(t *testing.T) {
	i32 := func(x int64) Const { return *Number(I32, x) }
	for _, c := range []struct {
		op              AtomicOp
		old, value, exp Const
		want            Const
	}{
		{AtomicAdd, i32(1 << 30), i32(1 << 30), Const{}, i32(-1 << 31)},
		{AtomicMin, i32(-1), i32(2), Const{}, i32(-1)},
		{AtomicMax, *Number(U32, -1), *Number(U32, 2), Const{}, *Number(U32, -1)},
		{AtomicAnd, i32(6), i32(3), Const{}, i32(2)},
		{AtomicOr, i32(6), i32(3), Const{}, i32(7)},
		{AtomicExchange, i32(6), i32(3), Const{}, i32(3)},
		{AtomicCompareAndSwap, i32(6), i32(3), i32(6), i32(3)},
		{AtomicCompareAndSwap, i32(6), i32(3), i32(5), i32(6)},
		{AtomicAdd, *Float(F64, 1), *Float(F64, 2), Const{}, *Float(F64, 3)},
	} {
		if got := c.op.Apply(c.old, c.value, c.exp); got != c.want {
			t.Errorf("%s of %s and %s: %s, want %s", c.op, &c.old, &c.value, &got, &c.want)
		}
	}
}
