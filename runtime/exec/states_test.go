package exec

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests elements that are stored zeros, gaps and uniform values, by whole programs.

// entriesOf makes a sparse vector of words, - for what is not stored.
func entriesOf(t *testing.T, dt tensor.DType, words string, opts ...tensor.Option) *tensor.Tensor {
	t.Helper()
	var at []int64
	var list []tensor.Scalar
	fields := strings.Fields(words)
	for i, w := range fields {
		if w == "-" {
			continue
		}
		v, err := tensor.ParseScalar(w, dt)
		if err != nil {
			t.Fatal(err)
		}
		at, list = append(at, int64(i)), append(list, v)
	}
	vals, err := tensor.MakeArray(dt, len(list))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range list {
		vals.SetScalar(i, v)
	}
	v, err := tensor.FromCoords([]int64{int64(len(fields))}, tensor.CSF(1), [][]int64{at}, vals, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wordsOf writes a sparse vector as entriesOf reads it.
func wordsOf(t *testing.T, v *tensor.Tensor) string {
	t.Helper()
	coords, vals, err := v.ToCoords()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(strings.Repeat("- ", int(v.Shape()[0])))
	for k, i := range coords[0] {
		words[i] = vals.Scalar(k).String()
	}
	return strings.Join(words, " ")
}

// triangle is a symmetric matrix of n rows of which the lower triangle is stored, with zeros at the
// coordinates.
func triangle(t *testing.T, f tensor.Format, n int64, rows, cols []int64) *tensor.Tensor {
	t.Helper()
	whole, err := tensor.FromCoords([]int64{n, n}, f, [][]int64{rows, cols}, tensor.ArrayOf(make([]float64, len(rows))))
	if err != nil {
		t.Fatal(err)
	}
	half, err := whole.WithStructure(tensor.SymmetricLower)
	if err != nil {
		t.Fatal(err)
	}
	return half
}

// TestStates computes with stored zeros, gaps and what is uniform: the answer and what a sparse
// result stores follow from these (docs/language.md).
func TestStates(t *testing.T) {
	f := func(words string) *tensor.Tensor { return entriesOf(t, tensor.Float64, words) }
	n := func(words string) *tensor.Tensor { return entriesOf(t, tensor.Int64, words) }
	sd, err := tensor.ParseFormat("S-D", 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text string
		args       Args
		shape      int64
		want       string
	}{
		{"a truth value that only a run knows to be a gap annihilates", "y(i) = c(i) + ((a(i) != b(i)) and A(i,0))/a(i)",
			Args{"a": f("0 0"), "b": f("- -"), "c": f("1 -"), "A": triangle(t, tensor.CSR, 2, nil, nil)}, 2, "1 -"},
		{"what a scan makes is stored, also of a line without entries", "y(k) = sum_i mod(a(i) + (cumsum_i (B(i,k))), c(i))",
			Args{"a": f("- -"), "c": f("0 0"), "B": matrix(t, tensor.CSR, [2]int64{2, 2})}, 2, "nan nan"},
		{"and is in a workspace, to which nothing of it was added", "y(i) = (sum_{j,k} (cummax_k (W(j,i)*V(i,j)*z(k))))*v(i)",
			Args{"W": matrix(t, tensor.CSR, [2]int64{2, 2}), "V": matrix(t, tensor.CSR, [2]int64{2, 2}, [3]float64{0, 0, 1}), "z": vector(t, 1, 1), "v": vector(t, math.Inf(1), 1)}, 2, "nan 0"},
		{"a median is stored, also where it is one number", "y(i) = (square(a(i)) + median_j (b(j))) + c(i)*d(i)",
			Args{"a": f("- -"), "b": f("inf"), "c": f("inf 1"), "d": f("0 1")}, 2, "nan inf"},
		{"a literal factor leaves a sum over gaps a gap", "y(i) = a(i)*(sum_j (b(j)*0))",
			Args{"a": n("1 -"), "b": n("- -")}, 2, "- -"},
		{"but not one over an entry", "y(i) = a(i)*(sum_j (b(j)*0))", Args{"a": n("1 -"), "b": n("2 -")}, 2, "0 -"},
		{"a gap in a workspace's producer annihilates", "y(k) = sum_i (w(i)*(sum_q B(q,k)))*v(i)",
			Args{"w": f("inf inf"), "v": f("1 1"), "B": matrix(t, tensor.CSR, [2]int64{2, 2}, [3]float64{1, 0, 3})}, 2, "inf -"},
		{"rows of a triangle reach beyond it", "y(i) = A(1,i) + b(i)",
			Args{"A": triangle(t, sd, 3, []int64{1}, []int64{0}), "b": f("- - 1")}, 3, "- - 1"},
		{"an index from a tensor leaves a gap of a triangle a gap", "y(i) = mod(A(i,p(i)), c(i))",
			Args{"A": triangle(t, tensor.CSR, 2, []int64{1}, []int64{0}), "p": n("0 0"), "c": f("0 0")}, 2, "- nan"},
		{"a dense triangle stores everything", "y(i) = (sort_i (where(stored(A(i,0)), a(i), 1)))",
			Args{"A": triangle(t, tensor.Dense(2), 2, nil, nil), "a": f("3 2")}, 2, "2 3"},
		{"what a scatter folds counts as stored", "y(p(i)) *= x(i)",
			Args{"y": entriesOf(t, tensor.Float64, "- -", tensor.WithFill(tensor.Float(tensor.Float64, math.Inf(1)))), "p": n("1"), "x": f("-")}, 2, "- nan"},
	} {
		for _, s := range both(t) {
			opts := []Option{Shape("y", test.shape)}
			if test.args["y"] == nil {
				opts = append(opts, Result("y", tensor.CSF(1)))
			}
			y, err := s.Eval(context.Background(), test.text, test.args, opts...)
			if err != nil {
				t.Errorf("%s: %s on %s: %v", test.name, test.text, s.Engine().Name(), err)
				continue
			}
			if got := wordsOf(t, y); got != test.want {
				t.Errorf("%s: %s on %s gives %s, want %s", test.name, test.text, s.Engine().Name(), got, test.want)
			}
		}
	}
}
