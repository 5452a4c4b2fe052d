package difftest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// statement is the state of one statement being written.
type statement struct {
	slices     []int64 // lengths of the hidden indices of slices
	freeSlices int     // how many of them stand on the left
	summed     bool    // the hidden index after those is in use
	implicit   []string
	nested     int // reductions around
	overEmpty  int // of them, over nothing
	// empty says that a reduction which has no value over nothing needs one.
	empty bool
	plain map[string]bool // indices with a plain use on the right
}

func (g *generator) begin() {
	g.stmt = &statement{implicit: append([]string(nil), implicitNames...), plain: map[string]bool{}}
	g.budget = 8
}

// leftSide is the left side of an assignment.
type leftSide struct {
	indices []string // as written
	shape   []int64
	free    []string // its index variables
	// odd are variables that have no plain use here.
	odd []string
	// partial says that the indices do not reach every element, open that some
	// slice takes its length from the shape.
	partial, open bool
}

func (l *leftSide) text(name string) string {
	if len(l.indices) == 0 {
		return name
	}
	return name + "(" + strings.Join(l.indices, ",") + ")"
}

// left writes a left side; most are plain.
func (g *generator) left() *leftSide {
	if !g.chance(30) {
		return g.plainLeft()
	}
	l := &leftSide{}
	for _, v := range g.leftNames() {
		g.leftIndex(l, g.intn(8), v)
	}
	return l
}

// plainLeft writes a left side that names every element once.
func (g *generator) plainLeft() *leftSide {
	l := &leftSide{}
	for _, v := range g.leftNames() {
		g.leftIndex(l, 0, v)
	}
	return l
}

// leftNames picks an index variable for each dimension of a result.
func (g *generator) leftNames() []string {
	names := shuffle(g, append([]string(nil), indexNames[:4]...))
	return names[:pick(g, 1, 2, 2, 0, 2, 1, 3)]
}

// leftIndex adds an index of a kind, with variable v if it has one.
func (g *generator) leftIndex(l *leftSide, kind int, v string) {
	n := g.extents[v]
	add := func(text string, extent int64) {
		l.indices, l.shape = append(l.indices, text), append(l.shape, extent)
	}
	switch {
	case kind == 4: // an integer
		extent := int64(1 + g.intn(4))
		add(fmt.Sprint(g.intn(int(extent))), extent)
		l.partial = true
	case kind == 5: // affine
		coef, shift := int64(pick(g, 2, 1, 1, 3)), int64(g.intn(3))
		if coef == 1 {
			shift++ // not plain
		}
		text := affine(coef, v, shift)
		if g.chance(20) {
			text = fmt.Sprintf("%d-%s", max(n-1, 0)+shift, v)
			coef = 1
		}
		add(text, coef*max(n-1, 0)+shift+1+int64(g.intn(2)))
		l.free, l.odd, l.partial = append(l.free, v), append(l.odd, v), true
	case kind == 6 && len(l.free) > 0: // a variable again: a diagonal
		w := pick(g, l.free...)
		add(w, g.extents[w])
		l.partial = true
	case kind == 7: // a slice
		x := g.slice(g.newSlice())
		g.stmt.freeSlices++
		add(x.text, x.extent)
		l.partial, l.open = l.partial || !x.whole, l.open || x.open
	default:
		add(v, n)
		l.free = append(l.free, v)
	}
}

// affine writes coef*v+shift.
func affine(coef int64, v string, shift int64) string {
	text := v
	if coef != 1 {
		text = fmt.Sprintf("%d*%s", coef, v)
	}
	switch {
	case shift > 0:
		text += fmt.Sprintf("+%d", shift)
	case shift < 0:
		text += fmt.Sprint(shift)
	}
	return text
}

// assign writes name(…) = expression.
func (g *generator) assign(name string) *leftSide {
	g.begin()
	l := g.left()
	rhs := g.right(l)
	g.finish(name, l, "=", rhs)
	return l
}

// right writes an expression for a left side.
func (g *generator) right(l *leftSide) term {
	rhs := g.expr(l.free, 3)
	for _, v := range l.odd {
		rhs = g.join(pick(g, "*", "+"), g.access(l.free, v), rhs)
	}
	return rhs
}

// finish declares the result of a new assignment and adds its line.
func (g *generator) finish(name string, l *leftSide, op string, rhs term) {
	d := Result{Shape: l.shape, DType: tensor.Invalid}
	if !g.needsShape(l, rhs) && g.chance(30) {
		d.Shape = nil
	}
	m := &made{shape: append([]int64{}, l.shape...), dtype: rhs.dtype}
	if g.chance(20) {
		m.dtype = g.anyType()
		d.DType = m.dtype
	}
	if d.Shape == nil && l.partial {
		m.shape = nil // as large as it must be; nothing else reads it
	}
	if !g.chance(35) {
		d.Format, d.HasFormat = g.inAnyOrder(g.sparser(len(l.shape))), true
	}
	if g.chance(15) {
		fill := g.value(m.dtype)
		d.Fill, m.filled = &fill, true
	}
	g.Results[name] = d
	g.add(name, l, op, rhs)
	g.made[name] = m
}

