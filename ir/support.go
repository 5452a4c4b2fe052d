package ir

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

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
	Set        SetExpr
	Background Expr
}

// String is "#0 else 1": the set, and the value outside it.
func (s Support) String() string {
	if s.Background == nil {
		return s.Set.String() + " else unknown"
	}
	return s.Set.String() + " else " + ExprString(s.Background)
}

// Behaviour is how an expression behaves along a loop. Outside the set of Value its
// value is the background; outside that of State, which is no smaller, it is besides
// not stored. They differ where a condition that is stored chooses between equal values.
type Behaviour struct {
	Value, State Support
	same         bool // they are known not to differ
}

// Same is the behaviour of what has its background's value just where it is not stored.
func Same(s Support) Behaviour { return Behaviour{s, s, true} }

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
	// Temp is the behaviour of a reduction's result.
	Temp(*Temp) Behaviour
}

// Conditions is implemented by leaves that can tell where a condition on indices
// alone holds, such as i >= j: it is then part of what decides about a pattern.
type Conditions interface {
	// Condition returns the atoms of where the condition holds and where not.
	Condition(Expr) (on, off Atom, ok bool)
}

// Algebra derives supports. At each coordinate a value is stored, a gap or uniform: an
// access that finds an entry is stored, one that finds none a gap, literals, scalars
// and indices are uniform. A gap with the annihilating value of an operation makes the
// result that value and a gap; otherwise the result is stored if an operand is, else a
// gap if one is. A constant background says by its Gap which of the last two it is.
type Algebra struct {
	Strict bool
	Eval   Evaluator
}

// Of derives where the value of e matters.
func (g Algebra) Of(e Expr, leaves Leaves) Support { return g.behaviour(e, leaves).Value }

// Stored derives where e is stored or has another value than where it is not.
func (g Algebra) Stored(e Expr, leaves Leaves) Support { return g.behaviour(e, leaves).State }

func (g Algebra) behaviour(e Expr, leaves Leaves) Behaviour {
	switch e := e.(type) {
	case *Literal, *Extent:
		return Same(Constant(e))
	case *Access:
		return Same(leaves.Access(e))
	case *IndexValue:
		return Same(leaves.Index(e.Var))
	case *TempRef:
		return leaves.Temp(e.Temp)
	case *Cast:
		return g.behaviour(e.X, leaves).each(func(s Support) Support {
			if s.Background != nil {
				s.Background = g.Eval.Fold(&Cast{To: e.To, X: s.Background})
			}
			return s
		})
	case *Select:
		c, t, f := g.behaviour(e.Cond, leaves), g.behaviour(e.Then, leaves), g.behaviour(e.Else, leaves)
		return g.behaves(g.chosen(e, c.Value, t.Value, f.Value, leaves), g.choice(e, c.State, t.State, f.State, leaves))
	case *Call:
		both := make([]Support, 2*len(e.Args))
		values, states := both[:len(e.Args)], both[len(e.Args):]
		same := true
		for i, a := range e.Args {
			b := g.behaviour(a, leaves)
			values[i], states[i] = b.Value, b.State
			c, known := b.Value.Background.(*Literal)
			same = same && b.same && (!known || valueDecides(c) == gapDecides(c))
			if !b.same && g.asksState(e.Fn, i, a, b.Value.Background) {
				values[i] = b.State
			}
		}
		if same {
			return Same(g.call(e, values, valueDecides))
		}
		return g.behaves(g.call(e, values, valueDecides), g.call(e, states, gapDecides))
	}
	panic("BUG: unknown plan expression")
}

// behaves joins what was derived of the value and of the state. A background whose
// state is not known is taken for none that annihilates.
func (g Algebra) behaves(value, state Support) Behaviour {
	if v, ok := ConstValue(value.Background); ok && state.Background == nil {
		value.Background = &Literal{Value: v}
	}
	return Behaviour{Value: value, State: state}
}

// each is what f makes of value and state.
func (b Behaviour) each(f func(Support) Support) Behaviour {
	if b.same {
		return Same(f(b.Value))
	}
	return Behaviour{Value: f(b.Value), State: f(b.State)}
}

// asksState reports whether the result of an operation depends on the state of an operand,
// not on its value alone: what annihilates if it is a gap, and changes the result.
func (g Algebra) asksState(fn string, arg int, a, background Expr) bool {
	if !inexact(TypeOf(a)) || !g.MayAnnihilate(fn, arg) || Gapless(a) {
		return false
	}
	v, ok := ConstValue(background)
	return !ok || Annihilates(fn, arg, v, g.Strict)
}

