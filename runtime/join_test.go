package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// positives is a program that keeps the positive elements of the rows of x: list 0 has
// them, by rows in ends, list 1 has the rows that have any, with how many these have. It
// fails at an element of 99, and takes very long at one of 98.
const positives = `program p {
  scalar n bound
  scalar chunks
  scalar chunk
  scalar lo
  scalar hi
  scalar entries
  scalar nonempty
  buffer pos: []u32 input
  buffer x: []f64 input
  buffer ends: []u64 output
  buffer vals: []f64 output
  buffer rows: []u32 output
  buffer counts: []u64 output
  buffer totals: []i64 temp
  partition cut of n weights pos grain 1 chunks chunks
  stage allocate {
    alloc ends[n + 1] zero
    alloc vals[pos[n]]
    alloc rows[pos[n]]
    alloc counts[pos[n] + 1] zero
  }
  stage append over cut ordered {
    alloc totals[2] zero
    join totals of chunk, lo, hi room pos[hi] - pos[lo] {
      move vals[0] of 0
      move rows[0] of 1
      move counts[1] of 1
      shift ends
    }
    run(pos, x, ends, vals, rows, counts, totals)
    func append(readonly pos: []u32, readonly x: []f64, ends: []u64, vals: []f64, rows: []u32, counts: []u64, totals: []i64) chunk c, first, end {
      var k: i64 = totals[0]
      var r: i64 = totals[1]
      for i = first to end {
        let before: i64 = k
        for p = i64(pos[i]) to i64(pos[i + 1]) {
          if x[p] == 99.0 { fail 0 "ninety-nine" }
          if x[p] == 98.0 {
            var spin: i64 = 0
            while spin >= 0 { spin = (spin + 3) & 1023 }
          }
          if x[p] > 0.0 {
            vals[k] = x[p]
            k = k + 1
          }
        }
        ends[i + 1] = u64(k)
        if k > before {
          counts[r + 1] = u64(k - before)
          rows[r] = u32(i)
          r = r + 1
        }
      }
      totals[0] = k
      totals[1] = r
    }
  }
  stage trim {
    let entries = totals[0]
    let nonempty = totals[1]
    trim vals[entries]
    trim rows[nonempty]
    trim counts[nonempty + 1]
  }
}`

// joinedRows are the operands of positives.
type joinedRows struct {
	name string
	pos  []uint32
	x    []float64
}

func (d *joinedRows) bind(x *Executable) *Bindings {
	b := x.NewBindings()
	b.Buffers[0], b.Buffers[1] = MemoryOf(d.pos), MemoryOf(d.x)
	b.Scalars[0] = int64(len(d.pos) - 1)
	return b
}

// rowsOf makes rows of the given lengths, with a share of positive elements.
func rowsOf(name string, share float64, lengths ...int) *joinedRows {
	r := rand.New(rand.NewPCG(1, uint64(len(lengths))))
	d := &joinedRows{name: name, pos: []uint32{0}}
	for _, n := range lengths {
		for range n {
			v := float64(1 + r.IntN(50))
			if r.Float64() >= share {
				v = -v
			}
			d.x = append(d.x, v)
		}
		d.pos = append(d.pos, uint32(len(d.x)))
	}
	return d
}

func joinCases() []*joinedRows {
	r := rand.New(rand.NewPCG(2, 3))
	random, gaps := make([]int, 300), make([]int, 300)
	for i := range random {
		random[i] = r.IntN(20)
		if i > 100 && i < 250 {
			gaps[i] = r.IntN(9)
		}
	}
	one := make([]int, 100)
	one[40] = 3000
	return []*joinedRows{
		rowsOf("random", 0.5, random...), rowsOf("all kept", 1, random...), rowsOf("none kept", 0, random...),
		rowsOf("gaps at both ends", 0.5, gaps...), rowsOf("one row", 0.5, one...), rowsOf("a row", 0.5, 7),
		rowsOf("empty rows", 1, make([]int, 50)...), rowsOf("no rows", 1),
	}
}

