package runtime

import (
	"context"
	"errors"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// alive is the number of blocks that a simulated device has given out.
func (e simulated) alive() int {
	e.memory.mu.Lock()
	defer e.memory.mu.Unlock()
	return len(e.memory.list)
}

// nothingAlive fails the test if a block is not given back soon.
func (e simulated) nothingAlive(t *testing.T) {
	t.Helper()
	for range 200 {
		if e.alive() == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d blocks are not given back", e.alive())
}

// onDevice uploads a slice.
func onDevice[E any](t testing.TB, e Engine, s []E) *Resident {
	t.Helper()
	r, err := Upload(t.Context(), e, unsafe.Pointer(unsafe.SliceData(s)), int64(len(s))*int64(unsafe.Sizeof(*new(E))))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// deviceSpmv is y = A x for A = [[1 0 2] [0 3 0]] on a device; x has the given length.
func deviceSpmv(t testing.TB, e Engine, n int) (*Executable, *Bindings) {
	t.Helper()
	x, err := e.Compile(t.Context(), forEngine(e, spmvProgram(t)))
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBindings()
	b.Buffers[0] = MemoryOf([]uint32{0, 2, 3})
	b.Buffers[1] = MemoryOf([]uint32{0, 2, 1})
	b.Buffers[2] = MemoryOf([]float64{1, 2, 3})
	b.Buffers[3] = MemoryOf([]float64{1, 10, 100}[:n])
	b.Scalars[0], b.Scalars[1] = 2, int64(n)
	return x, b
}

func TestDeviceRun(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, b := deviceSpmv(t, e, 3)
	for _, o := range []Options{{}, {Resident: true}} {
		r, err := x.Run(t.Context(), b, o)
		if err != nil {
			t.Fatal(err)
		}
		y := r.Buffers[4]
		if o.Resident {
			if y.Ptr != nil || y.On == nil || !y.On.On(e) {
				t.Fatalf("the result is %+v, want it on the device", y)
			}
			if y.Ptr, err = y.On.Fetch(); err != nil {
				t.Fatal(err)
			}
			y.On.Free()
		}
		if got := SliceOf[float64](y); !slices.Equal(got, []float64{201, 30}) {
			t.Errorf("y = %v", got)
		}
		e.nothingAlive(t)
	}
}

// A kernel that fails has its message and its stage, and later stages do nothing.
func TestDeviceFailure(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, b := deviceSpmv(t, e, 2)
	for _, o := range []Options{{}, {Resident: true}} {
		_, err := x.Run(t.Context(), b, o)
		var k *KernelError
		if !errors.As(err, &k) || k.Message != "column index out of range" || k.Program != "spmv" {
			t.Errorf("got %v, want the kernel's message", err)
		}
		e.nothingAlive(t)
	}
	b.Buffers[3], b.Scalars[1] = MemoryOf([]float64{1, 10, 100}), 3
	if _, err := x.Run(t.Context(), b, Options{}); err != nil {
		t.Errorf("after a failure: %v", err)
	}
}

// Memory that does not suffice is an error that names need and free, and nothing is
// left on the device.
func TestDeviceOutOfMemory(t *testing.T) {
	e := newSimulated(400)
	x, b := deviceSpmv(t, e, 3)
	b.Buffers[3], b.Scalars[1] = MemoryOf(make([]float64, 100)), 100
	_, err := x.Run(t.Context(), b, Options{})
	var m *MemoryLimitError
	if !errors.As(err, &m) || m.Buffer != "x" || m.Need != 800 || !strings.Contains(err.Error(), "free of 400 B") {
		t.Errorf("got %v, want one that says that x needs 800 B", err)
	}
	e.nothingAlive(t)
	if _, err := Upload(t.Context(), e, unsafe.Pointer(&make([]byte, 500)[0]), 500); !errors.As(err, &m) || m.Need != 500 {
		t.Errorf("got %v, want a MemoryLimitError", err)
	}
}

func TestDeviceMemoryLimit(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, b := deviceSpmv(t, e, 3)
	_, err := x.Run(t.Context(), b, Options{MemoryLimit: 32})
	var m *MemoryLimitError
	if !errors.As(err, &m) || m.Limit != 32 || m.Source != limitOption {
		t.Errorf("got %v, want a MemoryLimitError of 32 bytes", err)
	}
	e.nothingAlive(t)
}

// Residents that are forgotten make room for an allocation that would fail.
func TestForgottenResidentsMakeRoom(t *testing.T) {
	e := newSimulated(1 << 20)
	for range 20 {
		onDevice(t, e, make([]byte, 1<<18))
	}
	goruntime.GC()
	e.nothingAlive(t)
}

// stopping ends a context with the first launch, and counts launches.
type stopping struct {
	simulated
	cancel   context.CancelFunc
	launches *int
}

func (e stopping) queue(ctx context.Context) (queue, error) {
	q, err := e.simulated.queue(ctx)
	return stoppingQueue{q, e}, err
}

type stoppingQueue struct {
	queue
	e stopping
}

func (q stoppingQueue) launch(k gridKernel, blocks int64, c *gridCall) error {
	*q.e.launches++
	q.e.cancel()
	return q.queue.launch(k, blocks, c)
}

// A context that ends is seen before the next stage.
func TestDeviceCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := stopping{newSimulated(simulatedMemory), cancel, new(int)}
	x, err := compileGrid(t.Context(), SimulatedName, forEngine(e, filterProgram(t)), e)
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBindings()
	values := []float64{1, -1, 2}
	r := onDevice(t, e.simulated, values)
	b.Buffers[0], b.Scalars[0] = MemoryOf(values), 3
	if _, err := x.Run(ctx, b, Options{}); !errors.Is(err, context.Canceled) || *e.launches != 1 {
		t.Errorf("got %v after %d launches, want %v after 1", err, *e.launches, context.Canceled)
	}
	r.Free()
	e.nothingAlive(t)
}

// Many goroutines run a program on arrays that others free: each run is right or
// refused, and in the end nothing is left.
func TestDeviceConcurrency(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, b := deviceSpmv(t, e, 3)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				vals, vec := onDevice(t, e, []float64{1, 2, 3}), onDevice(t, e, []float64{1, 10, 100})
				mine := &Bindings{Buffers: slices.Clone(b.Buffers), Scalars: b.Scalars}
				mine.Buffers[2] = Memory{Len: 3, On: vals}
				mine.Buffers[3] = Memory{Len: 3, On: vec}
				var free sync.WaitGroup
				free.Go(vals.Free)
				free.Go(vec.Free)
				r, err := x.Run(t.Context(), mine, Options{})
				free.Wait()
				var refused *BindingError
				switch {
				case errors.As(err, &refused):
				case err != nil:
					t.Error(err)
				case !slices.Equal(SliceOf[float64](r.Buffers[4]), []float64{201, 30}):
					t.Errorf("y = %v", SliceOf[float64](r.Buffers[4]))
				}
			}
		})
	}
	wg.Wait()
	e.nothingAlive(t)
}