// add appends a statement.
func (g *generator) add(name string, l *leftSide, op string, rhs term) {
	g.lines = append(g.lines, fmt.Sprintf("%s %s %s", l.text(name), op, rhs.text))
	if !g.stmt.empty || g.Refused != "" {
		return
	}
	// No element of the result, no reduction for it.
	for _, v := range l.free {
		if g.extents[v] == 0 {
			return
		}
	}
	for _, n := range g.stmt.slices[:g.stmt.freeSlices] {
		if n == 0 {
			return
		}
	}
	g.Refused = lang.ErrEmptyReduction
}

// needsShape reports whether the result's shape must be declared: a variable
// without a plain use on the right, or a slice without an end, has no other
// extent. (A term with such a use may have been dropped again.)
func (g *generator) needsShape(l *leftSide, rhs term) bool {
	for _, v := range l.free {
		if !g.stmt.plain[v] || !regexp.MustCompile(`\b`+v+`\b`).MatchString(rhs.text) {
			return true
		}
	}
	return l.open
}

// operators are the assignment operators that a type has.
func operators(dt tensor.DType) []string {
	switch {
	case dt == tensor.Bool:
		return []string{"|=", "&=", "+=", "*=", "min=", "max="}
	case dt.IsComplex():
		return []string{"+=", "*="}
	}
	return []string{"+=", "*=", "min=", "max="}
}

// updateOperand writes R op= expression, where R is an operand, or assigns a part
// of it.
func (g *generator) updateOperand() {
	g.begin()
	l := g.left()
	dt := g.operandType()
	if g.chance(15) {
		// Without a value there is nothing to update.
		g.Refused = lang.ErrNoValue
		g.Results["R"] = Result{Shape: l.shape, DType: dt}
	} else {
		g.operand("R", l.shape, dt)
	}
	op := pick(g, operators(dt)...)
	if g.chance(15) && l.partial && g.Refused == "" {
		op = "="
	}
	if l.partial && g.Refused == "" {
		g.MayRefuse = partOfValue
	}
	g.add("R", l, op, g.fitted(g.right(l), dt, op))
}

// scatter writes an update of an operand whose left side takes coordinates from
// tensors.
func (g *generator) scatter() {
	g.begin()
	l := &leftSide{partial: true}
	names := shuffle(g, append([]string(nil), indexNames[:4]...))[:pick(g, 1, 2, 2, 3)]
	gathered := g.intn(len(names))
	for k, v := range names {
		if k != gathered && !g.chance(30) {
			g.leftIndex(l, pick(g, 0, 0, 0, 0, 4, 5, 6, 7), v)
			continue
		}
		extent := int64(1 + g.intn(5))
		l.indices, l.shape, l.free = append(l.indices, g.place(v, extent)), append(l.shape, extent), append(l.free, v)
	}
	dt := g.operandType()
	g.Operands["R"] = g.tensor(l.shape, dt)
	op := pick(g, operators(dt)...)
	g.add("R", l, op, g.fitted(g.right(l), dt, op))
}

// place is a coordinate below extent that is taken from a tensor by v, with a plain
// use of it.
func (g *generator) place(v string, extent int64) string {
	name := g.operandName()
	g.stmt.plain[v] = true
	if !g.chance(15) {
		g.Operands[name] = g.positions(g.extents[v], extent)
		return name + "(" + v + ")"
	}
	n := int64(1 + g.intn(4))
	g.Operands[name] = g.positions(n, extent)
	return name + "(" + g.place(v, n) + ")"
}

// partOfValue is the refusal of an assignment that keeps part of an old value
// whose fill depends on operands.
const partOfValue = "assigning part of a tensor whose fill is known only at run time"

// updateResult assigns R and then updates it, whole or in part.
func (g *generator) updateResult() {
	g.begin()
	first := g.plainLeft()
	g.finish("R", first, "=", g.right(first))
	m := g.made["R"]
	for range pick(g, 1, 1, 2) {
		g.begin()
		l := g.leftFor(m.shape, first)
		op := pick(g, operators(m.dtype)...)
		if l.partial {
			g.MayRefuse = partOfValue
			op = pick(g, op, "=")
		}
		g.add("R", l, op, g.fitted(g.right(l), m.dtype, op))
	}
}

// leftFor writes another left side for a result of a known shape.
func (g *generator) leftFor(shape []int64, first *leftSide) *leftSide {
	l := &leftSide{shape: shape}
	for axis, n := range shape {
		if n > 0 && g.chance(8) {
			l.indices, l.partial = append(l.indices, fmt.Sprint(g.intn(int(n)))), true
			continue
		}
		v := first.indices[axis]
		for _, name := range shuffle(g, append([]string(nil), indexNames...)) {
			if g.extents[name] == n && !has(l.free, name) {
				v = name
			}
		}
		if has(l.free, v) {
			l.partial = true // a diagonal
		} else {
			l.free = append(l.free, v)
		}
		l.indices = append(l.indices, v)
	}
	return l
}

// fitted converts a right side so that assigning it to dt loses no kind of number.
func (g *generator) fitted(rhs term, dt tensor.DType, op string) term {
	if rhs.dtype == dt || op == "|=" || op == "&=" || kind(rhs.dtype) <= kind(dt) && !g.chance(30) {
		return rhs
	}
	return term{fmt.Sprintf("%s(%s)", dt, rhs.text), dt}
}

// kind orders the kinds of number: bool, unsigned, signed, real, complex.
func kind(dt tensor.DType) int {
	switch {
	case dt == tensor.Bool:
		return 0
	case dt.IsUnsigned():
		return 1
	case dt.IsInteger():
		return 2
	case dt.IsFloat():
		return 3
	}
	return 4
}
