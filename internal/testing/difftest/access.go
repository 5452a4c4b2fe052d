package difftest

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// accessing is an access being written.
type accessing struct {
	scope   []string
	indices []string
	shape   []int64
	slices  int  // written so far in this access
	summed  bool // one of them is summed implicitly
}

func (x *accessing) add(text string, extent int64) {
	x.indices, x.shape = append(x.indices, text), append(x.shape, extent)
}

// access is an access of a new or an earlier tensor that uses index must plainly;
// must may be empty.
func (g *generator) access(scope []string, must string) term {
	if g.chance(25) {
		if t, ok := g.reuse(scope, must); ok {
			return t
		}
	}
	x := &accessing{scope: scope}
	vars := g.someOf(scope, must, 2)
	for _, v := range vars {
		if v == must {
			x.add(v, g.extents[v])
			g.stmt.plain[v] = true
			continue
		}
		g.index(x, v)
	}
	for len(x.indices) < 3 && g.chance(6) || len(x.indices) == 0 {
		g.index(x, "")
	}
	if must != "" && len(x.indices) < 3 && g.chance(5) {
		x.add(must, g.extents[must]) // a diagonal
	}
	name := g.operandName()
	dt := g.operandType()
	g.operand(name, x.shape, dt)
	return g.closed(x, name, dt)
}

// closed writes the access. What it sums implicitly it sums in parentheses of
// its own.
func (g *generator) closed(x *accessing, name string, dt tensor.DType) term {
	text := name + "(" + strings.Join(x.indices, ",") + ")"
	if x.summed {
		return term{"(" + text + ")", sumType(dt)}
	}
	return term{text, dt}
}

// someOf picks must and up to n others of the scope, in any order.
func (g *generator) someOf(scope []string, must string, n int) []string {
	var list []string
	if must != "" {
		list = append(list, must)
	}
	for _, v := range scope {
		if v != must && len(list) <= n && g.chance(45) {
			list = append(list, v)
		}
	}
	return shuffle(g, list)
}

// index adds an index to an access of a new tensor; v, if not empty, is a
// variable that it may use.
func (g *generator) index(x *accessing, v string) {
	kind := 0
	if v == "" {
		kind = 8
	}
	if v == "" || g.chance(35) {
		kind += g.intn(15 - kind)
	}
	n := g.extents[v]
	switch kind {
	case 1:
		shift := int64(pick(g, 1, -1, 2, -2))
		x.add(affine(1, v, shift), max(n+int64(g.intn(4)-1), 0))
	case 2:
		coef, shift := int64(pick(g, 2, 3)), int64(g.intn(3)-1)
		x.add(affine(coef, v, shift), max(coef*n+int64(g.intn(3)-1), 0))
	case 3:
		x.add(fmt.Sprintf("%d-%s", max(n-1, 0)+int64(g.intn(2)), v), n)
	case 4:
		w := pick(g, x.scope...)
		sign := pick(g, "+", "-")
		if w == v {
			sign = "+"
		}
		x.add(v+sign+w, max(n+g.extents[w]+int64(g.intn(3)-2), 0))
	case 5, 6, 7:
		extent := int64(1 + g.intn(5))
		x.add(g.gather(v, extent), extent)
	case 8, 9, 10, 11:
		extent := int64(1 + g.intn(4))
		x.add(fmt.Sprint(g.intn(int(extent))), extent)
	case 12, 13, 14:
		if length, ok := g.nextSlice(x); ok {
			s := g.slice(length)
			x.add(s.text, s.extent)
			return
		}
		x.add("0", 1)
	default:
		x.add(v, n)
		g.stmt.plain[v] = true
	}
}

// gather writes p(v) with values below extent.
func (g *generator) gather(v string, extent int64) string {
	inner, n := v, g.extents[v]
	switch {
	case g.chance(10):
		n = int64(1 + g.intn(4))
		inner = g.gather(v, n)
	case g.chance(15):
		inner = affine(1, v, int64(pick(g, 1, -1))) // outside, the fill is an index too
	}
	name := g.operandName()
	g.Operands[name] = g.positions(n, extent)
	return name + "(" + inner + ")"
}