// One array may be bound twice and freed meanwhile.
func TestResidentUses(t *testing.T) {
	e := newSimulated(simulatedMemory)
	r := onDevice(t, e, []float64{1})
	for use := range 2 {
		if !r.at.use(nil) {
			t.Fatalf("an array cannot be used %d times", use+1)
		}
	}
	r.Free()
	r.Free()
	if r.at.use(nil) {
		t.Error("an array is used after it was freed")
	}
	r.at.done()
	if e.alive() != 1 {
		t.Error("an array went while it was used")
	}
	r.at.done()
	e.nothingAlive(t)
	if _, err := r.Fetch(); err == nil {
		t.Error("an array was read after it was freed")
	}
}

// Arrays of another device, too short ones, and those of a device where the processor
// computes are refused unless this process has the elements too.
func TestDeviceBindings(t *testing.T) {
	e, other := newSimulated(simulatedMemory), newSimulated(simulatedMemory)
	x, onGrid := deviceSpmv(t, e, 3)
	vec := []float64{1, 10, 100}
	refuse := func(x *Executable, b *Bindings, m Memory, want string) {
		t.Helper()
		b.Buffers[3] = m
		var refused *BindingError
		if _, err := x.Run(t.Context(), b, Options{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want one with %q", err, want)
		}
	}
	refuse(x, onGrid, Memory{Len: 3, On: onDevice(t, other, vec)}, "has no memory")
	refuse(x, onGrid, Memory{Len: 3, On: onDevice(t, e, vec[:2])}, "on the device")
	host, here := deviceSpmv(t, Interp(), 3)
	refuse(host, here, Memory{Len: 3, On: onDevice(t, e, vec)}, "has no memory")
	for x, b := range map[*Executable]*Bindings{x: onGrid, host: here} {
		b.Buffers[3] = MemoryOf(vec)
		b.Buffers[3].On = onDevice(t, other, vec)
		if _, err := x.Run(t.Context(), b, Options{}); err != nil {
			t.Error(err)
		}
	}
}

// What is written in place is the caller's memory, not a copy on the device.
func TestDeviceInOut(t *testing.T) {
	e := newSimulated(simulatedMemory)
	x, err := e.Compile(t.Context(), forEngine(e, scaleProgram(t)))
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBindings()
	y := []float64{0, 0}
	copied := onDevice(t, e, y)
	b.Buffers[0], b.Buffers[1], b.Scalars[0] = MemoryOf([]float64{1, 2}), MemoryOf(y), 2
	b.Buffers[1].On = copied
	if _, err := x.Run(t.Context(), b, Options{}); err != nil || !slices.Equal(y, []float64{2, 4}) {
		t.Errorf("y = %v, %v", y, err)
	}
	p, err := copied.Fetch()
	if err != nil || !slices.Equal(unsafe.Slice((*float64)(p), 2), []float64{0, 0}) {
		t.Errorf("the copy was written, %v", err)
	}
	b.Buffers[1] = Memory{Len: 2, On: copied}
	var refused *BindingError
	if _, err := x.Run(t.Context(), b, Options{}); !errors.As(err, &refused) {
		t.Errorf("got %v, want a refusal", err)
	}
}

// A product with few entries is one launch: each takes longer than the work. With many entries,
// or rows that are long on average, it is the length of the longest row, the starts of tiles, the tiles and what goes
// beyond them, or one launch for all rows after the first two, if none is long.
func TestLaunchesOfProducts(t *testing.T) {
	e := stopping{newSimulated(simulatedMemory), func() {}, new(int)}
	p := spmvProgram(t)
	p.Stages[0].Func = mustFunc(t, `func spmv(readonly pos: []u32, readonly crd: []u32, readonly vals: []f64, readonly x: []f64, y: []f64; n: i64) chunk c, lo, hi {
		for i = lo to hi {
			var s: f64 = 0.0
			for p = i64(pos[i]) to i64(pos[i + 1]) {
				s = s + vals[p] * x[i64(crd[p])]
			}
			y[i] = s
		}
	}`)
	x, err := compileGrid(t.Context(), SimulatedName, forEngine(e, p), e)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ rows, each, want int }{
		{0, 0, 0}, {5, 0, 1}, {300, 3, 1}, {4, 256, 1}, {2, 257, 3}, {205, 5, 4}, {900, 2, 4}, {1100, 1, 3},
	} {
		pos, crd, vals := make([]uint32, c.rows+1), make([]uint32, c.rows*c.each), make([]float64, c.rows*c.each)
		for i := range c.rows {
			pos[i+1] = pos[i] + uint32(c.each)
		}
		for k := range crd {
			crd[k], vals[k] = uint32(k%3), float64(k/max(c.each, 1))
		}
		b := x.NewBindings()
		for i, m := range []Memory{MemoryOf(pos), MemoryOf(crd), MemoryOf(vals), MemoryOf([]float64{1, 1, 1})} {
			b.Buffers[i] = m
		}
		b.Scalars[0], b.Scalars[1] = int64(c.rows), 3
		*e.launches = 0
		r, err := x.Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if *e.launches != c.want {
			t.Errorf("%d rows of %d: %d launches, want %d", c.rows, c.each, *e.launches, c.want)
		}
		for i, y := range SliceOf[float64](r.Buffers[4]) {
			if y != float64(i*c.each) {
				t.Fatalf("%d rows of %d: y[%d] = %v, want %d", c.rows, c.each, i, y, i*c.each)
			}
		}
	}
}

