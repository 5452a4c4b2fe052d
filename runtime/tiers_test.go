//go:build linux && (amd64 || arm64)

package runtime

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
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
