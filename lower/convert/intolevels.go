package convert

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// stored says which arrays of the target are there already.
type stored struct {
	crd    map[int]loop.BufferID // by level: of the last segment
	values loop.BufferID         // -1: none
	// sorted: entries have been sorted, and from holds their values where they
	// are not those of the target yet.
	sorted bool
	from   loop.BufferID
}

// segment is one list of entries of the target: a compressed level with the singletons
// below it.
type segment struct {
	first, last int // levels
	pos         loop.BufferID
	crd         []loop.BufferID // by level, from first
	total       loop.ScalarID
}

// targetSegments groups the levels of the target. The coordinates have no
// buffers yet.
func (c *converter) targetSegments() []segment {
	var segs []segment
	for l, level := range c.to.Format.Physical() {
		switch {
		case level.Ranges():
			segs = append(segs, segment{first: l, last: l, pos: -1})
		case level.Branchless():
			segs[len(segs)-1].last = l
		}
	}
	return segs
}

// crdBuffer makes the coordinates of a level of the target.
func (c *converter) crdBuffer(level int) loop.BufferID {
	return c.Buffer(fmt.Sprintf("%s%d_crd", c.to.Name, level), c.indexType(level, emit.Coordinates), loop.Output)
}

// cutter cuts ordered entries into the levels of the target. An entry begins a
// position of a segment if it differs from the entry before in a coordinate of
// the segment or above; positions are counted in chunks, placed by a prefix
// sum, and written in the same chunks. Positions arrays are written along with
// the positions they point to: element p when the first position at or past
// parent p is known.
type cutter struct {
	*converter
	src    entrySource
	has    stored
	levels []tensor.LevelType
	order  []int
	segs   []segment
	// counted segments have fewer positions than there are entries. The last
	// one is not, if every entry is a position.
	counted []bool
	slots   int           // the number of counted segments
	counts  loop.BufferID // chunks × slots
	totals  loop.BufferID // slots
	first   loop.BufferID // by chunk: with a filter, the first entry kept, or -1
	before  loop.BufferID // by chunk: with a filter, the last entry kept, later the one before the chunk
	tails   loop.BufferID // by segment: the first parent past those written
	part    int
}

// cut emits the stages that make the target of ordered entries.
func (c *converter) cut(src entrySource, has stored) {
	x := &cutter{converter: c, src: src, has: has, levels: c.to.Format.Physical(), order: c.to.Format.Order(),
		segs: c.targetSegments(), first: -1, before: -1}
	filter := c.filter && !has.sorted
	repeats := c.how.Entries.repeats()
	lastCounted := filter || repeats || c.scatter
	for i := range x.segs {
		s := &x.segs[i]
		counted := i < len(x.segs)-1 || lastCounted
		x.counted = append(x.counted, counted)
		s.total = c.entries
		if counted {
			x.slots++
			s.total = c.NewScalar(fmt.Sprintf("%s%d_entries", c.to.Name, s.first), false)
		}
		if s.first > 0 {
			s.pos = c.Buffer(fmt.Sprintf("%s%d_pos", c.to.Name, s.first), c.count, loop.Output)
		}
	}
	if !lastCounted && !has.sorted {
		x.share()
	}
	x.crdBuffers()
	x.part = c.evenly(loop.SizeScalar(c.entries))
	if x.slots > 0 {
		x.countStage(filter)
		x.placeStage(filter)
	}
	x.allocateStage()
	x.fillStage(filter)
	x.closeStage()
	c.Result.Values = x.has.values
	c.Result.Levels = emit.NoArrays(c.to.Rank)
	for _, s := range x.segs {
		c.Result.Levels[s.first].Pos = s.pos
		for i, id := range s.crd {
			c.Result.Levels[s.first+i].Crd = id
		}
	}
}

