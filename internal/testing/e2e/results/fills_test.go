package results_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestFillsDoNotDependOnFormats reads results beyond their ends: what is there is
// what the right side is where operands have their fills, however they are stored.
func TestFillsDoNotDependOnFormats(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"T(i) = x(i) + 1; R(i) = T(i+1)", "[1 3 1]"},
		{"T(i) = x(i)*i + 1; R(i) = T(i+1)", "[1 5 1]"},
		{"T(i) = min(x(i), 4) - 2; R(i) = T(i-1)", "[-2 -1 -2]"},
		{"T(0:2) = x(0:2) + 1; R(i) = T(i+1)", "[1 0 0]"},
	} {
		for _, f := range []tensor.Format{tensor.Dense(1), tensor.CSF(1)} {
			x, err := tensor.FromDense([]int64{3}, f, tensor.ArrayOf([]float64{1, 0, 2}))
			if err != nil {
				t.Fatal(err)
			}
			r, err := lacuna.Eval(context.Background(), c.text, lacuna.Args{"x": x}, lacuna.Shape("R", 3), lacuna.Shape("T", 3))
			if err != nil {
				t.Fatal(err)
			}
			dense, err := r.ToDense()
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(tensor.View[float64](dense)); got != c.want {
				t.Errorf("%s with x stored as %s: %s, want %s", c.text, f, got, c.want)
			}
		}
	}
}

// TestInfiniteComplexFill folds copies of an infinity in closed form: both parts are scaled by
// how many there are. In the last program no place but 1 is named, so the others stay.
func TestInfiniteComplexFill(t *testing.T) {
	inf := func(im float64) complex128 { return complex(math.Inf(1), im) }
	for _, dt := range []tensor.DType{tensor.Complex128, tensor.Complex64} {
		number := func(c complex128) tensor.Array {
			one, err := tensor.MakeArray(dt, 1)
			if err != nil {
				t.Fatal(err)
			}
			one.SetScalar(0, tensor.Complex(dt, c))
			return one
		}
		stored := func(shape []int64, f tensor.Format, coords [][]int64) *tensor.Tensor {
			x, err := tensor.FromCoords(shape, f, coords, number(1+1i), tensor.WithFill(tensor.Complex(dt, inf(2))))
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		z, err := tensor.FromDense([]int64{1}, tensor.Dense(1), number(inf(2)))
		if err != nil {
			t.Fatal(err)
		}
		p, err := tensor.FromDense([]int64{1}, tensor.Dense(1), tensor.ArrayOf([]int64{1}))
		if err != nil {
			t.Fatal(err)
		}
		args := lacuna.Args{"p": p, "z": z, "A": stored([]int64{3}, tensor.CSF(1), [][]int64{{1}}),
			"B": stored([]int64{2, 3}, tensor.DCSR, [][]int64{{0}, {0}})}
		for _, c := range []struct {
			text string
			want []complex128
		}{
			{"R = sum_k A(k)", []complex128{inf(5)}},
			{"R = mean_k (A(k) + 1i)", []complex128{inf(8.0 / 3)}},
			{"R = sum_{k,i} like(z(i), A(k))", []complex128{inf(6)}},
			{"R(i) = sum_k B(i,k)", []complex128{inf(5), inf(6)}},
			{"R(k) = sum_i B(i,k)", []complex128{inf(3), inf(4), inf(4)}},
			{"A(p(i)) *= p(i) + 1", []complex128{inf(2), 2 + 2i, inf(2)}},
		} {
			r, err := lacuna.Eval(context.Background(), c.text, only(c.text, args))
			if err != nil {
				t.Fatalf("%s: %v", c.text, err)
			}
			dense, err := r.ToDense()
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				if got := dense.Scalar(i).Complex128(); real(got) != real(want) || math.Abs(imag(got)-imag(want)) > 1e-6 {
					t.Errorf("%s of %s: element %d is %v, want %v", c.text, dt, i, got, want)
				}
			}
		}
	}
}

// only are the arguments that a text names.
func only(text string, args lacuna.Args) lacuna.Args {
	used := lacuna.Args{}
	for name, x := range args {
		if strings.Contains(text, name+"(") {
			used[name] = x
		}
	}
	return used
}

// TestGapOfEarlierResult folds a gap whose value an earlier stage computed: it
// counts as stored where that value does.
func TestGapOfEarlierResult(t *testing.T) {
	ones, err := tensor.FromCoords([]int64{3}, tensor.CSF(1), [][]int64{{}}, tensor.ArrayOf([]float64{}), tensor.WithFill(tensor.Float(tensor.Float64, 1)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.FromCoords([]int64{3}, tensor.CSF(1), [][]int64{{0, 2}}, tensor.ArrayOf([]float64{1, 4}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := lacuna.Eval(context.Background(), "R(i) = u(p) * (x(q) * max_k (x(k) + 1))",
		lacuna.Args{"u": ones, "x": x}, lacuna.Shape("R", 2), lacuna.Result("R", tensor.CSF(1)))
	if err != nil {
		t.Fatal(err)
	}
	dense, err := r.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(tensor.View[float64](dense)); got != "[75 75]" { // 3 * (1+4) * 5
		t.Errorf("got %s, want [75 75]", got)
	}
}
