package runtime

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

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

// A hint is the element of what follows from an array that is the run's own or stays, for which runs wait until they know it; it is the other value for
// what others may change, and for what comes in line after the work that makes it.
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
	for range 3 {
		if got := run(Memory{Len: 3, On: foreign}, Options{}); got != 99 {
			t.Errorf("of what others may change: %d, want 99", got)
		}
	}
	var under Underway
	o := Options{Resident: true, Sure: true, Underway: &under}
	for range 3 {
		if got := run(there, o); got != 7 {
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
