package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// normalForm is a statement with its reductions taken out of the expression
// and written through the primitive folds.
type normalForm struct {
	stmt    *lang.Stmt
	lhs     *ir.Access
	value   ir.Expr      // right-hand side; reductions are TempRefs
	reduces []*ir.Reduce // inner ones first
	indices []*ir.Index
	builder *builder // for copies with other variables
}

// maxAccesses bounds the accesses of a statement: planning compares them with
// each other, so its time grows faster than their number.
const maxAccesses = 256

// maxVariances bounds the variances of a statement.
const maxVariances = 8

// builder rewrites one checked statement.
type builder struct {
	normalForm
	plan     *planner
	tensors  func(*lang.Tensor) *ir.Tensor
	accesses map[string]*ir.Access // equal accesses are one
	ev       ir.Evaluator
	names    map[string]bool // of index variables
	// bound holds the variables that some fold binds.
	bound map[*ir.Index]bool
	// copies counts the accesses that renaming has made.
	copies int
	// variances counts the variances so far: each reads its body three times, so
	// nested ones multiply.
	variances int
	spreading
	// spreads are accesses of operands in pieces, by key, and addends what they
	// are the union of.
	spreads  map[string]ir.Expr
	spreadOf map[ir.Expr]*lang.Tensor
	addends  map[ir.Expr][]addend
}

// normalize rewrites a checked statement. tensors maps the program's tensors to
// the plan's, those that pieces has a form of excepted. What a scan or order statistic of
// the statement needs is planned as steps of plan.
func normalize(s *lang.Stmt, plan *planner, tensors func(*lang.Tensor) *ir.Tensor, result *ir.Tensor, ev ir.Evaluator, pieces spreading) (*normalForm, error) {
	b := &builder{plan: plan, tensors: tensors, accesses: map[string]*ir.Access{}, ev: ev, names: map[string]bool{}, bound: map[*ir.Index]bool{},
		spreading: pieces, spreads: map[string]ir.Expr{}, spreadOf: map[ir.Expr]*lang.Tensor{}, addends: map[ir.Expr][]addend{}}
	b.stmt = s
	for _, x := range s.Indices {
		name := x.Name
		if name == "" {
			name = fmt.Sprintf("s%d", x.ID)
		}
		b.indices = append(b.indices, &ir.Index{ID: x.ID, Name: name, Free: x.Free, Pos: x.Pos})
		b.names[name] = true
	}
	lhs, err := b.access(s.LHS)
	if err != nil {
		return nil, err
	}
	// The left side is a place, not a value: it is not shared with a read of
	// the same element.
	delete(b.accesses, b.key(s.LHS))
	b.lhs = &ir.Access{Pos: s.LHS.Pos, Tensor: result, Indices: lhs.Indices}
	b.value, err = b.expr(s.RHS)
	if err != nil {
		return nil, err
	}
	b.builder = b
	b.flatten()
	return &b.normalForm, nil
}

func (b *builder) access(a *lang.Access) (*ir.Access, error) {
	key := b.key(a)
	if same, ok := b.accesses[key]; ok {
		return same, nil
	}
	return b.newAccess(key, b.tensors(a.Tensor), a)
}

// newAccess is a new access of t with the indices of a.
func (b *builder) newAccess(key string, t *ir.Tensor, a *lang.Access) (*ir.Access, error) {
	if len(b.accesses)+b.copies >= maxAccesses {
		return nil, tooManyAccesses(a.Pos)
	}
	out := &ir.Access{Pos: a.Pos, Tensor: t}
	for _, x := range a.Indices {
		y := x
		y.Terms = nil
		if x.Literal > 0 {
			y.Const = 0 // nothing is to be planned by it
		}
		if x.Open && x.Const == 0 && x.Terms[0].Coef == 1 {
			y.Slice, y.Open = false, false // of everything
		}
		for _, t := range x.Terms {
			y.Terms = append(y.Terms, ir.Term{Var: b.indices[t.Var.ID], Coef: t.Coef})
		}
		if x.Gather != nil {
			g, err := b.access(x.Gather)
			if err != nil {
				return nil, err
			}
			y.Gather = g
		}
		out.Indices = append(out.Indices, y)
	}
	b.accesses[key] = out
	return out, nil
}

