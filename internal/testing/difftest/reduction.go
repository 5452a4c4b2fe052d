package difftest

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// mostNested bounds reductions inside each other: each multiplies the work.
const mostNested = 2

// reduction binds one or two new indices.
func (g *generator) reduction(scope []string, depth int) term {
	var fresh []string
	for _, name := range indexNames {
		if !has(scope, name) {
			fresh = append(fresh, name)
		}
	}
	if len(fresh) == 0 || g.stmt.nested >= mostNested {
		return g.leaf(scope)
	}
	vars := shuffle(g, fresh)[:1]
	if g.chance(25) && len(fresh) > 1 {
		vars = fresh[:2]
	}
	inner := append(append([]string(nil), scope...), vars...)
	over, stored := append([]string(nil), vars...), term{}
	if g.chance(20) {
		stored = g.storedIn(inner, vars, over)
	}
	empty := g.firstEmpty(vars, over)
	g.stmt.nested++
	if empty != notEmpty {
		g.stmt.overEmpty++
	}
	operators := []string{"*", "*", "*", "+"}
	if g.infinite {
		depth, operators = min(depth, g.intn(2)), operators[3:]
	}
	body := g.expr(inner, depth)
	if stored.text != "" {
		body = g.join(pick(g, "*", "+"), stored, body)
	}
	for i, v := range vars {
		// Every index has a plain use, so that its extent is known.
		if over[i] == v {
			body = g.join(pick(g, operators...), g.access(inner, v), body)
		}
	}
	if empty != notEmpty {
		g.stmt.overEmpty--
	}
	g.stmt.nested--
	op := g.fold(body.dtype)
	if empty == allOfIt && undefinedOverNothing[op] && g.stmt.overEmpty == 0 {
		g.stmt.empty = true
	}
	word := fmt.Sprintf("%s_{%s}", op, joinNames(over))
	if len(over) == 1 && over[0] == vars[0] {
		word = op + "_" + vars[0]
	}
	dt := foldType(op, body.dtype)
	switch op {
	case "quantile", "nanquantile":
		method := pick(g, "", "", "[nearest]", "[midpoint]", "[inverted_cdf]", "[hazen]", "[averaged_inverted_cdf]",
			"[closest_observation]", "[lower]", "[higher]", "[median_unbiased]")
		return term{fmt.Sprintf("%s%s(%s, %s)", word, method, body.text, g.order(scope)), dt}
	}
	return term{fmt.Sprintf("(%s (%s))", word, body.text), dt}
}

// order writes the order of a quantile, which may depend on the indices outside: not on
// one that takes no value, for a list of no orders is refused.
func (g *generator) order(scope []string) string {
	empty := slices.ContainsFunc(scope, func(v string) bool { return g.extents[v] == 0 })
	if empty || g.chance(60) {
		return pick(g, "0.5", "0", "1", "0.25", "0.3")
	}
	g.stmt.nested++
	defer func() { g.stmt.nested-- }()
	return fmt.Sprintf("where(%s, 0.25, 0.75)", g.condition(scope, 0).text)
}

// storedIn makes an operand that some of the variables run over the stored
// coordinates of, and marks them in the list. Nothing else accesses it, and its
// access has nothing that is bound further inside.
func (g *generator) storedIn(inner, vars, over []string) term {
	x := &accessing{}
	list := g.someOf(inner, vars[0], 2)
	for _, v := range list {
		x.add(v, g.extents[v])
	}
	name := fmt.Sprintf("in%d", len(g.Operands))
	dt := g.operandType()
	g.operand(name, x.shape, dt)
	for i, v := range vars {
		if has(list, v) && (i == 0 || g.chance(70)) {
			over[i] = v + " in " + name
		}
	}
	return g.closed(x, name, dt)
}

// emptiness tells whether a reduction runs over nothing.
type emptiness uint8

const (
	notEmpty   emptiness = iota
	allOfIt              // over a whole dimension of size 0
	storedOfIt           // over the stored coordinates of one
)

func (g *generator) firstEmpty(vars, over []string) emptiness {
	for i, v := range vars {
		if g.extents[v] != 0 {
			continue
		}
		if over[i] == v {
			return allOfIt
		}
		return storedOfIt
	}
	return notEmpty
}

// undefinedOverNothing lists the reductions of fold without a value over nothing.
var undefinedOverNothing = map[string]bool{
	"min": true, "max": true, "argmin": true, "argmax": true,
	"median": true, "quantile": true, "nanquantile": true,
}

// fold picks a reduction that a type has.
func (g *generator) fold(dt tensor.DType) string {
	switch {
	case dt == tensor.Bool:
		return pick(g, "any", "all", "max", "min", "sum", "count", "argmax", "mean", "median")
	case dt.IsComplex():
		return pick(g, "sum", "sum", "prod", "norm", "mean", "any", "all", "count")
	}
	return pick(g, "sum", "sum", "sum", "sum", "max", "min", "prod", "any", "all", "count", "argmin", "argmax", "mean", "norm", "var", "logsumexp",
		"median", "quantile", "nanquantile")
}

// foldType is the type of a reduction's result.
func foldType(op string, dt tensor.DType) tensor.DType {
	switch op {
	case "sum", "prod":
		return sumType(dt)
	case "any", "all":
		return tensor.Bool
	case "count", "argmin", "argmax":
		return tensor.Int64
	case "norm":
		return floating(dt).Real()
	case "mean", "var", "logsumexp", "median", "quantile", "nanquantile":
		return floating(dt)
	}
	return dt
}

// implicit writes a sum without its word: an index of its own that stands in one
// product only.
func (g *generator) implicit(scope []string, depth int) term {
	s := g.stmt
	if len(s.implicit) == 0 || s.nested >= mostNested {
		return g.leaf(scope)
	}
	v := s.implicit[0]
	s.implicit = s.implicit[1:]
	inner := append(append([]string(nil), scope...), v)
	s.nested++
	over := g.firstEmpty([]string{v}, []string{v})
	if over != notEmpty {
		s.overEmpty++
	}
	rest := g.expr(inner, depth)
	t := g.join("*", g.access(inner, v), rest)
	if over != notEmpty {
		s.overEmpty--
	}
	s.nested--
	return term{t.text, sumType(t.dtype)}
}
