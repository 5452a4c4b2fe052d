package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// sparse emits the stages of a sparse result: count, place, fill, and the sums
// that turn counts into positions.
func (k *kernel) sparse(body ir.Stmt) {
	t := k.step.Result
	segments := k.segmentsOf(t)
	k.Result.Values = k.Buffer(t.Name+"_vals", emit.Type(t.DType), loop.Output)
	if k.merged(body, segments[0]) {
		k.sparseLevels(segments)
		return
	}
	k.prepareWorkspaces(body)
	counts := k.Buffer(t.Name+"_counts", loop.I64, loop.Temp)
	totals := k.Buffer(t.Name+"_totals", loop.I64, loop.Temp)
	nseg := int64(len(segments))
	if k.opts.Assembly != Counted && !k.roomless {
		if bound := k.entryBound(body); bound != nil {
			k.onePass(body, segments, totals, bound)
			k.sparseLevels(segments)
			return
		}
	}
	if k.opts.Assembly == Joined && len(segments) == 1 && k.boundByMask(body) {
		k.joined(body, segments[0], counts, totals)
		k.sparseLevels(segments)
		return
	}

	if p := k.teamProducts(body, segments); p != nil && p.stages(counts, totals) {
		k.sparseLevels(segments)
		return
	}

	if k.appendedLines(body, segments, counts, totals) {
		k.sparseLevels(segments)
		return
	}

	tables := k.tableAllocs(body)
	count, root := k.assemble("count_"+t.Name, body, segments, countEntries, counts)
	part := k.partition(root)
	k.perChunk(&count, part, loop.Alloc{Buffer: counts, Len: emit.Times(k.Chunks(part), loop.SizeConst(nseg))})
	k.addTables(tables, part)
	k.boundStages(body, part)
	k.makeRoom(part)
	count.Symbolic = true
	k.AddStage(count)
	place := k.placeStage(counts, totals, nseg, k.chunkCount(part))
	place.Symbolic = true
	k.AddStage(place)

	fill, _ := k.assemble("fill_"+t.Name, body, segments, fillEntries, counts)
	fill.Partition = part
	k.allocateSegments(segments, totals)
	k.AddStage(fill)
	k.positions(segments, 0)

	k.sparseLevels(segments)
}

// makeRoom emits the stage that allocates workspaces for the threads that run the
// chunks of a partition, or for one.
func (k *kernel) makeRoom(part int) {
	if len(k.workspaces) == 0 {
		return
	}
	var allocs []loop.Alloc
	for _, w := range k.workspaces {
		allocs = append(allocs, w.store.Allocs()...)
	}
	room := loop.Stage{Name: "workspaces"}
	k.perChunk(&room, part, allocs...)
	k.AddStage(room)
}

// perChunk gives a stage the chunks of a partition, -1 for none, and what is allocated
// once it is known how many there are.
func (k *kernel) perChunk(s *loop.Stage, part int, allocs ...loop.Alloc) {
	s.Partition = part
	if part < 0 {
		s.Allocs = append(s.Allocs, allocs...)
	} else {
		s.PartitionAllocs = append(s.PartitionAllocs, allocs...)
	}
}

// sparseLevels says where the arrays of a sparse result are.
func (k *kernel) sparseLevels(segments []segment) {
	k.Result.Levels = emit.NoArrays(k.step.Result.Rank)
	for _, s := range segments {
		k.Result.Levels[s.first].Pos = s.pos
		for i, crd := range s.crd {
			k.Result.Levels[s.first+i].Crd = crd
		}
	}
}

// chunkCount is the scalar with the number of chunks of a partition, -1 without one.
func (k *kernel) chunkCount(part int) loop.ScalarID {
	if part < 0 {
		return -1
	}
	return k.Program.Partitions[part].Chunks
}

