package logic

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// facts are what is known of a tensor, or guessed.
type facts struct {
	known   bool
	dense   bool
	format  tensor.Format
	fill    tensor.Scalar
	extents []float64 // 0 where there are no coordinates
	n       float64
	at      []axis // by axis
	band    float64
	// exponent is a bound of its values: see bound. Neither it nor nonNegative is about the fill of an operand.
	exponent    float64
	nonNegative bool
	endless     bool // fills that are not finite may be among its values
}

// log2 is the logarithm, 0 for what is below 1.
func log2(x float64) float64 { return math.Log2(max(x, 1)) }

// operand is what is known of an operand.
func (o *optimiser) operand(t *lang.Tensor) facts {
	f := facts{known: true, dense: t.Format.IsDense(), format: t.Format, fill: t.Fill, nonNegative: false}
	of := t
	if t.StoredOf != nil {
		of = t.StoredOf
		f.dense, f.format, f.nonNegative = of.Format.IsDense(), of.Format, true
	}
	s := o.Statistics[of.Name]
	if s == nil {
		for k := range of.Rank {
			f.extents = append(f.extents, cost.GuessedExtent)
			if t.Shape != nil && t.Shape[k] >= 0 {
				f.extents[k] = float64(t.Shape[k])
			}
		}
		f.guess()
		f.exponent = 10
		return f
	}
	f.n = s.Entries
	for _, a := range s.Axes {
		f.extents = append(f.extents, a.Extent)
		f.at = append(f.at, axis{a.NonEmpty, a.Longest, a.Squares})
	}
	f.band = s.Band
	f.exponent = float64(s.Exponent)
	if !s.Finite {
		f.exponent = math.Inf(1)
	}
	if t.StoredOf == nil {
		f.nonNegative = s.NonNegative
	}
	return f
}

// fit gives operands without statistics the extents of those that have some, where they share an index.
func (o *optimiser) fit() {
	for _, s := range o.prog.Stmts {
		extents := map[*lang.Index]float64{}
		each := func(visit func(t *lang.Tensor, axis int, v *lang.Index, has bool)) {
			for _, a := range lang.Accesses(s.RHS) {
				t := a.Tensor
				if t.StoredOf != nil {
					t = t.StoredOf
				}
				for k, x := range a.Indices {
					if v := x.Plain(); v != nil && a.Tensor.Operand && k < len(o.facts[a.Tensor].extents) {
						visit(a.Tensor, k, v, o.Statistics[t.Name] != nil)
					}
				}
			}
		}
		each(func(t *lang.Tensor, axis int, v *lang.Index, has bool) {
			if has {
				extents[v] = o.facts[t].extents[axis]
			}
		})
		each(func(t *lang.Tensor, axis int, v *lang.Index, has bool) {
			if x, known := extents[v]; known && !has {
				f := o.facts[t]
				f.extents[axis] = x
				f.guess()
				o.facts[t] = f
			}
		})
	}
}

// guess fills in what a tensor of such extents usually stores.
func (f *facts) guess() {
	f.n = 1
	longest := 1.0
	for k, x := range f.extents {
		if k > 0 && !f.dense {
			x = min(x, cost.GuessedLength)
		}
		f.n *= x
		longest = max(longest, x)
	}
	f.at = nil
	for _, x := range f.extents {
		if x <= 0 || f.n <= 0 {
			f.at = append(f.at, axis{})
			continue
		}
		d := min(x, f.n)
		f.at = append(f.at, axis{d, f.n / d, f.n * f.n / d})
	}
}

// assigned notes what a statement makes of its result.
func (o *optimiser) assigned(s *statement) {
	t := s.stmt.LHS.Tensor
	o.forget(t)
	old, f := o.facts[t], facts{}
	how, known := Stored{tensor.Dense(t.Rank), tensor.Zero(t.DType)}, true
	if o.predicts || slices.ContainsFunc(o.later(s.written), func(x *lang.Stmt) bool { return reads(x, t) && hasLaw(x.RHS) }) {
		how, known = o.storedAs(t)
	}
	f.format, f.fill, f.dense = how.Format, how.Fill, how.Format.IsDense()
	vars, plain := plainIndices(s.stmt.LHS)
	f.known = known && plain
	for _, v := range vars {
		x, has := s.extents[v]
		f.known = f.known && has
		f.extents = append(f.extents, x)
	}
	if !f.known {
		f.extents = nil
	}
	f.exponent, f.endless = s.bound(s.stmt.RHS), s.endless(s.stmt.RHS) || s.stmt.Op != lang.Set && old.endless
	switch {
	case t.FillKnown && math.IsInf(t.Fill.Float64(), 0) && f.dense: // outside of what is assigned
		f.exponent = math.Inf(1)
	case s.stmt.Op == lang.Set && plain && !old.known:
	case s.stmt.Op == lang.Set || s.stmt.Op == lang.MinTo || s.stmt.Op == lang.MaxTo:
		f.exponent = max(f.exponent, old.exponent)
	case s.stmt.Op == lang.AddTo && plain:
		f.exponent = max(f.exponent, old.exponent) + 1
	default:
		f.exponent = math.Inf(1)
	}
	f.guess()
	if z := s.sizer(vars, s.stmt.RHS); !f.dense && plain && z != nil {
		rel := z.whole(s.stmt.RHS)
		f.n = rel.n
		copy(f.at, rel.at)
		if len(vars) == 2 {
			f.band = rel.width(0, 1)
		}
	}
	o.facts[t] = f
}

