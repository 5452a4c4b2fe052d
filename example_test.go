package lacuna_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// matrix is used by the examples below: 3 rows, 4 columns, 4 stored entries.
//
//	0  1  2  .
//	.  .  .  .
//	3  .  .  4
func matrix(f tensor.Format) *tensor.Tensor {
	rows, cols := []int64{0, 0, 2, 2}, []int64{1, 2, 0, 3}
	A, err := tensor.FromCoords([]int64{3, 4}, f, [][]int64{rows, cols}, tensor.ArrayOf([]float64{1, 2, 3, 4}))
	if err != nil {
		log.Fatal(err)
	}
	return A
}

func vector(values ...float64) *tensor.Tensor {
	x, err := tensor.FromDense([]int64{int64(len(values))}, tensor.Dense(1), tensor.ArrayOf(values))
	if err != nil {
		log.Fatal(err)
	}
	return x
}

// Eval compiles a program for the operands at hand and runs it.
func ExampleEval() {
	A, x := matrix(tensor.CSR), vector(1, 10, 100, 1000)

	y, err := lacuna.Eval(context.Background(), "y(i) = sum_j A(i,j) * x(j)", lacuna.Args{"A": A, "x": x})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	fmt.Println(tensor.View[float64](y.Values()))
	// Output:
	// 3 f64 D, 3 stored, fill 0
	// [210 0 4003]
}

// An expression means what it would mean if every tensor were written out with
// its fill. The maximum of a row is over its gaps too; "in A" leaves them out.
func ExampleEval_fill() {
	// -1   .  -2
	//  .  -3   .
	A, err := tensor.FromCoords([]int64{2, 3}, tensor.CSR, [][]int64{{0, 0, 1}, {0, 2, 1}}, tensor.ArrayOf([]float64{-1, -2, -3}))
	if err != nil {
		log.Fatal(err)
	}
	for _, src := range []string{"y(i) = max_j A(i,j)", "y(i) = max_{j in A} A(i,j)", "y(i) = sum_j exp(A(i,j))"} {
		y, err := lacuna.Eval(context.Background(), src, lacuna.Args{"A": A})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%-28s %.3f\n", src, tensor.View[float64](y.Values()))
	}
	// Output:
	// y(i) = max_j A(i,j)          [0.000 0.000]
	// y(i) = max_{j in A} A(i,j)   [-1.000 -3.000]
	// y(i) = sum_j exp(A(i,j))     [1.503 2.050]
}

// Mistakes in a program are errors with a code, a place and often a hint.
func ExampleEval_error() {
	_, err := lacuna.Eval(context.Background(), "y(i) = sum_j A(i,j) * z(j)", lacuna.Args{"A": matrix(tensor.CSR)})
	fmt.Println(err)

	var e *lang.Error
	if errors.As(err, &e) {
		fmt.Println("code:", e.Code)
	}
	// Output:
	// 1:23: unknown tensor z [E201]
	//     y(i) = sum_j A(i,j) * z(j)
	//                           ^
	// hint: pass it as an operand, or declare it
	// in Go: lacuna.Args{"z": t}; to compile, lacuna.Operand("z", t) or lacuna.Format("z", …)
	// code: E201
}

// Compile makes a kernel for declared formats, which then runs on any tensors
// that are stored so, of any size.
func ExampleCompile() {
	k, err := lacuna.Compile(context.Background(), "y(i) = sum_j A(i,j) * x(j)",
		lacuna.Format("A", tensor.CSR, tensor.Float64),
		lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		log.Fatal(err)
	}
	A := matrix(tensor.CSR)
	for _, x := range []*tensor.Tensor{vector(1, 1, 1, 1), vector(1, 2, 3, 4)} {
		y, err := k.Run(context.Background(), lacuna.Args{"A": A, "x": x})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tensor.View[float64](y.Values()))
	}
	// Output:
	// [3 0 7]
	// [8 0 19]
}

// A program may have several statements; RunAll returns what each assigns.
func ExampleKernel_RunAll() {
	x := vector(3, 4)
	k, err := lacuna.Compile(context.Background(), `
		length = sqrt(sum_i x(i)^2)
		unit(i) = x(i)/length`, lacuna.Operand("x", x))
	if err != nil {
		log.Fatal(err)
	}
	out, err := k.RunAll(context.Background(), lacuna.Args{"x": x})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out["length"].At(), tensor.View[float64](out["unit"].Values()))
	// Output:
	// 5 [0.6 0.8]
}

