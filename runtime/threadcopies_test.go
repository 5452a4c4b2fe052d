package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// greatest is a program that finds the greatest of the x of each column, and 0 for those
// with fewer than m if that is greater. It fails at an x of 99, and takes very long at 98.
const greatest = `program p {
  scalar n bound
  scalar columns bound
  scalar m bound
  scalar chunks
  scalar copies
  scalar pieces
  buffer crd: []u32 input
  buffer x: []f64 input
  buffer y: []f64 output
  buffer seen: []u16 temp
  buffer ys: []f64 temp
  buffer seens: []u16 temp
  partition cut of n grain 1 chunks chunks
  partition elements of columns * min(1, copies) grain 3 chunks pieces
  stage begin {
    alloc y[columns]
    alloc seen[columns] zero
    run(y; columns)
    func begin(y: []f64; columns: i64) chunk c, lo, hi {
      for p = 0 to columns { y[p] = -inf }
    }
  }
  stage update over cut ordered {
    copies copies for 1 + columns / 100 chunks {
      ys of y begins -inf
      seens of seen begins 0:u16
    }
    run(crd, x, y, seen)
    func update(readonly crd: []u32, readonly x: []f64, y: []f64, seen: []u16) chunk c, lo, hi {
      for p = lo to hi {
        if x[p] == 99.0 { fail 0 "ninety-nine" }
        if x[p] == 98.0 {
          var spin: i64 = 0
          while spin >= 0 { spin = (spin + 3) & 1023 }
        }
        let j: i64 = i64(crd[p])
        y[j] = max(y[j], x[p])
        seen[j] = seen[j] + 1:u16
      }
    }
  }
  stage fold over elements {
    run(y, seen, ys, seens; columns, copies)
    func fold(y: []f64, seen: []u16, readonly ys: []f64, readonly seens: []u16; columns: i64, copies: i64) chunk c, lo, hi {
      let apart: i64 = columns + 127 & -128
      for copy = 0 to copies {
        for p = lo to hi {
          y[p] = max(y[p], ys[copy * apart + p])
          seen[p] = seen[p] + seens[copy * apart + p]
        }
      }
    }
  }
  stage gaps {
    run(y, seen; columns, m)
    func gaps(y: []f64, seen: []u16; columns: i64, m: i64) chunk c, lo, hi {
      for p = 0 to columns {
        if i64(seen[p]) < m { y[p] = max(y[p], 0.0) }
      }
    }
  }
}`

// updates are the operands of greatest.
type updates struct {
	crd        []uint32
	x          []float64
	columns, m int64
}

func (d *updates) bind(x *Executable) *Bindings {
	b := x.NewBindings()
	b.Buffers[0], b.Buffers[1] = MemoryOf(d.crd), MemoryOf(d.x)
	b.Scalars[0], b.Scalars[1], b.Scalars[2] = int64(len(d.x)), d.columns, d.m
	return b
}

// want is the result by the simplest of loops.
func (d *updates) want() []float64 {
	y, seen := make([]float64, d.columns), make([]int64, d.columns)
	for j := range y {
		y[j] = math.Inf(-1)
	}
	for p, j := range d.crd {
		y[j] = max(y[j], d.x[p])
		seen[j]++
	}
	for j := range y {
		if seen[j] < d.m {
			y[j] = max(y[j], 0)
		}
	}
	return y
}

// someUpdates are n updates, most of them negative numbers.
func someUpdates(n int, columns int64) *updates {
	r := rand.New(rand.NewPCG(uint64(n), uint64(columns)))
	d := &updates{columns: columns, m: int64(n) / max(1, columns)}
	special := []float64{math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, math.NaN()}
	for range n {
		v := -float64(r.IntN(50))
		if r.IntN(100) == 0 {
			v = special[r.IntN(len(special))]
		}
		d.x, d.crd = append(d.x, v), append(d.crd, uint32(r.Int64N(columns)))
	}
	return d
}

// sameNumbers compares bits; every NaN is like another.
func sameNumbers(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
	})
}

