package exec

import (
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests what the optimiser knows of the signs of zeros (ir/logic/signs.go).

// TestSignsOfZeros compares programs that divide by what may be 0, in the order of the optimiser and as written: a sum over nothing that is
// stored is a gap, whose zero has no sign (docs/language.md), and 1 divided by its negative is inf, not -inf. Every second row of B is empty, and every second
// one of A reads no others.
func TestSignsOfZeros(t *testing.T) {
	ctx := t.Context()
	const n = 400
	var at, of [2][]int64
	var odd, one []float64
	x := make([]float64, n)
	for i := range int64(n) {
		x[i] = float64(1 + i%3)
		for j := range int64(16) {
			at[0], at[1], one = append(at[0], i), append(at[1], 20*j+i%20), append(one, 2)
		}
		for j := range 16 * (i % 2) {
			of[0], of[1], odd = append(of[0], i), append(of[1], 7*j), append(odd, 0.5)
		}
	}
	A, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, at[:], tensor.ArrayOf(one))
	if err != nil {
		t.Fatal(err)
	}
	B, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, of[:], tensor.ArrayOf(odd))
	if err != nil {
		t.Fatal(err)
	}
	X, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(x))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	s.env.eager = true
	for _, test := range []struct {
		text   string
		orders bool // another order means the same
	}{
		{"y(i) = 1/(sum_{j,k} A(i,j)*B(j,k)*x(k))", true},
		{"y(i) = 1/(2*sum_{j,k} A(i,j)*B(j,k)*x(k))", true},
		{"y(i) = 1/(3 - 2*sum_{j,k} A(i,j)*B(j,k)*x(k))", true},
		{"y(i) = exp(-(sum_{j,k} A(i,j)*B(j,k)*x(k)))", true},
		{"y(i) = 1/(-(sum_{j,k} A(i,j)*B(j,k)*x(k)))", false},
		{"y(i) = 1/(-2*sum_{j,k} A(i,j)*B(j,k)*x(k))", false},
		{"y(i) = 1/(z*sum_{j,k} A(i,j)*B(j,k)*x(k))", false},
		{"y(i) = 1/sqrt(-2*sum_{j,k} A(i,j)*B(j,k)*x(k))", false},
		{"y(i) = atan2(-(sum_{j,k} A(i,j)*B(j,k)*x(k)), -1)", false},
		{"y(i) = sum_j A(i,j)*x(j)/(-(sum_l B(j,l)))", false},
		{"y(i) = sum_j A(i,j)*x(j)/(-sqrt(sum_l A(i,l))*sqrt(sum_l B(j,l)))", false},
		{"t(i) = -(sum_{j,k} A(i,j)*B(j,k)*x(k)); y(i) = 1/t(i)", false},
		{"t(i) = -(sum_{j,k} A(i,j)*B(j,k)*x(k)); u(i) = 3*t(i); y(i) = 1/u(i)", false},
	} {
		args := Args{"A": A, "B": B}
		opts := []Option{Operand("A", A), Operand("B", B)}
		for name, o := range map[string]*tensor.Tensor{"x": X, "z": tensor.ScalarTensor(tensor.Float(tensor.Float64, -3))} {
			if strings.Contains(test.text, name+"(") || strings.Contains(test.text, name+"*") {
				args[name], opts = o, append(opts, Operand(name, o))
			}
		}
		k, err := s.Compile(ctx, test.text, opts...)
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		if logic, err := k.Explain("logic"); err != nil || test.orders && !strings.Contains(logic, "t1(") {
			t.Errorf("%s is not reordered: %v\n%s", test.text, err, logic)
		}
		got, err := s.Eval(ctx, test.text, args)
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		want, err := s.Eval(ctx, test.text, args, AsWritten())
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		zeros := 0
		for i, w := range numbers(t, want) {
			g := numbers(t, got)[i]
			if math.IsInf(w, 0) || test.text[:10] == "y(i) = ata" && math.Abs(w) == math.Pi {
				zeros++
			}
			if g != w && !(math.Abs(g-w) <= 1e-12*math.Abs(w)) && !(g != g && w != w) {
				t.Errorf("%s: y(%d) is %v, as written %v", test.text, i, g, w)
			}
		}
		if zeros == 0 && !test.orders {
			t.Errorf("%s divides by no 0", test.text)
		}
	}
}