func tooManyAccesses(pos lang.Pos) error {
	return lang.Unsupported(fmt.Sprintf("more than %d tensor elements read in one statement (split it; a variance reads its argument three times)", maxAccesses), pos)
}

// key is the same for accesses that read the same element.
func (b *builder) key(a *lang.Access) string {
	key := fmt.Sprintf("%d", a.Tensor.ID)
	for _, x := range a.Indices {
		for _, t := range x.Terms {
			key += fmt.Sprintf(",%d*%d", t.Coef, t.Var.ID)
		}
		if x.Gather != nil {
			key += ",(" + b.key(x.Gather) + ")"
		}
		key += fmt.Sprintf("+%d,%d,%t,%t;", x.Const, x.Literal, x.Slice, x.Open)
	}
	return key
}

func (b *builder) expr(e lang.Expr) (ir.Expr, error) {
	switch e := e.(type) {
	case *ir.Literal:
		return &ir.Literal{Value: e.Value.Convert(ir.TypeOf(e))}, nil
	case *lang.Access:
		if e.Tensor.StoredOf != nil && e.Tensor.Format.IsDense() && plainIndices(e) {
			// True and, as the element itself is, stored.
			of := *e
			of.Tensor = e.Tensor.StoredOf
			x, err := b.expr(&of)
			if err != nil {
				return nil, err
			}
			return b.call("or", tensor.Bool, b.cast(tensor.Bool, x), &ir.Literal{Value: tensor.Truth(true)}), nil
		}
		if b.form != nil {
			if f := b.form(e.Tensor); f != nil {
				return b.spread(e, f)
			}
		}
		return b.access(e)
	case *lang.Like:
		return b.expr(e.X)
	case *ir.IndexValue:
		return &ir.IndexValue{Var: b.indices[e.Var.ID]}, nil
	case *ir.Cast:
		x, err := b.expr(e.X)
		if err != nil {
			return nil, err
		}
		return b.ev.Fold(&ir.Cast{To: e.To, X: x}), nil
	case *ir.Call:
		args := make([]ir.Expr, len(e.Args))
		for i, a := range e.Args {
			x, err := b.expr(a)
			if err != nil {
				return nil, err
			}
			args[i] = x
		}
		return b.ev.Fold(&ir.Call{Fn: e.Fn, Args: args, Typ: ir.ComputeType(e.Typ)}), nil
	case *ir.Select:
		c, err := b.expr(e.Cond)
		if err != nil {
			return nil, err
		}
		t, err := b.expr(e.Then)
		if err != nil {
			return nil, err
		}
		f, err := b.expr(e.Else)
		if err != nil {
			return nil, err
		}
		return &ir.Select{Cond: c, Then: t, Else: f}, nil
	case *lang.Reduce:
		r, err := b.reduction(e)
		if err == nil && len(b.accesses)+b.copies > maxAccesses {
			err = tooManyAccesses(e.Pos)
		}
		return r, err
	case *lang.Scan:
		if e.Op == lang.Sort || e.Op == lang.ArgSort {
			return b.sort(e)
		}
		return b.scan(e)
	}
	panic(fmt.Sprintf("BUG: unknown checked expression %T", e))
}

// plainIndices reports whether every index of an access is a variable by itself, so
// that the access never leaves its tensor.
func plainIndices(a *lang.Access) bool {
	return !slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool { return x.Plain() == nil })
}

// fold adds a primitive reduction and returns its result: a reference, or what
// combines several where operands are stored in pieces.
func (b *builder) fold(f ir.Fold, over *ir.Reduce, body ir.Expr, typ tensor.DType) ir.Expr {
	if over.In != nil {
		return b.foldOne(f, over, body, typ)
	}
	var result ir.Expr
	for _, part := range b.distribute(f, body) {
		x := ir.Expr(b.foldOne(f, over, part, typ))
		if result != nil {
			x = &ir.Call{Fn: combiners[f], Args: []ir.Expr{result, x}, Typ: typ}
		}
		result = x
	}
	return result
}

// foldOne adds one primitive reduction. The first fold of a reduction binds the
// variables as written, further ones copies.
func (b *builder) foldOne(f ir.Fold, over *ir.Reduce, body ir.Expr, typ tensor.DType) *ir.TempRef {
	if len(over.Vars) > 0 && b.bound[over.Vars[0]] {
		over, body = b.renamed(over, body)
	}
	return b.add(f, over, body, typ)
}

