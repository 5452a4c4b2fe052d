package ir

import "github.com/lacuna-sparse/lacuna/tensor"

// Support says where, along one loop, an expression has to be computed: inside
// Set. Everywhere else along the loop it has one value, Background, which does
// not depend on the loop's index. A nil Background is a value that is not known
// before the loop (it depends on loops further inside); such an expression must
// still be computed everywhere unless an annihilator makes it irrelevant.
//
// This is the iteration algebra of array languages with fill values (Henry et
// al., "Compilation of Sparse Array Programming Models", OOPSLA 2021), derived
// from the operator table rather than from cases.
type Support struct {
	Set        Formula
	Background Expr
}

// Everywhere is the support of an expression that varies with the loop's index.
func Everywhere() Support { return Support{Set: All()} }

// Constant is the support of an expression that has one known value.
func Constant(e Expr) Support { return Support{Set: None(), Background: e} }

// Leaves tells the algebra how the leaves of an expression behave along the
// loop in question.
type Leaves interface {
	// Access is the support of a tensor access.
	Access(*Access) Support
	// Index is the support of an index variable's value.
	Index(*Index) Support
	// Temp is the support of a reduction's result.
	Temp(*Temp) Support
}

// Conditions is implemented by leaves that can tell where a condition on indices
// alone holds, such as i >= j: it is then part of what decides about a pattern.
type Conditions interface {
	// Condition returns the atoms of where the condition holds and where not.
	Condition(Expr) (on, off Atom, ok bool)
}

// Algebra derives supports.
type Algebra struct {
	Strict bool
	Eval   Evaluator
}

// Of derives the support of e.
func (g Algebra) Of(e Expr, leaves Leaves) Support {
	switch e := e.(type) {
	case *Const, *Extent:
		return Constant(e)
	case *Access:
		return leaves.Access(e)
	case *IndexValue:
		return leaves.Index(e.Var)
	case *TempRef:
		return leaves.Temp(e.Temp)
	case *Cast:
		s := g.Of(e.X, leaves)
		if s.Background != nil {
			s.Background = g.Eval.Fold(&Cast{To: e.To, X: s.Background})
		}
		return s
	case *Select:
		return g.choice(e, leaves)
	case *Call:
		return g.call(e, leaves)
	}
	panic("BUG: unknown plan expression")
}

func (g Algebra) call(e *Call, leaves Leaves) Support {
	args := make([]Support, len(e.Args))
	var deciding []Formula
	var decided Expr
	clash := false
	for i, a := range e.Args {
		args[i] = g.Of(a, leaves)
		v, ok := ConstValue(args[i].Background)
		if ok && Annihilates(e.Fn, i, v, g.Strict) {
			deciding = append(deciding, args[i].Set)
			value := &Const{Value: g.absorbed(v, e.Typ)}
			// inf and -inf cannot both decide a sum.
			clash = clash || decided != nil && !Equal(decided, value)
			decided = value
		}
	}
	if deciding != nil && !clash {
		return Support{Set: Intersect(deciding...), Background: decided}
	}
	sets := make([]Formula, len(args))
	backgrounds := make([]Expr, len(args))
	known := true
	for i, a := range args {
		sets[i] = a.Set
		backgrounds[i] = a.Background
		known = known && a.Background != nil
	}
	s := Support{Set: Union(sets...)}
	if known {
		s.Background = unsignedZero(g.Eval.Fold(&Call{Fn: e.Fn, Args: backgrounds, Typ: e.Typ}))
	}
	return s
}

// unsignedZero turns a negative zero into zero: what is not stored has no sign.
func unsignedZero(e Expr) Expr {
	if v, ok := ConstValue(e); ok && isValue(v, tensor.Zero(v.DType())) {
		return &Const{Value: tensor.Zero(v.DType())}
	}
	return e
}

// absorbed is the annihilating value as a result: a negative zero becomes zero,
// so that one fill stands for every way to reach it.
func (g Algebra) absorbed(v tensor.Scalar, typ tensor.DType) tensor.Scalar {
	if isValue(v, tensor.Zero(v.DType())) {
		return tensor.Zero(typ)
	}
	return v.Convert(typ)
}