// share takes the arrays that the source has as the target needs them: the
// values, and coordinates that it has for every entry.
func (x *cutter) share() {
	x.has.values = x.vals
	x.has.crd = map[int]loop.BufferID{}
	last := x.segs[len(x.segs)-1]
	for l := last.first; l <= last.last; l++ {
		id := x.src.column(x.order[l])
		if id >= 0 && x.Program.Buffers[id].Elem == x.indexType(l, emit.Coordinates) {
			x.has.crd[l] = id
		}
	}
}

// crdBuffers gives every segment its coordinates.
func (x *cutter) crdBuffers() {
	for i := range x.segs {
		s := &x.segs[i]
		for l := s.first; l <= s.last; l++ {
			id, ok := x.has.crd[l]
			if !ok {
				id = x.crdBuffer(l)
			}
			s.crd = append(s.crd, id)
		}
	}
}

// compared is the number of levels whose changes matter: those above and in
// counted segments, and above the last.
func (x *cutter) compared() int {
	last := len(x.segs) - 1
	if x.counted[last] {
		return x.segs[last].last + 1
	}
	return x.segs[last].first
}

// entryValue is the value of an entry.
func (x *cutter) entryValue(e *emit.Func, en entry) loop.Expr {
	if x.has.sorted {
		return e.B.Load(e.Read(x.has.from), en.pos)
	}
	return x.value(e, en.pos)
}

// previous declares the coordinates of the entry before the chunk, by level; the
// outermost is -1, which is no coordinate, if there is none. then is what else
// follows from there being one.
func (x *cutter) previous(e *emit.Func, last loop.Expr, then func(prev []*loop.Ref)) []*loop.Ref {
	b := e.B
	prev := make([]*loop.Ref, x.compared())
	for l := range prev {
		prev[l] = b.Var("prev", loop.Int(-1))
	}
	b.If(b.Ge(last, loop.Int(0)), func() {
		en := x.src.at(e, last, axesOf(x.order[:len(prev)]))
		for l := range prev {
			b.Assign(prev[l], en.coords[x.order[l]])
		}
		if then != nil {
			then(prev)
		}
	}, nil)
	return prev
}

// begins tells for each segment whether an entry begins a new position of it. Of a segment whose
// positions are not counted it tells whether the entry has another parent than the one before.
func (x *cutter) begins(e *emit.Func, en entry, prev []*loop.Ref) []loop.Expr {
	b := e.B
	var changed loop.Expr = loop.Truth(false)
	list := make([]loop.Expr, len(x.segs))
	l := 0
	for i, s := range x.segs {
		end := s.last + 1
		if !x.counted[i] {
			end = s.first
		}
		for ; l < end; l++ {
			changed = b.Or(changed, b.Ne(en.coords[x.order[l]], prev[l]))
		}
		changed = b.Let("begins", changed)
		list[i] = changed
	}
	return list
}

// remember makes an entry the one before the next.
func (x *cutter) remember(e *emit.Func, en entry, prev []*loop.Ref) {
	for l := range prev {
		e.B.Assign(prev[l], en.coords[x.order[l]])
	}
}

