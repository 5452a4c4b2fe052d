package prim

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
)

// A scan is sequential along a line, so lines run in parallel. Where there are few,
// and long ones, each is cut into blocks: a first pass folds every block, a short
// serial one turns that into what precedes each block, and the last pass runs the
// blocks from there (reduce, then scan: G. Blelloch, "Prefix Sums and Their
// Applications", 1990). How many blocks there are follows from the shape alone, so
// bits do not depend on threads.
//
// Lines that are not innermost in a dense tensor run side by side, row by row, with
// a vector of states. Of sparse lines the gaps are filled along the way where the
// result is dense, and folded in closed form where a block is only folded.

const (
	// blockLength is the least length of a block.
	blockLength = 1 << 12
	// scanBlocks is how many blocks there are to be at least, if lines allow it.
	scanBlocks = 1 << 7
	// laneWidth is how many neighbouring lines run side by side in one piece.
	laneWidth = 1 << 8
)

// Scan lowers a scan.
func Scan(s *ir.Scan, types emit.OperandTypes, opts Options) (*emit.Kernel, error) {
	x := &scanner{lines: newLines("scan_"+s.To.Name, s.Pos, s.From, s.Axes, types, opts), step: s}
	typ := ir.ComputeType(s.Typ)
	x.fold = &ir.Reduce{Fold: s.Fold, Typ: typ, Body: &ir.Literal{Value: s.Fold.Identity(typ)}}
	x.fold.Temp = &ir.Temp{Reduce: x.fold}
	x.sizes()
	switch {
	case x.inTeams():
		x.teamStages()
	case x.blocked():
		x.blockStage()
		x.carryStage()
	}
	x.runStage()
	x.Result.Values = x.out
	if !s.To.Format.IsDense() {
		x.Result.Shared, x.Result.SharedLevels = s.From, len(x.above)
		if s.Stored {
			x.Result.SharedLevels = s.From.Rank
		}
	}
	x.note()
	return x.finish(s.To), nil
}

// scanner is a scan under construction.
type scanner struct {
	*lines
	step *ir.Scan
	fold *ir.Reduce
	out  loop.BufferID
	// states are those of blocks or of side-by-side lines, one of each part per slot.
	states []loop.BufferID

	blocks loop.ScalarID // of a line
	block  loop.ScalarID // length of one
	inner  loop.ScalarID // lines side by side, if any are
	pieces loop.ScalarID // that these are cut into
	some   loop.ScalarID // 1 if lines have several blocks, else 0
	cut    cutItems
	teams  gridScan // of lines in teams
	who    choice
}

// planar reports whether lines run side by side.
func (x *scanner) planar() bool { return len(x.below) > 0 }

// ragged reports whether lines have different lengths: those of segments of which
// only the stored elements count.
func (x *scanner) ragged() bool { return x.step.Stored && len(x.above) > 0 }

// blocked reports whether lines may be cut into blocks.
func (x *scanner) blocked() bool { return !x.ragged() }

