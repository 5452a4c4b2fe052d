package aot_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests index arrays of all widths, and what is refused.

// TestWide gives extents of more than 32 bits to kernels with narrow and with wide
// coordinates.
func TestWide(t *testing.T) {
	l := needLLVM(t)
	const n = 1<<33 + 1
	values := tensor.ArrayOf([]float64{1, 2, 3})
	a, err := tensor.FromCoords([]int64{n, n}, tensor.DCSR, [][]int64{{0, 1 << 32, n - 1}, {5, n - 1, 1 << 32}}, values)
	if err != nil {
		t.Fatal(err)
	}
	session := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	for _, src := range []string{"B(i,j) = A(i,j)*2", "B(j,i) = A(i,j)"} {
		want, err := session.Eval(context.Background(), src, lacuna.Args{"A": a}, lacuna.Result("B", tensor.DCSR))
		if err != nil {
			t.Fatal(err)
		}
		for _, wide := range []bool{false, true} {
			p, err := lacuna.Link(t.Context(), src, lacuna.BuildOptions{Name: "k", Wide: wide}, lacuna.Operand("A", a), lacuna.Result("B", tensor.DCSR))
			if err != nil {
				t.Fatal(err)
			}
			got, err := load(t, l, p).run(map[string]*tensor.Tensor{"A": a}, 0)
			switch {
			case !wide && status(err) != aot.ErrExtent:
				t.Errorf("%s: error %v", src, err)
			case wide && err != nil:
				t.Errorf("%s: %v", src, err)
			case wide:
				same(t, src, got["B"], want)
			}
		}
	}
}

// TestPointers: the pointers of results are those that operands have, unless 64 bits are asked for, and more
// entries than they count are refused before anything is written.
func TestPointers(t *testing.T) {
	defer func(old bool) { debug.QuickOnly = old }(debug.QuickOnly)
	debug.QuickOnly = false // four billion steps
	l := needLLVM(t)
	const n = 1<<16 + 1
	bits, err := tensor.MakeArray(tensor.Uint8, n)
	if err != nil {
		t.Fatal(err)
	}
	full, err := tensor.FromDense([]int64{n}, tensor.Dense(1), bits)
	if err != nil {
		t.Fatal(err)
	}
	vector := tensor.CSF(1)
	for _, test := range []struct {
		wide  bool
		types tensor.DType
		want  aot.Status // for n x n entries
	}{{false, tensor.Uint32, aot.ErrSize}, {true, tensor.Uint64, aot.ErrMemory}} {
		p, err := lacuna.Link(context.Background(), "C(i,j) = where(x(i) <= y(j), u8(1), u8(2)); s(i) = x(i) + u8(1)", lacuna.BuildOptions{Name: "k", Wide: test.wide},
			lacuna.Format("x", tensor.Dense(1), tensor.Uint8), lacuna.Format("y", tensor.Dense(1), tensor.Uint8),
			lacuna.Result("C", tensor.CSR), lacuna.Result("s", vector))
		if err != nil {
			t.Fatal(err)
		}
		k := load(t, l, p)
		few, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]uint8{0, 1}))
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.run(map[string]*tensor.Tensor{"x": few, "y": few}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := got["C"].LevelAt(1).Pos.DType(), got["s"].LevelAt(0).Pos.DType(); a != test.types || b != test.types {
			t.Errorf("wide %v: pointers are %s and %s, want %s", test.wide, a, b, test.types)
		}
		if _, err := k.run(map[string]*tensor.Tensor{"x": full, "y": full}, 0); status(err) != test.want {
			t.Errorf("wide %v: %d entries: error %v, want status %d", test.wide, int64(n*n), err, test.want)
		}
	}
}

// TestUnsupported looks at what is refused.
func TestUnsupported(t *testing.T) {
	_, err := lacuna.Link(t.Context(), "y(i) = A(i,j)*x(j)", lacuna.BuildOptions{Name: "k"},
		lacuna.FormatParts("A", f64, tensor.CSR, tensor.DCSR), lacuna.Format("x", tensor.Dense(1), f64))
	var unsupported *aot.UnsupportedError
	if !errors.As(err, &unsupported) {
		t.Errorf("parts: error %v", err)
	}
	for _, name := range []string{"", "1a", "a b", "int", "lacuna_x", "é", "__a", "a-b"} {
		_, err := lacuna.Link(t.Context(), "y(i) = x(i)", lacuna.BuildOptions{Name: name}, lacuna.Format("x", tensor.Dense(1), f64))
		var bad *aot.NameError
		if !errors.As(err, &bad) {
			t.Errorf("name %q: error %v", name, err)
		}
	}
}

// TestTriangle runs a kernel on one triangle of a symmetric matrix.
func TestTriangle(t *testing.T) {
	const src = "y(i) = A(i,j)*x(j)"
	k := build(t, src, lacuna.FormatTriangle("A", tensor.CSR, f64, tensor.SymmetricLower), lacuna.Format("x", tensor.Dense(1), f64))
	r := rand.New(rand.NewPCG(8, 9))
	coords := [][]int64{{0, 1, 2, 3, 3}, {0, 0, 1, 1, 3}}
	half, err := tensor.FromCoords([]int64{4, 4}, tensor.CSR, coords, tensor.ArrayOf([]float64{1, 2, 3, 4, 5}))
	if err != nil {
		t.Fatal(err)
	}
	a, err := half.WithStructure(tensor.SymmetricLower)
	if err != nil {
		t.Fatal(err)
	}
	args := map[string]*tensor.Tensor{"A": a, "x": random(t, r, tensor.Dense(1), f64, 1, 4)}
	want, err := lacuna.NewSession(lacuna.WithEngine(runtime.Interp())).Eval(context.Background(), src, lacuna.Args{"A": a, "x": args["x"]})
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.run(args, 0)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "y", got["y"], want)
	packed := k.pack(args)
	packed.extents[0][0] = 3
	if err := k.steps(packed, 0); status(err) != aot.ErrShape {
		t.Errorf("a triangle that is not square: error %v", err)
	}
}
