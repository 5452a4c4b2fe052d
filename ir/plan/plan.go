// Package plan makes a plan of a checked program. It has one file for each step of planning: build.go (syntax to
// normal form), concretize.go (placing loops and temporaries), chooseloops.go
// (choosing loop orders and conversions; looporders.go lists the orders, cost.go what they cost, sizes.go by which statistics), command.go (schedules
// that users give) and choices.go (as they are printed), workspace.go and lookuptables.go (workspaces and
// tables), scatter.go and overlay.go (left sides that need more than one nest),
// linesource.go, scan.go, statistic.go and sort.go (steps over lines), and
// resultformat.go (result formats).
package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// New plans a checked program: normal form, formats of results, loop orders
// and the conversions they need, one statement after the other. It stops between
// statements when ctx ends.
func New(ctx context.Context, p *lang.Program, opts ir.Options, eval ir.Evaluator) (*ir.Plan, error) {
	plan := &planner{
		Plan:    ir.Plan{Source: p, Options: opts},
		alg:     ir.Algebra{Strict: opts.StrictIEEE, Eval: eval},
		current: map[*lang.Tensor]*ir.Tensor{}, forms: map[*lang.Tensor]*form{},
	}
	for _, t := range p.Tensors {
		if t.Operand {
			plan.operand(t)
		}
	}
	needed := p.Needed(opts.Wanted)
	for i, s := range p.Stmts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if opts.Wanted != nil && !needed[i] {
			continue
		}
		if err := plan.statement(s); err != nil {
			return nil, err
		}
	}
	plan.Results = map[*lang.Tensor]*ir.Tensor{}
	for _, t := range p.Tensors {
		if t.Result && (opts.Wanted == nil || slices.Contains(opts.Wanted, t.Name)) {
			plan.Results[t] = plan.current[t]
		}
	}
	return &plan.Plan, nil
}

type planner struct {
	ir.Plan
	alg ir.Algebra
	// current is the latest version of each tensor: assigning one makes a new
	// version, so a statement may read the old value of what it assigns.
	current map[*lang.Tensor]*ir.Tensor
	// forms are those of operands that are stored as pieces, until they are assigned.
	forms map[*lang.Tensor]*form
	// again are operands in pieces that the statement has to be planned again with as
	// one tensor, and why.
	again []*lang.Tensor
	why   string
	temps int
	lines int // scans and order statistics of the statement so far
}

// operand enters an operand and the tensors that it is stored as.
func (p *planner) operand(t *lang.Tensor) {
	o := &ir.Operand{Source: t}
	p.Operands = append(p.Operands, o)
	whole := *t
	whole.Source = t
	declared, ok := p.Options.Forms[t.Name]
	if !ok {
		p.current[t] = p.tensor(&whole)
		o.Pieces = []*ir.Tensor{p.current[t]}
		return
	}
	for k, piece := range declared.Pieces {
		stored := whole
		stored.Format = piece.Format
		if len(declared.Pieces) > 1 {
			stored.Name = fmt.Sprintf("%s.%d", t.Name, k)
		}
		o.Pieces = append(o.Pieces, p.tensor(&stored))
	}
	p.forms[t] = &form{Form: declared, pieces: o.Pieces}
}

// join makes one tensor of an operand in pieces, once.
func (p *planner) join(t *lang.Tensor, why string) {
	if p.forms[t] == nil || p.current[t] != nil {
		return
	}
	at := slices.IndexFunc(p.Operands, func(o *ir.Operand) bool { return o.Source == t })
	whole := *t
	to := p.tensor(&whole)
	if len(p.Operands[at].Pieces) == 1 {
		to.Name = p.temporary(to)
	}
	p.current[t] = to
	p.Steps = append(p.Steps, &ir.Join{Operand: p.Operands[at], To: to, Why: why})
}

// joined are the operands in pieces that a statement needs as one tensor.
func (p *planner) joined(s *lang.Stmt) map[*lang.Tensor]bool {
	set := map[*lang.Tensor]bool{}
	need := func(t *lang.Tensor, why string) {
		if p.forms[t] != nil {
			p.join(t, why)
			set[t] = true
		}
	}
	needAll := func(body lang.Expr) {
		for _, a := range lang.Accesses(body) {
			need(a.Tensor, "whole lines of it are needed")
			if of := a.Tensor.StoredOf; of != nil {
				need(of, "it is asked what whole lines of it store")
			}
		}
	}
	if _, reads := accumulating[s.Op]; reads || !s.LHS.Whole() {
		need(s.LHS.Tensor, "it is assigned")
	}
	for _, x := range s.LHS.Indices {
		if x.Gather != nil {
			need(x.Gather.Tensor, "it is an index")
		}
	}
	lang.Walk(s.RHS, func(e lang.Expr) bool {
		switch e := e.(type) {
		case *lang.Access:
			for _, x := range e.Indices {
				if x.Gather != nil {
					need(x.Gather.Tensor, "it is an index")
					if f := p.forms[e.Tensor]; f != nil && f.Mirrored() {
						// On which side of the diagonal an element lies would follow from what a tensor stores.
						need(e.Tensor, "it is read at an index from a tensor")
					}
				}
			}
		case *lang.Scan:
			needAll(e.Body)
		case *lang.Reduce:
			for _, v := range e.Vars {
				if v.InAccess != nil {
					need(v.InAccess.Tensor, "a reduction runs over what it stores")
				}
			}
			if ranks(e.Op) {
				needAll(e.Body)
			}
			if e.Q != nil {
				needAll(e.Q)
			}
		}
		return true
	})
	return set
}

