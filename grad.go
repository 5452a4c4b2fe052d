package lacuna

import (
	"context"

	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Gradient is the compiled gradient of a program with respect to one operand.
//
// For y the result of the program's last statement and dy the adjoint of y, how much some
// quantity changes with each element of y, it computes how much that quantity changes with
// each element of the operand. Vector-Jacobian product is another name for it.
type Gradient struct {
	// Source is the derived program, in the same language. Grad and Compile take it
	// like any other.
	Source string
	// Upstream names the operand of Source that holds dy, of y's shape and type.
	Upstream string
	// Result names what Source computes: a tensor like the operand, in its format and
	// with its coordinates where it is sparse. Of an operand in a format with flags Run and EvalGrad
	// put it in the operand's order, with the same value at each of several entries with equal coordinates.
	Result string

	compiled *exec.Gradient
}

// Run computes the gradient. args holds the operands of the program that was derived, of
// which some may not matter, and the upstream adjoint.
func (g *Gradient) Run(ctx context.Context, args Args) (*tensor.Tensor, error) {
	if g == nil {
		return (*exec.Gradient)(nil).Run(ctx, args)
	}
	return g.compiled.Run(ctx, args)
}

// Grad compiles the gradient of a program with respect to the operand wrt, with the
// shared session. Options declare the operands, as for Compile; the upstream adjoint
// may be declared too, by the name "d" and that of the last result (and 1 behind it if the program has a
// tensor of that name), and is dense otherwise. Errors are those of Compile and, for what has no gradient, a *lang.Error
// with one of the codes E501 to E503.
func Grad(ctx context.Context, src, wrt string, opts ...Option) (*Gradient, error) {
	return Shared().Grad(ctx, src, wrt, opts...)
}

// EvalGrad runs the gradient of a program on args with the shared session, and compiles
// it on first use. The adjoint of a result of rank 0 is 1 if args has none.
func EvalGrad(ctx context.Context, src, wrt string, args Args, opts ...Option) (*tensor.Tensor, error) {
	return Shared().EvalGrad(ctx, src, wrt, args, opts...)
}

// Grad is like the function Grad, in this session.
func (s *Session) Grad(ctx context.Context, src, wrt string, opts ...Option) (*Gradient, error) {
	g, err := s.exec().Grad(ctx, src, wrt, opts...)
	if err != nil {
		return nil, err
	}
	return &Gradient{Source: g.Source, Upstream: g.Upstream, Result: g.Result, compiled: g}, nil
}

// EvalGrad is like the function EvalGrad, in this session.
func (s *Session) EvalGrad(ctx context.Context, src, wrt string, args Args, opts ...Option) (*tensor.Tensor, error) {
	return s.exec().EvalGrad(ctx, src, wrt, args, opts...)
}
