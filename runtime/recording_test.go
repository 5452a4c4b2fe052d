package runtime

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

// A recording is played on other arrays in the places of some, not where one is gone or memory is short, and leaves nothing behind.
func TestPlay(t *testing.T) {
	e := newSimulated(1 << 16)
	x, b := deviceSpmv(t, e, 3)
	vecs := []*Resident{onDevice(t, e, []float64{1, 10, 100}), onDevice(t, e, []float64{2, 20, 200})}
	for i, r := range []*Resident{onDevice(t, e, []uint32{0, 2, 3}), onDevice(t, e, []uint32{0, 2, 1}), onDevice(t, e, []float64{1, 2, 3}), vecs[0]} {
		b.Buffers[i].On = r
	}
	var rec Recording
	under := Underway{Recording: &rec}
	first, err := x.Run(t.Context(), b, Options{Resident: true, Sure: true, Underway: &under})
	if err == nil {
		err = under.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	rec.Result(first.Buffers[4].On)
	values := b.Buffers[2].On
	if may := rec.Exchange([]*Resident{values, vecs[0]}, []bool{false, true}); !slices.Equal(may, []bool{false, true}) || !rec.Good() {
		t.Fatalf("of the arrays may be exchanged %v; good: %v", may, rec.Good())
	}
	first.Buffers[4].On.Free()
	alive := e.alive()
	play := func(vec *Resident) (y []float64, ok bool) {
		var under Underway
		made, ok := rec.Play(t.Context(), &under, []*Resident{vec})
		if err := under.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if !ok {
			return nil, false
		}
		p, err := made[0].Fetch()
		if err != nil {
			t.Error(err)
		}
		made[0].Free()
		return SliceOf[float64](Memory{Ptr: p, Len: 2}), true
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			want := [][]float64{{201, 30}, {402, 60}}[i%2]
			for range 20 {
				if y, ok := play(vecs[i%2]); !ok || !slices.Equal(y, want) {
					t.Errorf("y = %v, %v", y, ok)
				}
			}
		})
	}
	all.Wait()
	if e.alive() != alive {
		t.Errorf("%d blocks are left, of which %d were there before", e.alive(), alive)
	}
	q := &simulatedQueue{memory: e.memory}
	rest, err := q.alloc(e.memory.size - e.memory.used)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := play(vecs[0]); ok {
		t.Error("played without memory for the result")
	}
	q.free(rest, 0)
	values.Free()
	if _, ok := play(vecs[0]); ok {
		t.Error("played on an array that was freed")
	}
	for _, r := range []*Resident{b.Buffers[0].On, b.Buffers[1].On, vecs[0], vecs[1]} {
		r.Free()
	}
	e.nothingAlive(t)
}

// What reads something back, or brings something to the device, is not told again.
func TestNotRecorded(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, b := deviceSpmv(t, e, 3)
	for what, o := range map[string]Options{"operands are brought": {Resident: true, Sure: true}, "results are fetched": {}} {
		var rec Recording
		under := Underway{Recording: &rec}
		o.Underway = &under
		_, err := x.Run(t.Context(), b, o)
		if err = errors.Join(err, under.Wait(t.Context())); err != nil {
			t.Fatal(err)
		}
		if rec.Good() {
			t.Errorf("where %s, a run can be told again", what)
		}
	}
}
