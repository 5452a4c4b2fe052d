package show

import (
	"bufio"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// matrix is the 4 by 5 matrix of docs/formats.md in some format.
func matrix(t *testing.T, format string) *tensor.Tensor {
	t.Helper()
	f, err := tensor.ParseFormat(format, 2)
	if err != nil {
		t.Fatal(err)
	}
	a, err := tensor.FromCoords([]int64{4, 5}, f, [][]int64{{0, 0, 1, 3, 3}, {1, 4, 0, 0, 4}}, tensor.ArrayOf([]float64{1, 2, 3, 4, 5}))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// dense is a tensor of n numbers from 0 on.
func dense(t *testing.T, shape ...int64) *tensor.Tensor {
	t.Helper()
	values := make([]float64, int(cli.Elements(shape)))
	for i := range values {
		values[i] = float64(i)
	}
	a, err := tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func printed(a *tensor.Tensor) string {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	Tensor(w, "A", a)
	w.Flush()
	return b.String()
}

func TestPrint(t *testing.T) {
	tests := []struct {
		name string
		a    *tensor.Tensor
		want string
	}{
		{"scalar", tensor.ScalarTensor(tensor.Float(tensor.Float64, 1./3)), "A = 0.3333333333333333  (f64)\n"},
		{"vector", dense(t, 3), "A: 3 f64 D\n  0  1  2\n"},
		{"empty", dense(t, 3, 0), "A: 3x0 f64 D\n"},
		{"csr", matrix(t, "CSR"), "A: 4x5 f64 CSR, 5 stored (25%), fill 0\n" +
			"  .  1  .  .  2\n  3  .  .  .  .\n  .  .  .  .  .\n  4  .  .  .  5\n"},
		{"dense matrix", matrix(t, "D"), "A: 4x5 f64 D\n" +
			"  0  1  0  0  2\n  3  0  0  0  0\n  0  0  0  0  0\n  4  0  0  0  5\n"},
		{"rank 3", dense(t, 1, 2, 2), "A: 1x2x2 f64 D\n  (0,0,0)  0\n  (0,0,1)  1\n  (0,1,0)  2\n  (0,1,1)  3\n"},
	}
	for _, test := range tests {
		if got := printed(test.a); got != test.want {
			t.Errorf("%s:\n%s\nwant:\n%s", test.name, got, test.want)
		}
	}
}

// TestPrintLong checks that output stays short and both ends are in it.
func TestPrintLong(t *testing.T) {
	for _, a := range []*tensor.Tensor{dense(t, 1000), dense(t, 100, 100), dense(t, 10, 10, 10)} {
		got := printed(a)
		if lines := strings.Count(got, "\n"); lines > 30 {
			t.Errorf("%s takes %d lines", a, lines)
		}
		last := formatValue(a.Values().Scalar(a.Values().Len() - 1))
		if !strings.Contains(got, gap) || !strings.Contains(got, " "+last+"\n") {
			t.Errorf("%s is printed as\n%s", a, got)
		}
	}
}

func TestFormatValue(t *testing.T) {
	tests := []struct {
		v    tensor.Scalar
		want string
	}{
		{tensor.Float(tensor.Float64, 0.1+0.2), "0.3"},
		{tensor.Float(tensor.Float64, 1e6), "1000000"},
		{tensor.Float(tensor.Float64, 123456789), "123456789"},
		{tensor.Float(tensor.Float64, 1.23456789e20), "1.2345679e+20"},
		{tensor.Float(tensor.Float64, 1e-300), "1e-300"},
		{tensor.Float(tensor.Float32, 0.1), "0.1"},
		{tensor.Float(tensor.Float64, 1./3), "0.33333333"},
		{tensor.FromBits(tensor.Float64, 1<<63, 0), "-0"},
		{mustScalar("-inf"), "-inf"},
		{mustScalar("inf"), "inf"},
		{mustScalar("nan"), "nan"},
		{tensor.Complex(tensor.Complex64, 1-0.5i), "1-0.5i"},
		{tensor.Int(tensor.Int64, -7), "-7"},
		{tensor.Truth(true), "true"},
	}
	for _, test := range tests {
		if got := formatValue(test.v); got != test.want {
			t.Errorf("formatValue(%s) = %s, want %s", test.v, got, test.want)
		}
	}
}

func mustScalar(text string) tensor.Scalar {
	v, err := tensor.ParseScalar(text, tensor.Float64)
	if err != nil {
		panic(err)
	}
	return v
}

// TestCoordinate compares the walk through the levels with ToCoords, for random
// entries in every kind of format.
func TestCoordinate(t *testing.T) {
	formats := []string{"COO", "CSF", "CSF[2,0,1]", "C-DC-S", "C-S-D", "S-S-D", "D", "D-D-D-C", "DC-S-S", "C-C-S"}
	rapid.Check(t, func(t *rapid.T) {
		shape := []int64{4, 3, 5}
		f, err := tensor.ParseFormat(rapid.SampledFrom(formats).Draw(t, "format"), 3)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, 20).Draw(t, "n")
		coords := make([][]int64, 3)
		for axis := range coords {
			coords[axis] = rapid.SliceOfN(rapid.Int64Range(0, shape[axis]-1), n, n).Draw(t, "coords")
		}
		a, err := tensor.FromCoords(shape, f, coords, tensor.ArrayOf(make([]float64, n)))
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := a.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		for p := range a.NNZ() {
			for axis, c := range coordinate(a, p) {
				if c != want[axis][p] {
					t.Fatalf("position %d, axis %d: %d, want %d", p, axis, c, want[axis][p])
				}
			}
		}
	})
}
