package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// A masked workspace holds no more entries than its mask does where it is used. To
// count those of the result takes as long as to compute them, but to count those of
// the mask takes no time. So where several threads run the nest, each chunk writes
// into room for the mask's entries that it meets, and another stage moves what came
// of it together: for one thread the nest would append (onepass.go).

// boundByMask reports whether every entry of the result stands for one of a mask.
func (k *kernel) boundByMask(body ir.Stmt) bool {
	t := k.step.Result
	if !t.FillKnown || !k.step.Covers || k.step.Scatter || denseBelowSparse(t.Format) || !k.parallel(body) {
		return false
	}
	if len(k.workspaces) != 1 || !appendsPlainly(body) {
		return false
	}
	w := k.workspaces[0]
	if !w.store.Facts().Masked {
		return false
	}
	c := &coverage{k: k, outside: loopsOutside(body)}
	set, ok := c.of(body)
	if !ok {
		return false
	}
	for i, a := range c.accesses {
		if a.Tensor == w.Tensor && set.Inside(ir.AtomOf(ir.Atom(i))) {
			return true
		}
	}
	return false
}

// joined emits the stages of a result whose entries are bound by a mask.
func (k *kernel) joined(body ir.Stmt, s segment, counts, totals loop.BufferID) {
	t := k.step.Result
	starts := k.Buffer(t.Name+"_starts", loop.I64, loop.Temp)
	room := k.Buffer(t.Name+"_rooms", loop.I64, loop.Temp)
	tables := k.tableAllocs(body)

	e := k.emitter("room_" + t.Name)
	b := e.B
	e.root.wanted = true
	e.quiet, e.symbolic = true, true
	e.bound = &bound{masks: b.Var("n", loop.Int(0))}
	e.nest(body)
	b.Store(e.Write(starts), b.Chunk(), e.bound.masks)
	part := k.partition(e.root)
	k.addTables(tables, part)
	st := e.Stage("room")
	k.perChunk(&st, part, loop.Alloc{Buffer: starts, Len: k.Chunks(part)})
	k.AddStage(st)
	k.AddStage(k.placeStage(starts, room, 1, k.chunkCount(part)))

	// What the nest writes: positions as ever, and entries in rooms.
	inRooms := s
	inRooms.crd = nil
	written := k.NewScalar(t.Name+"_room", false)
	st = loop.Stage{Name: "allocate", Partition: -1,
		Lets: []loop.ScalarLet{{Scalar: written, Value: &loop.SizeLoad{Buffer: room, Index: loop.SizeConst(0)}}}}
	for _, crd := range s.crd {
		id := k.Buffer(k.Program.Buffers[crd].Name+"_rooms", k.Program.Buffers[crd].Elem, loop.Temp)
		inRooms.crd = append(inRooms.crd, id)
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: id, Len: loop.SizeScalar(written)})
	}
	values := k.Buffer(t.Name+"_vals_rooms", emit.Type(t.DType), loop.Temp)
	var parents loop.SizeExpr = loop.SizeConst(1)
	for _, axis := range t.Format.Order()[:s.first] {
		parents = emit.Times(parents, loop.SizeScalar(k.Dim(t, axis)))
	}
	st.Allocs = append(st.Allocs, loop.Alloc{Buffer: values, Len: loop.SizeScalar(written)},
		loop.Alloc{Buffer: s.pos, Len: &loop.SizeOp{Op: loop.Add, X: parents, Y: loop.SizeConst(1)}, Zero: true})
	k.AddStage(st)
	k.makeRoom(part)

	e = k.emitter("write_" + t.Name)
	b = e.B
	e.root.wanted = true
	start := b.Let("start", b.Load(e.Read(starts), b.Chunk()))
	e.out = &assembly{mode: fillEntries, levels: t.Format.Physical(), segments: []segment{inRooms}, values: values,
		current: []*loop.Ref{b.Var("n", start)}}
	e.nest(body)
	b.Store(e.Write(counts), b.Chunk(), b.Sub(e.out.current[0], start))
	st = e.Stage("write")
	k.perChunk(&st, part, loop.Alloc{Buffer: counts, Len: k.Chunks(part)})
	k.AddStage(st)
	k.AddStage(k.placeStage(counts, totals, 1, k.chunkCount(part)))
	k.joinStage(inRooms, s, values, [3]loop.BufferID{starts, counts, totals}, part)
	k.positions([]segment{s}, 0)
}

// joinStage moves what the chunks have written together. places are where rooms
// start, where what is in them goes, and how much that is in all.
func (k *kernel) joinStage(rooms, result segment, values loop.BufferID, places [3]loop.BufferID, part int) {
	e := k.emitter("join_" + k.step.Result.Name)
	b := e.B
	start := b.Let("start", b.Load(e.Read(places[0]), b.Chunk()))
	place := b.Let("place", b.Load(e.Read(places[1]), b.Chunk()))
	end := b.Var("end", e.Scalar(result.total))
	if part >= 0 {
		next := b.Let("next", b.Add(b.Chunk(), loop.Int(1)))
		b.If(b.Lt(next, e.Scalar(k.Program.Partitions[part].Chunks)), func() { b.Assign(end, b.Load(e.Read(places[1]), next)) }, nil)
	}
	size := b.Let("size", b.Sub(end, place))
	var allocs []loop.Alloc
	move := func(from, to loop.BufferID) {
		b.ForIndependent("p", loop.Int(0), size, func(p loop.Expr) {
			b.Store(e.Write(to), b.Add(place, p), b.Load(e.Read(from), b.Add(start, p)))
		})
		allocs = append(allocs, loop.Alloc{Buffer: to, Len: loop.SizeScalar(result.total)})
	}
	for i, crd := range result.crd {
		move(rooms.crd[i], crd)
	}
	move(values, k.Result.Values)
	st := e.Stage("join")
	st.Partition, st.Allocs = part, allocs
	st.Lets = []loop.ScalarLet{{Scalar: result.total, Value: &loop.SizeLoad{Buffer: places[2], Index: loop.SizeConst(0)}}}
	k.AddStage(st)
}