// ranks reports whether a reduction depends on the ranks of a line of values.
func ranks(op lang.Reduction) bool {
	return op == lang.Median || op == lang.Quantile || op == lang.NanQuantile
}

func (p *planner) tensor(t *ir.Tensor) *ir.Tensor {
	t.ID = len(p.Tensors)
	p.Tensors = append(p.Tensors, t)
	return t
}

// accumulating gives the function that an assignment operator applies to the
// old value and the new one.
var accumulating = map[lang.AssignOp]string{
	lang.AddTo: "+", lang.MulTo: "*", lang.MinTo: "min", lang.MaxTo: "max", lang.OrTo: "or", lang.AndTo: "and",
}

// statement plans a statement. Triangles that its loops would need in two orders are
// made whole first: that is a conversion too, and leaves one tensor to walk. So are
// operands in so many parts that there would be too many folds.
func (p *planner) statement(s *lang.Stmt) error {
	defer delete(p.forms, s.LHS.Tensor)
	joined := p.joined(s)
	old := p.current[s.LHS.Tensor]
	tensors, steps, temps := len(p.Tensors), len(p.Steps), p.temps
	for {
		p.again = nil
		if err := p.assignment(s, joined); err != nil || p.again == nil {
			return err
		}
		p.Tensors, p.Steps, p.temps = p.Tensors[:tensors], p.Steps[:steps], temps
		if p.current[s.LHS.Tensor] = old; old == nil {
			delete(p.current, s.LHS.Tensor)
		}
		for _, t := range p.again { // one more each time
			p.join(t, p.why)
			joined[t] = true
		}
		tensors, steps, temps = len(p.Tensors), len(p.Steps), p.temps
	}
}

// assignment plans a statement, given the operands in pieces that it reads as one tensor.
func (p *planner) assignment(s *lang.Stmt, joined map[*lang.Tensor]bool) error {
	result := &ir.Tensor{
		Name: s.LHS.Tensor.Name, Rank: s.LHS.Tensor.Rank, DType: s.LHS.Tensor.DType,
		Format: s.LHS.Tensor.Format, Source: s.LHS.Tensor,
	}
	old := p.current[s.LHS.Tensor]
	p.lines = 0
	pieces := spreading{alg: p.alg, form: func(t *lang.Tensor) *form {
		if joined[t] {
			return nil
		}
		return p.forms[t]
	}}
	nf, err := normalize(s, p, func(t *lang.Tensor) *ir.Tensor { return p.current[t] }, result, p.alg.Eval, pieces)
	if err != nil {
		return err
	}
	if crowded := nf.builder.crowded; len(crowded) > 0 {
		p.again, p.why = crowded, "it has more parts than the statement can tell apart"
		return nil
	}
	if nf.scatters() {
		if c := physical(s.Schedule); c != nil {
			return c.Fail(c.Pos, "leave it out", "%s: the loops of a statement that scatters, as its left side has an index from a tensor, are not to be chosen", c.Name)
		}
		return p.scatter(nf, s, result, old)
	}
	covers := nf.covers()
	if fn, ok := accumulating[s.Op]; ok && old != nil {
		nf.accumulate(fn, &ir.Access{Tensor: old, Indices: nf.lhs.Indices}, p.alg.Eval)
	}
	loops := physical(s.Schedule) != nil // also where a conversion would do
	if covers && !loops && p.adopt(nf, s) {
		return nil
	}
	background := p.alg.Of(nf.value, ir.GlobalLeaves(p.alg)).Background
	if covers && !loops && s.LHS.Tensor.HasFormat && p.restore(nf, s, result, background) {
		return nil
	}
	if !covers && old != nil {
		return p.part(nf, s, result, old, background)
	}
	if !s.LHS.Tensor.HasFormat {
		result.Format = nf.naturalFormat(p.alg, background)
	}
	p.fill(result, s.LHS.Tensor, p.beyond(nf, result, background), covers)
	if err := p.compute(nf, s, result, &ir.Compute{Main: true, Covers: covers, Background: background}); err != nil {
		return err
	}
	p.current[s.LHS.Tensor] = p.tensor(result)
	return nil
}