// countStage counts the positions of counted segments in each chunk. With a
// filter it cannot know which entry is before its chunk, takes the first it
// keeps to begin positions everywhere, and notes which that is.
func (x *cutter) countStage(filter bool) {
	x.counts = x.Buffer("counts", x.count, loop.Temp)
	e := x.NewFunc("count")
	x.src.open(e)
	b := e.B
	numbers := make([]*loop.Ref, len(x.segs))
	for i := range x.segs {
		if x.counted[i] {
			numbers[i] = b.Var("n", loop.Int(0))
		}
	}
	var before loop.Expr = loop.Int(-1)
	var first, last *loop.Ref
	if filter {
		first, last = b.Var("first", loop.Int(-1)), b.Var("last", loop.Int(-1))
	} else {
		before = b.Sub(b.Lo(), loop.Int(1))
	}
	prev := x.previous(e, before, nil)
	keep := x.kept(e, filter)
	x.src.each(e, b.Lo(), b.Hi(), axesOf(x.order[:x.compared()]), func(en entry) {
		keep(en, func() {
			for i, begins := range x.begins(e, en, prev) {
				if x.counted[i] {
					b.Assign(numbers[i], b.Add(numbers[i], b.Cast(loop.I64, begins)))
				}
			}
			x.remember(e, en, prev)
			if filter {
				b.Assign(first, b.Select(b.Lt(first, loop.Int(0)), en.pos, first))
				b.Assign(last, en.pos)
			}
		})
	})
	counts := e.Write(x.counts)
	x.eachSlot(func(slot, i int) {
		b.Store(counts, x.slot(e, b.Chunk(), slot), b.Cast(x.count, numbers[i]))
	})
	chunks := x.Chunks(x.part)
	allocs := []loop.Alloc{{Buffer: x.counts, Len: emit.Times(chunks, loop.SizeConst(x.slots))}}
	if filter {
		x.first, x.before = x.Buffer("first", loop.I64, loop.Temp), x.Buffer("before", loop.I64, loop.Temp)
		b.Store(e.Write(x.first), b.Chunk(), first)
		b.Store(e.Write(x.before), b.Chunk(), last)
		allocs = append(allocs, loop.Alloc{Buffer: x.first, Len: chunks}, loop.Alloc{Buffer: x.before, Len: chunks})
	}
	st := e.Stage("count")
	st.Partition, st.PartitionAllocs = x.part, allocs
	x.AddStage(st)
}

// eachSlot calls f for the counted segments.
func (x *cutter) eachSlot(f func(slot, seg int)) {
	slot := 0
	for i := range x.segs {
		if x.counted[i] {
			f(slot, i)
			slot++
		}
	}
}

// slot is where the counter of a segment in a chunk stands.
func (x *cutter) slot(e *emit.Func, chunk loop.Expr, slot int) loop.Expr {
	return e.B.Let("slot", e.B.Add(e.B.Mul(chunk, loop.Int(int64(x.slots))), loop.Int(int64(slot))))
}

// placeStage turns the counts of chunks into where their positions start.
func (x *cutter) placeStage(filter bool) {
	x.totals = x.Buffer("totals", x.count, loop.Temp)
	e := x.NewFunc("place")
	x.src.open(e)
	b := e.B
	counts := e.Write(x.counts)
	sums := make([]*loop.Ref, len(x.segs))
	x.eachSlot(func(_, i int) { sums[i] = b.Var("sum", loop.Number(x.count, 0)) })
	var last *loop.Ref
	var before loop.BufID
	if filter {
		last = b.Var("last", loop.Int(-1))
		before = e.Write(x.before)
	}
	b.For("c", loop.Int(0), e.Scalar(x.Program.Partitions[x.part].Chunks), func(c loop.Expr) {
		numbers := make([]*loop.Ref, len(x.segs))
		x.eachSlot(func(slot, i int) { numbers[i] = b.Var("n", b.Load(counts, x.slot(e, c, slot))) })
		if filter {
			first := b.Let("first", b.Load(e.Read(x.first), c))
			end := b.Let("end", b.Load(before, c))
			b.Store(before, c, last)
			b.If(b.And(b.Ge(first, loop.Int(0)), b.Ge(last, loop.Int(0))), func() {
				// What the first entry kept has in common with the last one
				// before it was counted there.
				axes := axesOf(x.order[:x.compared()])
				prev := make([]*loop.Ref, x.compared())
				en := x.src.at(e, last, axes)
				for l := range prev {
					prev[l] = b.Var("prev", en.coords[x.order[l]])
				}
				begins := x.begins(e, x.src.at(e, first, axes), prev)
				x.eachSlot(func(_, i int) {
					b.Assign(numbers[i], b.Sub(numbers[i], b.Cast(x.count, b.Not(begins[i]))))
				})
			}, nil)
			b.Assign(last, b.Select(b.Ge(end, loop.Int(0)), end, last))
		}
		x.eachSlot(func(slot, i int) {
			b.Store(counts, x.slot(e, c, slot), sums[i])
			b.Assign(sums[i], b.Add(sums[i], numbers[i]))
		})
	})
	totals := e.Write(x.totals)
	x.eachSlot(func(slot, i int) { b.Store(totals, loop.Int(int64(slot)), sums[i]) })
	st := e.Stage("place")
	st.Allocs = []loop.Alloc{{Buffer: x.totals, Len: loop.SizeConst(x.slots)}}
	if !filter {
		x.eachSlot(func(slot, _ int) {
			st.Prefixes = append(st.Prefixes, loop.Prefix{Buffer: x.counts, First: int64(slot), Stride: int64(x.slots),
				N: x.Chunks(x.part), Total: x.totals, At: int64(slot)})
		})
	}
	x.AddStage(st)
}