// TestCopies compares what several threads make of copies with a simple loop.
func TestCopies(t *testing.T) {
	severalThreads(t)
	eachEngine(t, func(t *testing.T, e Engine) {
		for _, grain := range []int64{1, 10, 1000} {
			p := mustProgram(t, greatest)
			p.Partitions[0].Grain = grain
			x := mustCompile(t, e, p)
			for _, d := range []*updates{someUpdates(5000, 300), someUpdates(5000, 1), someUpdates(200, 128), someUpdates(1, 7), someUpdates(0, 5), {}} {
				want := d.want()
				for _, threads := range []int{1, 2, 3, 7} {
					got := mustRun(t, x, d.bind(x), Options{Threads: threads})
					if y := SliceOf[float64](got.Buffers[2]); !sameNumbers(y, want) {
						t.Errorf("%d updates of %d columns, grain %d, %d threads:\n got %v\nwant %v", len(d.x), d.columns, grain, threads, y, want)
					}
				}
			}
		}
	})
}

// copying is greatest in Go, whose first chunk waits until another thread has a copy, if one
// is to be had. It notes the numbers of copies.
func copying(t *testing.T, waits bool) (*Executable, *[]int64) {
	var found []int64
	var another atomic.Bool
	var own atomic.Pointer[float64]
	x := withKernels(t, mustProgram(t, greatest),
		func(f *frame, _, _, _ int64) int64 {
			y := unsafeFloats(f, 0)
			for p := range y {
				y[p] = math.Inf(-1)
			}
			own.Store(&y[0])
			another.Store(false)
			return 0
		},
		func(f *frame, c, lo, hi int64) int64 {
			y := unsafeFloats(f, 2)
			if &y[0] != own.Load() {
				another.Store(true)
			}
			for begun := time.Now(); waits && c == 0 && !another.Load() && time.Since(begun) < 10*time.Second; {
				time.Sleep(time.Millisecond)
			}
			for p := lo; p < hi; p++ {
				y[0] = max(y[0], unsafeFloats(f, 1)[p])
			}
			return 0
		},
		func(f *frame, c, _, _ int64) int64 {
			if c == 0 {
				found = append(found, f.args[1])
				for copy := range f.args[1] {
					y := unsafeFloats(f, 0)
					y[0] = max(y[0], unsafeFloats(f, 2)[copy*apart(f.args[0])])
				}
			}
			return 0
		}, nothing)
	return x, &found
}

// unsafeFloats is a buffer of a function.
func unsafeFloats(f *frame, i int) []float64 {
	return SliceOf[float64](Memory{Ptr: f.bufs[i].Ptr, Len: f.bufs[i].Len})
}

// TestThreadsHaveCopies sees to it that another thread takes part.
func TestThreadsHaveCopies(t *testing.T) {
	severalThreads(t)
	d := someUpdates(400, 150) // 2 chunks of 1 are worth a copy
	for threads := 2; threads <= 7; threads++ {
		x, found := copying(t, true)
		got := mustRun(t, x, d.bind(x), Options{Threads: threads})
		want := math.Inf(-1)
		for _, v := range d.x {
			want = max(want, v)
		}
		if y := SliceOf[float64](got.Buffers[2])[:1]; !sameNumbers(y, []float64{want}) {
			t.Errorf("%d threads: %v, want %v", threads, y, want)
		}
		if len(*found) != 1 || (*found)[0] < 1 || (*found)[0] >= int64(threads) {
			t.Errorf("%d threads have made %v copies", threads, *found)
		}
	}
	for _, d := range []*updates{someUpdates(3, 150), someUpdates(20, 1000)} {
		x, found := copying(t, false)
		mustRun(t, x, d.bind(x), Options{Threads: 7})
		if len(*found) > 0 {
			t.Errorf("%d updates of %d columns: %v copies", len(d.x), d.columns, *found)
		}
	}
}

// TestCopiesWithoutMemory runs chunks one after another where the limit leaves no room for
// copies, and frees what it has reserved for some.
func TestCopiesWithoutMemory(t *testing.T) {
	severalThreads(t)
	d := someUpdates(4000, 1000)
	result := alloc.Padded(8*1000) + alloc.Padded(2*1000)
	for _, limit := range []int64{result, result + 8*apart(1000), result + 10*apart(1000)} {
		x := mustCompile(t, Interp(), mustProgram(t, greatest))
		for range 3 {
			got := mustRun(t, x, d.bind(x), Options{Threads: 2, MemoryLimit: limit})
			if y := SliceOf[float64](got.Buffers[2]); !sameNumbers(y, d.want()) {
				t.Errorf("limit %d: wrong numbers", limit)
			}
		}
	}
	x := mustCompile(t, Interp(), mustProgram(t, greatest))
	var refused *MemoryLimitError
	if _, err := x.Run(context.Background(), d.bind(x), Options{Threads: 2, MemoryLimit: result - 1}); !errors.As(err, &refused) {
		t.Errorf("error %v for too little memory for the result", err)
	}
}

