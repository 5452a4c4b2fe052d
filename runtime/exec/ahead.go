package exec

import (
	"context"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
)

// Ahead is a program planned to be compiled ahead of time.
type Ahead struct {
	Plan  *ir.Plan
	Alg   ir.Algebra
	Index lower.OperandTypes // of the operands: as in examples, and 32 bits elsewhere
}

// PlanAhead plans a program to be compiled ahead of time, with the results its own.
func PlanAhead(ctx context.Context, src string, grids bool, opts ...declare.Option) (*Ahead, error) {
	d := declare.New()
	if err := d.Apply(opts); err != nil {
		return nil, err
	}
	c, err := NewSession(WithEngine(runtime.Interp())).Converter(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.Canonicalise(ctx, c); err != nil {
		return nil, err
	}
	_, program, err := d.Check(src)
	if err != nil {
		return nil, err
	}
	alg := ir.Algebra{Strict: d.Strict(), Eval: scalar.Eval}
	plan, err := plan.New(ctx, program, ir.Options{StrictIEEE: d.Strict(), Grids: grids, Forms: d.Forms(), OwnResults: true}, alg.Eval)
	if err != nil {
		return nil, withSource(err, src)
	}
	return &Ahead{Plan: plan, Alg: alg, Index: declare.IndexTypes{Of: d}}, nil
}