// What stands in for a function while it is compiled must store the same.
func TestQuickFunctionsAreCompared(t *testing.T) {
	store := func(factor string) *loop.Func {
		return mustFunc(t, `func store(readonly x: []f64, y: []f64) grid threads 32 {
			y[thread()] = `+factor+` * x[thread()]
		}`)
	}
	for factor, want := range map[string]string{"2.0": "", "3.0": "the quick function of store stores something else in its parameter 1"} {
		p := &loop.Program{
			Name:    "quick",
			Buffers: []loop.Buffer{{Name: "x", Elem: loop.F64, Role: loop.Input}, {Name: "y", Elem: loop.F64, Role: loop.InOut}},
			Stages:  []loop.Stage{{Name: "store", Partition: -1, Func: store("2.0"), Bufs: []loop.BufferID{0, 1}, Blocks: loop.SizeConst(1)}},
		}
		p.Stages[0].Func.Quick = store(factor)
		x := mustCompile(t, newSimulated(simulatedMemory), p)
		b := x.NewBindings()
		in, out := make([]float64, 32), make([]float64, 32)
		in[31] = 21
		b.Buffers[0], b.Buffers[1] = MemoryOf(in), MemoryOf(out)
		_, err := x.Run(t.Context(), b, Options{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if err == nil && out[31] != 42 {
			t.Errorf("got %v, want 42", out[31])
		}
	}
}