// placeStage turns the counts of parts of the work, such as chunks, into the places where
// they start. parts is how many there are, -1 for one.
func (k *kernel) placeStage(counts, totals loop.BufferID, nseg int64, parts loop.ScalarID) loop.Stage {
	e := k.emitter("place")
	b := e.B
	chunks, n := loop.Expr(loop.Int(1)), loop.SizeExpr(loop.SizeConst(1))
	if parts >= 0 {
		chunks, n = e.Scalar(parts), loop.SizeScalar(parts)
	}
	cnt, tot := e.Write(counts), e.Write(totals)
	var prefixes []loop.Prefix
	for s := int64(0); s < nseg; s++ {
		prefixes = append(prefixes, loop.Prefix{
			Buffer: counts, First: s, Stride: nseg, N: n, Total: totals, At: s, Limit: emit.MaxEntries,
		})
		sum := b.Var("sum", loop.Int(0))
		b.For("c", loop.Int(0), chunks, func(c loop.Expr) {
			at := b.Let("at", b.Add(b.Mul(c, loop.Int(nseg)), loop.Int(s)))
			n := b.Let("n", b.Load(cnt, at))
			b.Store(cnt, at, sum)
			b.Assign(sum, b.Add(sum, n))
			e.checkEntries(sum)
		})
		b.Store(tot, loop.Int(s), sum)
	}
	st := e.Stage("place")
	st.Prefixes = prefixes
	st.Allocs = []loop.Alloc{{Buffer: totals, Len: loop.SizeConst(nseg)}}
	return st
}

// allocateSegments sizes the result's arrays by the totals.
func (k *kernel) allocateSegments(segments []segment, totals loop.BufferID) {
	t := k.step.Result
	s := loop.Stage{Name: "allocate", Partition: -1}
	order := t.Format.Order()
	var parents loop.SizeExpr = loop.SizeConst(1)
	next := 0
	for l := range order {
		switch {
		case next < len(segments) && segments[next].first == l:
			seg := segments[next]
			s.Lets = append(s.Lets, loop.ScalarLet{Scalar: seg.total, Value: &loop.SizeLoad{Buffer: totals, Index: loop.SizeConst(next)}})
			s.Allocs = append(s.Allocs, loop.Alloc{Buffer: seg.pos, Len: &loop.SizeOp{Op: loop.Add, X: parents, Y: loop.SizeConst(1)}, Zero: true})
			for _, crd := range seg.crd {
				s.Allocs = append(s.Allocs, loop.Alloc{Buffer: crd, Len: loop.SizeScalar(seg.total)})
			}
			parents = loop.SizeScalar(seg.total)
			next++
		case next > 0 && segments[next-1].last >= l:
			// A singleton: its entries are those of its segment.
		default:
			parents = emit.Times(parents, loop.SizeScalar(k.Dim(t, order[l])))
		}
	}
	k.AddStage(s)
	last := segments[len(segments)-1].last
	k.fillStage(k.Result.Values, parents, k.background(), last < len(order)-1)
}

// background is what elements of a sparse result are before something is stored or added to them.
func (k *kernel) background() ir.Expr {
	t := k.step.Result
	switch {
	case k.step.Scatter:
		return &ir.Literal{Value: k.step.Fold.Identity(ir.ComputeType(t.DType))}
	case !t.FillKnown:
		return k.step.Background
	}
	return &ir.Literal{Value: t.Fill.Convert(ir.ComputeType(t.DType))}
}

// positions sums the counts that the fill left in the positions arrays, from the
// given segment on. The root segment has one parent: its count is the total.
func (k *kernel) positions(segments []segment, from int) {
	for _, s := range segments[from:] {
		e := k.emitter("positions")
		b := e.B
		pos := e.Write(s.pos)
		if s.first == 0 {
			b.Store(pos, loop.Int(1), b.Cast(k.opts.positions(), e.Scalar(s.total)))
			k.AddStage(e.Stage("positions"))
			continue
		}
		n := e.parents(segments, s.first)
		sum := b.Var("sum", loop.Number(k.opts.positions(), 0))
		b.For("p", loop.Int(0), n, func(p loop.Expr) {
			at := b.Let("at", b.Add(p, loop.Int(1)))
			b.Assign(sum, b.Add(sum, b.Load(pos, at)))
			b.Store(pos, at, sum)
		})
		st := e.Stage("positions")
		st.Prefixes = []loop.Prefix{{
			Buffer: s.pos, First: 1, Stride: 1, Inclusive: true, Total: -1,
			N: &loop.SizeOp{Op: loop.Sub, X: loop.SizeLen{Buffer: s.pos}, Y: loop.SizeConst(1)},
		}}
		k.AddStage(st)
	}
}

// parents is the number of positions above a level.
func (e *emitter) parents(segments []segment, level int) loop.Expr {
	t := e.step.Result
	order := t.Format.Order()
	var n loop.Expr = loop.Int(1)
	for l := 0; l < level; l++ {
		inside := false
		for _, s := range segments {
			switch {
			case s.first == l:
				n, inside = e.Scalar(s.total), true
			case s.first < l && l <= s.last:
				inside = true
			}
		}
		if !inside {
			n = e.B.Mul(n, e.Scalar(e.Dim(t, order[l])))
		}
	}
	return n
}