// AskedStates are the reductions of a step of which somebody asks whether they are stored, besides their
// values: a sparse result, or an operation that a gap annihilates.
func (g Algebra) AskedStates(step *Compute) map[*Temp]bool {
	asked := map[*Temp]bool{}
	var visit func(e Expr, ask bool)
	visit = func(e Expr, ask bool) {
		switch e := e.(type) {
		case *TempRef:
			asked[e.Temp] = asked[e.Temp] || ask
			visit(e.Temp.Reduce.Body, ask)
		case *Cast:
			visit(e.X, ask)
		case *Select:
			visit(e.Cond, ask)
			visit(e.Then, ask)
			visit(e.Else, ask)
		case *Call:
			for i, a := range e.Args {
				visit(a, ask || g.asksState(e.Fn, i, a, g.Of(a, GlobalLeaves(g)).Background))
			}
		}
	}
	for _, leaf := range assignments(step.Body) {
		if leaf.Temp == nil {
			visit(leaf.Value, leaf.LHS.Tensor.Work != nil || !leaf.LHS.Tensor.Format.IsDense())
		}
	}
	return asked
}

func inexact(dt tensor.DType) bool { return dt.IsFloat() || dt.IsComplex() }

// valueDecides reports whether an operand that annihilates decides the result wherever it has
// this background: a gap does, and whatever its state is an integer or a truth value, as those have
// no infinities.
func valueDecides(c *Literal) bool { return c.Gap || !inexact(c.Value.DType()) }

// gapDecides reports whether an operand that annihilates decides state and value of the result.
func gapDecides(c *Literal) bool { return c.Gap }

func (g Algebra) call(e *Call, args []Support, decides func(*Literal) bool) Support {
	var deciding []SetExpr
	var decided *Literal
	clash := false
	for i, a := range args {
		c, ok := a.Background.(*Literal)
		if ok && decides(c) && Annihilates(e.Fn, i, c.Value, g.Strict) {
			deciding = append(deciding, a.Set)
			value := unsigned(&Literal{Value: c.Value.Convert(e.Typ), Gap: c.Gap, Stored: c.Stored})
			// inf and -inf cannot both decide a sum.
			clash = clash || decided != nil && !Equal(decided, value)
			if decided == nil || !value.Gap {
				decided = value
			}
		}
	}
	if deciding != nil && !clash && !opposed(e.Fn, decided, args) {
		return Support{Set: Intersect(deciding...), Background: decided}
	}
	sets := make([]SetExpr, len(args))
	backgrounds := make([]Expr, len(args))
	known := true
	for i, a := range args {
		sets[i] = a.Set
		backgrounds[i] = a.Background
		known = known && a.Background != nil
	}
	s := Support{Set: Union(sets...)}
	if known {
		s.Background = g.Eval.Fold(&Call{Fn: e.Fn, Args: backgrounds, Typ: e.Typ})
	}
	return s
}

// opposed reports whether an operand of a sum may be, where it is not stored, the infinity of the other sign: a background
// that follows from extents tells when it runs.
func opposed(fn string, decided *Literal, args []Support) bool {
	if fn != "+" {
		return false
	}
	opposite, found := negative(decided.Value), false
	for _, a := range args {
		if _, known := a.Background.(*Literal); a.Background == nil || known {
			continue
		}
		Walk(a.Background, func(x Expr) {
			c, ok := x.(*Literal)
			found = found || ok && c.Gap && c.Value.Convert(decided.Value.DType()) == opposite
		})
	}
	return found
}

// negative is a number with the other sign.
func negative(v tensor.Scalar) tensor.Scalar {
	if v.DType().IsComplex() {
		return tensor.Complex(v.DType(), -v.Complex128())
	}
	return tensor.Float(v.DType(), -v.Float64())
}

// chosen is the support of the value of a choice.
func (g Algebra) chosen(e *Select, c, t, f Support, leaves Leaves) Support {
	if v, ok := ConstValue(c.Background); ok {
		on, off := t, f // the branch taken where the condition is explicit, or not
		if v.Bool() {
			on, off = f, t
		}
		set := c.Set
		if SameConst(on.Background, off.Background) {
			set = Intersect(c.Set, on.Set)
		}
		return Support{Set: Union(set, off.Set), Background: off.Background}
	}
	if SameConst(t.Background, f.Background) {
		if set, ok := branches(e, t, f, leaves); ok {
			return Support{Set: set, Background: t.Background}
		}
		// Where neither branch is explicit the condition does not matter.
		return Support{Set: Union(t.Set, f.Set), Background: t.Background}
	}
	return g.either(c, t, f)
}

// choice is the support of a choice with its state, which is made of those of the condition
// and of the branch taken.
func (g Algebra) choice(e *Select, c, t, f Support, leaves Leaves) Support {
	if v, ok := ConstValue(c.Background); ok {
		off := f // the branch taken where the condition is not stored
		if v.Bool() {
			off = t
		}
		if off.Background != nil {
			off.Background = g.Eval.Fold(&Select{Cond: c.Background, Then: off.Background, Else: off.Background})
		}
		return Support{Set: Union(c.Set, off.Set), Background: off.Background}
	}
	gapless := Gapless(e.Cond)
	switch {
	case gapless: // its state is known, whatever it is
	case c.Background == nil:
		return Everywhere() // the condition may be stored
	case len(FreeVars(c.Background)) > 0:
		return g.either(c, t, f) // whether it is follows from what the background reads
	}
	if !SameConst(t.Background, f.Background) {
		return g.either(c, t, f)
	}
	// Of backgrounds of different states the result has one that does not annihilate. A condition that is stored
	// everywhere leaves no gaps; as it would store everything, it says nothing of what a result stores.
	then, other := t.Background.(*Literal), f.Background.(*Literal)
	background := madeOf(then.Value, &Literal{Gap: then.Gap && other.Gap, Stored: then.Stored || other.Stored || gapless && !Uniform(e.Cond)})
	set, ok := branches(e, t, f, leaves)
	switch {
	case !gapless:
		set = Union(c.Set, t.Set, f.Set)
	case !ok:
		set = Union(t.Set, f.Set)
	}
	return Support{Set: set, Background: background}
}

