package exec

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// spreadVector has n entries over an extent.
func spreadVector(t *testing.T, extent int64, n int) *tensor.Tensor {
	t.Helper()
	coords, values := make([]int64, n), make([]float64, n)
	for p := range coords {
		coords[p], values[p] = int64(p)*(extent/int64(n)), float64(p+1)
	}
	v, err := tensor.FromCoords([]int64{extent}, tensor.Coordinates(1), [][]int64{coords}, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestBroadcastsThatDoNotFit: a result that no memory holds, because each entry of an operand
// stands for a line of it, is refused before anything is counted.
func TestBroadcastsThatDoNotFit(t *testing.T) {
	const billions = 4_000_000_000
	v, w := spreadVector(t, billions, 3), spreadVector(t, billions, 2)
	row, err := w.Reshape([]int64{1, billions}, tensor.Coordinates(2))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src     string
		entries int64
	}{
		{"C(i,j) = v(i) + w(j)", 3 * billions},
		{"C(i,j) = w(i) - v(j)", 3 * billions},
		{"C(i,j) = max(v(i), w(i)) + 2*w(j)", 3 * billions},
		{"C(i,j) = v(i) + w(j) + 1*w(i)", 3 * billions},
		{"C(i,j,k) = v(i) + w(j) * v(k)", math.MaxInt64},
		{"C(i,j) = v(i) + sum_k w(k)*v(j)", 3 * billions},
		{"C(i,j) = v(i) * w(j) + B(0,j)", 2 * billions},
	} {
		format := tensor.Coordinates(strings.Count(c.src[:10], ",") + 1)
		for _, engine := range []runtime.Engine{runtime.Interp(), runtime.Auto(nil)} {
			options, args := []Option{Operand("v", v), Operand("w", w), Result("C", format)}, Args{"v": v, "w": w}
			if strings.Contains(c.src, "B(") {
				options, args["B"] = append(options, Operand("B", row)), row
			}
			k, err := NewSession(WithEngine(engine)).Compile(t.Context(), c.src, options...)
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			_, err = k.Run(t.Context(), args)
			var limit *runtime.MemoryLimitError
			if !errors.As(err, &limit) || !limit.AtLeast || limit.Len != c.entries || !strings.Contains(err.Error(), "the result has at least") {
				t.Errorf("%s: %v, want at least %d entries", c.src, err, c.entries)
			}
			if took := time.Since(begun); took > time.Second {
				t.Errorf("%s: refused after %v", c.src, took)
			}
		}
	}
}

// TestBroadcastsThatFit: what is refused is no more than what is stored.
func TestBroadcastsThatFit(t *testing.T) {
	v, w, none := spreadVector(t, 30, 3), spreadVector(t, 40, 5), spreadVector(t, 40, 1)
	x, err := tensor.FromDense([]int64{30}, tensor.Dense(1), tensor.ArrayOf(make([]float64, 30)))
	if err != nil {
		t.Fatal(err)
	}
	row, err := w.Reshape([]int64{1, 40}, tensor.Coordinates(2))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tensor.FromCoords([]int64{2, 40}, tensor.Coordinates(2), [][]int64{{0, 0, 1}, {3, 4, 5}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		src           string
		least, stored int64
	}{
		{"C(i,j) = v(i) + w(j)", 5 * 30, 3*40 + 27*5},
		{"C(i,j) = v(i) * w(j)", 0, 15},
		{"C(i,j) = x(i) + w(j)", 30 * 40, 30 * 40},
		{"C(i,j) = x(i) * w(j)", 5 * 30, 5 * 30},
		{"C(i,j) = (v(i) + x(i)) * w(j)", 5 * 30, 5 * 30},
		{"C(i,j) = n(j) + v(i) * w(j)", 30, 30 + 3*4},
		{"C(i,j) = v(i) * w(j) + where(i < 1, w(j), 0)", 0, 15},
		{"C(i,j) = v(i) * w(j) + w(j) * n(2)", 0, 15},
		{"C(i,j) = v(i) * w(j) + B(0,j)", 0, 15 + 30*2},
		{"C(i,j) = v(i) * w(j) + R(0,j)", 5 * 30, 5 * 30},
	} {
		operands := map[string]*tensor.Tensor{"v": v, "w": w, "x": x, "n": none, "B": rows, "R": row}
		k, err := Compile(t.Context(), c.src, used(c.src, operands)...)
		if err != nil {
			t.Fatal(err)
		}
		args := Args{}
		for name, operand := range operands {
			if strings.Contains(c.src, name+"(") {
				args[name] = operand
			}
		}
		got, err := k.Run(t.Context(), args)
		if err != nil || got.NNZ() != c.stored {
			t.Errorf("%s: %v, %v, want %d entries", c.src, got, err, c.stored)
		}
		vals := make(values, len(k.plan.Tensors))
		for _, o := range k.operands {
			vals[o.Pieces[0].ID] = operands[o.Source.Name]
		}
		b, err := k.bind(vals)
		if err != nil {
			t.Fatal(err)
		}
		last := len(k.steps) - 1
		if least, _ := k.steps[last].least(&b.steps[last], vals); least != c.least {
			t.Errorf("%s: at least %d entries, want %d", c.src, least, c.least)
		}
	}
}

// used declares the operands that a program has.
func used(src string, operands map[string]*tensor.Tensor) []Option {
	list := []Option{Result("C", tensor.DCSR)}
	for name, t := range operands {
		if strings.Contains(src, name+"(") {
			list = append(list, Operand(name, t))
		}
	}
	return list
}