// TestFillsInOrders compares orders where operands have fills that are negative, or not finite: a product with a gap is a gap whatever it is multiplied by, and
// one with a stored 0 is not.
func TestFillsInOrders(t *testing.T) {
	ctx := t.Context()
	const n = 400
	var at, of [2][]int64
	var odd, one []float64
	x := make([]float64, n)
	for i := range int64(n) {
		x[i] = float64(1 + i%3)
		for j := range int64(16) {
			at[0], at[1], one = append(at[0], i), append(at[1], 20*j+i%20), append(one, 2)
		}
		for j := range 16 * (i % 2) {
			of[0], of[1], odd = append(of[0], i), append(of[1], 7*j), append(odd, 0.5)
		}
	}
	must := must(t)
	s := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	s.env.eager = true
	for _, fill := range []float64{-4, math.NaN(), math.Inf(1), 2} {
		sparse := func(shape []int64, f tensor.Format, at [][]int64, values []float64, opts ...tensor.Option) *tensor.Tensor {
			return must(tensor.FromCoords(shape, f, at, tensor.ArrayOf(values), opts...))
		}
		other := tensor.WithFill(tensor.Float(tensor.Float64, fill))
		all := Args{
			"A": sparse([]int64{n, n}, tensor.CSR, at[:], one), "B": sparse([]int64{n, n}, tensor.CSR, of[:], odd),
			"v": sparse([]int64{n}, tensor.CSF(1), [][]int64{{1, 5, 9}}, []float64{2, 3, 4}, other),
			"x": must(tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(x))), "u": must(tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(x), other)),
		}
		for _, text := range []string{
			"y(i) = sqrt(v(i))*(sum_{j,k} A(i,j)*B(j,k)*x(k))",
			"y(i) = v(i)*(sum_{j,k} A(i,j)*B(j,k)*x(k))",
			"y(i) = 1/(v(i)*sum_{j,k} A(i,j)*B(j,k)*x(k))",
			"y(i) = sum_j A(i,j)*(sqrt(v(j))*(sum_k B(j,k)*x(k)))",
			"y(i) = sqrt(u(i+3))*(sum_{j,k} A(i,j)*B(j,k)*x(k))",
			"t(i) = v(i)+1; y(i) = t(i)*(sum_{j,k} A(i,j)*B(j,k)*x(k))",
			"t(i) = v(i)+1; y(i) = sum_{j,k} A(i,j)*B(j,k)*t(k)*x(k)",
			"y(i) = max_{j,k} (sqrt(v(i))*A(i,j)*B(j,k))",
		} {
			args, opts := Args{}, []Option{}
			for name, o := range all {
				if strings.Contains(text, name+"(") {
					args[name], opts = o, append(opts, Operand(name, o))
				}
			}
			k, err := s.Compile(ctx, text, opts...)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if logic, err := k.Explain("logic"); fill == 2 && !strings.Contains(text, "max") && !strings.Contains(text, "t(k)") && (err != nil || !strings.Contains(logic, "t1(")) {
				t.Errorf("%s is not reordered: %v\n%s", text, err, logic)
			}
			got, want := must(s.Eval(ctx, text, args)), must(s.Eval(ctx, text, args, AsWritten()))
			for i, w := range numbers(t, want) {
				if g := numbers(t, got)[i]; g != w && !(math.Abs(g-w) <= 1e-12*math.Abs(w)) && !(g != g && w != w) {
					t.Errorf("fill %v, %s: y(%d) is %v, as written %v", fill, text, i, g, w)
					break
				}
			}
		}
	}
}
