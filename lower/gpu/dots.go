package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// dot is what an entry loop does for an entry when that is one fold over columns between
// statements, such as the inner product of two lines of dense operands:
//
//	let j = crd[p]
//	var acc = 0
//	for k = 0 to K {
//	  acc = acc + B[i*K + k] * E[j*K + k]
//	}
//	vals[n] = A[p] * acc
//
// What follows the fold needs nothing of it but the value that was folded.
type dot struct {
	t     *entryLoop
	at    int // the statement of the entry that is the fold
	fold  fold
	width loop.VarID // the parameter that tells how many columns there are
	// outer are the variables of rows and entries that the fold reads, first those of rows,
	// so many; if there are any, the very first is the row itself.
	outer []loop.VarID
	rows  int
	// bytes is the size of the largest element that it reads.
	bytes int
}

// Shapes of teams that share the folds of entries.
const (
	// logDotLanes is the binary logarithm of dotLanes, the lanes of a team.
	logDotLanes = 3
	dotLanes    = 1 << logDotLanes
	// dotsAtOnce is for how many entries a lane reads at once, and logDotsAtOnce its binary
	// logarithm: four lines of 16 bytes for each lane are what there are registers for.
	logDotsAtOnce = 2
	dotsAtOnce    = 1 << logDotsAtOnce
	// vectorBytes is what a lane reads of a line by one access, at most.
	vectorBytes = 16
)

// dotOf finds out whether an entry loop is of that kind.
func dotOf(t *entryLoop) (*dot, bool) {
	f, at := loneLoop(t.entries.Body, isDeclaration|isStore|isAssign)
	if f == nil || !overDimension(t.f, f) || !only(f.Body, isDeclaration|isAssign) {
		return nil, false
	}
	folds, ok := foldsOf(t.f, f)
	if !ok || len(folds) != 1 {
		return nil, false
	}
	d := &dot{t: t, at: at, fold: folds[0], width: f.Hi.(*loop.Ref).Var}
	d.reads(f)
	return d, d.bytes > 0
}

// along lists the buffers of which the element at the entry is read, outside the fold.
func (d *dot) along() []loop.BufID {
	var list []loop.BufID
	body := d.t.entries.Body
	for l := range loop.Loads(slices.Concat(body[:d.at], body[d.at+1:])) {
		if isRef(l.Index, d.t.entries.Var) && d.t.f.Bufs[l.Buf].ReadOnly && !slices.Contains(list, l.Buf) {
			list = append(list, l.Buf)
		}
	}
	return list
}

// reads notes what the fold reads.
func (d *dot) reads(f *loop.For) {
	uniform := parameters(d.t.f)
	uniform[f.Var], uniform[d.fold.variable] = true, true
	for _, s := range slices.Concat(d.t.f.Body, f.Body) {
		if l, ok := s.(*loop.Let); ok && l.Var != d.t.counter {
			uniform[l.Var] = true
		}
	}
	row, ofRow := d.t.row.Var, loop.DeclaredIn(d.t.row.Body[:d.t.start])
	var ofRows, ofEntries []loop.VarID
	for e := range loop.AllExprs(f.Body) {
		switch e := e.(type) {
		case *loop.Ref:
			switch {
			case uniform[e.Var]:
			case e.Var == row || ofRow[e.Var]:
				ofRows = append(ofRows, e.Var)
			default:
				ofEntries = append(ofEntries, e.Var)
			}
			uniform[e.Var] = true // once is enough
		case *loop.Load:
			d.bytes = max(d.bytes, d.t.f.Bufs[e.Buf].Elem.Size())
		}
	}
	if len(ofRows) > 0 {
		ofRows = slices.Insert(slices.DeleteFunc(ofRows, func(id loop.VarID) bool { return id == row }), 0, row)
	}
	d.outer, d.rows = slices.Concat(ofRows, ofEntries), len(ofRows)
}

