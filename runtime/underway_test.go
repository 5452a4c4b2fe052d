package runtime

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
	"unsafe"
)

// Runs one after the other need not wait for each other: what reads the last result otherwise, waits for all of them, and what was freed meanwhile
// stays until then.
func TestRunsUnderWay(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, b := deviceSpmv(t, e, 3)
	vec := onDevice(t, e, []float64{1, 10, 100})
	run := func(under *Underway, m Memory) Memory {
		t.Helper()
		mine := &Bindings{Buffers: slices.Clone(b.Buffers), Scalars: slices.Clone(b.Scalars)}
		mine.Buffers[3], mine.Scalars[1] = m, m.Len
		r, err := x.Run(t.Context(), mine, Options{Resident: true, Sure: true, Underway: under})
		if err != nil {
			t.Fatal(err)
		}
		return r.Buffers[4]
	}
	for _, read := range []string{"Fetch", "another run", "Wait"} {
		var under Underway
		first := run(&under, Memory{Len: 3, On: vec})
		if under.q == nil || first.On.at.under != &under || len(under.q.(*simulatedQueue).todo) == 0 {
			t.Fatal("a run with results on the device has waited for them")
		}
		alive := e.alive()
		again := run(&under, Memory{Len: 3, On: vec})
		again.On.Free()
		if e.alive() <= alive {
			t.Error("an array went before what writes it was done")
		}
		switch read {
		case "another run":
			mine := &Bindings{Buffers: slices.Clone(b.Buffers), Scalars: slices.Clone(b.Scalars)}
			mine.Buffers[0], mine.Buffers[1] = MemoryOf([]uint32{0, 1, 2}), MemoryOf([]uint32{1, 0})
			mine.Buffers[3], mine.Scalars[1] = first, 2
			r, err := x.Run(t.Context(), mine, Options{})
			if err != nil || !slices.Equal(SliceOf[float64](r.Buffers[4]), []float64{30, 402}) {
				t.Errorf("a run that is apart reads %v, %v", r, err)
			}
		case "Wait":
			if err := under.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		}
		p, err := first.On.Fetch()
		if y := (Memory{Ptr: p, Len: 2}); err != nil || !slices.Equal(SliceOf[float64](y), []float64{201, 30}) {
			t.Errorf("y = %v, %v", SliceOf[float64](y), err)
		}
		if !under.ended() || under.q != nil {
			t.Errorf("after %s the work is still under way", read)
		}
		if late := run(&under, Memory{Len: 3, On: vec}); late.On.at.under != nil {
			t.Error("a run is under way whose end nobody waits for")
		} else {
			late.On.Free()
		}
		first.On.Free()
	}
	vec.Free()
	e.nothingAlive(t)
}

// A context that ends while somebody waits is told; what the work uses is held until it is done.
func TestUnderwayIsCancelled(t *testing.T) {
	e := newSimulated(simulatedMemory)
	d := slowDevice{e, make(chan struct{})}
	x, err := compileGrid(t.Context(), SimulatedName, forEngine(d, spmvProgram(t)), d)
	if err != nil {
		t.Fatal(err)
	}
	_, b := deviceSpmv(t, e, 3)
	var under Underway
	r, err := x.Run(t.Context(), b, Options{Resident: true, Sure: true, Underway: &under})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := under.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	r.Buffers[4].On.Free()
	if e.alive() == 0 {
		t.Error("an array went before what writes it was done")
	}
	close(d.done)
	e.nothingAlive(t)
}

// slowDevice waits for a signal, or for the context.
type slowDevice struct {
	simulated
	done chan struct{}
}

func (d slowDevice) queue(ctx context.Context) (queue, error) {
	q, err := d.simulated.queue(ctx)
	return slowQueue{q, d}, err
}

type slowQueue struct {
	queue
	d slowDevice
}

func (q slowQueue) publish(ctx context.Context) error { return q.wait(ctx) }

func (q slowQueue) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-q.d.done:
		return q.queue.wait(ctx)
	}
}

func (q slowQueue) download(ctx context.Context, to unsafe.Pointer, b block, offset, bytes int64) error {
	if err := q.wait(ctx); err != nil {
		return err
	}
	return q.queue.download(ctx, to, b, offset, bytes)
}

// A run that is cancelled while it fetches its results leaves its work under way.
func TestUnderwayOutlastsCancelledRuns(t *testing.T) {
	e := newSimulated(simulatedMemory)
	d := slowDevice{e, make(chan struct{})}
	x, err := compileGrid(t.Context(), SimulatedName, forEngine(d, scaleProgram(t)), d) // which does not fail
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBindings()
	b.Buffers[0], b.Buffers[1], b.Scalars[0] = MemoryOf([]float64{1, 2}), MemoryOf([]float64{0, 0}), 2
	var under Underway
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := x.Run(ctx, b, Options{Sure: true, Underway: &under}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := under.Wait(ctx); !errors.Is(err, context.Canceled) || under.ended() {
		t.Errorf("the work is taken to be done, with %v", err)
	}
	close(d.done)
	e.nothingAlive(t)
}

// Who has no time left does not wait behind somebody else's back for the end of the work.
func TestUnderwayWithoutTime(t *testing.T) {
	var under Underway
	under.mu.Lock() // as whoever waits for the end of abandoned work does
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := under.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	under.mu.Unlock()
	if err := under.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}