// sizes names the numbers that the stages need, and the buffers.
func (x *scanner) sizes() {
	switch {
	case !x.step.Stored:
		x.measure()
	case !x.ragged():
		x.length = x.define("stored", &loop.SizeLoad{Buffer: x.pos, Index: loop.SizeConst(1)})
	}
	length := loop.SizeExpr(loop.SizeScalar(x.length))
	groups := loop.SizeExpr(loop.SizeScalar(x.groups))
	if x.inTeams() {
		x.teams = x.gridScanSizes()
		mean := length
		if x.ragged() {
			stored := &loop.SizeLoad{Buffer: x.pos, Index: groups}
			mean = &loop.SizeOp{Op: loop.Div, X: stored, Y: emit.Max(groups, loop.SizeConst(1))}
		}
		x.who = x.choose(mean, x.teams.byWarp, x.teams.byBlock)
	}
	width, lanes := loop.SizeExpr(loop.SizeConst(1)), loop.SizeExpr(loop.SizeConst(1))
	items := groups
	if x.planar() {
		x.inner = x.define("inner", x.product(x.below))
		lanes = loop.SizeScalar(x.inner)
		x.pieces = x.define("pieces", emit.CeilDiv(lanes, loop.SizeConst(x.laneWidth())))
		width = emit.Min(lanes, loop.SizeConst(x.laneWidth()))
		items = emit.Product(items, loop.SizeScalar(x.pieces))
	}
	var slots loop.SizeExpr
	if x.blocked() {
		wanted := x.wantedBlocks(items)
		x.blocks = x.define("blocks", emit.Max(loop.SizeConst(1), emit.Min(emit.CeilDiv(length, loop.SizeConst(x.least())), wanted)))
		blocks := loop.SizeScalar(x.blocks)
		x.block = x.define("block", emit.CeilDiv(length, blocks))
		x.some = x.define("some", emit.Min(loop.SizeConst(1), &loop.SizeOp{Op: loop.Sub, X: blocks, Y: loop.SizeConst(1)}))
		slots = emit.Product(emit.Product(groups, blocks), lanes)
		if !x.planar() {
			slots = emit.Product(slots, loop.SizeScalar(x.some))
		}
		x.cut = x.evenly(emit.Product(items, blocks), emit.Product(loop.SizeScalar(x.block), width))
		for i, t := range fold.Types(x.fold) {
			x.states = append(x.states, x.Buffer(fmt.Sprintf("t0_%d", i), t, loop.Temp))
		}
	}
	x.out = x.Buffer(x.step.To.Name+"_vals", emit.Type(x.step.To.DType), loop.Output)
	var size loop.SizeExpr
	if x.step.Stored {
		size = &loop.SizeLoad{Buffer: x.pos, Index: groups}
	} else {
		size = emit.Product(emit.Product(groups, length), lanes)
	}
	st := loop.Stage{Name: "size", Partition: -1, Lets: x.lets, Allocs: []loop.Alloc{{Buffer: x.out, Len: size}}}
	if x.blocked() {
		for _, id := range x.states {
			st.Allocs = append(st.Allocs, loop.Alloc{Buffer: id, Len: slots})
		}
	}
	x.AddStage(st)
}

// least is the least length of a block; less in tests that cut small data.
func (x *scanner) least() int64 {
	switch {
	case x.inTeams():
		return 4 * x.teams.byBlock
	case x.opts.Grain > 0:
		return x.opts.Grain
	case x.opts.Grids:
		return gridLeast
	}
	return blockLength
}

// wantedBlocks is how many blocks each of so many items is worth.
func (x *scanner) wantedBlocks(items loop.SizeExpr) loop.SizeExpr {
	wanted := int64(scanBlocks)
	switch {
	case x.inTeams():
		wanted = gridBlocks
	case x.opts.Grids:
		wanted = gridThreadBlocks
	}
	blocks := &loop.SizeOp{Op: loop.Div, X: loop.SizeConst(wanted), Y: emit.Max(items, loop.SizeConst(1))}
	if wanted > gridBlocks {
		return emit.Min(blocks, loop.SizeConst(gridBlocks)) // one thread goes through those of a line
	}
	return blocks
}

// laneWidth is how many neighbouring lines run side by side: one for each thread.
func (x *scanner) laneWidth() int64 {
	if x.opts.Grids {
		return 1
	}
	return laneWidth
}

// note describes the scan for explain.
func (x *scanner) note() {
	how := "one line after the other"
	switch {
	case x.planar():
		how = "rows of lines side by side"
	case x.how != ir.Planes && x.step.Stored:
		how = "stored elements of each line"
	case x.how != ir.Planes:
		how = "entries and gaps of each line"
	}
	if x.blocked() {
		how += ", in blocks where lines are few and long"
	}
	x.Notes = append(x.Notes, fmt.Sprintf("%s: %s: %s", x.step.To.Name, x.step, how))
}

// load is element p of the argument, in the type of the scan.
func (x *scanner) load(e *emit.Func, p loop.Expr) loop.Expr {
	return e.B.Let("x", x.converted(e.B.Load(e.Read(x.vals), p)))
}

