package aot_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests what callers can do wrong: the checks that driver_bind.go and driver_call.go write.

// TestMisuse spoils one thing of a call at a time and looks for the error.
func TestMisuse(t *testing.T) {
	k := build(t, "C(i,j) = A(i,j)*x(j)", lacuna.Format("A", tensor.CSR, f64), lacuna.Format("x", tensor.Dense(1), f64))
	r := rand.New(rand.NewPCG(5, 6))
	args := map[string]*tensor.Tensor{"A": random(t, r, tensor.CSR, f64, 0.3, 5, 6), "x": random(t, r, tensor.Dense(1), f64, 1, 6)}
	other := append([]byte("DCSR"), 0)
	seven := tensor.ArrayOf([]float64{7})
	zero := tensor.ArrayOf([]float64{0})
	cases := []struct {
		name    string
		spoil   func(a *arguments)
		status  aot.Status
		message string
	}{
		{"nothing", func(a *arguments) {}, aot.OK, ""},
		{"rank", func(a *arguments) { a.tensors[1].rank = 2 }, aot.ErrRank, "x must have rank 1"},
		{"rank of a result", func(a *arguments) { a.tensors[2].rank = 1 }, aot.ErrRank, "C must have rank 2"},
		{"format", func(a *arguments) { a.tensors[0].format = &other[0] }, aot.ErrFormat, "A must be stored as CSR"},
		{"format not named", func(a *arguments) { a.tensors[0].format = nil }, aot.OK, ""},
		{"extents", func(a *arguments) { a.tensors[0].extents = nil }, aot.ErrNull, "the extents of A are null"},
		{"levels", func(a *arguments) { a.tensors[0].levels = nil }, aot.ErrNull, "the levels of A are null"},
		{"levels of a result", func(a *arguments) { a.tensors[2].levels = nil }, aot.ErrNull, "the levels of C are null"},
		{"levels of a vector", func(a *arguments) { a.tensors[1].levels = nil }, aot.OK, ""},
		{"negative", func(a *arguments) { a.extents[0][1] = -1 }, aot.ErrExtent, "an extent of A is negative"},
		{"disagreement", func(a *arguments) { a.extents[1][0] = 7; a.tensors[1].values.len = 7 }, aot.ErrShape, "index j"},
		{"type", func(a *arguments) { a.tensors[0].values.typ = int64(tensor.Float32) }, aot.ErrType, "the values of A must be f64"},
		{"width", func(a *arguments) { a.levels[0][1].indices.typ = int64(tensor.Uint64) }, aot.ErrWidth, "the indices of level 1 of A must be u32"},
		{"no pointers", func(a *arguments) { a.levels[0][1].pointers = cArray{} }, aot.ErrWidth, "the pointers of level 1 of A"},
		{"null indices", func(a *arguments) { a.levels[0][1].indices.data = nil }, aot.ErrNull, "the indices of level 1 of A are null"},
		{"few pointers", func(a *arguments) { a.levels[0][1].pointers.len = 5 }, aot.ErrLength, "the pointers of level 1 of A"},
		{"few indices", func(a *arguments) { a.levels[0][1].indices.len-- }, aot.ErrLength, "the indices of level 1 of A"},
		{"few values", func(a *arguments) { a.tensors[0].values.len-- }, aot.ErrLength, "the values of A"},
		{"negative length", func(a *arguments) { a.tensors[0].values.len = -1 }, aot.ErrLength, "the values of A"},
		{"many values", func(a *arguments) { a.tensors[0].values.len++ }, aot.OK, ""},
		{"huge", func(a *arguments) { a.extents[0][0] = 1<<63 - 1 }, aot.ErrLength, "the pointers of level 1 of A"},
		{"alignment", func(a *arguments) { a.tensors[1].values.data = unsafe.Add(a.tensors[1].values.data, 4) }, aot.ErrAlign, "aligned to 8 bytes"},
		{"fill", func(a *arguments) { a.tensors[0].fill = seven.Pointer() }, aot.ErrFill, "A must have the fill 0"},
		{"same fill", func(a *arguments) { a.tensors[0].fill = zero.Pointer() }, aot.OK, ""},
		{"overlap", func(a *arguments) {
			a.tensors[2].values = cArray{data: a.tensors[0].values.data, cap: 1000}
		}, aot.ErrOverlap, "overlaps"},
		{"overlap of results", func(a *arguments) {
			memory := make([]uint64, 100)
			a.keep = append(a.keep, memory)
			a.tensors[2].values = cArray{data: unsafe.Pointer(&memory[0]), cap: 100}
			a.levels[2][1].indices = cArray{data: unsafe.Pointer(&memory[1]), cap: 100}
		}, aot.ErrOverlap, "overlaps"},
		{"alignment of a result", func(a *arguments) {
			memory := make([]uint64, 100)
			a.keep = append(a.keep, memory)
			a.tensors[2].values = cArray{data: unsafe.Add(unsafe.Pointer(&memory[0]), 1), cap: 90}
		}, aot.ErrAlign, "aligned to 8 bytes"},
	}
	for _, c := range cases {
		a := k.pack(args)
		c.spoil(a)
		err := k.steps(a, 0)
		if status(err) != c.status || c.message != "" && !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: %v, want status %d and %q", c.name, err, c.status, c.message)
		}
	}
}