// reuse is an access of a tensor that exists, if one fits.
func (g *generator) reuse(scope []string, must string) (term, bool) {
	name, shape, dt, outside := g.existing()
	if name == "" || len(shape) == 0 {
		return term{}, false
	}
	place := -1
	for axis, n := range shape {
		if must != "" && g.extents[must] == n {
			place = axis
		}
	}
	if must != "" && place < 0 {
		return term{}, false
	}
	x := &accessing{scope: scope}
	for axis, n := range shape {
		if axis == place {
			x.add(must, n)
			continue
		}
		if !g.indexInto(x, n, outside) {
			return term{}, false
		}
	}
	for _, text := range x.indices {
		if has(scope, text) {
			g.stmt.plain[text] = true
		}
	}
	return g.closed(x, name, dt), true
}

// existing picks an operand or an earlier result. Operands that `in` runs over
// have one access only and are no candidates.
func (g *generator) existing() (name string, shape []int64, dt tensor.DType, outside bool) {
	var names []string
	for n := range len(g.Operands) {
		if name := fmt.Sprintf("a%d", n); g.Operands[name] != nil {
			names = append(names, name)
		}
	}
	for _, name := range []string{"T0", "T1", "R"} {
		if m := g.made[name]; m != nil && m.shape != nil {
			names = append(names, name, name, name)
		} else if g.Operands[name] != nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", nil, 0, false
	}
	name = pick(g, names...)
	if m := g.made[name]; m != nil {
		return name, m.shape, m.dtype, m.filled
	}
	t := g.Operands[name]
	return name, t.Shape(), t.DType(), true
}

// indexInto adds an index into a dimension of a given extent; outside says that
// it may leave the dimension.
func (g *generator) indexInto(x *accessing, n int64, outside bool) bool {
	var fits []string
	for _, v := range x.scope {
		if g.extents[v] == n {
			fits = append(fits, v)
		}
	}
	kind := g.intn(8)
	switch {
	case len(fits) > 0 && kind < 5:
		x.add(pick(g, fits...), n)
	case len(x.scope) > 0 && outside && kind != 5:
		v := pick(g, x.scope...)
		x.add(affine(int64(pick(g, 1, 1, 2)), v, int64(pick(g, 1, -1, 2))), n)
	case n > 0 && len(x.scope) > 0 && kind == 5:
		x.add(g.gather(pick(g, x.scope...), n), n)
	case n > 0:
		x.add(fmt.Sprint(g.intn(int(n))), n)
	default:
		return false
	}
	return true
}

// sliceText is a slice as written, with the extent of a dimension that it fits.
type sliceText struct {
	text        string
	extent      int64
	whole, open bool
}

// newSlice gives the statement another hidden index.
func (g *generator) newSlice() int64 {
	n := int64(pick(g, 2, 1, 3, 4))
	if len(g.stmt.slices) == g.stmt.freeSlices && g.stmt.nested == 0 && g.chance(5) {
		n = 0
	}
	g.stmt.slices = append(g.stmt.slices, n)
	return n
}

// nextSlice is the length of the next slice of an access: the n-th slices of all
// accesses share a hidden index. One that is not on the left is summed around
// all its uses, so only one access of the statement has it.
func (g *generator) nextSlice(x *accessing) (int64, bool) {
	s := g.stmt
	if x.slices < s.freeSlices {
		x.slices++
		return s.slices[x.slices-1], true
	}
	if x.slices > s.freeSlices || s.summed {
		return 0, false
	}
	n := int64(pick(g, 2, 1, 3))
	s.slices, s.summed, x.summed = append(s.slices, n), true, true
	x.slices++
	return n, true
}

// slice writes a slice of a length.
func (g *generator) slice(n int64) sliceText {
	lo, step := int64(pick(g, 0, 0, 1, 2)), int64(pick(g, 1, 1, 2, 3))
	reach := lo // one more than the last coordinate
	if n > 0 {
		reach = lo + (n-1)*step + 1
	}
	from, by := "", ""
	if lo > 0 {
		from = fmt.Sprint(lo)
	}
	if step > 1 {
		by = fmt.Sprintf(":%d", step)
	}
	if g.chance(50) {
		extent := reach
		if n > 0 {
			extent += int64(g.intn(int(step)))
		}
		return sliceText{from + ":" + by, extent, lo == 0 && step == 1, true}
	}
	hi := reach
	if n > 0 {
		hi += int64(g.intn(int(step)))
	}
	return sliceText{fmt.Sprintf("%s:%d%s", from, hi, by), reach + int64(g.intn(3)), false, false}
}
