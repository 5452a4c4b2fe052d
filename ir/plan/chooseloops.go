package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// candidate is one way to run a statement.
type candidate struct {
	body   ir.Stmt
	order  []*ir.Index
	orders [][]*ir.Index // of each reduction
	// accumulate says that the result's elements are folded in memory, by fold.
	accumulate bool
	fold       ir.Fold
	scatter    *ir.Reduce // the reduction whose loops are among the result's, if one's are
	split      *split     // nil without workspaces
	tables     []*ir.Tabulate
	merged     *tensor.Format // in which operands are stored again; nil if that follows from the loops
	// convert lists accesses that have to read a re-stored operand.
	convert []*ir.Access
	at      depths
	cost    float64
	nests   []ir.Nest    // of the best candidate: all that were weighed, if they are to be kept
	ways    []ir.WayCost // of the best candidate: what it was compared with
}

// scheduler chooses loop orders for one statement.
type scheduler struct {
	*normalForm
	alg  ir.Algebra
	opts ir.Options
	// accesses are all reads of the statement, gathers included.
	accesses []*ir.Access
	best     *candidate
	// wishes are what the statement's schedule asks for, nil without one; wanted is the cheapest candidate that is so.
	wishes *wishes
	wanted *candidate
	nests  map[string]float64 // what nests cost, if they are to be kept
	tried  int                // candidates of the present kind
	most   int                // of one kind that are tried
	ways   []ir.WayCost       // of the candidates so far
	merged *tensor.Format     // see mergedFormat
}

// scheduler is ready to choose loops for the statement.
func (nf *normalForm) scheduler(alg ir.Algebra, opts ir.Options) *scheduler {
	s := &scheduler{normalForm: nf, alg: alg, opts: opts}
	var gathers []ir.Expr
	for _, x := range nf.lhs.Indices {
		if x.Gather != nil {
			gathers = append(gathers, x.Gather)
		}
	}
	eachAccess(func(a *ir.Access) { s.accesses = append(s.accesses, a) }, append(gathers, nf.read()...)...)
	s.merged = s.mergedFormat()
	s.most = min(4*cost.MostOrders, max(cost.LeastTrials, cost.Effort/(nf.size()*nf.loops()*(1+len(nf.reduces)))))
	return s
}

// schedule picks the cheapest loop orders by trying them, of those that are as wishes say, which may be nil.
func (nf *normalForm) schedule(alg ir.Algebra, opts ir.Options, wishes *wishes) (*candidate, error) {
	s := nf.scheduler(alg, opts)
	s.wishes = wishes
	if opts.Alternatives {
		s.nests = map[string]float64{}
	}
	free := s.resultOrder()
	if s.denseResult() {
		s.eachOrder(free, s.accesses, s.tryGather)
		if top := s.scatterTop(); top != nil {
			joint := append(append([]*ir.Index(nil), free...), top.Vars...)
			s.tried = 0
			s.eachOrder(joint, nil, func(order []*ir.Index) { s.tryScatter(order, top) })
			// Beyond cost.MostOrders permutations, storage orders are the ones worth trying.
			for _, order := range s.storageOrders(joint, s.accesses)[1:] {
				s.tryScatter(order, top)
			}
		}
		if len(s.builder.spreads) > 0 {
			s.tryTerms(free)
		}
	} else {
		s.tryGather(free)
		s.trySplits(free)
		s.tryBlocks(free)
	}
	if wishes != nil {
		if s.wanted == nil {
			return nil, wishes.refusal()
		}
		s.best = s.wanted
	}
	s.best.ways = s.compared()
	for order, n := range s.nests {
		s.best.nests = append(s.best.nests, ir.Nest{Order: order, Iterations: n})
	}
	slices.SortFunc(s.best.nests, func(x, y ir.Nest) int {
		return cmp.Or(cmp.Compare(x.Iterations, y.Iterations), strings.Compare(x.Order, y.Order))
	})
	return s.best, nil
}

// resultOrder is the order in which the result's levels want its variables.
func (s *scheduler) resultOrder() []*ir.Index {
	var free []*ir.Index
	for _, axis := range s.lhs.Tensor.Format.Order() {
		free = s.lhs.Indices[axis].Vars(free)
	}
	return free
}

func (s *scheduler) denseResult() bool { return s.lhs.Tensor.Format.IsDense() }

// scatterTop is the reduction that is the whole right-hand side, if it can
// accumulate straight into the result's memory.
func (s *scheduler) scatterTop() *ir.Reduce {
	ref, ok := s.value.(*ir.TempRef)
	if !ok {
		return nil
	}
	r := ref.Temp.Reduce
	if r.Fold.Facts().Pair || r.Typ != s.lhs.Tensor.DType || r.In != nil {
		return nil
	}
	// What the left side does not reach would keep the fold's identity.
	if !s.covers() {
		return nil
	}
	return r
}

