package runtime

import (
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file tests hints: elements that a size reads where a run knows them (sizes.go), on all engines.

// hintProgram tells how large it takes the largest element of p to be.
func hintProgram(t testing.TB) *loop.Program {
	t.Helper()
	p, err := loop.ParseProgram(`program y {
  scalar n bound
  scalar known
  buffer y: []i64 output
  buffer p: []i64 input
  buffer largest: []i64 temp
  stage largest symbolic {
    alloc largest[1]
    run(p, largest; n)
    func largest(readonly p: []i64, largest: []i64; n: i64) chunk c, lo, hi {
      var most: i64 = 0
      for i = 0 to n {
        most = max(most, p[i])
      }
      largest[0] = most
    }
  }
  stage compute {
    let known = hint(largest[0], 99)
    alloc y[1]
    run(y; known)
    func compute(y: []i64; known: i64) chunk c, lo, hi {
      y[0] = known
    }
  }
}`)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A hint is the element, which runs wait for until they know it of an array that stays, and each time of one that others may write.
func TestHints(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, err := e.Compile(t.Context(), forEngine(e, hintProgram(t)))
	if err != nil {
		t.Fatal(err)
	}
	run := func(p Memory, o Options) int64 {
		t.Helper()
		b := x.NewBindings()
		b.Buffers[1], b.Scalars[0] = p, p.Len
		r, err := x.Run(t.Context(), b, o)
		if err != nil {
			t.Fatal(err)
		}
		m := r.Buffers[0]
		if m.On != nil {
			all, err := contents(m, 8)
			if err != nil {
				t.Fatal(err)
			}
			m = MemoryOf([]int64{int64(all[0])})
		}
		return SliceOf[int64](m)[0]
	}
	list := []int64{4, 7, 2}
	here := MemoryOf(list)
	there := here
	there.On = onDevice(t, e, list)
	for turn, m := range []Memory{here, there, there, there, here, there} {
		if got := run(m, Options{}); got != 7 {
			t.Errorf("turn %d: %d, want 7", turn, got)
		}
	}
	for as, r := range there.On.at.remembered {
		if got, known := r.blocks[0].element(0); !known || got != 7 {
			t.Errorf("what is remembered as %v has the element %d, %t", as, got, known)
		}
	}
	foreign, err := ForeignResident(e, there.On.Address(), 24)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]int64{{4, 7, 2}, {4, 7, 2}, {9, 7, 2}, {1, 2, 3}} {
		q, err := e.queue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := q.upload(there.On.at.at, MemoryOf(list).Ptr, 24); err != nil {
			t.Fatal(err)
		}
		q.close()
		if got, want := run(Memory{Len: 3, On: foreign}, Options{}), slices.Max(list); got != want {
			t.Errorf("of what others may write, %v: %d, want %d", list, got, want)
		}
	}
	if got := run(Memory{Len: 0, On: foreign}, Options{}); got != 0 {
		t.Errorf("of nothing: %d, want 0", got)
	}
	var under Underway
	o := Options{Resident: true, Sure: true, Underway: &under}
	for range 3 {
		if got := run(here, o); got != 7 {
			t.Errorf("under way: %d, want 7", got)
		}
	}
	there.On.Free()
	if err := under.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Where all memory is the process's, hints are read.
func TestHintsOfEngines(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		x, err := e.Compile(t.Context(), forEngine(e, hintProgram(t)))
		if err != nil {
			t.Fatal(err)
		}
		b := x.NewBindings()
		b.Buffers[1], b.Scalars[0] = MemoryOf([]int64{4, 7, 2}), 3
		r, err := x.Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := SliceOf[int64](r.Buffers[0])[0]; got != 7 {
			t.Errorf("%d, want 7", got)
		}
	})
}
