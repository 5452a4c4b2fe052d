package exec

import (
	"context"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
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
	file, program, err := d.Check(src)
	if err != nil {
		return nil, err
	}
	var wanted []string // all
	if other := assumed(ctx, file, program, d); other != nil {
		program, wanted = other, resultsOf(program)
	}
	alg := ir.Algebra{Strict: d.Strict(), Eval: scalar.Eval}
	plan, err := plan.New(ctx, program, ir.Options{StrictIEEE: d.Strict(), Grids: grids, Forms: d.Forms(), OwnResults: true, Wanted: wanted}, alg.Eval)
	if err != nil {
		return nil, withSource(err, src)
	}
	return &Ahead{Plan: plan, Alg: alg, Index: declare.IndexTypes{Of: d}}, nil
}

// assumed is the program in the order that costs least for operands as they are assumed to be, nil where nothing is assumed or the order as written is the best.
func assumed(ctx context.Context, file *lang.File, program *lang.Program, d *declare.Declarations) *lang.Program {
	if len(d.Assumed()) == 0 || d.Strict() || d.AsWritten() || program.Scheduled() {
		return nil
	}
	statistics := map[string]*tensor.Statistics{}
	for _, t := range program.Tensors {
		if s, ok := d.Statistics(t.Name); ok && t.Operand {
			statistics[t.Name] = s.Rounded()
		}
	}
	r, _ := NewSession(WithEngine(runtime.Interp())).optimised(ctx, file, program, statistics, d, false)
	if r == nil || r.Program == nil || !sameInterface(r.Program, program) {
		return nil
	}
	return r.Program
}

// sameInterface gives the tensors of a program that was optimised the order of those of the program as written, in which callers pass them; false if one is missing.
func sameInterface(other, written *lang.Program) bool {
	place := map[string]int{}
	for i, t := range written.Tensors {
		place[t.Name] = i - len(written.Tensors) // intermediates come last
	}
	slices.SortStableFunc(other.Tensors, func(x, y *lang.Tensor) int { return place[x.Name] - place[y.Name] })
	for i, t := range written.Tensors {
		if i >= len(other.Tensors) || other.Tensors[i].Name != t.Name {
			return false
		}
	}
	return true
}

// resultsOf names the results of a program.
func resultsOf(p *lang.Program) []string {
	var names []string
	for _, t := range p.Tensors {
		if t.Result {
			names = append(names, t.Name)
		}
	}
	return names
}