// scatterGap is the constant that r's body is where no operand stores anything, if
// that is not the identity, so that its copies must be folded, and can be counted: the
// number of those of several variables need not fit 64 bits.
func scatterGap(g ir.Algebra, r *ir.Reduce) *ir.Literal {
	v, ok := ir.ConstValue(g.Of(r.Body, ir.GlobalLeaves(g)).Background)
	if !ok || r.Fold.IsIdentity(v) || len(r.Vars) != 1 {
		return nil
	}
	return &ir.Literal{Value: v}
}

// tryBlocks accumulates into the dense blocks of a sparse result: its sparse
// levels are bound first, the rest in any order.
func (s *scheduler) tryBlocks(free []*ir.Index) {
	top := s.scatterTop()
	if top == nil || !s.neutral(top.Fold, top.Body) || !top.Fold.IsIdentity(s.lhs.Tensor.Fill) {
		return
	}
	var sparse []*ir.Index
	f := s.lhs.Tensor.Format
	for l, axis := range f.Order() {
		if l < f.SparseRank() {
			sparse = s.lhs.Indices[axis].Vars(sparse)
		}
	}
	if len(sparse) == len(free) {
		return
	}
	rest := append(append([]*ir.Index(nil), free[len(sparse):]...), top.Vars...)
	s.tried = 0
	s.eachOrder(rest, s.accesses, func(order []*ir.Index) {
		s.tryScatter(append(sparse[:len(sparse):len(sparse)], order...), top)
	})
}

// tryGather tries the orders of reductions under one order of the result's loops.
func (s *scheduler) tryGather(order []*ir.Index) {
	s.eachReduceOrder(nil, func() float64 { return s.consider(&candidate{body: s.gather(order), order: order}) })
}

func (s *scheduler) tryScatter(order []*ir.Index, top *ir.Reduce) {
	top.Order = top.Vars
	s.eachReduceOrder(top, func() float64 {
		return s.consider(&candidate{body: s.scatter(order, top), order: order, accumulate: true, fold: top.Fold, scatter: top})
	})
}

// consider estimates the cost of a candidate, keeps it if it is the cheapest so
// far, and returns the cost.
func (s *scheduler) consider(c *candidate) float64 {
	s.tried++
	c.merged = s.merged
	c.order = append([]*ir.Index(nil), c.order...)
	c.at = depths{}
	for _, r := range s.reduces {
		c.orders = append(c.orders, r.Order)
	}
	reads := s.accesses
	if _, terms := c.body.(*ir.Sequence); terms || c.split != nil {
		reads = readsOf(c.body)
	}
	if _, terms := c.body.(*ir.Sequence); terms {
		c.cost, c.convert = s.assess(c.body, c.at, reads)
	} else {
		number(c.body, 0, c.at)
		z := s.sizesOf(reads)
		for _, a := range reads {
			if s.stale(a, c) {
				c.convert = append(c.convert, a)
				c.cost += z.conversion(a.Tensor)
			}
		}
		converted := c.at.convert(c.convert)
		c.body, c.tables = s.tabulate(c, converted)
		w := costWalk{alg: s.alg, at: c.at, converted: converted, everything: s.visitsAll(c.scatter), whole: wholeLoops(reads), sizes: z, counted: !s.denseResult(), kept: 1}
		c.cost += w.stmt(c.body, 1)
	}
	if c.accumulate {
		c.cost *= cost.ScatterFactor
		if c.scatter != nil && scatterGap(s.alg, c.scatter) != nil {
			c.cost *= cost.CountFactor
		}
	}
	if _, terms := c.body.(*ir.Sequence); !terms {
		c.cost *= s.weigh(c.body)
	}
	if len(c.convert) > 0 && !s.opts.Grids {
		// What is stored again stays in memory beside what it was made of, and new operands are stored again in each run: where estimates are too close to tell, they
		// are read as they are. On a grid more than the iterations speaks for it, as loops along the storage are often those that threads cannot share.
		c.cost *= cost.ConversionDoubt
	}
	s.compare(c)
	if s.best == nil || c.cost < s.best.cost {
		s.best = c
	}
	if s.nests != nil {
		text := nestText(s.indices, c.body)
		if cost, seen := s.nests[text]; !seen || c.cost < cost {
			s.nests[text] = c.cost
		}
	}
	if s.wishes != nil && s.wishes.admit(s, c) && (s.wanted == nil || c.cost < s.wanted.cost != s.opts.Dearest) {
		s.wanted = c
	}
	return c.cost
}