func ExampleShared() {
	// What the functions of the package use, such as Eval.
	y, err := lacuna.Shared().Eval(context.Background(), "y = 2 + 3", nil)
	fmt.Println(y.At(), err)
	// Output:
	// 5 <nil>
}

// A session has an engine, a number of threads and a memory limit of its own.
func ExampleNewSession() {
	s := lacuna.NewSession(
		lacuna.WithEngine(runtime.Interp()),
		lacuna.WithThreads(1),
		lacuna.WithMemoryLimit(1<<20))
	s2, err := s.Eval(context.Background(), "s = sum_{i,j} A(i,j)^2", lacuna.Args{"A": matrix(tensor.COO)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Engine().Name(), s2.At())
	// Output:
	// interp 30
}

// Results are dense, or sparse in a format that suits the operands, unless
// Result says how they are to be stored.
func ExampleResult() {
	A := matrix(tensor.CSR)
	for _, f := range []tensor.Format{tensor.CSR, tensor.COO, tensor.Dense(2)} {
		B, err := lacuna.Eval(context.Background(), "B(i,j) = 2*A(i,j)", lacuna.Args{"A": A}, lacuna.Result("B", f))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(B)
	}
	// Output:
	// 3x4 f64 CSR, 4 stored, fill 0
	// 3x4 f64 COO, 4 stored, fill 0
	// 3x4 f64 D, 12 stored, fill 0
}

// Shape gives the extents that the operands leave open.
func ExampleShape() {
	B, err := lacuna.Eval(context.Background(), "B(i,j) = x(i)", lacuna.Args{"x": vector(5, 6)}, lacuna.Shape("B", 2, 3))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.View[float64](B.Values()))
	// Output:
	// [5 5 5 6 6 6]
}

// With fill inf, (min, +) takes the place of (+, *): D holds the shortest paths
// of two roads in the place of a product of matrices.
func ExampleEval_semiring() {
	inf := tensor.WithFill(tensor.Float(tensor.Float64, math.Inf(1)))
	W, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int64{{0, 0, 1}, {1, 2, 2}}, tensor.ArrayOf([]float64{4, 9, 1}), inf)
	if err != nil {
		log.Fatal(err)
	}
	D, err := lacuna.Eval(context.Background(), "D(i,k) = min_j (W(i,j) + W(j,k))", lacuna.Args{"W": W})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(D.At(0, 2), D.At(0, 1))
	// Output:
	// 5 inf
}

// StrictIEEE makes 0*inf nan where the zero is a gap.
func ExampleStrictIEEE() {
	args := lacuna.Args{"A": matrix(tensor.CSR), "x": vector(math.Inf(1), 1, 1, 1)}
	for _, opts := range [][]lacuna.Option{nil, {lacuna.StrictIEEE()}} {
		y, err := lacuna.Eval(context.Background(), "y(i) = sum_j A(i,j)*x(j)", args, opts...)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(y.At(0), y.At(1), y.At(2))
	}
	// Output:
	// 3 0 inf
	// nan nan inf
}

// Explain prints a kernel at any stage of its compilation.
func ExampleKernel_Explain() {
	k, err := lacuna.Compile(context.Background(), "y(i) = A(i,j)*x(j)",
		lacuna.Format("A", tensor.CSR, tensor.Float64),
		lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		log.Fatal(err)
	}
	for _, stage := range []string{"plan", "lattice"} {
		text, err := k.Explain(stage)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(text)
	}
	// Output:
	// tensor A: CSR f64
	// tensor x: D f64
	// tensor y: D f64
	// forall i
	//   where t0 = sum over j
	//     forall j
	//       t0 sum= (A(i,j) * x(j))
	//   y(i) = t0
	//
	// i: ⊤, by whole dimension
	// j: A, by entries
}

// Conversions tells which operands a kernel stores again, because its loops
// need another order than the one they are stored in.
func ExampleKernel_Conversions() {
	k, err := lacuna.Compile(context.Background(), "C(i,j) = A(i,j) + B(i,j)",
		lacuna.Format("A", tensor.CSR, tensor.Float64),
		lacuna.Format("B", tensor.CSC, tensor.Float64))
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range k.Conversions() {
		fmt.Println(c)
	}
	// Output:
	// B: CSC to CSR: the loops need it as CSR
}
