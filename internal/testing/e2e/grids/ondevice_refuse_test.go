package grids_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// What is refused on a device is refused for what is the matter, before anything is brought from there.
func TestRefusalsOnDevice(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithResidentResults())
	parsed := func(text string) tensor.Format {
		t.Helper()
		f, err := tensor.ParseFormat(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	column := func(v ...int64) tensor.Array {
		t.Helper()
		c, err := tensor.FromDense([]int64{int64(len(v))}, tensor.Dense(1), tensor.ArrayOf(v))
		if err != nil {
			t.Fatal(err)
		}
		return away(t, s, c).Values()
	}
	A := matrixOf(t, tensor.COO, 3, 3, [][]int64{{0, 2}, {1, 1}}, 1, 2)
	triangle, err := matrixOf(t, tensor.CSR, 3, 3, [][]int64{{1, 2}, {0, 1}}, 1, 2).WithStructure(tensor.SymmetricLower)
	if err != nil {
		t.Fatal(err)
	}
	flagged := parsed("C-S(unsorted)")
	unsorted := func(A *tensor.Tensor) *tensor.Tensor {
		t.Helper()
		out, err := A.Convert(flagged)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	fromCoords := func(format tensor.Format, rows ...int64) func(*tensor.Tensor) error {
		return func(*tensor.Tensor) error {
			values := make([]int64, len(rows))
			_, err := s.FromColumns(ctx, []int64{3, 3}, format, []tensor.Array{column(rows...), column(rows...)}, column(values...))
			return err
		}
	}
	for _, c := range []struct {
		name    string
		operand *tensor.Tensor
		do      func(A *tensor.Tensor) error
		why     string
	}{
		{"Convert to flags", A, func(A *tensor.Tensor) error { _, err := s.Convert(ctx, A, flagged); return err }, "not C-S(unsorted)"},
		{"Convert from flags to flags", unsorted(A), func(A *tensor.Tensor) error { _, err := s.Convert(ctx, A, parsed("COO(unsorted)")); return err }, "not S(unsorted)-S"},
		{"Convert a triangle", triangle, func(A *tensor.Tensor) error { _, err := s.Convert(ctx, A, tensor.CSC); return err }, "one triangle"},
		{"Prune with flags", unsorted(A), func(A *tensor.Tensor) error { _, err := s.Prune(ctx, A); return err }, "C-S(unsorted)"},
		{"FromCoords to flags", nil, fromCoords(flagged, 2, 0), "not C-S(unsorted)"},
		{"FromCoords outside", nil, fromCoords(tensor.CSR, 2, 3), "out of range"},
		{"FromCoords below 0", nil, fromCoords(tensor.COO, 2, -1), "out of range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			there := c.operand
			if there != nil {
				there = away(t, s, there)
			}
			var host *lacuna.HostError
			if err := c.do(there); !errors.As(err, &host) || !strings.Contains(host.Why, c.why) || host.Bytes == 0 {
				t.Errorf("error %v, want a HostError with %q", err, c.why)
			}
			if there != nil {
				stayedAway(t, there)
			}
		})
	}

	// What only shares arrays is no work.
	for _, c := range []struct {
		operand *tensor.Tensor
		format  tensor.Format
	}{{unsorted(A), flagged}, {A, parsed("COO(unsorted,duplicates)")}, {triangle, flagged}, {triangle, tensor.CSR}} {
		want, err := c.operand.Convert(c.format)
		if err != nil {
			t.Fatal(err)
		}
		there := away(t, s, c.operand)
		got, err := s.Convert(ctx, there, c.format)
		if err != nil {
			t.Errorf("%v to %v: %v", c.operand, c.format, err)
			continue
		}
		stayedAway(t, there)
		if d := tensor.Diff(got, want); d != "" {
			t.Errorf("%v to %v: %s", c.operand, c.format, d)
		}
	}

	// An operand that is here goes to where the others are.
	want, err := tensor.Concat(0, tensor.CSR, A, unsorted(A))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := away(t, s, A)
	got, err := s.Concat(ctx, 0, tensor.CSR, elsewhere, unsorted(A))
	if err != nil {
		t.Fatal(err)
	}
	stayedAway(t, elsewhere)
	if d := tensor.Diff(got, want); d != "" {
		t.Error(d)
	}

	// Fetching would not help here.
	huge := matrixOf(t, tensor.COO, 1<<40, 1<<40, [][]int64{{5}, {7}}, 1)
	for _, shape := range [][]int64{{1 << 20, 1 << 60}, {4, 4}, {-1, 3}} {
		there := away(t, s, huge)
		_, want := huge.Reshape(shape, tensor.COO)
		if _, err := s.Reshape(ctx, there, shape, tensor.COO); err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("reshaped to %v: error %v, want %v", shape, err, want)
		}
		stayedAway(t, there)
	}
	// Of huge shapes and formats with flags, too, the device makes what the host does.
	for _, c := range []struct {
		A      *tensor.Tensor
		shape  []int64
		format tensor.Format
	}{
		{huge, []int64{1 << 20, 1 << 20, 1 << 40}, tensor.Coordinates(3)},
		{matrixOf(t, tensor.Dense(2), 3, 3, [][]int64{{1}, {1}}, 1), []int64{1, 9}, flagged},
	} {
		want, err := c.A.Reshape(c.shape, c.format)
		if err != nil {
			t.Fatal(err)
		}
		there := away(t, s, c.A)
		got, err := s.Reshape(ctx, there, c.shape, c.format)
		if err != nil {
			t.Fatal(err)
		}
		stayedAway(t, there)
		if d := tensor.Diff(got, want); d != "" {
			t.Errorf("%v as %v: %s", c.A, c.shape, d)
		}
	}
}

// A tensor without elements that is not sorted is made plain where it is.
func TestEmptyUnsortedOnDevice(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithResidentResults())
	for _, c := range []struct {
		format string
		shape  []int64
	}{
		{"S(unsorted)", []int64{0}}, {"S(unsorted,duplicates)", []int64{0}}, {"S(unsorted)", []int64{1}},
		{"COO(unsorted)", []int64{0, 3}}, {"COO(unsorted,duplicates)", []int64{3, 0}}, {"C-S(unsorted)", []int64{3, 0}}, {"C-S(unsorted)", []int64{0, 3}},
	} {
		format, err := tensor.ParseFormat(c.format, len(c.shape))
		if err != nil {
			t.Fatal(err)
		}
		A, err := tensor.FromCoords(c.shape, format, make([][]int64, len(c.shape)), tensor.ArrayOf([]float64{}))
		if err != nil {
			t.Fatal(err)
		}
		want, err := A.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		there := away(t, s, A)
		got, err := s.Canonical(ctx, there)
		if err != nil {
			t.Errorf("%v in %s: %v", c.shape, c.format, err)
			continue
		}
		if d := tensor.Diff(got, want); d != "" {
			t.Errorf("%v in %s: %s", c.shape, c.format, d)
		}
		access := map[int]string{1: "(i)", 2: "(i,j)"}[len(c.shape)]
		y, err := s.Eval(ctx, "y"+access+" = 2*x"+access, lacuna.Args{"x": there})
		if err != nil || y.NNZ() != 0 || y.Rank() != len(c.shape) {
			t.Errorf("%v in %s: %v, %v", c.shape, c.format, y, err)
		}
		stayedAway(t, there)
	}
}
