package derive_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file writes the random programs that gradients are tested on.

// writer writes random differentiable programs over a fixed set of operands:
// A(i,j), B(j,k), C(i,k), x(j), v(i), w(2) and the gather p, with values away from the
// points where the functions have kinks, and u(i) and U(i,k), which are updated.
type writer struct {
	*rand.Rand
	extents map[string]int64 // of the kinds of index
	args    map[string]*tensor.Tensor
	stmts   []string
	temps   map[string][]string // results of earlier statements, with the kinds of their indices
	next    int
}

// operands lists the operands with the kinds of their indices.
var operands = map[string][]string{
	"A": {"i", "j"}, "B": {"j", "k"}, "C": {"i", "k"}, "x": {"j"}, "v": {"i"}, "w": {"l"}, "s": {},
	"u": {"i"}, "U": {"i", "k"},
}

func newWriter(r *rand.Rand) *writer {
	g := &writer{Rand: r, extents: map[string]int64{}, args: map[string]*tensor.Tensor{}, temps: map[string][]string{}}
	for _, kind := range []string{"i", "j", "k"} {
		g.extents[kind] = 1 + g.Int64N(4)
	}
	g.extents["j"] = 3 + g.Int64N(2)
	g.extents["l"] = 2
	return g
}

func (g *writer) pick(list ...string) string { return list[g.IntN(len(list))] }

