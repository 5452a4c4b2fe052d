package gpu_test

import (
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// This file compiles and runs programs of loops for the tests of this package.

// simulated compiles a program for the simulated engine, which finds races.
func simulated(t *testing.T, text string) *runtime.Executable {
	t.Helper()
	p, err := loop.ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := runtime.Simulated().Compile(t.Context(), gpu.Map(p, gpu.Simulated))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// memory is a slice as kernels take it.
func memory[T any](s []T) runtime.Memory {
	return runtime.Memory{Ptr: unsafe.Pointer(unsafe.SliceData(s)), Len: int64(len(s))}
}

// results runs a program on its inputs, which are its first buffers, and its scalars.
func results(t *testing.T, e *runtime.Executable, inputs []runtime.Memory, scalars ...int64) (runtime.Results, error) {
	t.Helper()
	b := e.NewBindings()
	copy(b.Buffers, inputs)
	copy(b.Scalars, scalars)
	var res runtime.Results
	err := e.RunInto(t.Context(), b, runtime.Options{}, &res)
	return res, err
}

// scatterInto runs a scatter of the values x to the places p of m elements.
func scatterInto[T any](t *testing.T, e *runtime.Executable, p []uint32, x []T, m int64) ([]T, error) {
	t.Helper()
	res, err := results(t, e, []runtime.Memory{memory(p), memory(x)}, int64(len(p)), m)
	if err != nil {
		return nil, err
	}
	return runtime.SliceOf[T](res.Buffers[2]), nil
}
