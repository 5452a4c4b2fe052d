package ir

import (
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// arithmetic is an evaluator of a few functions on real numbers.
func arithmetic(fn string, typ tensor.DType, args []tensor.Scalar) (tensor.Scalar, bool) {
	x, y := args[0].Float64(), args[len(args)-1].Float64()
	switch fn {
	case "+":
		x += y
	case "-":
		x -= y
	case "*":
		x *= y
	case "/":
		x /= y
	case "max":
		x = math.Max(x, y)
	case "neg":
		x = -x
	case "exp":
		x = math.Exp(x)
	default:
		return tensor.Scalar{}, false
	}
	return tensor.Float(tensor.Float64, x).Convert(typ), true
}

var testAlgebra = Algebra{Eval: arithmetic}

// testLeaves gives supports by tensor: operand #k is stored in atom k.
type testLeaves map[*Access]Support

func (l testLeaves) Access(a *Access) Support { return l[a] }
func (l testLeaves) Index(*Index) Support     { return Everywhere() }
func (l testLeaves) Temp(t *Temp) Behaviour   { return testAlgebra.TempBehaviour(t, l) }

func literal(v float64) *Literal { return &Literal{Value: tensor.Float(tensor.Float64, v)} }

func gap(v float64) *Literal { return &Literal{Value: tensor.Float(tensor.Float64, v), Gap: true} }

func call(fn string, args ...Expr) *Call {
	typ := tensor.Float64
	switch fn {
	case "and", "or", "==", "<":
		typ = tensor.Bool
	}
	return &Call{Fn: fn, Args: args, Typ: typ}
}

// operands are vectors over i with fills 0, 0, 1 and -inf in atoms 0 to 3, a
// dense one, and one whose value does not depend on the loop.
func operands() (a, b, one, inf, dense, settled *Access, leaves testLeaves) {
	vector := func(name string) *Access {
		return &Access{Tensor: &Tensor{Name: name, DType: tensor.Float64}, Indices: []IndexExpr{{Terms: []Term{{Var: &Index{Name: "i"}, Coef: 1}}}}}
	}
	a, b, one, inf, dense, settled = vector("a"), vector("b"), vector("one"), vector("inf"), vector("d"), vector("s")
	leaves = testLeaves{
		a:       {Set: AtomOf(0), Background: gap(0)},
		b:       {Set: AtomOf(1), Background: gap(0)},
		one:     {Set: AtomOf(2), Background: gap(1)},
		inf:     {Set: AtomOf(3), Background: gap(math.Inf(-1))},
		dense:   Everywhere(),
		settled: Constant(settled),
	}
	return
}

// TestSupports derives where expressions differ from their background, from the
// operator table.
func TestSupports(t *testing.T) {
	a, b, one, inf, dense, settled, leaves := operands()
	for _, test := range []struct {
		name string
		e    Expr
		want string
	}{
		{"a sum is a union", call("+", a, b), "#0 ∪ #1 else 0"},
		{"fills add up", call("+", a, one), "#0 ∪ #2 else 1"},
		{"a product is an intersection", call("*", a, b), "#0 ∩ #1 else 0"},
		{"a fill that does not annihilate is visited where the other is", call("*", a, one), "#0 else 0"},
		{"of two factors with other fills both matter", call("*", one, one), "#2 else 1"},
		{"a dense factor adds nothing", call("*", a, dense), "#0 else 0"},
		{"nor does a settled one", call("*", settled, a), "#0 else 0"},
		{"a dense summand is everywhere", call("+", a, dense), "⊤ else unknown"},
		{"a settled summand moves the background", call("+", a, settled), "#0 else (0 + s(i))"},
		{"only a numerator annihilates", call("/", a, one), "#0 else 0"},
		{"a denominator does not", call("/", one, a), "#2 ∪ #0 else inf"},
		{"an infinity decides a sum", call("+", inf, dense), "#3 else -inf"},
		{"functions map the background", call("exp", a), "#0 else 1"},
		{"a factor of a sum distributes", call("*", call("+", a, one), b), "#1 else 0"},
		{"casts keep the set", &Cast{To: tensor.Int64, X: one}, "#2 else 1"},
		{"nothing stored in a literal", literal(3), "∅ else 3"},
		{"a literal 0 does not annihilate", call("*", literal(0), dense), "⊤ else unknown"},
		{"nor does what literals make of a gap that is none", call("*", &Select{Cond: call("<", dense, literal(0)), Then: literal(0), Else: literal(0)}, a), "#0 else 0"},
		{"of a gap of 0 and a literal 0 is made a gap", call("*", call("+", a, literal(0)), dense), "#0 else 0"},
		{"the zero of a gap has no sign", call("neg", a), "#0 else 0"},
		{"an index varies", &IndexValue{Var: &Index{Name: "i"}}, "⊤ else unknown"},
	} {
		if got := testAlgebra.Of(test.e, leaves).String(); got != test.want {
			t.Errorf("%s: %s is %s, want %s", test.name, ExprString(test.e), got, test.want)
		}
	}
	strict := Algebra{Strict: true, Eval: arithmetic}
	if got, want := strict.Of(call("*", a, b), leaves).String(), "#0 ∪ #1 else 0"; got != want {
		t.Errorf("a strict product is %s, want %s: 0*inf counts", got, want)
	}
}

// TestChoices derives the support of where(c, x, y).
func TestChoices(t *testing.T) {
	a, b, one, _, dense, settled, leaves := operands()
	cond := func(x Expr) Expr { return &Cast{To: tensor.Bool, X: x} }
	for _, test := range []struct {
		name string
		e    *Select
		want string
	}{
		{"a mask: where it is stored, the value matters", &Select{Cond: cond(a), Then: dense, Else: literal(0)}, "#0 else 0"},
		{"both branches equal in the background", &Select{Cond: cond(a), Then: b, Else: literal(0)}, "#0 ∩ #1 else 0"},
		{"a complement", &Select{Cond: cond(one), Then: literal(0), Else: b}, "#2 ∩ #1 else 0"},
		{"the branch not taken in the background matters inside", &Select{Cond: cond(a), Then: literal(2), Else: b}, "#0 ∪ #1 else 0"},
		{"an open condition between equal branches", &Select{Cond: cond(dense), Then: a, Else: b}, "#0 ∪ #1 else 0"},
		{"an open condition between different ones", &Select{Cond: cond(dense), Then: a, Else: one}, "⊤ else unknown"},
		{"a settled condition", &Select{Cond: cond(settled), Then: a, Else: one}, "#0 ∪ #2 else where(bool(s(i)), 0, 1)"},
	} {
		if got := testAlgebra.Of(test.e, leaves).String(); got != test.want {
			t.Errorf("%s: %s is %s, want %s", test.name, ExprString(test.e), got, test.want)
		}
	}
}

// TestRepeat folds n copies of a value in closed form.
func TestRepeat(t *testing.T) {
	v := []*Index{{Name: "i"}, {ID: 1, Name: "j"}}
	for _, test := range []struct {
		fold Fold
		x    Expr
		vars []*Index
		want string
	}{
		{FoldSum, literal(3), v[:1], "where((|i| > 0), (3 * f64(|i|)), 0)"},
		{FoldSum, literal(3), v, "where(and((|i| > 0), (|j| > 0)), ((3 * f64(|i|)) * f64(|j|)), 0)"},
		{FoldSum, literal(0), v, "0"},
		{FoldProd, literal(1), v, "1"},
		{FoldProd, literal(2), v[:1], "where((|i| > 0), pow(2, f64(|i|)), 1)"},
		{FoldMax, literal(2), v, "2"},
		{FoldOr, &Literal{Value: tensor.Zero(tensor.Bool)}, v, "false"},
		{FoldOr, &Literal{Value: tensor.One(tensor.Bool)}, v[:1], "where((|i| > 0), true, false)"},
		{FoldAnd, &Literal{Value: tensor.Zero(tensor.Bool)}, v[:1], "where((|i| > 0), false, true)"},
		{FoldLogSumExp, literal(2), v[:1], "where((|i| > 0), (2 + log(f64(|i|))), -inf)"},
		{FoldArgMin, literal(2), v, "0"},
	} {
		if got := ExprString(testAlgebra.Repeat(test.fold, test.x, test.vars, TypeOf(test.x))); got != test.want {
			t.Errorf("%s of copies of %s: %s, want %s", test.fold, ExprString(test.x), got, test.want)
		}
	}
	if testAlgebra.Repeat(FoldSum, nil, v, tensor.Float64) != nil {
		t.Error("copies of an unknown value have a known sum")
	}
}