// parents is the number of positions above a segment.
func (x *cutter) parents(i int) loop.SizeExpr {
	above, lead := loop.SizeExpr(loop.SizeConst(1)), 0
	if i > 0 {
		above, lead = loop.SizeScalar(x.segs[i-1].total), x.segs[i-1].last+1
	}
	return emit.Times(above, x.sizeOf(x.order[lead:x.segs[i].first]))
}

// parent is the number of the position above a segment, given that of the
// segment before and the coordinates by level.
func (x *cutter) parent(e *emit.Func, i int, above loop.Expr, coord func(level int) loop.Expr) loop.Expr {
	at, lead := loop.Expr(nil), 0
	if i > 0 {
		at, lead = above, x.segs[i-1].last+1
	}
	for l := lead; l < x.segs[i].first; l++ {
		c := coord(l)
		if at != nil {
			c = e.B.Add(e.B.Mul(at, e.Scalar(x.extentOf(x.order[l]))), c)
		}
		at = c
	}
	return at
}

// allocateStage sizes the arrays of the target by the totals.
func (x *cutter) allocateStage() {
	st := loop.Stage{Name: "allocate", Partition: -1}
	x.eachSlot(func(slot, i int) {
		st.Lets = append(st.Lets, loop.ScalarLet{Scalar: x.segs[i].total,
			Value: &loop.SizeLoad{Buffer: x.totals, Index: loop.SizeConst(slot)}})
	})
	for i, s := range x.segs {
		if s.pos >= 0 {
			st.Allocs = append(st.Allocs, loop.Alloc{Buffer: s.pos, Len: &loop.SizeOp{Op: loop.Add, X: x.parents(i), Y: loop.SizeConst(1)}})
		}
		for k, id := range s.crd {
			if _, there := x.has.crd[s.first+k]; !there {
				st.Allocs = append(st.Allocs, loop.Alloc{Buffer: id, Len: loop.SizeScalar(s.total)})
			}
		}
	}
	if x.slots == 0 && len(st.Allocs) == 0 {
		return
	}
	last := x.segs[len(x.segs)-1]
	if last.pos >= 0 {
		x.tails = x.Buffer("tails", loop.I64, loop.Temp)
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: x.tails, Len: loop.SizeConst(len(x.segs)), Zero: true})
	}
	if x.has.values >= 0 {
		x.AddStage(st)
		return
	}
	x.has.values = x.Buffer(x.to.Name+"_vals", x.elem, loop.Output)
	total := loop.SizeScalar(last.total)
	if !x.scatter {
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: x.has.values, Len: total})
		x.AddStage(st)
		return
	}
	x.AddStage(st)
	size := x.NewScalar("size", false)
	x.initialise(x.has.values, loop.SizeScalar(size), loop.SizeConst(1),
		loop.ScalarLet{Scalar: size, Value: emit.Times(total, x.sizeOf(x.order[last.last+1:]))})
}
