package difftest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// association writes a product of three to six factors whose indices are summed, with or without parentheses: the
// optimiser may compute it in many orders.
func (g *generator) association() {
	vars := shuffle(g, slices.Clone(indexNames))[:3+g.intn(3)]
	for _, v := range indexNames {
		g.extents[v] = int64(pick(g, 3, 4, 1, 2, 5, 7))
		if g.chance(3) {
			g.extents[v] = 0
		}
	}
	var factors []string
	for k := range len(vars) - 1 {
		at := vars[k] + "," + vars[k+1]
		if g.chance(40) {
			at = vars[k+1] + "," + vars[k]
		}
		factors = append(factors, fmt.Sprintf("%c(%s)", 'A'+k, at))
	}
	last := vars[len(vars)-1]
	for k := g.intn(3); k > 0; k-- {
		factors = append(factors, fmt.Sprintf("%c(%s)", 'w'+k, pick(g, last, vars[0], vars[1])))
	}
	if g.chance(20) { // a cycle
		factors = append(factors, fmt.Sprintf("F(%s,%s)", last, vars[0]))
	}
	left := pick(g, "R", "R("+vars[0]+")", "R("+vars[0]+")", "R("+last+")", "R("+vars[0]+","+last+")", "R("+last+","+vars[1]+")")
	if g.chance(20) && subtractable(g.dtype) {
		factors[0] = fmt.Sprintf("(%s %s G%s)", factors[0], pick(g, "+", "-"), factors[0][1:])
	}
	right := strings.Join(factors, "*")
	bound := func(k int) bool {
		return !strings.Contains(left, vars[k]) && !strings.Contains(strings.Join(factors[:k-1], ""), vars[k])
	}
	if k := len(vars) - 1; k > 1 && g.chance(50) && bound(k) && k-1 < len(factors) { // a nested sum
		outer, of := strings.Join(factors[:k-1], "*"), ""
		if g.dtype.IsFloat() && g.chance(40) { // in a function, of which some rows are wanted
			of, outer = pick(g, "relu", "tanh", "sigmoid"), fmt.Sprintf("v(%s)*%s", pick(g, vars[0], vars[1]), outer)
		}
		right = fmt.Sprintf("%s*%s(sum_%s (%s))", outer, of, vars[k], strings.Join(factors[k-1:], "*"))
	}
	switch {
	case g.chance(10) && subtractable(g.dtype):
		right = fmt.Sprintf("2*(%s)", right)
	case g.chance(10) && left == "R("+vars[0]+")":
		right += fmt.Sprintf(" + y(%s)", vars[0])
	}
	if left == "R" && g.chance(30) && subtractable(g.dtype) && len(vars) > 2 {
		right = fmt.Sprintf("sum_{%[1]s,%[2]s} (A(%[1]s,%[2]s) - (sum_%[3]s (B(%[1]s,%[3]s)*C(%[2]s,%[3]s))))^2", vars[0], vars[1], vars[2])
	}
	g.fit(right)
	g.shapeOperands(right)
	g.shapeResult(left)
	part := strings.Join(factors[:2], "*")
	if rest, ok := strings.CutPrefix(right, part+"*"); ok && len(vars) > 2 && !strings.Contains(left+rest, vars[1]) && g.chance(60) { // in two statements
		inner := fmt.Sprintf("T(%s,%s)", vars[0], vars[2])
		g.lines, right = append(g.lines, inner+" = "+part), inner+"*"+rest
		if g.chance(20) {
			g.lines = append(g.lines, "Z = 2*"+inner)
		}
	}
	g.lines = append(g.lines, left+" = "+right)
}

// inTwo reports whether a product is written in two statements.
func (c *Case) inTwo() bool { return strings.HasPrefix(c.Text, "T(") }

// NewAssociation makes a random program of a product of many factors, of a type for which an optimiser may move them.
func NewAssociation(src Source) *Case {
	g := newGenerator(src)
	g.dtype = pick(g, tensor.Float64, tensor.Float64, tensor.Int64, tensor.Float32, tensor.Complex128, tensor.Int32, tensor.Bool)
	g.association()
	return g.written()
}
