package runtime

import (
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// rankProgram adds x in the order that p says: the places, a table that is computed from p alone, and
// values that are not.
func rankProgram(t testing.TB) *loop.Program {
	t.Helper()
	p, err := loop.ParseProgram(`program y {
  scalar n bound
  scalar chunks
  buffer y: []i64 output
  buffer p: []i64 input
  buffer x: []i64 input
  buffer half: []i64 temp
  buffer places: []i64 temp
  partition cut of n grain 1 chunks chunks
  stage halves over cut symbolic {
    alloc half[n]
    run(p, half)
    func halves(readonly p: []i64, half: []i64) chunk c, lo, hi {
      for i = lo to hi {
        half[i] = p[i] / 2
      }
    }
  }
  stage places over cut symbolic {
    alloc places[n]
    run(half, places)
    func places(readonly half: []i64, places: []i64) chunk c, lo, hi {
      for i = lo to hi {
        places[i] = half[i] + 1
      }
    }
  }
  stage compute over cut {
    alloc y[n]
    run(places, x, y; n)
    func compute(readonly places: []i64, readonly x: []i64, y: []i64; n: i64) chunk c, lo, hi {
      for i = lo to hi {
        y[i] = x[places[i] % n]
      }
    }
  }
}`)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What follows from an array that stays on a device is kept from the second run on, used by
// later ones with other values, and gone with the array.
func TestRememberedParts(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, err := e.Compile(t.Context(), forEngine(e, rankProgram(t)))
	if err != nil {
		t.Fatal(err)
	}
	l := &x.grid.memoisable
	if len(l.parts) != 1 || x.plan.program.Buffers[l.parts[0].input].Name != "p" || len(l.parts[0].kept) != 1 ||
		x.plan.program.Buffers[l.parts[0].kept[0]].Name != "places" {
		t.Fatalf("parts %+v", l.parts)
	}
	run := func(p, v Memory, n int64) []int64 {
		t.Helper()
		b := x.NewBindings()
		for id := range x.plan.program.Buffers {
			switch x.plan.program.Buffers[id].Name {
			case "p":
				b.Buffers[id] = p
			case "x":
				b.Buffers[id] = v
			}
		}
		b.Scalars[0] = n
		r, err := x.Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return SliceOf[int64](r.Buffers[0])
	}
	places := []int64{4, 0, 2, 7}
	values := MemoryOf([]int64{10, 20, 30, 40})
	want := func(n int) (list []int64) {
		for _, p := range places[:n] {
			list = append(list, int64(10*((p/2+1)%int64(n)+1)))
		}
		return list
	}
	here := MemoryOf(places)
	there := here
	there.On = onDevice(t, e, places)
	for turn, m := range []Memory{here, there, there, there, here, there} {
		if got := run(m, values, 4); !slices.Equal(got, want(4)) {
			t.Errorf("turn %d: %v, want %v", turn, got, want(4))
		}
		if kept := e.alive() - 1; kept != min(1, max(0, turn-1)) {
			t.Errorf("turn %d: %d blocks are kept", turn, kept)
		}
	}
	// Another size is computed anew.
	shorter := there
	shorter.Len = 3
	for turn := range 3 {
		v := MemoryOf([]int64{10, 20, 30})
		if got := run(shorter, v, 3); !slices.Equal(got, want(3)) {
			t.Errorf("3 of them, turn %d: %v, want %v", turn, got, want(3))
		}
	}
	forgetAll(e)
	if e.alive() != 1 {
		t.Errorf("%d blocks after all was forgotten", e.alive()-1)
	}
	for range 2 {
		run(there, values, 4)
	}
	there.On.Free()
	e.nothingAlive(t)
	if len(remembering.of) != 0 {
		t.Error("an array that was freed is remembered")
	}
}

// What somebody else may change is not relied on.
func TestForeignArraysAreNotRemembered(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, err := e.Compile(t.Context(), forEngine(e, rankProgram(t)))
	if err != nil {
		t.Fatal(err)
	}
	own := onDevice(t, e, []int64{0, 0})
	foreign, err := ForeignResident(e, own.Address(), 16)
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBindings()
	b.Buffers[1] = Memory{Len: 2, On: foreign}
	b.Buffers[2] = MemoryOf([]int64{10, 20})
	b.Scalars[0] = 2
	for _, places := range [][]int64{{0, 0}, {0, 0}, {2, 0}, {0, 2}} {
		q, err := e.queue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := q.upload(own.at.at, MemoryOf(places).Ptr, 16); err != nil {
			t.Fatal(err)
		}
		q.close()
		r, err := x.Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := []int64{10 * ((places[0]/2+1)%2 + 1), 10 * ((places[1]/2+1)%2 + 1)}
		if got := SliceOf[int64](r.Buffers[0]); !slices.Equal(got, want) {
			t.Errorf("places %v: %v, want %v", places, got, want)
		}
	}
	own.Free()
	e.nothingAlive(t)
}