// branches is where the branches of a choice on indices alone matter, each where it is taken.
func branches(e *Select, t, f Support, leaves Leaves) (SetExpr, bool) {
	if known, ok := leaves.(Conditions); ok && onIndices(e.Cond) {
		if on, off, ok := known.Condition(e.Cond); ok {
			return Union(Intersect(AtomOf(on), t.Set), Intersect(AtomOf(off), f.Set)), true
		}
	}
	return None(), false
}

// either is the support of a choice of which nothing more is known.
func (g Algebra) either(c, t, f Support) Support {
	s := Support{Set: Union(c.Set, t.Set, f.Set)}
	if c.Background != nil && t.Background != nil && f.Background != nil {
		s.Background = g.Eval.Fold(&Select{Cond: c.Background, Then: t.Background, Else: f.Background})
	}
	return s
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

// Uniform reports whether e reads no element of a tensor that could be stored: it is made of
// literals, scalars and indices. What a reduction makes of such values is uniform, too.
func Uniform(e Expr) bool {
	uniform := true
	Walk(e, func(x Expr) {
		switch x := x.(type) {
		case *Literal:
			uniform = uniform && !x.Gap && !x.Stored
		case *Access:
			uniform = uniform && len(x.Indices) == 0 && !x.Tensor.Whole
		case *TempRef:
			r := x.Temp.Reduce
			uniform = uniform && r.In == nil && Uniform(r.Body)
		}
	})
	return uniform
}

// Gapless reports whether e is a gap nowhere: all that it reads is dense, and read within its bounds. What a
// reduction makes of such values is none either, also where there are none of them.
func Gapless(e Expr) bool {
	gapless := true
	Walk(e, func(x Expr) {
		switch x := x.(type) {
		case *Literal:
			gapless = gapless && !x.Gap
		case *Access:
			t := x.Tensor
			dense := t.Whole || t.Format.IsDense() && t.Work == nil && !slices.ContainsFunc(x.Indices, func(i IndexExpr) bool { return i.Padded() })
			gapless = gapless && (dense || len(x.Indices) == 0)
		case *TempRef:
			r := x.Temp.Reduce
			gapless = gapless && r.In == nil && Gapless(r.Body)
		}
	})
	return gapless
}

// OfExtents reports whether e is a number of coordinates: an extent, or a product of some, in whatever type.
func OfExtents(e Expr) bool {
	switch e := e.(type) {
	case *Extent:
		return true
	case *Cast:
		return OfExtents(e.X)
	case *Call:
		return e.Fn == "*" && OfExtents(e.Args[0]) && OfExtents(e.Args[1])
	}
	return false
}

// SameConst reports whether two expressions are the same constant.
func SameConst(x, y Expr) bool {
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
	count := func(v *Index) Expr { return g.Eval.Fold(&Cast{To: typ.Real(), X: &Extent{Var: v}}) }
	some := func(value Expr, empty tensor.Scalar) Expr {
		var cond Expr
		for _, v := range vars {
			c := Expr(&Call{Fn: ">", Args: []Expr{&Extent{Var: v}, &Literal{Value: tensor.Int(tensor.Int64, 0)}}, Typ: tensor.Bool})
			if cond == nil {
				cond = c
			} else {
				cond = &Call{Fn: "and", Args: []Expr{cond, c}, Typ: tensor.Bool}
			}
		}
		return &Select{Cond: cond, Then: value, Else: &Literal{Value: empty, Gap: !Gapless(e)}}
	}
	switch f {
	case FoldSum:
		sum := e
		for _, v := range vars {
			sum = g.Eval.Fold(&Call{Fn: "*", Args: []Expr{sum, count(v)}, Typ: typ})
		}
		return some(sum, tensor.Zero(typ))
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
		n := count(vars[0])
		for _, v := range vars[1:] {
			n = &Call{Fn: "*", Args: []Expr{n, count(v)}, Typ: typ}
		}
		logn := &Call{Fn: "log", Args: []Expr{n}, Typ: typ}
		return some(&Call{Fn: "+", Args: []Expr{e, logn}, Typ: typ}, Lowest(typ))
	case FoldArgMin, FoldArgMax:
		return &Literal{Value: tensor.Zero(tensor.Int64), Gap: !Gapless(e)}
	}
	panic("BUG: unknown fold")
}
