// Package convert writes conversions, which store the entries of a tensor again in another
// format. A conversion is a program of its own, made of three parts that need each other's
// results only through buffers:
//
//   - walking the entries of the source in the order in which they are stored
//     (walk.go), in chunks of equal numbers of entries whatever the
//     shape of the rows;
//   - where the target's order is another, bringing them into it by stable
//     counting passes (sortpath.go chooses how, sort.go,
//     count.go, place.go and move.go do it, sortgroups.go within groups): one over the coordinates of the
//     target's outermost levels where they are few, or one for each digit of
//     the coordinates packed into words (words.go), on GPUs by tiles (gridcount.go, gridmove.go);
//   - cutting ordered entries into the target's levels (intolevels.go, fill.go):
//     count, prefix sum, fill. Arrays that would be equal are not written but
//     shared with the source.
//
// The method is that of S. Chou, F. Kjolstad, S. Amarasinghe, "Automatic
// Generation of Efficient Sparse Tensor Format Conversion Routines", PLDI 2020,
// with chunks in place of its sequential loops: every chunk has counts of its
// own, so the result is the same for any number of threads.
package convert

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// EntryOrder says what is known of the entries of a conversion's source.
type EntryOrder uint8

// The orders of entries. Those but Stored are for sources whose levels are all S.
const (
	// Stored entries are sorted and no coordinates occur twice, as in a tensor.
	Stored EntryOrder = iota
	// Repeating entries are sorted. Those at equal coordinates are summed in
	// the order in which they are stored; Bool: or.
	Repeating
	// Unordered entries are neither. The kernel sorts them, stably, and does not
	// cut them into levels yet, which depends on whether there are repeats: its
	// result has values, the coordinates packed into Words as Path says, and
	// Found, one byte: not 0 if there are entries at the same coordinates.
	//
	// Where Path has Rows, the result is the target, repeats summed.
	Unordered
	// Packed and PackedRepeating entries are what a kernel for Unordered ones
	// has made, with and without repeats. The path is its path.
	Packed
	PackedRepeating
)

// packed reports whether coordinates come in words.
func (o EntryOrder) packed() bool { return o == Packed || o == PackedRepeating }

// ConvertOptions steer the lowering of a conversion.
type Options struct {
	// Grain is as in Options.
	Grain   int64
	Entries EntryOrder
	// Keep leaves nothing out: what dense blocks hold stays stored where the target has none.
	Keep bool
	// Prune leaves out what equals the fill, of a tensor without dense blocks that is stored again as it is.
	Prune bool
	// Map, when not nil, says which coordinates entries have in the target.
	Map *Map
	// Path says how entries are brought into order: see ChoosePath.
	Path Path
	// Grids is for engines that share loops among threads: a pass goes by tiles, and places are the running sums of
	// all counts.
	Grids bool
}

// Convert lowers the conversion of from to to. It gives the same arrays as
// tensor.Tensor.Convert: every stored value stays, but for the values in dense
// blocks that the target does not have, of which those that equal the fill are
// left out unless opts say Keep. types gives the element types of from's arrays and those wanted of
// to's; for a level without coordinates, a type that can hold them.
//
// A buffer of the Kernel's Result may be one of its Inputs: the result then
// shares that array with the source.
func Lower(from, to *ir.Tensor, types emit.OperandTypes, opts Options) (*emit.Kernel, error) {
	if from.Rank != to.Rank && opts.Map == nil || from.Rank == 0 || from.DType != to.DType {
		return nil, fmt.Errorf("cannot convert %s, a %s %s, to a %s %s: rank and element type must be the same, and the rank not 0",
			from.Name, from.Format, from.DType, to.Format, to.DType)
	}
	if opts.Entries != Stored && (!from.Format.IsCoordinates() || to.Format.SparseRank() < to.Rank || !sameAxes(from.Format.Order(), to.Format.Order())) {
		return nil, fmt.Errorf("cannot convert from %s to %s: only a list of coordinates, S-…-S, can be out of order or repeat, and be brought into its order only, without D levels",
			from.Format, to.Format)
	}
	c := newConverter(from, to, types, opts)
	if i := slices.IndexFunc(shortcuts, func(s shortcut) bool { return s.takes(c) }); i >= 0 {
		shortcuts[i].emit(c)
		return c.Done(), nil
	}
	switch {
	case opts.Entries == Unordered:
		c.sortPacked()
	case opts.Entries.packed():
		c.cut(c.packed, stored{values: -1, from: -1})
	case opts.Path.None():
		c.cut(c.source, stored{values: -1, from: -1})
	default:
		sorted, has, done := c.sort()
		if !done {
			c.cut(sorted, has)
		}
	}
	return c.Done(), nil
}