// part plans an assignment to part of a tensor that has a value. A dense result
// starts as a copy of the old value; of a sparse one the part is computed as a
// tensor of its own and laid over the old value.
func (p *planner) part(nf *normalForm, s *lang.Stmt, result, old *ir.Tensor, background ir.Expr) error {
	if !s.LHS.Tensor.HasFormat {
		result.Format = old.Format
	}
	if !old.FillKnown {
		return lang.Unsupported("assigning part of a tensor whose fill is known only at run time", s.Pos)
	}
	result.Fill, result.FillKnown = old.Fill, true
	step := &ir.Compute{Main: true, Background: background}
	if result.Format.IsDense() {
		step.Base = p.base(old, result)
		if err := p.compute(nf, s, result, step); err != nil {
			return err
		}
	} else {
		region := *nf.lhs
		part := &ir.Tensor{Name: p.temporary(result), Rank: result.Rank, DType: result.DType,
			Format: result.Format, Fill: result.Fill, FillKnown: true}
		nf.lhs.Tensor = part
		if err := p.compute(nf, s, part, step); err != nil {
			return err
		}
		p.tensor(part)
		p.overlay(nf, s, &region, part, old, result)
	}
	p.current[s.LHS.Tensor] = p.tensor(result)
	return nil
}

// base is old in the format of result.
func (p *planner) base(old, result *ir.Tensor) *ir.Tensor {
	if old.Format == result.Format {
		return old
	}
	base := p.tensor(&ir.Tensor{Name: p.temporary(old), Rank: old.Rank, DType: old.DType,
		Format: result.Format, Fill: old.Fill, FillKnown: true})
	p.Steps = append(p.Steps, &ir.Convert{From: old, To: base, Why: "what the assignment leaves out is copied from it"})
	return base
}

// temporary is a name for a tensor made from t.
func (p *planner) temporary(t *ir.Tensor) string {
	return p.named(t.Name)
}

// named is a name, which no tensor of the program has, for a tensor that is made from another or by an operation:
// messages name tensors, and statistics are looked up by name.
func (p *planner) named(of string) string {
	for {
		p.temps++
		name := fmt.Sprintf("%s_%d", of, p.temps)
		if !slices.ContainsFunc(p.Source.Tensors, func(t *lang.Tensor) bool { return t.Name == name }) {
			return name
		}
	}
}

// compute plans the loops of a statement, and where its entries do not arise in
// the order of the result's storage, or its loops need operands stored otherwise,
// conversions.
func (p *planner) compute(nf *normalForm, s *lang.Stmt, result *ir.Tensor, step *ir.Compute) error {
	target, why := result, ""
	store := func(format tensor.Format, reason string) {
		target, why = p.tensor(&ir.Tensor{Name: p.temporary(result), Rank: result.Rank, DType: result.DType,
			Format: format, Fill: result.Fill, FillKnown: result.FillKnown}), reason
		nf.lhs.Tensor = target
	}
	switch {
	case !result.Format.IsDense() && !nf.appendable():
		store(tensor.Dense(result.Rank), "its entries do not arise in the order in which it is stored")
	case result.Format.Extended():
		store(result.Format.Listed(), "its entries are found as lists")
	case p.Options.Grids && nf.becomesList(result):
		store(ir.MustFormat(result.Format.Order(), tensor.Coordinates(result.Rank)), "its entries are found as a list")
	}
	if target == result && result.Source == s.LHS.Tensor && !p.Options.OwnResults && !p.usedAfter(s) {
		result.Relaxed = s.LHS.Tensor.Relaxed
	}
	best, err := p.scheduled(nf, s, step)
	if err != nil {
		return err
	}
	p.emit(nf, best, step, target)
	step.Stmt = s
	if target != result {
		p.Steps = append(p.Steps, &ir.Convert{From: target, To: result, Why: why})
	}
	return nil
}

// usedAfter reports whether a statement after s has to do with what s assigns.
func (p *planner) usedAfter(s *lang.Stmt) bool {
	at := slices.Index(p.Source.Stmts, s)
	return slices.ContainsFunc(p.Source.Stmts[at+1:], func(later *lang.Stmt) bool {
		return slices.ContainsFunc(append(lang.Accesses(later.RHS), lang.Accesses(later.LHS)...), func(a *lang.Access) bool {
			return a.Tensor == s.LHS.Tensor || a.Tensor.StoredOf == s.LHS.Tensor
		})
	})
}

