package lacuna_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// An editor checks a program while it is written. What is right but may not be meant is a warning.
func ExampleCheck() {
	matrix, vector := lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64)
	warnings, err := lacuna.Check("y(i) = (A(i,j)*x(j))^2", matrix, vector)
	for _, w := range warnings {
		fmt.Println(w.Code, w.Msg)
	}
	fmt.Println(err)
	_, err = lacuna.Check("y(i) = A(i,j)*x(k", matrix, vector)
	var mistake *lang.Error
	fmt.Println(errors.As(err, &mistake), mistake.Code)
	k, _ := lacuna.Compile(context.Background(), "y(i) = (A(i,j)*x(j))^2", matrix, vector) // a kernel has its warnings too
	fmt.Println(len(k.Warnings()))
	// Output:
	// W101 the implied sum over j stands inside the parentheses: what is applied to them is applied to the sum
	// <nil>
	// true E104
	// 1
}

// Every stage of compilation prints, and says which of its lines come from where in the program.
func ExampleStages() {
	const program = "y(i) = A(i,j)*x(j)"
	k, err := lacuna.Compile(context.Background(), program,
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(lacuna.Stages(), " "))
	fmt.Println("of kernels for a GPU alone:", strings.Join(lacuna.GridStages(), " "))
	plan, err := k.Explain("plan")
	fmt.Print(plan, err, "\n")
	where, err := k.SourceMap("plan")
	fmt.Println(from(program, where), err)
	// Output:
	// syntax logic choices schedule plan lattice loops llvm optimised asm grids ptx
	// of kernels for a GPU alone: grids ptx
	// tensor A: CSR f64
	// tensor x: D f64
	// tensor y: D f64
	// forall i
	//   where t0 = sum over j
	//     forall j
	//       t0 sum= (A(i,j) * x(j))
	//   y(i) = t0
	// <nil>
	// line 1: A(i,j)*x(j)
	// line 2: x(j)
	// line 4: i) = A(i,j)*x(j)
	// line 5: j)*x(j)
	// line 6: j)*x(j)
	// line 7: A(i,j)*x(j)
	// line 7: x(j)
	// line 8: y(i) = A(i,j)*x(j)
	//  <nil>
}

// from says where in a program lines come from.
func from(program string, lines []lacuna.SourceLine) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "line %d: %s\n", l.Line, program[l.Offset:])
	}
	return b.String()
}

// A loop that solves a system multiplies by one pattern again and again: Prepare does what depends on the pattern once.
func ExampleKernel_Prepare() {
	ctx := context.Background()
	A, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 1, 2}, []int{2, 0}, []float64{1, 2})
	k, err := lacuna.Compile(ctx, "C(i,k) = A(i,j)*A(k,j)", lacuna.Operand("A", A), lacuna.Result("C", tensor.CSR))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := k.Prepare(ctx, lacuna.Args{"A": A})
	if err != nil {
		fmt.Println(err)
		return
	}
	double, _ := tensor.Update(A, tensor.Set(2.0, 0, 2), tensor.Set(4.0, 1, 0)) // the same pattern
	fmt.Println(product(ctx, p, double))
	other, _ := tensor.Update(A, tensor.Set(2.0, 0, 0))
	_, err = p.Run(ctx, lacuna.Args{"A": other})
	fmt.Println(errors.Is(err, lacuna.ErrPattern))
	// Output:
	// [4 0 0 16] <nil>
	// true
}

// product is what a function takes that is called again and again.
func product(ctx context.Context, p *lacuna.Prepared, A *tensor.Tensor) ([]float64, error) {
	C, err := p.Run(ctx, lacuna.Args{"A": A})
	if err != nil {
		return nil, err
	}
	return tensor.Elements[float64](C)
}

// What operands are stored as, what results hold and which of them are wanted is declared before there are any.
func ExampleOption() {
	ctx := context.Background()
	k, err := lacuna.Compile(ctx, "d(i) = min_k (W(i,k) + s(k)); far = max_i d(i)",
		lacuna.FormatTriangle("W", tensor.CSR, tensor.Float32, tensor.SymmetricLower), lacuna.Fill("W", tensor.Float(tensor.Float32, 1e9)),
		lacuna.Format("s", tensor.Dense(1), tensor.Float32), lacuna.ResultType("d", tensor.Float64), lacuna.Only("d"), lacuna.AsWritten())
	if err != nil {
		fmt.Println(err)
		return
	}
	W, _ := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int{{1, 2}, {0, 1}}, tensor.ArrayOf([]float32{5, 2}), tensor.WithFill(tensor.Float(tensor.Float32, 1e9)))
	W, _ = W.WithStructure(tensor.SymmetricLower)
	out, err := k.RunAll(ctx, lacuna.Args{"W": W, "s": tensor.Vector([]float32{0, 1e9, 1e9})})
	fmt.Println(out["d"], tensor.StoredValues[float64](out["d"]), len(out), err)
	fmt.Println(k.Described(), "were described to choose an order")
	// Output:
	// 3 f64 D, 3 stored, fill 1e+09 [1e+09 5 1e+09] 1 <nil>
	// [] were described to choose an order
}