// later are the statements behind one.
func (o *optimiser) later(s *lang.Stmt) []*lang.Stmt {
	return o.prog.Stmts[slices.Index(o.prog.Stmts, s)+1:]
}

// reads reports whether a statement reads a tensor.
func reads(s *lang.Stmt, t *lang.Tensor) bool {
	return s.LHS.Tensor == t || slices.ContainsFunc(lang.Accesses(s.RHS), func(a *lang.Access) bool { return a.Tensor == t })
}

// numbered gives a variable a number.
func (s *search) numbered(v *lang.Index) {
	if _, seen := s.number[v]; !seen {
		s.number[v] = len(s.vars)
		s.vars = append(s.vars, v)
		s.extent = append(s.extent, s.extents[v])
	}
}

// sparsity are the functions that are 0 where their argument is.
var sparsity = []string{"neg", "abs", "sqrt", "square", "cube", "relu", "sign", "sin", "tan", "tanh", "conj", "real", "imag", "floor", "ceil", "trunc", "round", "expm1", "log1p", "cbrt"}

// relation estimates what a factor stores, over its variables.
func (s *search) relation(e lang.Expr, vars []*lang.Index) *relation {
	switch e := e.(type) {
	case *lang.Access:
		if r := s.access(e); r != nil {
			return r
		}
	case *lang.Cast:
		return s.relation(e.X, vars)
	case *lang.Call:
		switch name := e.Fn; {
		case slices.Contains(sparsity, name):
			r := s.relation(e.Args[0], vars)
			if slow(e) {
				r.calls++
			}
			return r
		case name == "+" || name == "-":
			a, b := s.relation(e.Args[0], vars), s.relation(e.Args[1], vars)
			if a.vars == b.vars && a.order != nil && b.order != nil {
				return merged(a, b)
			}
		}
	}
	set := varset{}
	for _, v := range vars {
		if k, ok := s.number[v]; ok {
			set.add(k)
		}
	}
	r := s.denseRelation(set)
	r.weight, r.calls = s.work(e), calls(e)
	for i, a := range lang.Accesses(e) { // consecutive elements of all dense tensors
		x := s.access(a)
		if x == nil || i > 0 && x.last != r.last {
			r.last = -1
			break
		}
		r.last = x.last
	}
	return r
}

// access estimates what an access reads.
func (s *search) access(a *lang.Access) *relation {
	f := s.facts[a.Tensor]
	vars, plain := plainIndices(a)
	if !plain || len(f.at) != len(vars) || len(vars) == 0 {
		return nil
	}
	r := &relation{n: f.n, at: make([]axis, len(s.vars)), last: -1, weight: 1, of: a.Tensor}
	if a.Tensor.StoredOf != nil {
		r.of = a.Tensor.StoredOf
	}
	order := f.format.Order()
	for k, v := range vars {
		n, ok := s.number[v]
		if !ok {
			return nil
		}
		r.vars.add(n)
		r.at[n] = f.at[k]
	}
	if f.band > 0 && len(vars) == 2 && f.band < narrow*f.extents[0] {
		r.within(s.number[vars[0]], s.number[vars[1]], f.band)
	}
	last := s.number[vars[order[len(order)-1]]]
	if f.dense {
		r.last = last
		return r
	}
	for _, axis := range order {
		r.order = append(r.order, s.number[vars[axis]])
	}
	return r
}

// narrow is up to which part of the extent a band counts.
const narrow = 0.25

// merged is the union of what two operands store.
func merged(a, b *relation) *relation {
	r := &relation{n: a.n + b.n, vars: a.vars, at: slices.Clone(a.at), last: -1, order: a.order, weight: builtin.Merge}
	for _, x := range a.bands {
		if w := b.width(x.u, x.v); w > 0 {
			r.bands = append(r.bands, band{x.u, x.v, max(x.width, w)})
		}
	}
	for v := range r.at {
		x, y := a.at[v], b.at[v]
		r.at[v] = axis{max(x.distinct, y.distinct), x.longest + y.longest, x.squares + y.squares + 2*math.Sqrt(x.squares*y.squares)}
	}
	return r
}

// work is how much more than a step an element of an expression costs: the reductions in it.
func (s *search) work(e lang.Expr) float64 {
	all := 1.0
	lang.Walk(e, func(x lang.Expr) bool {
		r, ok := x.(*lang.Reduce)
		if ok {
			n := 1.0
			for _, v := range r.Vars {
				n *= max(s.extents[v.Var], 1)
			}
			lang.Walk(r.Body, func(y lang.Expr) bool { // a sparse factor shortens the loop
				if a, is := y.(*lang.Access); is && s.facts[a.Tensor].known && !s.facts[a.Tensor].dense && s.facts[a.Tensor].n > 0 {
					rows := 1.0
					for k, i := range a.Indices {
						if v := i.Plain(); v != nil && !slices.ContainsFunc(r.Vars, func(b lang.ReduceVar) bool { return b.Var == v }) {
							rows *= max(s.facts[a.Tensor].at[k].distinct, 1)
						}
					}
					n = min(n, max(s.facts[a.Tensor].n/rows, 1))
				}
				return true
			})
			all += n
		}
		return !ok
	})
	return all
}