// weigh is the factor by which a nest costs more because its outermost loop cannot be
// cut, as chunks of it would write the same elements of the result.
func (s *scheduler) weigh(body ir.Stmt) float64 {
	if !s.opts.Grids || s.lhs.Tensor.Rank == 0 {
		return 1
	}
	if !s.denseResult() && foldsFolds(s.value) {
		// Of the inner fold's result the outer one knows only that it was visited, so that which
		// entries are stored depends on the loops: let them be those of other engines.
		return 1
	}
	for {
		switch st := body.(type) {
		case *ir.Tabulate:
			body = st.Body
			continue
		case *ir.Where:
			body = st.Consumer // a reduction outside all loops is cut itself
			continue
		case *ir.Forall:
			axis := s.lhs.Tensor.Format.Order()[0]
			if s.lhs.Indices[axis].Plain() == st.Index {
				if !s.denseResult() && searchesEntries(st.Body) {
					return cost.RowThreadFactor
				}
				return 1
			}
			if s.denseResult() && slices.ContainsFunc(s.lhs.Indices, func(x ir.IndexExpr) bool { return x.Plain() == st.Index }) {
				return 1
			}
		}
		return cost.SerialFactor
	}
}

// searchesEntries reports whether a nest computes each entry of a result by a loop over what sparse operands have in common.
func searchesEntries(body ir.Stmt) bool {
	for {
		switch st := body.(type) {
		case *ir.Tabulate:
			body = st.Body
		case *ir.Forall:
			body = st.Body
		case *ir.Where:
			inner, ok := st.Producer.(*ir.Forall)
			sparse := 0
			for _, a := range readsOf(st.Producer) {
				if ok && !a.Tensor.Format.IsDense() && slices.ContainsFunc(a.Indices, func(x ir.IndexExpr) bool { return x.Plain() == inner.Index }) {
					sparse++
				}
			}
			return sparse > 1
		default:
			return false
		}
	}
}

// foldsFolds reports whether an expression folds the results of folds.
func foldsFolds(e ir.Expr) bool {
	return anyFold(e, func(r *ir.Reduce) bool { return anyFold(r.Body, func(*ir.Reduce) bool { return true }) })
}

// anyFold reports whether f holds for a fold whose result an expression takes.
func anyFold(e ir.Expr, f func(*ir.Reduce) bool) bool {
	found := false
	ir.Walk(e, func(x ir.Expr) {
		if t, ok := x.(*ir.TempRef); ok {
			found = found || f(t.Temp.Reduce) || anyFold(t.Temp.Reduce.Body, f)
		}
	})
	return found
}

// dryLeaves approximates how leaves behave along the loop of v before there is
// code: an access walks its sparse level for v if the loops follow its storage.
type dryLeaves struct {
	alg       ir.Algebra
	v         *ir.Index
	at        depths
	converted conversions
	sizes     *sizes // of what atoms stand for, nil if these are guessed
}

// conversions are the formats in which loops read the accesses that are converted for them: in loop order, whatever the
// operand's format says.
type conversions map[*ir.Access]tensor.Format

// convert gives accesses the order of the loops. It is asked of each candidate once, its formats many times.
func (d depths) convert(list []*ir.Access) conversions {
	if len(list) == 0 {
		return nil
	}
	c := make(conversions, len(list))
	for _, a := range list {
		c[a] = d.reordered(a)
	}
	return c
}

// format is the one in which loops read an access.
func (c conversions) format(a *ir.Access) tensor.Format {
	if f, ok := c[a]; ok {
		return f
	}
	return a.Tensor.Format
}

func (d dryLeaves) Access(a *ir.Access) ir.Support {
	if w := ir.WorkOf(a.Tensor); w != nil && !slices.Contains(a.Vars(nil), d.v) {
		// Along a loop outside the workspace, it is what its producer makes it.
		return d.alg.TempBehaviour(w.Temp, d).State
	}
	if !slices.Contains(a.Vars(nil), d.v) {
		for _, v := range a.Vars(nil) {
			if d.at[v] > d.at[d.v] {
				return ir.Support{Set: ir.None()}
			}
		}
		return ir.Constant(a)
	}
	if !a.Tensor.FillKnown {
		return ir.Everywhere()
	}
	format := d.converted.format(a)
	order := format.Order()
	for l, level := range format.Physical() {
		x := a.Indices[order[l]]
		if len(x.Terms) != 1 || x.Terms[0].Var != d.v || x.Terms[0].Coef <= 0 {
			continue
		}
		if level.Walked() {
			set := ir.Atom(l)
			if d.sizes != nil {
				set = d.sizes.atom(a, l, format)
			} else if l == 0 && len(order) > 1 {
				set = storedRows
			}
			return ir.Support{Set: ir.AtomOf(set), Background: ir.GapOf(a.Tensor)}
		}
	}
	return ir.Everywhere()
}

func (d dryLeaves) Index(v *ir.Index) ir.Support {
	if v == d.v {
		return ir.Everywhere()
	}
	if d.at[v] > d.at[d.v] {
		return ir.Support{Set: ir.None()}
	}
	return ir.Constant(&ir.IndexValue{Var: v})
}

func (d dryLeaves) Temp(t *ir.Temp) ir.Behaviour { return d.alg.TempBehaviour(t, d) }
