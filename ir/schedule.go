package ir

import "github.com/lacuna-sparse/lacuna/tensor"

// Cost estimates, in loop iterations. Extents are not known when a program is
// compiled, so all dense loops count alike; what matters is which loops are
// cut short by sparse operands and which operands have to be stored again.
const (
	denseTrips    = 1000
	sparseTrips   = 8
	convertCost   = 300_000
	strideFactor  = 1.3 // innermost loop strides through a dense operand
	scatterFactor = 1.2 // an accumulator in a register beats one in memory
	maxOrders     = 400 // loop orders tried
)

// candidate is one way to run a statement.
type candidate struct {
	body    Stmt
	order   []*Index
	orders  [][]*Index // of each reduction
	scatter *Reduce
	// convert lists accesses that have to read a re-stored operand.
	convert []*Access
	at      depths
	cost    float64
}

// scheduler chooses loop orders for one statement.
type scheduler struct {
	*normalForm
	alg Algebra
	// accesses are all reads of the statement, gathers included.
	accesses []*Access
	best     *candidate
	tried    int
}

// schedule picks the cheapest loop orders by trying them.
func (nf *normalForm) schedule(alg Algebra) *candidate {
	s := &scheduler{normalForm: nf, alg: alg}
	seen := map[*Access]bool{}
	add := func(e Expr) {
		Walk(e, func(x Expr) {
			if a, ok := x.(*Access); ok && !seen[a] {
				seen[a] = true
				s.accesses = append(s.accesses, a)
			}
		})
	}
	add(nf.value)
	for _, r := range nf.reduces {
		add(r.Body)
		if r.In != nil {
			add(r.In)
		}
	}
	free := s.resultOrder()
	if s.denseResult() {
		permutations(free, maxOrders, func(order []*Index) { s.tryGather(order) })
		if top := s.scatterTop(); top != nil {
			joint := append(append([]*Index(nil), free...), top.Vars...)
			s.tried = 0
			permutations(joint, maxOrders, func(order []*Index) { s.tryScatter(order, top) })
			// Beyond maxOrders permutations, storage orders are the ones worth trying.
			for _, a := range s.accesses {
				s.tryScatter(storageOrder(a, joint), top)
			}
		}
	} else {
		s.tryGather(free)
	}
	return s.best
}

// resultOrder is the order in which the result's levels want its variables.
func (s *scheduler) resultOrder() []*Index {
	var free []*Index
	for _, axis := range s.lhs.Tensor.Format.Order() {
		free = s.lhs.Indices[axis].Vars(free)
	}
	return free
}

func (s *scheduler) denseResult() bool { return s.lhs.Tensor.Format.IsDense() }