// dots maps the entries of a stage whose entries have a fold over columns each (see dot)
// to warps: a warp takes 32 entries, a lane what is done for one of them before and after
// its fold. The folds are shared by teams of lanes, each those of its lanes' entries, a few
// at once: neighbouring lanes have neighbouring columns, or vectors of them where lines are
// apart by whole vectors, so that lines are read whole, and their values are folded such
// that each lane ends with that of its own entry. It gives the stages, which run on so many
// blocks, and a scalar that they need; it is not ok if that cannot be done.
func (m *mapper) dots(s *loop.Stage, t *entryLoop, marks loop.BufferID, blocks loop.SizeExpr) ([]loop.Stage, []loop.ScalarLet, bool) {
	d, ok := dotOf(t)
	if !ok {
		return nil, nil, false
	}
	single, ok := m.withQuick(func() loop.Stage { return m.dotsApart(s, d, marks, 1) })
	if !ok {
		return nil, nil, false
	}
	single.Blocks = blocks
	per := min(wideColumns, vectorBytes/d.bytes)
	if per <= 1 {
		return []loop.Stage{single}, nil, true
	}
	vectors, ok := m.withQuick(func() loop.Stage { return m.dotsApart(s, d, marks, per) })
	if !ok {
		return []loop.Stage{single}, nil, true
	}
	isVector := m.scalar(s.Name + "_vectors")
	// With no more columns than lanes, one for each lane keeps more of them busy.
	wide := sizeOp(loop.Min, loop.SizeConst(1), sizeOp(loop.Div, loop.SizeScalar(argOf(s, d.width)), loop.SizeConst(dotLanes+1)))
	whole := wholeVectors(s, stridesOf(s.Func, d.width))
	vectors.Blocks = sizeOp(loop.Mul, blocks, loop.SizeScalar(isVector))
	single.Blocks = sizeOp(loop.Mul, blocks, emit.Not(loop.SizeScalar(isVector)))
	return []loop.Stage{vectors, single}, []loop.ScalarLet{{Scalar: isVector, Value: sizeOp(loop.Mul, wide, whole)}}, true
}

// dotsApart is the stage that does what is done for entries, with so many columns side by
// side for a lane.
func (m *mapper) dotsApart(s *loop.Stage, d *dot, marks loop.BufferID, columns int) loop.Stage {
	g, in := m.begin(s, "")
	b := g.Builder
	b.Resident(fewResident)
	mapping := "dots"
	if columns > 1 {
		mapping = "dots_of_vectors"
		g.roundDown(s.Func, &in, stridesOf(s.Func, d.width))
	}
	early, inFold := map[loop.BufID]loop.Expr{}, false
	in.Load = func(e *loop.Load) loop.Expr {
		if inFold || !isRef(e.Index, d.t.entries.Var) {
			return nil
		}
		if v, ok := early[e.Buf]; ok {
			return v
		}
		return nil
	}
	fetch := func(own loop.Expr) {
		for _, id := range d.along() {
			early[id] = b.Let("entry", b.Load(in.Bufs[id], own))
		}
	}
	g.entryTiles(s, d.t, &in, marks, fetch, func(tile entryTile) {
		in.Guard = b.Let("stores", b.Lt(b.Add(tile.base, g.Lane()), tile.end))
		in.Chunk, in.Lo, in.Hi = tile.row, tile.row, tile.row
		in.Loop = func(f *loop.For, n *loop.Inliner) bool {
			if !d.t.takes(g, f, n, tile.row, tile.own) {
				inFold = true
				g.shareDots(d, f, n, int64(columns))
				inFold = false
			}
			return true
		}
		b.Inline(s.Func, in)
	})
	return g.stage(s, mapping)
}