// use is an operand's name; it gets a value on first use.
func (g *writer) use(name string) string {
	if g.args[name] != nil {
		return name
	}
	if name == "p" || name == "r" {
		list := make([]int64, g.extents["i"])
		for i := range list {
			list[i] = g.Int64N(g.extents[map[string]string{"p": "j", "r": "i"}[name]])
		}
		p, err := tensor.FromDense([]int64{g.extents["i"]}, tensor.Dense(1), tensor.ArrayOf(list))
		must(err)
		g.args[name] = p
		return name
	}
	var shape []int64
	for _, kind := range operands[name] {
		shape = append(shape, g.extents[kind])
	}
	if g.args[name] = g.tensor(shape); name == "u" || name == "U" {
		dense, err := g.args[name].ToDense()
		must(err)
		g.args[name], err = tensor.FromDense(shape, tensor.Dense(len(shape)), dense)
		must(err)
	}
	return name
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// tensor is a random tensor in a random format.
func (g *writer) tensor(shape []int64) *tensor.Tensor {
	formats := map[int][]tensor.Format{
		0: {tensor.Dense(0)},
		1: {tensor.Dense(1), named("S")},
		2: {tensor.Dense(2), tensor.CSR, tensor.CSC, tensor.DCSR, tensor.COO, tensor.COOC},
	}[len(shape)]
	format := formats[g.IntN(len(formats))]
	coords := make([][]int64, len(shape))
	var values []float64
	size := int64(1)
	for _, n := range shape {
		size *= n
	}
	for at := range size {
		if !format.IsDense() && g.IntN(3) == 0 {
			continue
		}
		rest := at
		for a := len(shape) - 1; a >= 0; a-- {
			coords[a] = append(coords[a], rest%shape[a])
			rest /= shape[a]
		}
		x := 0.3 + g.Float64()
		if g.IntN(3) == 0 {
			x = -x
		}
		values = append(values, x)
	}
	if len(shape) == 0 {
		return tensor.ScalarTensor(tensor.Float(tensor.Float64, values[0]))
	}
	t, err := tensor.FromCoords(shape, format, coords, tensor.ArrayOf(append([]float64{}, values...)))
	must(err)
	return t
}

func named(s string) tensor.Format {
	f, err := tensor.ParseFormat(s, 1)
	must(err)
	return f
}

// program writes one to three statements.
func (g *writer) program() string {
	for n := range g.IntN(3) {
		kinds := [][]string{{"i"}, {"j"}, {"i", "k"}, {}}[g.IntN(4)]
		name := fmt.Sprintf("T%d", n)
		g.statement(name, kinds)
		g.temps[name] = kinds
		for g.IntN(3) == 0 {
			g.change(name, kinds)
		}
		if g.IntN(6) == 0 { // what follows reads the new value
			name := g.pick("u", "U")
			g.use(name)
			g.change(name, operands[name])
			g.temps[name] = operands[name]
		}
	}
	switch g.IntN(8) {
	case 0:
		g.update()
	default:
		g.statement("y", [][]string{{}, {}, {"i"}, {"i", "j"}, {"k"}}[g.IntN(5)])
	}
	return strings.Join(g.stmts, "; ")
}

// statement writes name(indices) = expression; the indices are named by their kinds.
func (g *writer) statement(name string, kinds []string) {
	left := name
	if len(kinds) > 0 {
		left += "(" + strings.Join(kinds, ",") + ")"
	}
	g.next = 0
	scope := slices.Clone(kinds)
	body := g.expr(scope, 3+g.IntN(2))
	for _, v := range kinds { // every index needs an extent
		body += " + 0.1*" + g.holding(v)
	}
	g.stmts = append(g.stmts, left+" = "+body)
}

// update writes a last statement that changes an operand.
func (g *writer) update() {
	name := g.pick("u", "U")
	g.use(name)
	g.change(name, operands[name])
}

// change writes a statement that assigns or updates a tensor that has a value: all of it, a row or a part, or the elements that r
// names. It may read the tensor.
func (g *writer) change(name string, kinds []string) {
	g.next = 0
	op := g.pick("=", "+=", "*=", "min=", "max=")
	scope, left := slices.Clone(kinds), slices.Clone(kinds)
	if len(kinds) > 0 && kinds[0] == "i" {
		switch g.IntN(5) {
		case 0, 1:
			if op != "=" {
				left[0] = "r(i)"
				g.use("r")
			}
		case 2:
			left[0], scope = "0", scope[1:]
		case 3:
			if g.extents["i"] > 2 { // z has two values
				left[0] = g.pick("z+1", "1-z", "2*z", "2-2*z")
				scope = append(scope[1:], "l")
				left[0] = strings.ReplaceAll(left[0], "z", "l")
			}
		}
	}
	if g.temps[name] == nil {
		g.temps[name] = kinds
		defer delete(g.temps, name)
	}
	body := ""
	if i := find(scope, "i"); i != "" && op != "=" && g.IntN(4) == 0 {
		body = g.shiftedRow(i) // how far i runs, the left side alone says
	} else {
		body = g.expr(scope, 2+g.IntN(2))
		for _, v := range scope {
			body += " + 0.1*" + g.holding(v)
		}
	}
	if len(left) > 0 {
		name += "(" + strings.Join(left, ",") + ")"
	}
	g.stmts = append(g.stmts, name+" "+op+" "+body)
}

// holding is an access with the index v alone.
func (g *writer) holding(v string) string {
	switch kind(v) {
	case "i":
		return g.use("v") + "(" + v + ")"
	case "j":
		return g.use("x") + "(" + v + ")"
	case "l":
		return g.use("w") + "(" + v + ")"
	}
	z := g.fresh("j")
	return "sum_" + z + " " + g.use("B") + "(" + z + "," + v + ")"
}

// kind of an index: its name without digits.
func kind(v string) string { return v[:1] }

func (g *writer) fresh(kind string) string {
	g.next++
	return fmt.Sprintf("%s%d", kind, g.next)
}

// access is an element at indices of the scope, or a number.
func (g *writer) access(scope []string) string {
	held := func(kind string) string {
		var list []string
		for _, v := range scope {
			if v[:1] == kind {
				list = append(list, v)
			}
		}
		if len(list) == 0 {
			return ""
		}
		return g.pick(list...)
	}
	for range 8 {
		names := []string{"A", "B", "C", "x", "v", "s", "A", "x"}
		for name := range g.temps {
			names = append(names, name)
		}
		slices.Sort(names)
		name := g.pick(names...)
		kinds, known := operands[name]
		if !known {
			kinds = g.temps[name]
		}
		var vars []string
		for _, k := range kinds {
			v := held(k)
			if v == "" && k == "j" && held("i") != "" {
				switch g.IntN(3) {
				case 0:
					v = g.use("p") + "(" + held("i") + ")"
				case 1:
					v = "0"
				}
			}
			if v == "" {
				break
			}
			vars = append(vars, v)
		}
		if len(vars) < len(kinds) {
			continue
		}
		if known {
			g.use(name)
		}
		if len(vars) == 0 {
			return name
		}
		return name + "(" + strings.Join(vars, ",") + ")"
	}
	return g.use("s")
}

// expr writes an expression over the indices in scope.
func (g *writer) expr(scope []string, depth int) string {
	if depth <= 0 {
		return g.access(scope)
	}
	e := func() string { return g.expr(scope, depth-1-g.IntN(2)) }
	switch g.IntN(16) {
	case 0, 1:
		return g.access(scope)
	case 2:
		return "(" + e() + " + " + e() + ")"
	case 3:
		return "(" + e() + " - " + e() + ")"
	case 4, 5:
		return "(" + e() + "*" + e() + ")"
	case 6:
		return "(" + e() + "/(2 + square(" + e() + ")))"
	case 7:
		return g.function(e())
	case 8:
		return g.pick("max", "min", "hypot", "logaddexp", "atan2") + "(" + e() + ", 0.7 + " + e() + ")"
	case 9:
		return "where(" + e() + " > 0.2345, " + e() + ", " + e() + ")"
	case 10:
		return "(1.5 + tanh(" + e() + "))^" + g.pick("2", "3", "0.5", "(0.3*"+g.access(scope)+")", "-1")
	case 11:
		return g.shifted(scope)
	case 12:
		return g.scan(scope, depth)
	}
	return g.reduction(scope, depth)
}

func (g *writer) function(x string) string {
	switch f := g.pick("exp", "sqrt", "log", "tanh", "sin", "cos", "sigmoid", "abs", "relu", "atan", "asinh", "erf", "expm1", "cube", "square",
		"sinh", "cosh", "log1p", "log2", "log10", "exp2", "cbrt", "tan", "asin", "acos", "acosh", "atanh", "neg"); f {
	case "exp", "sinh", "cosh", "exp2", "expm1", "tan", "asin", "acos", "atanh":
		return f + "(0.5*tanh(" + x + "))"
	case "sqrt", "log", "log1p", "log2", "log10", "cbrt":
		return f + "(1.1 + square(" + x + "))"
	case "acosh":
		return "acosh(2.1 + square(" + x + "))"
	case "neg":
		return "(-" + x + ")"
	default:
		return f + "(" + x + ")"
	}
}

// shifted is a convolution or a read along affine indices.
func (g *writer) shifted(scope []string) string {
	for _, v := range scope {
		if kind(v) == "i" || kind(v) == "k" {
			l := g.fresh("l")
			return fmt.Sprintf("(sum_%s (%s(%s+%s)*%s(%s)))", l, g.use("x"), v, l, g.use("w"), l)
		}
	}
	l := g.fresh("l")
	return fmt.Sprintf("(sum_%s (%s(%s+1)*%s(%s)))", l, g.use("x"), l, g.use("w"), l)
}

// shiftedRow is a reduction of a row of A that stands beside row i, perhaps outside of A, or of a
// diagonal through it.
func (g *writer) shiftedRow(i string) string {
	j := g.fresh("j")
	element := fmt.Sprintf("%s(%s%s,%s)", g.use("A"), i, g.pick("-1", "+1"), g.pick(j, j, j, i+"+"+j))
	if !strings.HasSuffix(element, ","+j+")") { // another tensor says how far j runs
		element = "(" + element + "*" + g.holding(j) + ")"
	}
	if g.IntN(4) == 0 {
		element = "(0.5 + square(" + element + "))"
	}
	return fmt.Sprintf("(%s_%s %s)", g.pick("sum", "mean", "max", "min", "median", "prod", "logsumexp", "var"), j, element)
}

// scan writes a scan or a sort along one or two indices of the scope, sometimes over what A stores.
func (g *writer) scan(scope []string, depth int) string {
	if len(scope) == 0 {
		return g.access(scope)
	}
	vars := []string{g.pick(scope...)}
	if len(scope) > 1 && g.IntN(4) == 0 {
		vars = scope[:2]
	}
	body := g.expr(scope, depth-1)
	for _, v := range vars {
		body += " + 0.01*" + g.holding(v)
	}
	op := g.pick("cumsum", "logcumsumexp", "cumprod", "cummax", "cummin", "sort")
	if op == "sort" {
		options := []string{"", "[descending]"}
		if len(vars) == 1 {
			options = append(options, "[first=2]", "[descending, first=1]")
		}
		return fmt.Sprintf("(sort_{%s}%s (%s))", strings.Join(vars, ","), g.pick(options...), body)
	}
	options := g.pick("", "", "[exclusive]", "[reverse]", "[exclusive, reverse]")
	body = "(" + body + ")"
	if i, j := find(scope, "i"), find(scope, "j"); i != "" && j != "" && g.IntN(2) == 0 {
		a := g.use("A")
		vars = []string{g.pick(i, j) + " in " + a}
		if g.IntN(4) == 0 {
			vars = []string{i + " in " + a, j + " in " + a}
		}
		body = fmt.Sprintf("(0.5 + %s)*%s(%s,%s)", body, a, i, j)
	}
	scan := fmt.Sprintf("%s_{%s}%s (%s)", op, strings.Join(vars, ","), options, body)
	switch {
	case op == "logcumsumexp": // -inf before the first
		return "exp(" + scan + ")"
	case op == "cummax" || op == "cummin": // infinite before the first
		return "sigmoid(" + scan + ")"
	}
	return "(" + scan + ")"
}

// find is an index of a kind in the scope, "" if there is none.
func find(scope []string, of string) string {
	if i := slices.IndexFunc(scope, func(v string) bool { return kind(v) == of }); i >= 0 {
		return scope[i]
	}
	return ""
}

// reduction writes a reduction over one or two new indices.
func (g *writer) reduction(scope []string, depth int) string {
	v := g.fresh(g.pick("j", "j", "i", "k"))
	vars := []string{v}
	i := find(scope, "i")
	within := i != "" && kind(v) == "j" && g.IntN(3) == 0
	if !within && g.IntN(6) == 0 {
		vars = append(vars, g.fresh(g.pick("i", "j", "k")))
	}
	body := g.expr(append(slices.Clone(scope), vars...), depth-1)
	for _, v := range vars {
		body += " + 0.01*" + g.holding(v)
	}
	body = "(" + body + ")"
	over := "{" + strings.Join(vars, ",") + "}"
	if within {
		a := g.use("A")
		over = "{" + v + " in " + a + "}"
		body = fmt.Sprintf("((0.5 + %s)*%s(%s,%s))", body, a, i, v)
	}
	switch method := g.pick("linear", "hazen", "midpoint", "higher", "weibull", "nearest", "averaged_inverted_cdf", "closest_observation"); g.IntN(12) {
	case 0, 1:
		return fmt.Sprintf("(%s_%s[%s](%s, %s))", g.pick("quantile", "nanquantile"), over, method, body, g.pick("0.5", "0.3", "0.81", "0", "1"))
	case 2:
		return fmt.Sprintf("(median_%s[%s] %s)", over, method, body)
	}
	op := g.pick("sum", "sum", "sum", "mean", "max", "min", "logsumexp", "norm", "var", "prod")
	return fmt.Sprintf("(%s_%s %s)", op, over, body)
}

// operand picks what to differentiate by: an operand that the program uses.
func (g *writer) operand() string {
	var names []string
	for name := range g.args {
		if name != "p" && name != "r" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return g.pick(names...)
}

// upstream is a random adjoint of a program's result, dense or sparse.
func (g *writer) upstream(src string) *tensor.Tensor {
	p, ext := g.bind(src)
	return g.tensor(ext.Shapes[p.Stmts[len(p.Stmts)-1].LHS.Tensor.Name])
}

// bind checks a program against the operands.
func (g *writer) bind(src string) (*lang.Program, *lang.Extents) {
	file, err := lang.Parse(src)
	must(err)
	decls, shapes := map[string]lang.Decl{}, map[string][]int64{}
	for name, a := range g.args {
		fill := a.Fill()
		decls[name] = lang.Decl{Rank: a.Rank(), DType: a.DType(), HasDType: true, Format: a.Format(), HasFormat: true, Fill: &fill}
		shapes[name] = a.Shape()
	}
	p, err := lang.Check(file, decls)
	must(err)
	ext, err := lang.Bind(p, shapes)
	must(err)
	return p, ext
}

// describe lists the operands.
func (g *writer) describe() string {
	var b strings.Builder
	for name, a := range g.args {
		v, err := a.ToDense()
		must(err)
		fmt.Fprintf(&b, "%s: %v %v\n", name, a, v)
	}
	return b.String()
}