func (b *builder) add(f ir.Fold, over *ir.Reduce, body ir.Expr, typ tensor.DType) *ir.TempRef {
	for _, v := range over.Vars {
		b.bound[v] = true
	}
	r := &ir.Reduce{Fold: f, Vars: over.Vars, In: over.In, Body: body, Typ: typ}
	r.Temp = &ir.Temp{ID: len(b.reduces), Reduce: r}
	b.reduces = append(b.reduces, r)
	return &ir.TempRef{Temp: r.Temp}
}

// reduction writes a reduction of the language through primitive folds.
func (b *builder) reduction(e *lang.Reduce) (ir.Expr, error) {
	switch e.Op {
	case lang.Median, lang.Quantile, lang.NanQuantile:
		return b.order(e)
	}
	typ := ir.ComputeType(e.Typ)
	over, err := b.over(e.Vars, e.Pos)
	if err != nil {
		return nil, err
	}
	body, err := b.expr(e.Body)
	if err != nil {
		return nil, err
	}
	if over.In != nil {
		if err := b.checkStored(over, e.Body, e.Pos); err != nil {
			return nil, err
		}
	}
	switch e.Op {
	case lang.Sum:
		return b.fold(ir.FoldSum, over, body, typ), nil
	case lang.Prod:
		return b.fold(ir.FoldProd, over, body, typ), nil
	case lang.Min:
		return b.fold(ir.FoldMin, over, body, typ), nil
	case lang.Max:
		return b.fold(ir.FoldMax, over, body, typ), nil
	case lang.Any:
		return b.fold(ir.FoldOr, over, b.toBool(body), tensor.Bool), nil
	case lang.All:
		return b.fold(ir.FoldAnd, over, b.toBool(body), tensor.Bool), nil
	case lang.Count:
		return b.fold(ir.FoldSum, over, b.cast(tensor.Int64, b.toBool(body)), tensor.Int64), nil
	case lang.Norm:
		sq := b.call("square", ir.TypeOf(body), body)
		if ir.TypeOf(body).IsComplex() {
			re := b.call("real", ir.TypeOf(body).Real(), body)
			im := b.call("imag", ir.TypeOf(body).Real(), body)
			sq = b.call("+", ir.TypeOf(body).Real(), b.call("square", ir.TypeOf(re), re), b.call("square", ir.TypeOf(im), im))
		}
		return b.cast(typ, b.call("sqrt", ir.TypeOf(sq), b.fold(ir.FoldSum, over, sq, ir.TypeOf(sq)))), nil
	case lang.Mean:
		if b.overNothing(e) {
			return &ir.Literal{Value: ir.NaN(tensor.Float64).Convert(typ)}, nil
		}
		return b.mean(over, b.cast(typ, body), typ), nil
	case lang.Var:
		if b.overNothing(e) {
			return &ir.Literal{Value: ir.NaN(tensor.Float64).Convert(typ)}, nil
		}
		if b.variances >= maxVariances {
			return nil, lang.Unsupported(fmt.Sprintf("more than %d variances in one statement (split it)", maxVariances), e.Pos)
		}
		return b.variance(over, body, typ), nil
	case lang.LogSumExp:
		return b.fold(ir.FoldLogSumExp, over, b.cast(typ, body), typ), nil
	case lang.ArgMin:
		return b.fold(ir.FoldArgMin, over, body, tensor.Int64), nil
	case lang.ArgMax:
		return b.fold(ir.FoldArgMax, over, body, tensor.Int64), nil
	}
	panic("BUG: unknown reduction " + e.Op.String())
}

// overNothing reports whether a mean or variance is known to be NaN.
func (b *builder) overNothing(e *lang.Reduce) bool {
	return b.plan != nil && slices.Contains(b.plan.Options.Nothing, e)
}

// over is a reduction over vars, without a body yet.
func (b *builder) over(vars []lang.ReduceVar, pos lang.Pos) (*ir.Reduce, error) {
	over := &ir.Reduce{}
	for _, v := range vars {
		over.Vars = append(over.Vars, b.indices[v.Var.ID])
		if v.In == nil {
			continue
		}
		in, err := b.access(v.InAccess)
		if err != nil {
			return nil, err
		}
		if over.In != nil && over.In != in {
			return nil, lang.Unsupported("reductions over the stored coordinates of several tensors", pos)
		}
		over.In = in
	}
	return over, nil
}