// shareDots emits the folds of a warp's entries: each team goes through those of its
// lanes' entries, all at once.
func (g *gridFunc) shareDots(d *dot, f *loop.For, n *loop.Inliner, columns int64) {
	b := g.Builder
	own := make([]loop.Expr, len(d.outer))
	for i, id := range d.outer {
		own[i] = n.Value(id)
	}
	whole := n.Value(d.fold.variable).(*loop.Ref)
	rank := b.Let("rank", b.And(g.Lane(), loop.Int(dotLanes-1)))
	width := n.Expr(f.Hi)
	total := b.Var("total", d.fold.identity())
	b.For("round", loop.Int(0), loop.Int(int64(dotLanes/dotsAtOnce)), func(round loop.Expr) {
		outer := make([][]loop.Expr, dotsAtOnce)
		parts := make([]*loop.Ref, dotsAtOnce)
		first := b.Let("entry", b.Mul(round, loop.Int(int64(dotsAtOnce))))
		for e := range parts {
			parts[e] = b.Var("part", d.fold.identity())
			entry := b.Add(first, loop.Int(int64(e)))
			for i, id := range d.outer {
				outer[e] = append(outer[e], g.shuffleIndex(d.t.f, id, own[i], entry))
			}
		}
		at := b.Var("at", b.Mul(rank, loop.Int(columns)))
		folds := func(outer func(e, i int) loop.Expr) {
			turn := func() {
				k := b.Let("k", at)
				for e, part := range parts {
					for i, id := range d.outer {
						n.Bind(id, outer(e, i))
					}
					n.Bind(d.fold.variable, part)
					for u := range columns {
						iteration(n, f, b.Add(k, loop.Int(u)))
					}
				}
				b.Assign(at, b.Add(k, loop.Int(dotLanes*columns)))
			}
			if g.Quick {
				b.While(b.Lt(at, width), turn)
				return
			}
			b.If(b.Lt(at, width), func() {
				turn()
				b.While(b.Lt(at, width), turn)
			}, nil)
		}
		all := func(e, i int) loop.Expr { return outer[e][i] }
		if d.rows > 0 && !g.Quick {
			// Where each team is in one row, what depends on the row only is read once.
			var same loop.Expr = loop.Truth(true)
			for _, other := range outer[1:] {
				same = b.And(same, b.Eq(other[0], outer[0][0]))
			}
			b.If(b.Eq(b.Ballot("same", same), loop.Number(loop.U32, -1)), func() {
				folds(func(e, i int) loop.Expr {
					if i < d.rows {
						e = 0
					}
					return outer[e][i]
				})
			}, func() { folds(all) })
		} else {
			folds(all)
		}
		sum := g.foldAcross(d.fold, parts, rank)
		mine := b.Eq(coop.Shr(rank, loop.Int(logDotsAtOnce)), round)
		b.Assign(total, loop.NewSelect(mine, sum, total))
	})
	for i, id := range d.outer {
		n.Bind(id, own[i])
	}
	b.Assign(whole, loop.NewBinary(d.fold.op, whole, total))
	n.Bind(d.fold.variable, whole)
}

// shuffleIndex is the value that a lane of the team has for a variable. What was a
// coordinate of at most 32 bits in memory takes one shuffle and not two.
func (g *gridFunc) shuffleIndex(f *loop.Func, id loop.VarID, own, lane loop.Expr) loop.Expr {
	b := g.Builder
	narrow := false
	if c, ok := lets(loop.LetsOf(f.Body))[id].(*loop.Cast); ok {
		x, ok := c.X.(*loop.Load)
		narrow = ok && c.Typ == loop.I64 && x.Elem.IsInt() && !x.Elem.IsSigned() && x.Elem.Size() <= 4
	}
	name := f.Vars[id].Name
	if !narrow {
		return b.Shuffle(name, loop.ShuffleIndex, own, lane, dotLanes)
	}
	return b.Let(name, b.Cast(loop.I64, b.Shuffle(name, loop.ShuffleIndex, b.Cast(loop.U32, own), lane, dotLanes)))
}

// foldAcross folds values of all lanes of a team, such that the lane whose rank is k
// modulo their number ends with the k-th: in each step lanes give away the half of the
// values that are not theirs, so that it takes hardly more shuffles than values.
func (g *gridFunc) foldAcross(d fold, parts []*loop.Ref, rank loop.Expr) loop.Expr {
	b := g.Builder
	values := make([]loop.Expr, len(parts))
	for i, p := range parts {
		values[i] = p
	}
	mask := int64(len(values) / 2)
	for ; mask > 0; mask /= 2 {
		upper := b.Let("upper", b.Ne(b.And(rank, loop.Int(mask)), loop.Int(0)))
		for i := range values[:mask] {
			low, high := values[i], values[int64(i)+mask]
			other := b.Shuffle("other", loop.ShuffleXor, b.Select(upper, low, high), loop.Int(mask), dotLanes)
			values[i] = b.Let("sum", loop.NewBinary(d.op, b.Select(upper, high, low), other))
		}
		values = values[:mask]
	}
	for mask := int64(len(parts)); mask < dotLanes; mask *= 2 {
		other := b.Shuffle("other", loop.ShuffleXor, values[0], loop.Int(mask), dotLanes)
		values[0] = b.Let("sum", loop.NewBinary(d.op, values[0], other))
	}
	return values[0]
}