// severalThreads lets runs use more threads than there may be processors.
func severalThreads(t *testing.T) {
	old := goruntime.GOMAXPROCS(8)
	t.Cleanup(func() { goruntime.GOMAXPROCS(old) })
}

// TestJoin compares the lists that several threads append to with those of one, also
// where only the thread in front may run large chunks.
func TestJoin(t *testing.T) {
	severalThreads(t)
	defer func(slot, all, shared int64) { maxSlot, minSlots, largestShared = slot, all, shared }(maxSlot, minSlots, largestShared)
	eachEngine(t, func(t *testing.T, e Engine) {
		for _, grain := range []int64{1, 10, 100} {
			p := mustProgram(t, positives)
			p.Partitions[0].Grain = grain
			x := mustCompile(t, e, p)
			for _, d := range joinCases() {
				want := mustRun(t, x, d.bind(x), Options{Threads: 1})
				for _, slot := range []int64{16 << 20, 200, 1} {
					maxSlot, minSlots, largestShared = slot, slot, slot*10 // 2000 bytes are exceeded by some of the lists
					for _, threads := range []int{2, 3, 7} {
						got := mustRun(t, x, d.bind(x), Options{Threads: threads})
						for id := 2; id < 6; id++ {
							if size := x.plan.elemSize[id]; !slices.Equal(bytesAt(got.Buffers[id], size), bytesAt(want.Buffers[id], size)) {
								t.Errorf("%s, grain %d, slots of %d bytes, %d threads: %s differs", d.name, grain, slot, threads, p.Buffers[id].Name)
							}
						}
					}
				}
			}
		}
	})
}

// TestJoinExactly runs chunks of which it is known how much they append, and finds those
// that append less.
func TestJoinExactly(t *testing.T) {
	severalThreads(t)
	x := mustCompile(t, Interp(), mustProgram(t, exactly))
	lengths := []int{5, 0, 30, 1, 1, 0, 9, 70, 3}
	all := rowsOf("all", 1, lengths...)
	for _, threads := range []int{1, 2, 3, 7} {
		got := mustRun(t, x, all.bind(x), Options{Threads: threads})
		if !slices.Equal(SliceOf[float64](got.Buffers[2]), all.x) {
			t.Errorf("%d threads: %v", threads, SliceOf[float64](got.Buffers[2]))
		}
	}
	fewer := rowsOf("fewer", 0.5, lengths...)
	_, err := x.Run(context.Background(), fewer.bind(x), Options{Threads: 3})
	if !errors.Is(err, ErrInexact) {
		t.Errorf("chunks that append too little: error %v", err)
	}
}

// exactly keeps elements like positives, where all are positive.
const exactly = `program p {
  scalar n bound
  scalar chunks
  scalar chunk
  scalar lo
  scalar hi
  buffer pos: []u32 input
  buffer x: []f64 input
  buffer vals: []f64 output
  buffer totals: []i64 temp
  partition cut of n weights pos grain 2 chunks chunks
  stage append over cut ordered {
    alloc vals[pos[n]]
    alloc totals[1] zero
    join totals of chunk, lo, hi exactly pos[hi] - pos[lo] {
      move vals[0] of 0
    }
    run(pos, x, vals, totals)
    func append(readonly pos: []u32, readonly x: []f64, vals: []f64, totals: []i64) chunk c, first, end {
      var k: i64 = totals[0]
      for p = i64(pos[first]) to i64(pos[end]) {
        if x[p] > 0.0 {
          vals[k] = x[p]
          k = k + 1
        }
      }
      totals[0] = k
    }
  }
}`