// shortcut is a way to do some conversions with less than listing, ordering and cutting, which the file that has it registers.
type shortcut struct {
	place int // in which it is tried: what costs less, where it can be taken, comes first
	// path is how it brings entries into order, if it is for a conversion of such data.
	path func(from, to tensor.Format, d *Data) (p Path, ok bool)
	// takes reports whether a conversion, whose path has been chosen, goes so.
	takes func(c *converter) bool
	emit  func(c *converter)
}

var shortcuts []shortcut

// register makes a shortcut known.
func register(s shortcut) bool {
	shortcuts = append(shortcuts, s)
	slices.SortStableFunc(shortcuts, func(x, y shortcut) int { return x.place - y.place })
	return true
}

var _ = register(shortcut{
	place: 0,
	path:  func(_, to tensor.Format, _ *Data) (Path, bool) { return Path{}, to.IsDense() },
	takes: func(c *converter) bool { return c.to.Format.IsDense() },
	emit:  (*converter).toDense,
})

// converter is a conversion under construction.
type converter struct {
	*emit.Builder
	from, to *ir.Tensor
	how      Options
	source   walk // nil if entries are packed
	packed   *packedEntries
	// An entry is one stored value or, if blocks is set, one dense block of
	// values, of axes that are stored so on both sides.
	blocks bool
	// filter: entries are left out, those that equal the fill if compares says so.
	filter, compares bool
	// scatter: the target has dense blocks, whose values are entries.
	scatter bool
	// elem is the type in which values are moved: unsigned integers of their
	// width, so that moving one never changes it.
	elem loop.Type
	// count is the type of positions in the result, and of counters.
	count loop.Type
	// entries is the number of entries of the source, before filter.
	entries loop.ScalarID
	vals    loop.BufferID // of the source
	fill    loop.BufferID // one element, -1 until it is needed
}

func newConverter(from, to *ir.Tensor, types emit.OperandTypes, how Options) *converter {
	c := &converter{
		Builder: emit.New("convert_"+from.Name, types),
		from:    from, to: to, how: how, elem: movedType(from.DType), fill: -1,
	}
	c.Result.Tensor = to
	if how.Entries.repeats() {
		c.elem = emit.Type(from.DType) // they are summed
	}
	sparse := from.Format.SparseRank()
	same := how.Map == nil && sparse == to.Format.SparseRank() && sameAxes(from.Format.Order()[sparse:], to.Format.Order()[sparse:])
	depth := from.Rank
	switch {
	case to.Format.IsDense():
	case same:
		c.blocks = sparse < depth
		c.compares = how.Prune && !c.blocks
		depth = sparse
	default:
		c.compares = sparse < depth && !how.Keep
		c.scatter = to.Format.SparseRank() < to.Rank
	}
	c.filter = c.compares || how.Map.some()
	c.count = loop.U64
	if !to.Format.IsDense() {
		c.count = emit.Type(types.IndexType(to, c.firstCompressed(), emit.Positions))
	}
	c.vals = c.inputAs(from, 0, emit.Values, c.elem)
	var total loop.SizeExpr
	if how.Entries.packed() {
		c.packed = newPackedEntries(c)
		total = c.packed.total()
	} else {
		stored := newStoredEntries(c, depth)
		if c.source = stored; how.Map != nil {
			c.source = mapped{stored, how.Map}
		}
		total = c.source.total()
	}
	c.entries = c.NewScalar("entries", false)
	c.AddStage(loop.Stage{Name: "size", Partition: -1, Lets: []loop.ScalarLet{{Scalar: c.entries, Value: total}}})
	c.note()
	return c
}