// TestCopiesOfHugeResult makes no copies of what no memory holds.
func TestCopiesOfHugeResult(t *testing.T) {
	severalThreads(t)
	d := someUpdates(4000, 10)
	d.columns = math.MaxInt64 / 4
	x := mustCompile(t, Interp(), mustProgram(t, greatest))
	var refused *MemoryLimitError
	if _, err := x.Run(context.Background(), d.bind(x), Options{Threads: 7}); !errors.As(err, &refused) {
		t.Errorf("error %v", err)
	}
}

// TestCopiesFail reports the failure of the first chunk that fails.
func TestCopiesFail(t *testing.T) {
	severalThreads(t)
	eachEngine(t, func(t *testing.T, e Engine) {
		x := mustCompile(t, e, mustProgram(t, greatest))
		d := someUpdates(2000, 20)
		for _, p := range []int{700, 701, 1500} {
			d.x[p] = 99
		}
		for _, threads := range []int{1, 2, 7} {
			var failed *KernelError
			if _, err := x.Run(context.Background(), d.bind(x), Options{Threads: threads}); !errors.As(err, &failed) || failed.Chunk != 700 {
				t.Errorf("%d threads: error %v, want that of chunk 700", threads, err)
			}
		}
	})
}

// TestCopiesAreCancelled stops a run in the middle of a chunk.
func TestCopiesAreCancelled(t *testing.T) {
	severalThreads(t)
	eachEngine(t, func(t *testing.T, e Engine) {
		x := mustCompile(t, e, mustProgram(t, greatest))
		for _, at := range []int{0, 900, 1999} {
			d := someUpdates(2000, 20)
			d.x[at] = 98
			for _, threads := range []int{1, 2, 7} {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
				if _, err := x.Run(ctx, d.bind(x), Options{Threads: threads}); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%d threads: error %v", threads, err)
				}
				cancel()
			}
		}
	})
}

// TestCopiesPassPanicsOn has a kernel that panics on some thread.
func TestCopiesPassPanicsOn(t *testing.T) {
	severalThreads(t)
	d := someUpdates(50, 10)
	x := withKernels(t, mustProgram(t, greatest), nothing, func(_ *frame, chunk, _, _ int64) int64 {
		if chunk == 5 {
			panic("out of tea")
		}
		return 0
	}, nothing, nothing)
	for _, threads := range []int{2, 7} {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, "out of tea") {
					t.Errorf("%d threads: recovered %v", threads, v)
				}
			}()
			x.Run(context.Background(), d.bind(x), Options{Threads: threads})
		}()
	}
}

// TestCopiesText reads back what is printed.
func TestCopiesText(t *testing.T) {
	p := mustProgram(t, greatest)
	again, err := loop.ParseProgram(p.String())
	if err != nil || again.String() != p.String() || again.Stages[1].Copies == nil {
		t.Errorf("%v\n%s", err, p)
	}
}

// TestFill repeats elements of all sizes.
func TestFill(t *testing.T) {
	for _, c := range []*loop.Const{
		loop.Truth(true), loop.Number(loop.I8, -128), loop.Number(loop.U16, 513), loop.Float(loop.F32, math.Inf(1)),
		loop.Float(loop.F64, -2), {Typ: loop.C64, Bits: 1, Imag: 2}, {Typ: loop.C128, Bits: 3, Imag: 1 << 60},
	} {
		element := bytesOfConst(c)
		if len(element) != c.Typ.Size() {
			t.Fatalf("%v has %d bytes", c, len(element))
		}
		for _, n := range []int{0, 1, 2, 511, 512, 513, 5000} {
			to := bytes.Repeat([]byte{77}, n*len(element))
			fill(to, element)
			if !bytes.Equal(to, bytes.Repeat(element, n)) {
				t.Errorf("%d times %v: %v", n, c, to)
			}
			fill(to, nil)
			if !bytes.Equal(to, make([]byte, len(to))) {
				t.Errorf("%d times zero: %v", n, to)
			}
		}
	}
	if x := SliceOf[float64](Memory{Ptr: MemoryOf(bytesOfConst(loop.Float(loop.F64, 2.5))).Ptr, Len: 1}); x[0] != 2.5 {
		t.Errorf("2.5 is %v in memory", x[0])
	}
}