func (g Algebra) choice(e *Select, leaves Leaves) Support {
	c, t, f := g.Of(e.Cond, leaves), g.Of(e.Then, leaves), g.Of(e.Else, leaves)
	if v, ok := ConstValue(c.Background); isPattern(e.Cond) && ok && !v.Bool() {
		return Support{Set: Union(c.Set, f.Set), Background: f.Background}
	}
	if v, ok := ConstValue(c.Background); ok {
		on, off := t, f // the branch taken where the condition is explicit, or not
		if v.Bool() {
			on, off = f, t
		}
		set := c.Set
		if sameConst(on.Background, off.Background) {
			set = Intersect(c.Set, on.Set)
		}
		return Support{Set: Union(set, off.Set), Background: off.Background}
	}
	if sameConst(t.Background, f.Background) {
		if known, ok := leaves.(Conditions); ok && onIndices(e.Cond) {
			if on, off, ok := known.Condition(e.Cond); ok {
				set := Union(Intersect(AtomOf(on), t.Set), Intersect(AtomOf(off), f.Set))
				return Support{Set: set, Background: t.Background}
			}
		}
		if isPattern(e.Cond) {
			return Support{Set: Union(c.Set, t.Set, f.Set), Background: t.Background}
		}
		// Where neither branch is explicit the condition does not matter.
		return Support{Set: Union(t.Set, f.Set), Background: t.Background}
	}
	s := Support{Set: Union(c.Set, t.Set, f.Set)}
	if c.Background != nil && t.Background != nil && f.Background != nil {
		s.Background = g.Eval.Fold(&Select{Cond: c.Background, Then: t.Background, Else: f.Background})
	}
	return s
}

// isPattern reports whether a condition asks what an operand stores. What it chooses
// then has all of that operand's coordinates, whatever the branch is made of:
// gradients are stored as their operands are.
func isPattern(cond Expr) bool {
	a, ok := cond.(*Access)
	return ok && a.Tensor.Pattern
}

// onIndices reports whether e depends on nothing but indices and extents.
func onIndices(e Expr) bool {
	only := true
	Walk(e, func(x Expr) {
		switch x.(type) {
		case *Access, *TempRef:
			only = false
		}
	})
	return only
}

func sameConst(x, y Expr) bool {
	v, ok := ConstValue(x)
	w, ok2 := ConstValue(y)
	return ok && ok2 && v == w
}

// Repeat is the fold of n = the product of the extents of vars copies of the
// value e, in closed form; nil when e is nil. Pair folds give their result.
func (g Algebra) Repeat(f Fold, e Expr, vars []*Index, typ tensor.DType) Expr {
	if e == nil {
		return nil
	}
	if v, ok := ConstValue(e); ok && f.IsIdentity(v) {
		return e
	}
	n := func(to tensor.DType) Expr {
		var n Expr
		for _, v := range vars {
			x := g.Eval.Fold(&Cast{To: to, X: &Extent{Var: v}})
			if n == nil {
				n = x
			} else {
				n = &Call{Fn: "*", Args: []Expr{n, x}, Typ: to}
			}
		}
		return n
	}
	some := func(value Expr, empty tensor.Scalar) Expr {
		var cond Expr
		for _, v := range vars {
			c := Expr(&Call{Fn: ">", Args: []Expr{&Extent{Var: v}, &Const{Value: tensor.Int(tensor.Int64, 0)}}, Typ: tensor.Bool})
			if cond == nil {
				cond = c
			} else {
				cond = &Call{Fn: "and", Args: []Expr{cond, c}, Typ: tensor.Bool}
			}
		}
		return &Select{Cond: cond, Then: value, Else: &Const{Value: empty}}
	}
	switch f {
	case FoldSum:
		return some(g.Eval.Fold(&Call{Fn: "*", Args: []Expr{e, n(typ)}, Typ: typ}), tensor.Zero(typ))
	case FoldProd:
		// One power for each variable: the product of the extents may not fit.
		// Real powers are taken in f64, which holds odd extents that f32 rounds.
		wide := typ
		if typ.IsFloat() {
			wide = tensor.Float64
		}
		power := g.Eval.Fold(&Cast{To: wide, X: e})
		for _, v := range vars {
			count := g.Eval.Fold(&Cast{To: wide, X: &Extent{Var: v}})
			power = &Call{Fn: "pow", Args: []Expr{power, count}, Typ: wide}
		}
		return some(g.Eval.Fold(&Cast{To: typ, X: power}), tensor.One(typ))
	case FoldMin, FoldMax:
		return e
	case FoldOr, FoldAnd:
		return some(e, f.Identity(typ))
	case FoldLogSumExp:
		logn := &Call{Fn: "log", Args: []Expr{n(typ)}, Typ: typ}
		return some(&Call{Fn: "+", Args: []Expr{e, logn}, Typ: typ}, Lowest(typ))
	case FoldArgMin, FoldArgMax:
		return &Const{Value: tensor.Zero(tensor.Int64)}
	}
	panic("BUG: unknown fold")
}
