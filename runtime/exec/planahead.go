package exec

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Ahead is a program planned to be compiled ahead of time.
type Ahead struct {
	Plan  *ir.Plan
	Alg   ir.Algebra
	Index emit.OperandTypes // of the operands: as in examples, and 32 bits elsewhere
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
	for _, t := range program.Tensors {
		if t.Relaxed.Relaxed() {
			return nil, fmt.Errorf("result %s is declared as %s, which only sessions make: declare %s, and convert it", t.Name, t.Relaxed, t.Format)
		}
	}
	how := ir.Options{StrictIEEE: d.Strict(), Grids: grids, Forms: d.Forms(), OwnResults: true} // wanted are all
	if len(d.Assumed()) > 0 && !d.Strict() && !d.AsWritten() {
		statistics := map[string]*tensor.Statistics{}
		for _, t := range program.Tensors {
			if s, ok := d.Statistics(t.Name); ok && t.Operand {
				statistics[t.Name] = s.Rounded()
			}
		}
		if other := assumed(ctx, file, program, statistics, d); other != nil {
			program, how.Wanted = other, resultsOf(program)
		}
		if err := addSizes(ctx, &how, program, statistics); err != nil {
			return nil, withSource(err, src)
		}
	}
	alg := ir.Algebra{Strict: d.Strict(), Eval: scalar.Eval}
	plan, err := plan.New(ctx, program, how, alg.Eval)
	if err != nil {
		return nil, withSource(err, src)
	}
	if !grids {
		expectWorkspaces(plan)
	}
	return &Ahead{Plan: plan, Alg: alg, Index: declare.IndexTypes{Of: d}}, nil
}

// expectWorkspaces has workspaces without a place for each key where those would be too many for operands of the sizes that a plan is for, and no schedule says how. (Where they
// are not, that is so for one index anyway, and for several the operands that come may be larger after all.)
func expectWorkspaces(p *ir.Plan) {
	times := cost.Builtin()
	limits := times.Limits() // it may run on another machine
	for _, st := range p.Steps {
		c, ok := st.(*ir.Compute)
		if !ok || len(c.Workspaces) == 0 || c.Directives.Workspace != "" {
			continue
		}
		keys, entries, known := 1.0, 0.0, true
		for _, w := range c.Workspaces {
			places := 1.0
			for _, x := range w.Indices {
				n, ok := expectedExtent(p, c, x.Plain())
				places, known = places*n, known && ok
			}
			keys = max(keys, places)
		}
		for _, a := range accessesOf(c)[1:] {
			if of := expectedOf(p, a.Tensor); of != nil {
				entries += of.Entries
			}
		}
		kind := workspaceFor(int64(min(keys, math.MaxInt32<<20)), int64(entries), &limits)
		if known && kind != lower.DenseWorkspace {
			c.Directives.Workspace = kind.String()
		}
	}
}

// expectedExtent is the extent of an index by the sizes of a plan.
func expectedExtent(p *ir.Plan, c *ir.Compute, v *ir.Index) (float64, bool) {
	for _, a := range accessesOf(c) {
		for axis, x := range a.Indices {
			if of := expectedOf(p, a.Tensor); of != nil && v != nil && x.Plain() == v {
				return of.Axes[axis].Extent, true
			}
		}
	}
	return 0, false
}

// expectedOf is what a plan expects a tensor of the program to store, nil if it does not know.
func expectedOf(p *ir.Plan, t *ir.Tensor) *tensor.Statistics {
	if t.Source == nil {
		return nil
	}
	return p.Options.Sizes[t.Source.Name]
}

// assumed is the program in the order that costs least for operands with such statistics, nil where the order as written is the best.
func assumed(ctx context.Context, file *lang.File, program *lang.Program, statistics map[string]*tensor.Statistics, d *declare.Declarations) *lang.Program {
	if program.Scheduled() {
		return nil
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
