package ops_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// zeros is a dense tensor.
func zeros(t *testing.T, shape ...int64) *tensor.Tensor {
	t.Helper()
	n := int64(1)
	for _, extent := range shape {
		n *= extent
	}
	x, err := tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(make([]float64, n)))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Mistakes in subscripts are shown in what the user wrote, with a caret.
func TestEinsumShowsMistakes(t *testing.T) {
	A, B, v := zeros(t, 2, 3), zeros(t, 4, 5), zeros(t, 3)
	for _, test := range []struct {
		subscripts string
		operands   []*tensor.Tensor
		want       string // a | stands for the end of a line
	}{
		{"ij,jk->ik", []*tensor.Tensor{A, B}, "the letter j has extent 4 in axis 0 of operand 1, but 3 in axis 1 of operand 0|ij,jk->ik|   ^"},
		{"ij,\tj k", []*tensor.Tensor{A, B}, "the letter j has extent 4 in axis 0 of operand 1, but 3 in axis 1 of operand 0|ij, j k|    ^"},
		{"ii", []*tensor.Tensor{A}, "the letter i has extent 3 in axis 1 of operand 0, but 2 in axis 0 of operand 0|ii| ^"},
		{"i...,k...", []*tensor.Tensor{A, B}, "an axis of ... has extent 5 in axis 1 of operand 1, but 3 in axis 1 of operand 0|i...,k...|      ^"},
		{"...i,...i", []*tensor.Tensor{A, B}, "an axis of ... has extent 4 in axis 0 of operand 1, but 2 in axis 0 of operand 0|...i,...i|     ^"},
		{"...ij,...ji", []*tensor.Tensor{A, A}, "the letter j has extent 2 in axis 0 of operand 1, but 3 in axis 1 of operand 0|...ij,...ji|         ^"},
		{"ij->ik", []*tensor.Tensor{A}, "no operand has the letter k of the result|ij->ik|     ^"},
		{"ij->ii", []*tensor.Tensor{A}, "the result has the letter i twice|ij->ii|     ^"},
		{"ijk,j", []*tensor.Tensor{A, v}, "operand 0 has 2 axes, but 3 letters|ijk,j|  ^"},
		{"ij,", []*tensor.Tensor{A, v}, "operand 1 has 1 axis, but 0 letters|ij,|   ^"},
		{"ij,j...kl", []*tensor.Tensor{A, v}, "operand 1 has 1 axis, but 3 letters|ij,j...kl|       ^"},
		{"ij,i,j", []*tensor.Tensor{A, v}, "there are subscripts for more operands than the 2 given|ij,i,j|     ^"},
		{"ij->", []*tensor.Tensor{A, v}, "there are 2 operands: the subscripts of operand 1 are missing|ij->|  ^"},
		{"i1", []*tensor.Tensor{A}, "an axis is named by a letter from a to z or A to Z, not by '1'|i1| ^"},
		{"i...j...", []*tensor.Tensor{A}, "an axis is named by a letter from a to z or A to Z, not by '.'|i...j...|     ^"},
		{"ij->i->j", []*tensor.Tensor{A}, "an axis is named by a letter from a to z or A to Z, not by '-'|ij->i->j|     ^"},
		{"é\x1bj", []*tensor.Tensor{A}, "an axis is named by a letter from a to z or A to Z, not by 'é'|é\uFFFDj|^"},
		{"\x1b\xffj", []*tensor.Tensor{A}, "an axis is named by a letter from a to z or A to Z, not by '\\x1b'|\uFFFD\uFFFDj|^"},
		{"", nil, "there is no operand"},
	} {
		_, err := ops.Einsum(t.Context(), test.subscripts, test.operands)
		want := "ops.Einsum: " + strings.ReplaceAll(test.want, "|", "\n    ")
		if err == nil || err.Error() != want {
			t.Errorf("%q: error\n%v\nwant\n%s", test.subscripts, err, want)
		}
	}
}

// Every letter may name an axis, also where the language has a word with that letter.
func TestEinsumOfEveryLetter(t *testing.T) {
	s := ops.In(lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp()))))
	x, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]float64{3, 4}))
	if err != nil {
		t.Fatal(err)
	}
	for letter := 'A'; letter <= 'z'; letter++ {
		if 'Z' < letter && letter < 'a' {
			continue
		}
		out, err := ops.Einsum(t.Context(), string(letter)+","+string(letter), []*tensor.Tensor{x, x}, s)
		if err != nil {
			t.Errorf("%c: %v", letter, err)
		} else if got := out.At().Float64(); got != 25 {
			t.Errorf("%c: %v, want 25", letter, got)
		}
	}
}

// A number is taken for a vector of one element.
func TestSoftmaxOfRank0(t *testing.T) {
	s := ops.In(lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp()))))
	of := func(x float64) *tensor.Tensor { return tensor.ScalarTensor(tensor.Float(tensor.Float64, x)) }
	for _, test := range []struct{ x, soft, log float64 }{{-3, 1, 0}, {1e300, 1, 0}, {math.NaN(), math.NaN(), math.NaN()}, {math.Inf(-1), math.NaN(), math.NaN()}} {
		for name, opts := range map[string][]ops.Option{
			"no axes": {s}, "axis 0": {s, ops.Axes(0)}, "axis -1": {s, ops.Axes(-1)}, "stored": {s, ops.Stored()}, "in a format": {s, ops.StoredAs(tensor.Dense(0))},
		} {
			soft, err := ops.Softmax(t.Context(), of(test.x), opts...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			log, err := ops.LogSoftmax(t.Context(), of(test.x), opts...)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if soft.Rank() != 0 || log.Rank() != 0 {
				t.Errorf("%s: shapes %v and %v", name, soft.Shape(), log.Shape())
				continue
			}
			same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
			if a, b := soft.At().Float64(), log.At().Float64(); !same(a, test.soft) || !same(b, test.log) {
				t.Errorf("softmax and its logarithm of %v, %s: %v and %v, want %v and %v", test.x, name, a, b, test.soft, test.log)
			}
		}
	}
	for _, axis := range []int{1, -2} {
		if _, err := ops.Softmax(t.Context(), of(1), s, ops.Axes(axis)); err == nil || !strings.Contains(err.Error(), ops.ErrAxis.Error()) {
			t.Errorf("axis %d: error %v", axis, err)
		}
	}
	whole, err := ops.Softmax(t.Context(), tensor.ScalarTensor(tensor.Int(tensor.Int32, 7)), s)
	if err != nil || whole.DType() != tensor.Float64 || whole.At().Float64() != 1 {
		t.Errorf("softmax of an integer: %v (%v)", whole, err)
	}
}