func (x *scanner) converted(v loop.Expr) loop.Expr {
	if x.step.Cast.Valid() {
		v = scalar.Cast(x.step.Cast, v)
	}
	return v
}

// gapValue is what a coordinate without an entry holds.
func (x *scanner) gapValue(e *emit.Func) loop.Expr {
	return e.B.Let("gap", x.converted(emit.Constant(x.from.Fill)))
}

// fresh declares a state of the scan at its neutral element.
func (x *scanner) fresh(e *emit.Func) fold.State { return fold.Open(e.B, x.fold, x.opts.Grids) }

// start declares a state at what slot at of the states holds.
func (x *scanner) start(e *emit.Func, at loop.Expr) fold.State {
	seen := e.B.Var("seen", loop.Truth(false))
	var vars []*loop.Ref
	for i, id := range x.states {
		vars = append(vars, e.B.Var(fmt.Sprintf("state%d", i), e.B.Load(e.Write(id), at)))
	}
	return fold.Of(e.B, x.fold, x.opts.Grids, vars, seen)
}

// keep writes a state to slot at of the states.
func (x *scanner) keep(e *emit.Func, acc fold.State, at loop.Expr) {
	for i, id := range x.states {
		e.B.Store(e.Write(id), at, acc.Vars[i])
	}
}

// resume replaces a fresh state by that of slot at where lines have several blocks.
func (x *scanner) resume(e *emit.Func, acc fold.State, at loop.Expr) {
	if !x.blocked() {
		return
	}
	e.B.If(e.B.Gt(e.Scalar(x.some), loop.Int(0)), func() {
		for i, id := range x.states {
			e.B.Assign(acc.Vars[i], e.B.Load(e.Read(id), at))
		}
	}, nil)
}

// advance folds v and stores the running value at p.
func (x *scanner) advance(e *emit.Func, acc fold.State, v, p loop.Expr) {
	out := e.Write(x.out)
	if x.step.Exclusive {
		e.B.Store(out, p, acc.Finish())
		acc.Fold(v, nil)
		return
	}
	acc.Fold(v, nil)
	e.B.Store(out, p, acc.Finish())
}

// total folds a block of a sparse line: its entries, then its gap in closed form. A
// gap of 0 is multiplied into a product where the first one is: what the entries behind it make alone
// may be beyond the range of their type, and NaN times 0.
func (x *scanner) total(e *emit.Func, s span, acc fold.State) {
	b := e.B
	w := x.open(e, s)
	count := b.Var("count", loop.Int(0))
	annihilates := x.fold.Fold == ir.FoldProd && x.from.Fill.IsZero()
	var zero *loop.Ref // whether the first gap is in the product
	if annihilates {
		zero = b.Var("zero", loop.Truth(false))
	}
	inside := func() loop.Expr {
		place := x.place(e, w.cursor)
		if x.step.Reverse {
			return b.Ge(place, b.Sub(s.length, s.until))
		}
		return b.Lt(place, s.until)
	}
	going := b.Var("going", loop.Truth(true))
	b.While(going, func() {
		b.Assign(going, x.more(e, w))
		b.If(going, func() { b.Assign(going, inside()) }, nil)
		b.If(going, func() {
			if annihilates {
				here := x.at(e, s, b.Add(s.from, count))
				b.If(b.And(b.Not(zero), b.Ne(x.place(e, w.cursor), here)), func() {
					acc.Fold(x.gapValue(e), nil)
					b.Assign(zero, loop.Truth(true))
				}, nil)
			}
			acc.Fold(x.load(e, w.cursor), nil)
			b.Assign(count, b.Add(count, loop.Int(1)))
			x.next(e, w)
		}, nil)
	})
	missing := loop.Expr(b.Let("missing", b.Sub(b.Sub(s.until, s.from), count)))
	if annihilates {
		missing = b.Let("left", b.Sub(missing, b.Cast(loop.I64, zero)))
	}
	b.If(b.Gt(missing, loop.Int(0)), func() { acc.FoldCopies(x.gapValue(e), []loop.Expr{missing}) }, nil)
}

