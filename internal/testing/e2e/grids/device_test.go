package grids_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Operands and results stay on a device from kernel to kernel and come back when they
// are read.
func TestResident(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithResidentResults())
	A, err := tensor.New([]int64{2, 3}, tensor.CSR, []tensor.Level{
		{}, {Pos: tensor.ArrayOf([]uint32{0, 2, 3}), Crd: tensor.ArrayOf([]uint32{0, 2, 1})},
	}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 10, 100}))
	if err != nil {
		t.Fatal(err)
	}
	onDevice, err := s.ToDevice(ctx, A)
	if err != nil {
		t.Fatal(err)
	}
	y, err := s.Eval(ctx, "y(i) = A(i,j)*x(j)", lacuna.Args{"A": onDevice, "x": x})
	if err != nil {
		t.Fatal(err)
	}
	if y.Values().Remote() == nil || y.Values().Here() {
		t.Error("the result is not on the device")
	}
	B, err := s.Eval(ctx, "B(i,j) = A(i,j)*y(i)", lacuna.Args{"A": onDevice, "y": y}, lacuna.Format("B", tensor.CSR, tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{201, 402, 90}
	for i, v := range tensor.View[float64](B.Values()) {
		if v != want[i] {
			t.Errorf("value %d is %v, want %v", i, v, want[i])
		}
	}
	onDevice.Release()
	if v := A.At(1, 1); v.Float64() != 3 {
		t.Errorf("the tensor that was brought to the device has %v, want 3", v)
	}
	y.Release()
	if err := y.Fetch(); !errors.Is(err, tensor.ErrReleased) {
		t.Errorf("fetching a result that was released: %v", err)
	}
	if _, err := s.Eval(ctx, "y(i) = A(i,j)*x(j)", lacuna.Args{"A": onDevice, "x": x}); err == nil {
		t.Error("a tensor was used on the device after it was released")
	}
	if _, err := lacuna.NewSession(lacuna.WithEngine(runtime.Interp())).ToDevice(ctx, A); err == nil {
		t.Error("the interpreter claims to have a device")
	}
}

// What an operand is stored again as for the loops stays on the device too.
func TestResidentConversion(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithResidentResults(), lacuna.WithConversionKernels())
	A, err := tensor.New([]int64{2, 3}, tensor.CSR, []tensor.Level{
		{}, {Pos: tensor.ArrayOf([]uint32{0, 2, 3}), Crd: tensor.ArrayOf([]uint32{0, 2, 2})},
	}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	A, err = s.ToDevice(ctx, A)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is remembered
		y, err := s.Eval(ctx, "y(j) = sum_i A(i,j)", lacuna.Args{"A": A})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := tensor.View[float64](y.Values()), []float64{1, 0, 5}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	B, err := s.Eval(ctx, "B(i,j) = A(i,j)", lacuna.Args{"A": A}, lacuna.Format("B", tensor.CSC, tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	if B.Values().Here() {
		t.Error("the converted tensor is not on the device")
	}
	if got, want := tensor.View[float64](B.Values()), []float64{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What is on the device is converted there if it has more than a few entries, however
// little the session has converted before.
func TestConversionWhereTheDataIs(t *testing.T) {
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithResidentResults())
	for _, n := range []int64{10, 5000} {
		rows, columns, values := make([]int64, n), make([]int64, n), make([]float64, n)
		for i := range n {
			rows[i], columns[i], values[i] = i%100, i/100*7%61, float64(i)
		}
		list, err := tensor.FromCoords([]int64{100, 61}, tensor.CSR, [][]int64{rows, columns}, tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		A, err := s.ToDevice(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		B, err := s.Convert(t.Context(), A, tensor.CSC)
		if err != nil {
			t.Fatal(err)
		}
		if few := n < 1000; B.Values().Here() != few {
			t.Errorf("%d entries: the converted tensor is here: %v, want %v", n, !few, few)
		}
		want, err := list.Convert(tensor.CSC)
		if err != nil {
			t.Fatal(err)
		}
		if err := B.Fetch(); err != nil {
			t.Fatal(err)
		}
		if !tensor.Equal(B, want) {
			t.Errorf("%d entries: %v, want %v", n, B, want)
		}
	}
}

// Patterns are compared also where only the device has them.
func TestPreparedOnDevice(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithResidentResults())
	matrix := func(crd ...uint32) *tensor.Tensor {
		A, err := tensor.New([]int64{2, 3}, tensor.CSR, []tensor.Level{
			{}, {Pos: tensor.ArrayOf([]uint32{0, 2, 3}), Crd: tensor.ArrayOf(crd)},
		}, tensor.ArrayOf([]float64{1, 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		made, err := s.Eval(ctx, "B(i,j) = 2*A(i,j)", lacuna.Args{"A": A}, lacuna.Format("B", tensor.CSR, tensor.Float64))
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	B := matrix(0, 2, 1)
	k, err := s.Compile(t.Context(), "C(i,j) = A(i,k)*A(j,k)", lacuna.Operand("A", B), lacuna.Format("C", tensor.CSR, tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Prepare(ctx, lacuna.Args{"A": B})
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range []*tensor.Tensor{B, matrix(0, 2, 1)} {
		C, err := p.Run(ctx, lacuna.Args{"A": same})
		if err != nil {
			t.Fatal(err)
		}
		if v := tensor.View[float64](C.Values()); len(v) != 2 || v[0] != 20 || v[1] != 36 {
			t.Errorf("the values are %v, want [20 36]", v)
		}
	}
	if _, err := p.Run(ctx, lacuna.Args{"A": matrix(0, 1, 1)}); !errors.Is(err, lacuna.ErrPattern) {
		t.Errorf("other patterns: got %v, want %v", err, lacuna.ErrPattern)
	}
}

// Grids are shown of kernels that have them.
func TestExplainGrids(t *testing.T) {
	for _, e := range []runtime.Engine{runtime.Interp(), runtime.Simulated()} {
		k, err := lacuna.NewSession(lacuna.WithEngine(e)).Compile(t.Context(), "y(i) = A(i,j)*x(j)", lacuna.Format("A", tensor.CSR, tensor.Float64),
			lacuna.Format("x", tensor.Dense(1), tensor.Float64))
		if err != nil {
			t.Fatal(err)
		}
		text, err := k.Explain("grids")
		if runtime.OnGrids(e) != (err == nil) || err == nil && !strings.Contains(text, "grid threads 256") {
			t.Errorf("engine %s: got %v and\n%s", e.Name(), err, text)
		}
	}
}

// Memory that other code has on the device is an operand without coming here.
func TestForeignOperand(t *testing.T) {
	ctx := context.Background()
	e := runtime.Simulated()
	theirs := []float64{1, 10, 100}
	owner, err := runtime.Upload(ctx, e, unsafe.Pointer(&theirs[0]), 24)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Free()
	r, err := runtime.ForeignResident(e, owner.Address(), 24)
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.RemoteArray(tensor.Float64, 3, r))
	if err != nil {
		t.Fatal(err)
	}
	y, err := lacuna.NewSession(lacuna.WithEngine(e)).Eval(ctx, "y(i) = 2*x(i)", lacuna.Args{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range tensor.View[float64](y.Values()) {
		if v != 2*theirs[i] {
			t.Errorf("element %d is %v", i, v)
		}
	}
	x.Release()
	if _, err := owner.Fetch(); err != nil {
		t.Errorf("the owner's memory is gone: %v", err)
	}
}