// TestJoinReportsFirstFailure has several elements that chunks fail at.
func TestJoinReportsFirstFailure(t *testing.T) {
	severalThreads(t)
	x := mustCompile(t, Interp(), mustProgram(t, positives))
	d := joinCases()[0]
	d.x[len(d.x)/3], d.x[len(d.x)/3+40], d.x[len(d.x)-1] = 99, 99, 99
	var first KernelError
	for _, threads := range []int{1, 2, 3, 7} {
		for range 20 {
			_, err := x.Run(context.Background(), d.bind(x), Options{Threads: threads})
			var failed *KernelError
			if !errors.As(err, &failed) {
				t.Fatalf("%d threads: error %v", threads, err)
			}
			if first == (KernelError{}) {
				first = *failed
			}
			if *failed != first {
				t.Errorf("%d threads: %v, want %v", threads, failed, &first)
			}
		}
	}
}

// TestJoinIsCancelled stops a chunk that does not end while others wait for it.
func TestJoinIsCancelled(t *testing.T) {
	severalThreads(t)
	eachEngine(t, func(t *testing.T, e Engine) {
		x := mustCompile(t, e, mustProgram(t, positives))
		for _, at := range []int{0, 1000} {
			d := joinCases()[0]
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

// TestJoinStopsBetweenChunks cancels a run during one of its chunks, which fails unless
// it was the last.
func TestJoinStopsBetweenChunks(t *testing.T) {
	severalThreads(t)
	p := mustProgram(t, positives)
	d := joinCases()[0]
	for _, threads := range []int{1, 2, 7} {
		for last, want := range []error{context.Canceled, nil} {
			var chunks, ran atomic.Int64
			chunks.Store(40)
			ctx, cancel := context.WithCancel(context.Background())
			x := withKernels(t, p, func(*frame, int64, int64, int64) int64 {
				if ran.Add(1) == chunks.Load() {
					cancel()
				}
				return 0
			})
			if last == 1 {
				chunks.Store(math.MaxInt64)
				mustRun(t, x, d.bind(x), Options{Threads: 1})
				chunks.Store(ran.Swap(0))
			}
			if _, err := x.Run(ctx, d.bind(x), Options{Threads: threads}); err != want {
				t.Errorf("%d threads, cancelled in chunk %d: error %v, want %v", threads, chunks.Load(), err, want)
			}
			cancel()
		}
	}
}

// TestJoinPassesPanicsOn has a kernel that panics while other threads wait.
func TestJoinPassesPanicsOn(t *testing.T) {
	severalThreads(t)
	d := joinCases()[0]
	for _, threads := range []int{2, 7} {
		x := withKernels(t, mustProgram(t, positives), func(_ *frame, chunk, _, _ int64) int64 {
			if chunk == 5 {
				panic("out of coffee")
			}
			return 0
		})
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, "out of coffee") {
					t.Errorf("%d threads: recovered %v", threads, v)
				}
			}()
			x.Run(context.Background(), d.bind(x), Options{Threads: threads})
		}()
	}
}

// TestJoinWithoutMemoryForSlots runs in order where the limit leaves no room for slots.
func TestJoinWithoutMemoryForSlots(t *testing.T) {
	severalThreads(t)
	x := mustCompile(t, Interp(), mustProgram(t, positives))
	d := joinCases()[0]
	want := mustRun(t, x, d.bind(x), Options{Threads: 1})
	lists := alloc.Padded(int64(len(d.pos)*8)) + 2*alloc.Padded(int64(len(d.x)*8+8)) + alloc.Padded(int64(len(d.x)*4)) + alloc.Align
	got := mustRun(t, x, d.bind(x), Options{Threads: 3, MemoryLimit: lists})
	if !slices.Equal(SliceOf[float64](got.Buffers[3]), SliceOf[float64](want.Buffers[3])) {
		t.Error("the lists differ")
	}
}

// TestJoinText reads back what is printed.
func TestJoinText(t *testing.T) {
	for _, src := range []string{positives, exactly} {
		p := mustProgram(t, src)
		again, err := loop.ParseProgram(p.String())
		if err != nil || again.String() != p.String() || p.Stages[len(p.Stages)-1].Join == nil && p.Stages[1].Join == nil {
			t.Errorf("%v\n%s", err, p)
		}
	}
}