// A tensor in several parts is declared by the formats of the parts.
func ExampleFormatParts() {
	ctx := context.Background()
	T, _ := tensor.FromCoords([]int64{3, 3, 4}, tensor.CSF(3), [][]int{{0, 1, 1}, {0, 0, 1}, {1, 2, 3}}, tensor.ArrayOf([]float64{1, 2, 3}))
	parts, _ := tensor.HBCSF(T, nil)
	var formats []tensor.Format
	for _, p := range parts.Parts() {
		formats = append(formats, p.Format())
	}
	k, err := lacuna.Compile(ctx, "s(i) = T(i,j,k)", lacuna.FormatParts("T", tensor.Float64, formats...), lacuna.Result("s", tensor.Dense(1)))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := k.Run(ctx, lacuna.Args{"T": parts})
	fmt.Println(formats, tensor.StoredValues[float64](s), err)
	// Output: [COO DC-S-S] [1 5 0] <nil>
}

// Whole tensors are moved about by kernels too, on a session's device if it has one.
func ExamplePrune() {
	ctx := context.Background()
	A, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 2, 3}, []int{0, 2, 0}, []float64{1, 0, 2})
	pruned, err := lacuna.Prune(ctx, A)
	fmt.Println(pruned, err)
	twice, err := lacuna.Concat(ctx, 1, tensor.CSR, pruned, A)
	fmt.Println(twice, err)
	flat, err := lacuna.Reshape(ctx, twice, []int64{12}, tensor.CSF(1))
	fmt.Println(flat, err)
	lower, _ := tensor.FromCoords([]int64{2, 2}, tensor.CSR, [][]int{{1}, {0}}, tensor.ArrayOf([]float64{3}))
	lower, _ = lower.WithStructure(tensor.SymmetricLower)
	whole, err := lacuna.Canonical(ctx, lower)
	fmt.Println(whole, err)
	// Output:
	// 2x3 f64 CSR, 2 stored, fill 0 <nil>
	// 2x6 f64 CSR, 5 stored, fill 0 <nil>
	// 12 f64 S, 5 stored, fill 0 <nil>
	// 2x2 f64 CSR, 2 stored, fill 0 <nil>
}

// What a device cannot do with a tensor that only it has is an error, or is done here and said.
func ExampleWithNotice() {
	ctx := context.Background()
	strict := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithResidentResults(), lacuna.WithConversionKernels())
	A, _ := tensor.FromCoords([]int64{2, 2}, tensor.CSR, [][]int{{0, 1}, {1, 0}}, tensor.ArrayOf([]float64{1, 2}))
	there, err := strict.Eval(ctx, "B(i,j) = 2*A(i,j)", lacuna.Args{"A": A})
	if err != nil {
		fmt.Println(err)
		return
	}
	loose, _ := tensor.CSC.Flag(1, tensor.Unsorted)
	_, err = strict.Convert(ctx, there, loose)
	var host *lacuna.HostError
	fmt.Println(errors.As(err, &host), host.Op, host.Engine, host.Bytes)
	notes := 0
	open := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithNotice(func(string) { notes++ }))
	B, err := open.Convert(ctx, there, loose)
	fmt.Println(B, notes, err)
	// Output:
	// true convert CSR to C-S(unsorted)-C simulated 48
	// 2x2 f64 C-S(unsorted)-C, 2 stored, fill 0 1 <nil>
}

// A server answers for what its users write, for what is missing on its machine, and for bugs.
func ExampleInternalError() {
	status := func(err error) int {
		var (
			program *lang.Error
			operand *tensor.FormatError
			missing *runtime.UnavailableError
			memory  *runtime.MemoryLimitError
			bug     *lacuna.InternalError
		)
		switch {
		case err == nil:
			return 200
		case errors.As(err, &program), errors.As(err, &operand):
			return 400
		case errors.As(err, &memory):
			return 413
		case errors.As(err, &missing):
			return 503
		case errors.As(err, &bug): // bug.Program and bug.Stack are for the report
			return 500
		case errors.Is(err, context.Canceled):
			return 499
		}
		return 500
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := lacuna.NewSession(lacuna.WithMemoryLimit(1 << 20))
	x := lacuna.Args{"x": tensor.Vector(make([]float64, 1000))}
	for _, program := range []string{"y(i) = x(i)", "y(i) = x(i", "C(i,j) = x(i)*x(j)"} {
		_, err := s.Eval(ctx, program, x)
		fmt.Println(status(err))
	}
	cancel()
	_, err := s.Eval(ctx, "y(i) = x(i)", x)
	fmt.Println(status(err))
	// Output:
	// 200
	// 400
	// 413
	// 499
}