// blockStage folds every block of lines that have several.
func (x *scanner) blockStage() {
	e := x.NewFunc("blocks")
	switch {
	case x.planar() && !x.opts.Grids:
		x.planarBlocks(e)
	case x.how == ir.Planes || x.step.Stored:
		x.spans(e, func(s span) {
			acc := x.fresh(e)
			x.values(e, s, func(v, _ loop.Expr) { acc.Fold(v, nil) })
			x.keep(e, acc, s.slot)
		})
	default:
		x.spans(e, func(s span) {
			acc := x.fresh(e)
			x.total(e, s, acc)
			x.keep(e, acc, s.slot)
		})
	}
	st := e.Stage("blocks")
	st.Partition = x.cut.partition(loop.SizeScalar(x.some))
	x.AddStage(st)
}

// carryStage replaces the state of every block by that of all blocks before it in
// its line.
func (x *scanner) carryStage() {
	e := x.NewFunc("carry")
	b := e.B
	lanes := loop.Expr(loop.Int(1))
	if x.planar() {
		lanes = e.Scalar(x.inner)
	}
	blocks := e.Scalar(x.blocks)
	first, last := loop.Expr(loop.Int(0)), b.Mul(e.Scalar(x.groups), lanes)
	if x.opts.Grids {
		first, last = b.Lo(), b.Hi()
	}
	b.If(b.Gt(e.Scalar(x.some), loop.Int(0)), func() {
		b.For("line", first, last, func(line loop.Expr) {
			g := b.Let("g", b.Div(line, lanes))
			lane := b.Let("lane", b.Sub(line, b.Mul(g, lanes)))
			acc := x.fresh(e)
			b.For("block", loop.Int(0), blocks, func(k loop.Expr) {
				slot := b.Let("slot", b.Add(b.Mul(b.Add(b.Mul(g, blocks), k), lanes), lane))
				here := x.start(e, slot)
				var state []loop.Expr
				for _, v := range here.Vars {
					state = append(state, v)
				}
				x.keep(e, acc, slot)
				acc.Absorb(state, loop.Truth(true))
			})
		})
	}, nil)
	st := e.Stage("carry")
	if x.opts.Grids {
		n := emit.Product(loop.SizeScalar(x.groups), loop.SizeScalar(x.some))
		if x.planar() {
			n = emit.Product(n, loop.SizeScalar(x.inner))
		}
		st.Partition = x.Partition(n, -1, 0)
	}
	x.AddStage(st)
}

// runStage writes the result.
func (x *scanner) runStage() {
	e := x.NewFunc("run")
	line := func(walk func(e *emit.Func, s span, body func(v, p loop.Expr))) {
		x.spans(e, func(s span) {
			acc := x.fresh(e)
			x.resume(e, acc, s.slot)
			walk(e, s, func(v, p loop.Expr) { x.advance(e, acc, v, p) })
		})
	}
	var work logScan
	switch {
	case x.planar() && !x.opts.Grids:
		x.planarRun(e)
	case x.inPasses():
		work = x.newLogScan()
		work.run(x, e)
	case x.how == ir.Planes || x.step.Stored:
		line(x.values)
	default:
		line(x.dense)
	}
	st := e.Stage("run")
	factor := loop.SizeExpr(loop.SizeConst(1))
	if x.inTeams() {
		factor = loop.SizeScalar(x.who.thread)
	}
	switch {
	case x.ragged() && x.inTeams(): // without weights, which would be of all lines
		st.Partition = x.Partition(emit.Product(loop.SizeScalar(x.groups), factor), -1, 0)
	case x.ragged():
		st.Partition = x.Partition(loop.SizeScalar(x.groups), x.pos, 0)
	default:
		st.Partition = x.cut.partition(factor)
	}
	if x.inPasses() {
		st.PartitionAllocs = work.allocs(x.Chunks(st.Partition))
	}
	x.AddStage(st)
}