// scatterTop is the reduction that is the whole right-hand side, if it can
// accumulate straight into the result's memory.
func (s *scheduler) scatterTop() *Reduce {
	ref, ok := s.value.(*TempRef)
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

// storageOrder lists vars with those of a first, in a's level order.
func storageOrder(a *Access, vars []*Index) []*Index {
	var order []*Index
	for _, axis := range a.Tensor.Format.Order() {
		for _, v := range a.Indices[axis].Vars(nil) {
			if contains(vars, v) {
				order = addIndex(order, v)
			}
		}
	}
	for _, v := range vars {
		order = addIndex(order, v)
	}
	return order
}

// tryGather tries every combination of reduction orders under one order of the
// result's loops.
func (s *scheduler) tryGather(order []*Index) {
	s.eachReduceOrder(0, nil, func() { s.consider(s.gather(order), order, nil) })
}

func (s *scheduler) tryScatter(order []*Index, top *Reduce) {
	top.Order = top.Vars
	s.eachReduceOrder(0, top, func() { s.consider(s.scatter(order, top), order, top) })
}

func (s *scheduler) eachReduceOrder(i int, skip *Reduce, f func()) {
	if s.tried > 4*maxOrders && s.best != nil {
		return
	}
	if i == len(s.reduces) {
		f()
		return
	}
	r := s.reduces[i]
	if r == skip {
		s.eachReduceOrder(i+1, skip, f)
		return
	}
	next := func(order []*Index) {
		r.Order = append([]*Index(nil), order...)
		s.eachReduceOrder(i+1, skip, f)
	}
	if len(r.Vars) > 4 {
		next(r.Vars)
		for _, a := range s.accesses {
			next(storageOrder(a, r.Vars))
		}
		return
	}
	permutations(r.Vars, 24, next)
}

func (s *scheduler) consider(body Stmt, order []*Index, top *Reduce) {
	s.tried++
	c := &candidate{body: body, order: append([]*Index(nil), order...), scatter: top, at: depths{}}
	for _, r := range s.reduces {
		c.orders = append(c.orders, r.Order)
	}
	number(body, 0, c.at)
	for _, a := range s.accesses {
		if !c.at.concordant(a) {
			c.convert = append(c.convert, a)
			c.cost += convertCost
		}
	}
	w := costWalk{alg: s.alg, at: c.at, converted: c.convert}
	c.cost += w.stmt(body, 1)
	if top != nil {
		c.cost *= scatterFactor
	}
	if s.best == nil || c.cost < s.best.cost {
		s.best = c
	}
}

// number notes the depth of each loop.
func number(st Stmt, depth int, at depths) {
	switch st := st.(type) {
	case *Forall:
		at[st.Index] = depth
		number(st.Body, depth+1, at)
	case *Where:
		number(st.Producer, depth, at)
		number(st.Consumer, depth, at)
	}
}

// costWalk estimates the iterations of a nest.
type costWalk struct {
	alg       Algebra
	at        depths
	converted []*Access
}

func (w *costWalk) stmt(st Stmt, times float64) float64 {
	switch st := st.(type) {
	case *Where:
		return w.stmt(st.Producer, times) + w.stmt(st.Consumer, times)
	case *Assign:
		return times
	case *Forall:
		trips := float64(denseTrips)
		if set := w.alg.stmtSet(st.Body, dryLeaves{w.alg, st.Index, w.at, w.converted}); !set.IsAll() {
			trips = sparseTrips
		}
		cost := times*trips + w.stmt(st.Body, times*trips)
		if leaf, ok := st.Body.(*Assign); ok && strided(leaf, st.Index) {
			cost *= strideFactor
		}
		return cost
	}
	panic("BUG: unknown plan statement")
}

// strided reports whether v moves some dense operand of the leaf along an axis
// that is not its innermost.
func strided(leaf *Assign, v *Index) bool {
	found := false
	check := func(a *Access) {
		order := a.Tensor.Format.Order()
		if a.Tensor.Rank < 2 || !a.Tensor.Format.IsDense() {
			return
		}
		for l, axis := range order {
			if l < len(order)-1 && a.Indices[axis].Plain() == v {
				found = true
			}
		}
	}
	Walk(leaf.Value, func(e Expr) {
		if a, ok := e.(*Access); ok {
			check(a)
		}
	})
	if leaf.LHS != nil {
		check(leaf.LHS)
	}
	return found
}

// stmtSet is the set of values of a loop's index for which st has an effect
// beyond its known background.
func (g Algebra) stmtSet(st Stmt, leaves Leaves) Formula {
	switch st := st.(type) {
	case *Forall:
		return g.stmtSet(st.Body, leaves)
	case *Where:
		// The temporary's own support enters through the consumer.
		return g.stmtSet(st.Consumer, leaves)
	case *Assign:
		s := g.Of(st.Value, leaves)
		if st.Temp != nil && st.Temp.Reduce.In != nil {
			return Intersect(s.Set, leaves.Access(st.Temp.Reduce.In).Set)
		}
		if s.Background == nil {
			return All()
		}
		return s.Set
	}
	panic("BUG: unknown plan statement")
}

// dryLeaves approximates how leaves behave along the loop of v before there is
// code: an access walks its sparse level for v if the loops follow its storage.
type dryLeaves struct {
	alg       Algebra
	v         *Index
	at        depths
	converted []*Access // read in loop order, whatever their format says
}

func (d dryLeaves) Access(a *Access) Support {
	if !contains(a.Vars(nil), d.v) {
		for _, v := range a.Vars(nil) {
			if d.at[v] > d.at[d.v] {
				return Support{Set: None()}
			}
		}
		return Constant(a)
	}
	if !a.Tensor.FillKnown {
		return Everywhere()
	}
	format := a.Tensor.Format
	for _, c := range d.converted {
		if c == a {
			format = d.at.reordered(a)
		}
	}
	order := format.Order()
	for l, level := range format.Physical() {
		x := a.Indices[order[l]]
		if len(x.Terms) != 1 || x.Terms[0].Var != d.v || x.Terms[0].Coef <= 0 {
			continue
		}
		if level.Kind != tensor.DenseLevel {
			return Support{Set: AtomOf(Atom(l)), Background: &Const{Value: a.Tensor.Fill.Convert(ComputeType(a.Tensor.DType))}}
		}
	}
	return Everywhere()
}

func (d dryLeaves) Index(v *Index) Support {
	if v == d.v {
		return Everywhere()
	}
	if d.at[v] > d.at[d.v] {
		return Support{Set: None()}
	}
	return Constant(&IndexValue{Var: v})
}

func (d dryLeaves) Temp(t *Temp) Support { return d.alg.TempSupport(t, d) }

// TempSupport is the support of a reduction's result along a loop outside the
// reduction, given how its body behaves there.
func (g Algebra) TempSupport(t *Temp, leaves Leaves) Support {
	r := t.Reduce
	s := g.Of(r.Body, leaves)
	if r.In != nil {
		in := leaves.Access(r.In)
		return Support{Set: in.Set, Background: g.EmptyFold(r)}
	}
	return Support{Set: s.Set, Background: g.Repeat(r.Fold, s.Background, r.Vars, r.Typ)}
}

// EmptyFold is what the reduction gives over nothing.
func (g Algebra) EmptyFold(r *Reduce) Expr {
	switch r.Fold {
	case FoldLogSumExp:
		return &Const{Value: Lowest(r.Typ)}
	case FoldArgMin, FoldArgMax:
		return &Const{Value: tensor.Int(r.Typ, -1)}
	}
	return &Const{Value: r.Fold.Identity(r.Typ)}
}
