package difftest

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// scan writes a running fold or a sort along one or two of the indices.
func (g *generator) scan(scope []string, depth int) term {
	if len(scope) == 0 || g.stmt.nested >= mostNested {
		return g.leaf(scope)
	}
	vars := shuffle(g, append([]string(nil), scope...))
	vars = vars[:min(len(vars), pick(g, 1, 1, 1, 2, 3))]
	over, stored := append([]string(nil), vars...), term{}
	sorts := g.chance(25)
	if !sorts && g.chance(25) {
		stored = g.storedIn(scope, vars, over)
	}
	body := stored
	if stored.text == "" || g.chance(50) {
		g.stmt.nested++
		body = g.expr(scope, pick(g, depth, 0))
		g.stmt.nested--
		if stored.text != "" {
			body = g.join(pick(g, "*", "+"), stored, body)
		}
	}
	options := []string{"", "", "[exclusive]", "[reverse]", "[exclusive, reverse]"}
	op, dt := g.scanOp(body.dtype)
	if sorts && !body.dtype.IsComplex() {
		op, dt, options = "sort", body.dtype, []string{"", "[descending]"}
		if len(over) == 1 {
			options = append(options, "[first=2]", "[descending, first=1]", "[first=3, descending]")
		}
		if g.chance(50) {
			op, dt = "argsort", tensor.Int64
		}
	}
	word := fmt.Sprintf("%s_{%s}", op, joinNames(over))
	if len(over) == 1 && over[0] == vars[0] {
		word = op + "_" + vars[0]
	}
	word += pick(g, options...)
	return term{fmt.Sprintf("(%s (%s))", word, body.text), dt}
}

// scanOp picks a scan that a type has, and gives the type of its result.
func (g *generator) scanOp(dt tensor.DType) (string, tensor.DType) {
	ops := []string{"cumsum", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"}
	if dt.IsComplex() {
		ops = ops[:3]
	}
	switch op := pick(g, ops...); op {
	case "cummax", "cummin":
		return op, dt
	case "logcumsumexp":
		return op, floating(dt)
	default:
		return op, sumType(dt)
	}
}