// checkStored refuses `in A` where A has further indices that are bound inside
// the body, by a reduction or an order statistic: what A stores is then not decided by the reduction's own indices.
func (b *builder) checkStored(over *ir.Reduce, body lang.Expr, pos lang.Pos) error {
	bound := map[*ir.Index]bool{}
	lang.Walk(body, func(e lang.Expr) bool {
		if r, ok := e.(*lang.Reduce); ok {
			for _, v := range r.Vars {
				bound[b.indices[v.Var.ID]] = true
			}
		}
		return true
	})
	for _, v := range over.In.Vars(nil) {
		if bound[v] {
			return lang.Unsupported(fmt.Sprintf("`in %s` while index %s of %s is bound further inside",
				over.In.Tensor.Name, v.Name, over.In.Tensor.Name), pos)
		}
	}
	return nil
}

// count is the number of coordinates that over visits, in type typ.
func (b *builder) count(over *ir.Reduce, typ tensor.DType) ir.Expr {
	if over.In != nil {
		one := &ir.Literal{Value: tensor.One(tensor.Int64)}
		return b.cast(typ, b.fold(ir.FoldSum, over, one, tensor.Int64))
	}
	var n ir.Expr
	for _, v := range over.Vars {
		// Extents multiply in f64: a product over 2^63 must not wrap.
		x := ir.Expr(&ir.Cast{To: tensor.Float64, X: &ir.Extent{Var: v}})
		if n == nil {
			n = x
		} else {
			n = b.call("*", tensor.Float64, n, x)
		}
	}
	return b.cast(typ, n)
}

func (b *builder) mean(over *ir.Reduce, body ir.Expr, typ tensor.DType) ir.Expr {
	sum := b.fold(ir.FoldSum, over, body, typ)
	n := b.count(over, typ.Real())
	mean := b.call("/", typ, sum, n)
	if over.In == nil {
		return mean
	}
	// Over nothing stored the mean is NaN, also where an implicit zero would
	// make the quotient 0.
	none := b.call("==", tensor.Bool, n, &ir.Literal{Value: tensor.Zero(ir.TypeOf(n))})
	return &ir.Select{Cond: none, Then: &ir.Literal{Value: tensor.Float(tensor.Float64, math.NaN()).Convert(typ)}, Else: mean}
}

// variance is the population variance in two passes: the mean first, then the
// mean squared distance from it.
func (b *builder) variance(over *ir.Reduce, body ir.Expr, typ tensor.DType) ir.Expr {
	b.variances++
	if ir.TypeOf(body).IsComplex() {
		dt := ir.TypeOf(body)
		mu := b.mean(over, body, dt)
		re := b.call("real", dt.Real(), b.call("-", dt, body, mu))
		im := b.call("imag", dt.Real(), b.call("-", dt, body, mu))
		return b.cast(typ, b.mean(over, b.call("+", ir.TypeOf(re), b.call("square", ir.TypeOf(re), re), b.call("square", ir.TypeOf(im), im)), ir.TypeOf(re)))
	}
	x := b.cast(typ, body)
	// The rounded mean may be off by more than the values differ: what it is off by is
	// the mean of the differences (T. Chan, G. Golub, R. LeVeque, Algorithms for
	// computing the sample variance, 1983).
	mu := b.mean(over, x, typ)
	mu = b.call("+", typ, mu, b.mean(over, b.call("-", typ, x, mu), typ))
	return b.mean(over, b.call("square", typ, b.call("-", typ, x, mu)), typ)
}

func (b *builder) cast(to tensor.DType, x ir.Expr) ir.Expr {
	return b.ev.Fold(&ir.Cast{To: to, X: x})
}

func (b *builder) toBool(x ir.Expr) ir.Expr { return b.cast(tensor.Bool, x) }

func (b *builder) call(fn string, typ tensor.DType, args ...ir.Expr) ir.Expr {
	return b.ev.Fold(&ir.Call{Fn: fn, Args: args, Typ: typ})
}
