//go:build linux && (amd64 || arm64)

package runtime

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// levelAt is where a cubin of the driver without a device tells the level that it was compiled with.
const levelAt = 48

// entries are the functions that the kernels of a program run now.
func entries(x *Executable) (list []*cuda.Function) {
	for _, k := range x.grid.kernels {
		list = append(list, k.(*cudaKernel).entry.Load())
	}
	return list
}

// What is compiled first is replaced by what is compiled with care, which is also what is on
// disk; another engine takes that at once.
func TestKernelsAreImproved(t *testing.T) {
	device, disk := fakeDevice(t), newDisk(t)
	e := gpuEngine(t, device, disk)
	x := mustCompile(t, e, filterProgram(t))
	images, _ := keptImages(t, disk) // which waits
	for _, image := range images {
		if level := image.Code[levelAt]; level != 4 {
			t.Errorf("what is on disk was compiled with level %d", level)
		}
	}
	for i, k := range x.grid.kernels {
		if k := k.(*cudaKernel); k.entry.Load() == k.first {
			t.Errorf("kernel %d runs what was compiled first", i)
		}
	}
	for i, k := range mustCompile(t, gpuEngine(t, device, disk), filterProgram(t)).grid.kernels {
		if k := k.(*cudaKernel); k.entry.Load() != k.first {
			t.Errorf("kernel %d was on disk and is compiled again", i)
		}
	}
	quick, err := e.images(t.Context(), uniqueNames(x.plan.funcs), quickly)
	if err != nil {
		t.Fatal(err)
	}
	for _, image := range quick {
		if level := image.Code[levelAt]; level != 1 {
			t.Errorf("the first code was compiled with level %d", level)
		}
	}
}

// Kernels that are not improved, as the engine was closed before, run as they are. They are not
// kept: another process would never improve them.
func TestKernelsThatAreNotImproved(t *testing.T) {
	device, disk := fakeDevice(t), newDisk(t)
	e := gpuEngine(t, device, disk)
	e.later.one.Lock() // as if another program were being improved
	x := mustCompile(t, e, filterProgram(t))
	before := entries(x)
	e.later.leave()
	e.later.one.Unlock()
	Flush()
	for i, entry := range entries(x) {
		if entry != before[i] {
			t.Errorf("kernel %d was replaced", i)
		}
	}
	if list := files(t, disk, ondisk.GPUKind); len(list) != 0 {
		t.Errorf("%d programs are on disk", len(list))
	}
	if _, err := e.Compile(t.Context(), forEngine(e, scaleProgram(t))); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("got %v from an engine that was closed", err)
	}
}

// Runs go on while their kernels are replaced.
func TestRunsWhileKernelsAreImproved(t *testing.T) {
	e := gpuEngine(t, fakeDevice(t), nil)
	x, b := deviceSpmv(t, e, 3)
	for range 200 {
		if _, err := x.Run(t.Context(), b, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	Flush()
	for i, k := range x.grid.kernels {
		if k := k.(*cudaKernel); k.entry.Load() == k.first {
			t.Errorf("kernel %d runs what was compiled first", i)
		}
	}
	if _, err := x.Run(t.Context(), b, Options{}); err != nil {
		t.Fatal(err)
	}
}

// On a processor, too, code is compiled twice, if other compilations leave processors: what is on disk then is what is compiled
// where there is one code, and the code that is in its place in the end.
func TestCodeForProcessorsIsReplaced(t *testing.T) {
	useProcessors(t, 2)
	disk := newDisk(t)
	e := mustCPU(t, disk)
	x := mustCompile(t, e, sumProgram(t))
	b := x.NewBindings()
	b.Buffers[0], b.Scalars[0] = MemoryOf(slices.Repeat([]float64{0.5}, 1000)), 1000
	for range 200 { // while kernels are replaced
		if got := SliceOf[float64](mustRun(t, x, b, Options{}).Buffers[2])[0]; got != 500 {
			t.Fatalf("got %v", got)
		}
	}
	Flush()
	twice, ok := disk.Get(ondisk.ObjectKind, ondisk.ObjectKey(e.build, KeyOf(e, sumProgram(t))))
	if !ok {
		t.Fatal("nothing is on disk")
	}
	if n := e.compiling.Load(); n != 0 {
		t.Errorf("%d compilations are under way after all", n)
	}
	e.compiling.Store(1) // another one
	named := uniqueNames(x.plan.funcs)
	text, err := cpu.Emit("program", named, lib.Lookup)
	if err != nil {
		t.Fatal(err)
	}
	var once []byte
	kernels, err := e.compiledSoon(t.Context(), text, named, func(object []byte) { once = object })
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(once, twice) {
		t.Error("code that is compiled once is not what is on disk otherwise")
	}
	select {
	case <-kernels[0].(*cpuKernel).done:
	default:
		t.Error("code that is compiled once waits for better code")
	}
}

// Functions of few elements run at once, others when there is the better code; unless that came first.
func TestSettle(t *testing.T) {
	k, done := &cpuKernel{done: make(chan struct{})}, make(chan struct{})
	first, better := new(entry), new(entry)
	k.first(first)
	if k.now.Load() != first {
		t.Error("there is no first code")
	}
	few, many := &frame{bufs: make([]interp.Memory, 2)}, &frame{bufs: make([]interp.Memory, 2)}
	few.bufs[1].Len, many.bufs[0].Len, many.bufs[1].Len = fewElements, fewElements, 1
	if err := k.settle(t.Context(), few); err != nil {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.settle(cancelled, many); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	go func() {
		defer close(done)
		if err := k.settle(t.Context(), many); err != nil || k.now.Load() != better {
			t.Errorf("it did not wait: %v", err)
		}
	}()
	k.now.Store(better)
	close(k.done)
	<-done
	if k.first(first); k.now.Load() != better {
		t.Error("the first code replaces better code")
	}
}

// While better code may come each chunk is a call, so that a run under way takes it; then a call runs several.
func TestRunsUnderWayTakeBetterCode(t *testing.T) {
	e, err := CPU()
	if err != nil {
		t.Skip(err)
	}
	x := mustCompile(t, e, mustProgram(t, `program p {
  scalar n bound
  scalar chunks
  buffer x: []f64 input
  buffer y: []f64 output
  partition cut of n grain 4 chunks chunks
  stage double over cut {
    alloc y[n]
    run(x, y)
    func double(readonly x: []f64, y: []f64) chunk chunk, lo, hi {
      for i = lo to hi {
        y[i] = x[i] + x[i]
      }
    }
  }
}
`))
	kernel := x.kernels[0].(*cpuKernel)
	<-kernel.done
	var run *state
	for _, many := range []bool{false, true} {
		kernel.done = make(chan struct{})
		if many {
			close(kernel.done)
		}
		x.states = sync.Pool{New: func() any { run = newState(x.plan); return run }}
		mustRun(t, x, &Bindings{Buffers: []Memory{MemoryOf([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}), {}}, Scalars: []int64{9, 0}}, Options{Threads: 1})
		if run.team.many != many {
			t.Errorf("code that is settled: %v, several chunks a call: %v", many, run.team.many)
		}
	}
}
