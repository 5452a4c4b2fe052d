// Package difftest makes random programs with random operands and compares what
// the engines compute with the oracle. The generator writes program text, so
// that parser, checker, planner, lowerer and engines are all on trial.
package difftest

import (
	"fmt"
	"math"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Source is where random choices come from: a seeded generator, rapid, or the
// bytes of a fuzzer.
type Source interface {
	// Intn returns a number from 0 to n-1.
	Intn(n int) int
}

// Case is a random program with its operands.
type Case struct {
	Text     string
	Operands map[string]*tensor.Tensor
	// Format is the declared format of the result, when HasFormat.
	Format    tensor.Format
	HasFormat bool
	Shape     []int64 // declared shape of the result R
	// Exact says that every operation is exact on the operands' small integers,
	// so that engines and oracle must agree to the bit.
	Exact bool
	DType tensor.DType
}

// generator holds the state of one program being written.
type generator struct {
	src      Source
	extents  map[string]int64
	operands map[string]*tensor.Tensor
	dtype    tensor.DType
	exact    bool
	bound    int // reductions nested
	uses     map[string]bool
	budget   int
}

func (g *generator) intn(n int) int          { return g.src.Intn(n) }
func (g *generator) chance(percent int) bool { return g.intn(100) < percent }

func pick[T any](g *generator, list ...T) T { return list[g.intn(len(list))] }

var indexNames = []string{"i", "j", "k", "l", "m", "n"}

// New makes a random program.
func New(src Source) *Case {
	g := &generator{src: src, extents: map[string]int64{}, operands: map[string]*tensor.Tensor{}, uses: map[string]bool{}, budget: 8}
	g.dtype = pick(g, tensor.Float64, tensor.Float64, tensor.Float64, tensor.Int64, tensor.Int32, tensor.Float32, tensor.Bool, tensor.Complex128, tensor.Uint8, tensor.Float16)
	g.exact = g.chance(60) || g.dtype.IsInteger() || g.dtype == tensor.Bool
	for _, name := range indexNames {
		g.extents[name] = int64(pick(g, 1, 2, 3, 4, 5, 5, 3, 2, 0, 7))
		if g.extents[name] == 0 && !g.chance(20) {
			g.extents[name] = 3
		}
	}
	free := g.freeIndices()
	rhs := g.expr(free, 3)
	var lhs []string
	var shape []int64
	for _, f := range free {
		lhs = append(lhs, f)
		shape = append(shape, g.extents[f])
	}
	text := "R"
	if len(lhs) > 0 {
		text += "(" + strings.Join(lhs, ",") + ")"
	}
	c := &Case{Text: text + " = " + rhs, Operands: g.operands, Shape: shape, Exact: g.exact, DType: g.dtype}
	if g.chance(60) {
		c.Format, c.HasFormat = g.format(len(free)), true
	}
	return c
}

// freeIndices picks the result's indices.
func (g *generator) freeIndices() []string {
	rank := pick(g, 0, 1, 1, 2, 2, 2, 3)
	names := append([]string(nil), indexNames[:4]...)
	for i := range names {
		j := i + g.intn(len(names)-i)
		names[i], names[j] = names[j], names[i]
	}
	return names[:rank]
}

// expr writes an expression in the given indices.
func (g *generator) expr(scope []string, depth int) string {
	g.budget--
	if depth == 0 || g.budget <= 0 {
		return g.leaf(scope)
	}
	switch g.intn(13) {
	case 0, 1, 2:
		op := pick(g, "+", "+", "*")
		if g.dtype != tensor.Bool {
			op = pick(g, "+", "+", "-")
		}
		return fmt.Sprintf("(%s %s %s)", g.expr(scope, depth-1), op, g.expr(scope, depth-1))
	case 3, 4, 5:
		return fmt.Sprintf("%s * %s", g.factor(scope, depth-1), g.factor(scope, depth-1))
	case 6, 7, 8:
		return g.reduction(scope, depth-1)
	case 9:
		if g.dtype.IsComplex() {
			return fmt.Sprintf("conj(%s)", g.expr(scope, depth-1))
		}
		return fmt.Sprintf("%s(%s, %s)", pick(g, "min", "max"), g.expr(scope, depth-1), g.expr(scope, depth-1))
	case 10:
		return fmt.Sprintf("where(%s %s %s, %s, %s)", g.expr(scope, depth-1), g.comparison(), g.expr(scope, 0), g.expr(scope, depth-1), g.expr(scope, 0))
	case 11:
		return g.unary(scope, depth-1)
	}
	return g.leaf(scope)
}

func (g *generator) comparison() string {
	if g.dtype.IsComplex() {
		return pick(g, "==", "!=")
	}
	return pick(g, "<", "<=", ">", ">=", "==", "!=")
}

// factor is an expression that binds at least as tightly as a product.
func (g *generator) factor(scope []string, depth int) string {
	return "(" + g.expr(scope, depth) + ")"
}

func (g *generator) unary(scope []string, depth int) string {
	x := g.expr(scope, depth)
	switch {
	case g.dtype == tensor.Bool:
		return fmt.Sprintf("(not %s)", "("+x+")")
	case g.exact && g.dtype.IsComplex():
		return fmt.Sprintf("(-(%s))", x)
	case g.exact && g.dtype == tensor.Uint8:
		return fmt.Sprintf("%s(%s)", pick(g, "abs", "sign", "relu", "square"), x)
	case g.exact:
		return fmt.Sprintf("%s(%s)", pick(g, "abs", "sign", "relu", "-", "square"), x)
	case g.dtype.IsComplex():
		return fmt.Sprintf("%s(%s)", pick(g, "conj", "square", "-"), x)
	}
	return fmt.Sprintf("%s(%s)", pick(g, "abs", "tanh", "sin", "sigmoid", "atan", "square", "erf", "cos"), x)
}

// reduction binds one or two new indices.
func (g *generator) reduction(scope []string, depth int) string {
	var fresh []string
	for _, name := range indexNames {
		if !has(scope, name) {
			fresh = append(fresh, name)
		}
	}
	if len(fresh) == 0 || g.bound >= 2 {
		return g.leaf(scope)
	}
	vars := []string{pick(g, fresh...)}
	if g.chance(25) && len(fresh) > 1 {
		if w := pick(g, fresh...); w != vars[0] {
			vars = append(vars, w)
		}
	}
	g.bound++
	inner := append(append([]string(nil), scope...), vars...)
	body := g.expr(inner, depth)
	// Every bound index must be used, plainly, so that its extent is known.
	for _, v := range vars {
		body = fmt.Sprintf("%s * (%s)", g.accessWith(inner, v), body)
	}
	g.bound--
	op := g.fold()
	if len(vars) == 1 {
		return fmt.Sprintf("(%s_%s (%s))", op, vars[0], body)
	}
	return fmt.Sprintf("(%s_{%s} (%s))", op, strings.Join(vars, ","), body)
}

func (g *generator) fold() string {
	switch {
	case g.dtype == tensor.Bool:
		return pick(g, "any", "all", "max", "min")
	case g.dtype.IsComplex():
		return pick(g, "sum", "sum", "prod")
	case g.dtype == tensor.Float16:
		return pick(g, "sum", "max", "min")
	case g.exact:
		return pick(g, "sum", "sum", "sum", "max", "min", "prod")
	}
	return pick(g, "sum", "sum", "max", "min", "mean", "logsumexp", "norm", "var")
}

func (g *generator) leaf(scope []string) string {
	switch g.intn(10) {
	case 0:
		if g.dtype == tensor.Bool {
			return pick(g, "true", "false")
		}
		return fmt.Sprint(g.intn(4))
	case 1:
		return g.scalar()
	}
	if len(scope) == 0 {
		return g.scalar()
	}
	return g.accessWith(scope, pick(g, scope...))
}

func (g *generator) scalar() string {
	name := g.name()
	g.operands[name] = tensor.ScalarTensor(g.value())
	return name
}

func (g *generator) name() string { return fmt.Sprintf("T%d", len(g.operands)) }

// accessWith is an access of a new or an existing tensor that uses index must.
func (g *generator) accessWith(scope []string, must string) string {
	idx := []string{must}
	for _, s := range scope {
		if s != must && g.chance(45) && len(idx) < 3 {
			idx = append(idx, s)
		}
	}
	for i := range idx {
		j := i + g.intn(len(idx)-i)
		idx[i], idx[j] = idx[j], idx[i]
	}
	if g.chance(5) && len(idx) < 3 {
		idx = append(idx, must) // a diagonal
	}
	shape := make([]int64, len(idx))
	text := make([]string, len(idx))
	for a, v := range idx {
		shape[a], text[a] = g.extents[v], v
		if v == must {
			continue // stays plain: it fixes the extent
		}
		switch g.intn(24) {
		case 0:
			shape[a] += int64(g.intn(3))
			text[a] = v + "+1"
		case 1:
			text[a] = v + "-1"
		case 2:
			shape[a] = 2*shape[a] + 1
			text[a] = "2*" + v
		case 3:
			shape[a] = 3
			text[a] = fmt.Sprint(g.intn(3))
		}
	}
	name := g.name()
	g.operands[name] = g.tensor(shape)
	return name + "(" + strings.Join(text, ",") + ")"
}

// tensor makes a random tensor of the given shape in a random format.
func (g *generator) tensor(shape []int64) *tensor.Tensor {
	size := int64(1)
	for _, n := range shape {
		size *= n
	}
	f := g.format(len(shape))
	var opts []tensor.Option
	fill := tensor.Zero(g.dtype)
	if g.chance(20) {
		fill = g.value()
	}
	opts = append(opts, tensor.WithFill(fill))
	density := pick(g, 0, 20, 50, 50, 80, 100)
	coords := make([][]int64, len(shape))
	var list []tensor.Scalar
	for p := int64(0); p < size; p++ {
		if g.intn(100) >= density {
			continue
		}
		rest := p
		c := make([]int64, len(shape))
		for a := len(shape) - 1; a >= 0; a-- {
			c[a] = rest % shape[a]
			rest /= shape[a]
		}
		for a := range c {
			coords[a] = append(coords[a], c[a])
		}
		list = append(list, g.value())
	}
	vals, err := tensor.MakeArray(g.dtype, len(list))
	if err != nil {
		panic(err)
	}
	for i, v := range list {
		vals.SetScalar(i, v)
	}
	t, err := tensor.FromCoords(shape, f, coords, vals, opts...)
	if err != nil {
		panic(fmt.Sprintf("difftest: %v %v: %v", shape, f, err))
	}
	return t
}

// value is a small number, often 0 so that explicit zeros occur.
func (g *generator) value() tensor.Scalar {
	v := int64(pick(g, 0, 1, 1, 2, 3, -1, -2))
	if g.dtype == tensor.Uint8 {
		v = max(v, -v)
	}
	if g.dtype.IsComplex() {
		return tensor.Complex(g.dtype, complex(float64(v), float64(g.intn(3)-1)))
	}
	if !g.exact && g.dtype.IsFloat() {
		return tensor.Float(g.dtype, float64(v)+math.Round(float64(g.intn(100)))/128)
	}
	return tensor.Int(g.dtype, v)
}

// format is a random format of the rank.
func (g *generator) format(rank int) tensor.Format {
	levels := make([]tensor.LevelKind, rank)
	order := make([]int, rank)
	for a := range order {
		order[a] = a
	}
	if g.chance(40) {
		for i := range order {
			j := i + g.intn(rank-i)
			order[i], order[j] = order[j], order[i]
		}
	}
	last := rank - 1 - pick(g, 0, 0, 0, 0, 1, 2, 3)
	for l := range levels {
		switch {
		case l > last:
			levels[l] = tensor.D
		case l == last:
			levels[l] = tensor.S
		default:
			levels[l] = pick(g, tensor.C, tensor.C, tensor.DC, tensor.S)
		}
	}
	f, err := tensor.FormatOf(levels, order)
	if err != nil {
		panic(fmt.Sprintf("difftest: %v %v: %v", levels, order, err))
	}
	return f
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