// TestCallMisuse spoils the call structure.
func TestCallMisuse(t *testing.T) {
	k := build(t, "y(i) = A(i,j)*x(j)", lacuna.Format("A", tensor.CSR, f64), lacuna.Format("x", tensor.Dense(1), f64))
	r := rand.New(rand.NewPCG(5, 6))
	a := k.pack(map[string]*tensor.Tensor{"A": random(t, r, tensor.CSR, f64, 0.3, 5, 6), "x": random(t, r, tensor.Dense(1), f64, 1, 6)})
	stop := int32(-1)
	cases := []struct {
		name   string
		spoil  func(c *cCall)
		status aot.Status
	}{
		{"version", func(c *cCall) { c.abi = 2 }, aot.ErrABI},
		{"count", func(c *cCall) { c.count = 2 }, aot.ErrCount},
		{"tensors", func(c *cCall) { c.tensors = nil }, aot.ErrNull},
		{"state", func(c *cCall) { c.state = nil }, aot.ErrState},
		{"short state", func(c *cCall) { c.stateWords-- }, aot.ErrState},
		{"used state", func(c *cCall) { *c.state = 12345 }, aot.ErrState},
		{"no threads", func(c *cCall) { c.flags = aot.FlagChunks }, aot.ErrState},
	}
	for _, c := range cases {
		state := make([]int64, k.program.StateWords)
		call := &cCall{abi: aot.ABIVersion, count: 3, tensors: &a.tensors[0], state: &state[0], stateWords: int64(len(state))}
		c.spoil(call)
		if s := aot.Status(llvm.Call(k.step, unsafe.Pointer(call), 0, 0, 0)); s != c.status {
			t.Errorf("%s: status %d, want %d", c.name, s, c.status)
		}
	}
	if s := aot.Status(llvm.Call(k.step, nil, 0, 0, 0)); s != aot.ErrNull {
		t.Errorf("no call: status %d", s)
	}

	// Memory that is refused, a run that is stopped, steps after the end, chunks out of order.
	state := make([]int64, k.program.StateWords)
	call := &cCall{abi: aot.ABIVersion, count: 3, tensors: &a.tensors[0], state: &state[0], stateWords: int64(len(state))}
	step := func(want aot.Status) {
		t.Helper()
		if s := aot.Status(llvm.Call(k.step, unsafe.Pointer(call), 0, 0, 0)); s != want {
			t.Errorf("status %d, want %d", s, want)
		}
	}
	step(aot.Need)
	if s := aot.Status(llvm.Call(k.chunk, unsafe.Pointer(call), 0, 0, 0)); s != aot.ErrState {
		t.Errorf("a chunk out of order: status %d", s)
	}
	step(aot.ErrMemory)
	step(aot.ErrState)
	clear(state)
	step(aot.Need)
	memory := make([]float64, 8)
	call.need.data = unsafe.Pointer(&memory[0])
	call.stop = &stop
	step(aot.ErrStopped)
	step(aot.ErrState)
	clear(state)
	call.stop = nil
	step(aot.OK) // the result has memory now
	step(aot.ErrState)
}

// TestFail runs a kernel that stops itself, on one thread and on several: the first chunk
// that fails decides.
func TestFail(t *testing.T) {
	k := build(t, "y(i) = x(p(i))", lacuna.Format("x", tensor.Dense(1), f64), lacuna.Format("p", tensor.Dense(1), tensor.Int64))
	const n = 200000
	x, p := make([]float64, 10), make([]int64, n)
	p[150000], p[190000] = 10, -1
	args := map[string]*tensor.Tensor{}
	var err error
	if args["x"], err = tensor.FromDense([]int64{10}, tensor.Dense(1), tensor.ArrayOf(x)); err != nil {
		t.Fatal(err)
	}
	if args["p"], err = tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(p)); err != nil {
		t.Fatal(err)
	}
	var first string
	for _, threads := range []int{0, 1, 3} {
		_, err := k.run(args, threads)
		if status(err) != aot.ErrKernel {
			t.Fatalf("%d threads: %v", threads, err)
		}
		if first == "" {
			first = err.Error()
		}
		if err.Error() != first {
			t.Errorf("%d threads: %v, want %s", threads, err, first)
		}
	}
}

// Fills of half-precision numbers are compared, and told, in their own bits.
func TestHalfFill(t *testing.T) {
	one := tensor.Int(tensor.Float16, 1)
	x, err := tensor.FromCoords([]int64{4}, format(t, "S", 1), [][]int64{{2}}, must(tensor.ArrayOf([]float64{3}).Convert(tensor.Float16)), tensor.WithFill(one))
	if err != nil {
		t.Fatal(err)
	}
	k := build(t, "y(i) = x(i)", lacuna.Operand("x", x))
	for fill, want := range map[float64]aot.Status{1: aot.OK, 0: aot.ErrFill} {
		a := k.pack(map[string]*tensor.Tensor{"x": x})
		given := must(tensor.ArrayOf([]float64{fill}).Convert(tensor.Float16))
		a.tensors[0].fill = given.Pointer()
		err := k.steps(a, 0)
		if got := status(err); got != want {
			t.Errorf("fill %v: %v", fill, err)
		}
		if got := a.fills[1][0]; want == aot.OK && got != 0x3c00 {
			t.Errorf("the fill of the result is %#x", got)
		}
	}
}