// emit appends the step that computes target by the chosen loops, after the
// conversions that they need.
func (p *planner) emit(nf *normalForm, best *candidate, step *ir.Compute, target *ir.Tensor) {
	p.convert(nf, best, step)
	for i, r := range nf.reduces {
		r.Order = best.orders[i]
	}
	step.Result, step.LHS, step.Body = target, nf.lhs, best.body
	step.Indices, step.Value, step.Tables = nf.indices, nf.value, best.tables
	if best.split != nil {
		for _, w := range best.split.works {
			p.tensor(w.lhs.Tensor)
			step.Workspaces = append(step.Workspaces, w.reads)
		}
	}
	step.Scatter, step.Fold = best.accumulate, best.fold
	step.Ways, step.Nests = best.ways, best.nests
	if best.scatter != nil && target.Format.IsDense() {
		if gap := scatterGap(p.alg, best.scatter); gap != nil {
			step.Gap, step.Over = gap, best.scatter.Vars[0]
		}
	}
	p.Steps = append(p.Steps, step)
}

// covers reports whether the left-hand side names every coordinate of the
// result: each axis has a variable of its own, bare.
func (nf *normalForm) covers() bool {
	var seen []*ir.Index
	for _, x := range nf.lhs.Indices {
		v := x.Plain()
		if v == nil || slices.Contains(seen, v) {
			return false
		}
		seen = append(seen, v)
	}
	return true
}

// appendable reports whether loops over the result's levels produce its
// coordinates in increasing order.
func (nf *normalForm) appendable() bool {
	for _, x := range nf.lhs.Indices {
		if x.Gather != nil || len(x.Terms) > 1 {
			return false
		}
		for _, t := range x.Terms {
			if t.Coef < 0 {
				return false
			}
		}
	}
	// A variable that occurs twice is bound by the first level that has it.
	return true
}

// accumulate rewrites y op= e as y = op(old y, e).
func (nf *normalForm) accumulate(fn string, old *ir.Access, ev ir.Evaluator) {
	nf.value = updated(fn, ir.TypeOf(nf.value), old, nf.value, ev)
}

// updated is fn(old, e) in type typ, where the functions of truth values take
// their operands as such.
func updated(fn string, typ tensor.DType, old, e ir.Expr, ev ir.Evaluator) ir.Expr {
	args := []ir.Expr{ev.Fold(&ir.Cast{To: typ, X: old}), e}
	if fn == "or" || fn == "and" {
		for i := range args {
			args[i] = ev.Fold(&ir.Cast{To: tensor.Bool, X: args[i]})
		}
		return ev.Fold(&ir.Cast{To: typ, X: &ir.Call{Fn: fn, Args: args, Typ: tensor.Bool}})
	}
	return &ir.Call{Fn: fn, Args: args, Typ: typ}
}

// convert replaces the operands that the chosen loops cannot walk.
func (p *planner) convert(nf *normalForm, best *candidate, step *ir.Compute) {
	type key struct {
		from   *ir.Tensor
		format string
		stored bool
	}
	done := map[key]*ir.Tensor{}
	for _, a := range best.convert {
		if t := a.Tensor.Source; t != nil && p.forms[t] != nil && p.forms[t].Mirrored() && !slices.Contains(p.again, t) {
			p.again, p.why = append(p.again, t), "the loops need both triangles in one order"
		}
		format := nf.storedAs(best, a, p.Options)
		k := key{a.Tensor, format.String(), nf.runsOver(a)}
		to := done[k]
		if to == nil {
			to = p.tensor(&ir.Tensor{Name: p.temporary(a.Tensor), Rank: a.Tensor.Rank, DType: a.Tensor.DType,
				Format: format, Fill: a.Tensor.Fill, FillKnown: a.Tensor.FillKnown, StoredOf: a.Tensor.StoredOf, Whole: a.Tensor.Whole})
			done[k] = to
			made := &ir.Convert{From: a.Tensor, To: to, Stored: k.stored, Why: fmt.Sprintf("the loops need it as %s", format)}
			p.Steps, step.Converts = append(p.Steps, made), append(step.Converts, made)
		}
		a.Tensor = to
	}
}

// storedAs is the format in which a candidate's loops need an access that has to be stored again.
func (nf *normalForm) storedAs(c *candidate, a *ir.Access, opts ir.Options) tensor.Format {
	format := c.at.reordered(a)
	switch {
	case c.merged != nil && !a.Tensor.Format.IsDense():
		return ir.MustFormat(format.Order(), *c.merged)
	case c.at.concordant(a):
		return nf.withAllRows(a, format)
	case opts.NarrowWorkspaces:
		return rowsOnly(format)
	}
	return format
}

// runsOver reports whether a reduction runs over the stored coordinates of a.
func (nf *normalForm) runsOver(a *ir.Access) bool {
	for _, r := range nf.reduces {
		if r.In == a {
			return true
		}
	}
	return false
}