// firstCompressed is the first compressed level of the target.
func (c *converter) firstCompressed() int {
	for l, level := range c.to.Format.Physical() {
		if level.Ranges() {
			return l
		}
	}
	return 0
}

// note describes the conversion for explain.
func (c *converter) note() {
	how := "in one pass over entries that are in order"
	if !c.how.Path.None() && !c.how.Entries.packed() {
		how = c.how.Path.String()
	} else if c.to.Format.IsDense() {
		how = "each entry to its place"
	}
	c.Notes = append(c.Notes, fmt.Sprintf("%s: %s to %s, %s", c.from.Name, c.from.Format, c.to.Format, how))
}

func sameAxes(x, y []int) bool {
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// movedType is the unsigned type as wide as dt. Complex numbers are moved as
// they are, for alignment: no load or store changes their bits.
func movedType(dt tensor.DType) loop.Type {
	switch t := emit.Type(dt); {
	case t.IsComplex():
		return t
	case t.Size() == 1:
		return loop.U8
	case t.Size() == 2:
		return loop.U16
	case t.Size() == 4:
		return loop.U32
	}
	return loop.U64
}

// inputAs is the buffer of an operand's array with the given element type.
func (c *converter) inputAs(t *ir.Tensor, level int, kind emit.ArrayKind, elem loop.Type) loop.BufferID {
	id := c.Input(t, level, kind)
	c.Program.Buffers[id].Elem = elem
	return id
}

// indexType is the type of an index array of the target.
func (c *converter) indexType(level int, kind emit.ArrayKind) loop.Type {
	return emit.Type(c.Types.IndexType(c.to, level, kind))
}

// extentOf is the program scalar with the extent of an axis of the target.
func (c *converter) extentOf(axis int) loop.ScalarID {
	if c.how.Map != nil {
		return c.Dim(c.to, axis)
	}
	return c.Dim(c.from, axis)
}

// sizeOf is the product of the extents of axes.
func (c *converter) sizeOf(axes []int) loop.SizeExpr {
	n := loop.SizeExpr(loop.SizeConst(1))
	for _, axis := range axes {
		n = emit.Times(n, loop.SizeScalar(c.extentOf(axis)))
	}
	return n
}

// extentsIn is the product of the extents of axes, inside a function.
func (c *converter) extentsIn(e *emit.Func, axes []int) loop.Expr {
	var n loop.Expr = loop.Int(1)
	for _, axis := range axes {
		n = e.B.Mul(n, e.Scalar(c.extentOf(axis)))
	}
	return e.B.Let("size", n)
}

// evenly registers the cut of n elements into chunks of equal size.
func (c *converter) evenly(n loop.SizeExpr) int {
	return c.Partition(n, -1, c.how.Grain)
}

// fillValue is the fill of the source.
func (c *converter) fillValue(e *emit.Func) loop.Expr {
	if c.fill < 0 {
		c.fill = c.inputAs(c.from, 0, emit.FillValue, c.elem)
	}
	return e.B.Let("fill", e.B.Load(e.Read(c.fill), loop.Int(0)))
}

// differs is the test of a value against the fill: in any bit, but NaN is the
// same as any other NaN. It is made before the loop and applied in it.
func (c *converter) differs(e *emit.Func) func(v loop.Expr) loop.Expr {
	b := e.B
	fill := c.fillValue(e)
	if c.elem.IsComplex() {
		part := func(op loop.UnaryOp, v loop.Expr) loop.Expr {
			x, y := b.Let("x", loop.NewUnary(op, v)), loop.NewUnary(op, fill)
			bits := b.Ne(loop.NewUnary(loop.Bits, x), loop.NewUnary(loop.Bits, y))
			return b.And(bits, b.Or(b.Eq(x, x), b.Eq(y, y)))
		}
		return func(v loop.Expr) loop.Expr { return b.Or(part(loop.Real, v), part(loop.Imag, v)) }
	}
	inf, isFloat := infinities[c.from.DType]
	if !isFloat {
		return func(v loop.Expr) loop.Expr { return b.Ne(v, fill) }
	}
	// Above the bits of infinity, the sign left out, are those of the NaNs.
	number := func(v loop.Expr) loop.Expr {
		magnitude := loop.NewBinary(loop.And, v, &loop.Const{Typ: c.elem, Bits: 1<<(8*c.elem.Size()-1) - 1})
		return b.Le(magnitude, &loop.Const{Typ: c.elem, Bits: inf})
	}
	hasNumber := b.Let("numeric", number(fill))
	return func(v loop.Expr) loop.Expr {
		return b.And(b.Ne(v, fill), b.Or(number(v), hasNumber))
	}
}

// keeps emits the test whether an entry of the source is kept, where some are left out.
func (c *converter) keeps(e *emit.Func) func(en entry) loop.Expr {
	if !c.compares {
		return func(en entry) loop.Expr { return en.keep }
	}
	differs := c.differs(e)
	return func(en entry) loop.Expr {
		return and(e.B, en.keep, differs(e.B.Let("v", e.B.Load(e.Read(c.vals), en.pos))))
	}
}

// kept wraps body in the test, if some entries are left out.
func (c *converter) kept(e *emit.Func, filter bool) func(en entry, body func()) {
	if !filter {
		return func(_ entry, body func()) { body() }
	}
	keeps := c.keeps(e)
	return func(en entry, body func()) { e.B.If(keeps(en), body, nil) }
}

// infinities are the bits of +inf.
var infinities = map[tensor.DType]uint64{
	tensor.Float16: 0x7c00, tensor.BFloat16: 0x7f80, tensor.Float32: 0x7f80_0000, tensor.Float64: 0x7ff0_0000_0000_0000,
}

// initialise allocates n values that all are the fill, if needed says so, a
// number that is 0 where they will all be overwritten.
func (c *converter) initialise(values loop.BufferID, n, needed loop.SizeExpr, lets ...loop.ScalarLet) {
	e := c.NewFunc("initialise")
	v := c.fillValue(e)
	e.B.ForIndependent("p", e.B.Lo(), e.B.Hi(), func(p loop.Expr) { e.B.Store(e.Write(values), p, v) })
	s := e.Stage("initialise")
	s.Lets = lets
	s.Allocs = []loop.Alloc{{Buffer: values, Len: n}}
	s.Partition = c.evenly(emit.Times(n, &loop.SizeOp{Op: loop.Min, X: loop.SizeConst(1), Y: needed}))
	c.AddStage(s)
}

// toDense emits the conversion to a format without sparse levels: every value
// goes to its place.
func (c *converter) toDense() {
	order := c.to.Format.Order()
	size := c.sizeOf(order)
	values := c.Buffer(c.to.Name+"_vals", c.elem, loop.Output)
	total := c.NewScalar("size", false)
	rest := loop.SizeExpr(loop.SizeConst(1))
	if !c.filter {
		rest = &loop.SizeOp{Op: loop.Sub, X: loop.SizeScalar(total), Y: loop.SizeScalar(c.entries)}
	}
	c.initialise(values, loop.SizeScalar(total), rest,
		loop.ScalarLet{Scalar: total, Value: size})
	e := c.NewFunc("scatter")
	b := e.B
	out := e.Write(values)
	strides := make([]loop.Expr, c.to.Rank) // by axis
	for l := range order {
		strides[order[l]] = c.extentsIn(e, order[l+1:])
	}
	keep := c.kept(e, c.filter)
	c.source.each(e, b.Lo(), b.Hi(), allAxes(c.to.Rank), func(en entry) {
		keep(en, func() {
			var at loop.Expr = loop.Int(0)
			for _, axis := range order {
				at = b.Add(at, b.Mul(en.coords[axis], strides[axis]))
			}
			b.Store(out, at, c.value(e, en.pos))
		})
	})
	s := e.Stage("scatter")
	s.Partition = c.evenly(loop.SizeScalar(c.entries))
	c.AddStage(s)
	c.Result.Values = values
	c.Result.Levels = emit.NoArrays(c.to.Rank)
}
