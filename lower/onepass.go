package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/level"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A sparse result is counted before it is filled, so that chunks can be filled at
// the same time and memory is allocated once and exactly. One thread gains nothing
// from the first, and where the number of entries has a bound not far above it, it
// can do without the second: memory is allocated by the bound, the entries are
// appended in one pass, and the arrays are trimmed to what was used.

// TooMany is the message of a program that was lowered for one pass when its
// result may have many more entries than its operands.
const TooMany = "too many entries for one pass"

// onePassFactor bounds the memory that one pass may ask for, as a multiple of the
// operands' entries.
const onePassFactor = 4

// entryBound is a bound for the number of entries of the result, nil if there is
// none to be had before the loops run. It may use k.inserts.
func (k *kernel) entryBound(body ir.Stmt) loop.SizeExpr {
	t := k.step.Result
	if !t.FillKnown || !k.step.Covers || k.step.Scatter || denseBelowSparse(t.Format) || !appendsPlainly(body) {
		return nil
	}
	if len(k.workspaces) > 0 && k.opts.Workspace != DenseWorkspace {
		return nil // counting what they hold is a pass of its own
	}
	c := &coverage{k: k, outside: loopsOutside(body)}
	set, ok := c.of(body)
	if !ok {
		return nil
	}
	return c.bound(set, c.entries)
}

// of is the set of entries that the leaf of a nest has; not ok if what is outside it
// is not the result's fill.
func (c *coverage) of(body ir.Stmt) (set ir.SetExpr, ok bool) {
	t := c.k.step.Result
	sup := c.k.alg.Stored(ir.FirstLeaf(body).Value, c)
	v, ok := ir.ConstValue(sup.Background)
	return sup.Set, ok && sameValue(v.Convert(t.DType), t.Fill)
}

// denseBelowSparse reports whether each entry of some level has a block of
// positions or values below it: arrays of the bound times its size.
func denseBelowSparse(f tensor.Format) bool {
	sparse := false
	for _, level := range f.Physical() {
		if sparse && level.Full() {
			return true
		}
		sparse = sparse || !level.Full()
	}
	return false
}

// appendsPlainly reports whether the nest that reads the operands for the result
// has no temporaries.
func appendsPlainly(s ir.Stmt) bool {
	switch s := s.(type) {
	case *ir.Forall:
		return appendsPlainly(s.Body)
	case *ir.Workspace:
		return appendsPlainly(s.Consumer)
	case *ir.Tabulate:
		return appendsPlainly(s.Body)
	}
	_, leaf := s.(*ir.Assign)
	return leaf
}

// coverage describes leaves by the entries that a result's entries can stand for:
// those of operands that have all of the result's variables, so that no two
// entries of the result have the same one behind them.
type coverage struct {
	k        *kernel
	outside  []*ir.Index  // variables of the loops around workspaces
	accesses []*ir.Access // by atom
	// loose: more than the entries described may decide whether the result has one.
	loose bool
}

// loopsOutside are the variables of the loops around the first workspace.
func loopsOutside(s ir.Stmt) []*ir.Index {
	var list []*ir.Index
	for {
		switch t := s.(type) {
		case *ir.Forall:
			list, s = append(list, t.Index), t.Body
		case *ir.Tabulate:
			s = t.Body
		default:
			return list
		}
	}
}

// Access implements ir.Leaves.
func (c *coverage) Access(a *ir.Access) ir.Support {
	if a.Tensor.Format.IsDense() {
		return ir.Everywhere()
	}
	if !a.Tensor.FillKnown {
		c.loose = true
		return ir.Everywhere()
	}
	for _, x := range c.k.step.LHS.Indices {
		// A workspace is filled anew for each iteration of the loops around it.
		found := a.Tensor.Work != nil && slices.Contains(c.outside, x.Plain())
		for _, y := range a.Indices {
			found = found || y.Plain() == x.Plain()
		}
		if !found {
			c.loose = true
			return ir.Everywhere()
		}
	}
	c.accesses = append(c.accesses, a)
	return ir.Support{Set: ir.AtomOf(ir.Atom(len(c.accesses) - 1)),
		Background: ir.GapOf(a.Tensor)}
}

// Index implements ir.Leaves.
func (c *coverage) Index(*ir.Index) ir.Support {
	c.loose = true
	return ir.Everywhere()
}

// Temp implements ir.Leaves.
func (c *coverage) Temp(*ir.Temp) ir.Behaviour {
	c.loose = true
	return ir.Same(ir.Everywhere())
}

// bound is how many coordinates a set can have at most, where accesses have so many
// entries; nil if that is not known.
func (c *coverage) bound(f ir.SetExpr, entries func(*ir.Access) loop.SizeExpr) loop.SizeExpr {
	if f.IsAll() {
		return nil
	}
	if f.IsNone() {
		return loop.SizeConst(0)
	}
	if a, ok := f.IsAtom(); ok {
		return entries(c.accesses[a])
	}
	var total loop.SizeExpr
	for _, g := range f.Args() {
		n := c.bound(g, entries)
		switch {
		case f.IsUnion() && n == nil:
			return nil
		case n == nil:
		case total == nil:
			total = n
		case f.IsUnion():
			total = &loop.SizeOp{Op: loop.Add, X: total, Y: n}
		default:
			total = &loop.SizeOp{Op: loop.Min, X: total, Y: n}
		}
	}
	return total
}

// entries is the number of entries behind an access.
func (c *coverage) entries(a *ir.Access) loop.SizeExpr {
	if a.Tensor.Work == nil {
		return level.Stored(c.k, a.Tensor)
	}
	w := c.k.workspaceOf(a.Tensor)
	if w.store.Facts().Masked {
		return nil
	}
	c.k.inserted()
	return loop.SizeScalar(*c.k.inserts)
}

// inserted makes the scalar that receives the number of insertions into all
// workspaces, and its limit.
func (k *kernel) inserted() {
	if k.inserts == nil {
		n := k.NewScalar(k.step.Result.Name+"_inserts", false)
		k.inserts = &n
	}
}

// operandEntries is the number of elements that the sparse operands of a nest store.
func (k *kernel) operandEntries(body ir.Stmt) loop.SizeExpr {
	var n loop.SizeExpr = loop.SizeConst(0)
	for _, a := range k.accessesIn(body) {
		if a.Tensor.Work == nil && !a.Tensor.Format.IsDense() {
			n = &loop.SizeOp{Op: loop.Add, X: n, Y: level.Stored(k, a.Tensor)}
		}
	}
	return n
}

// onePass emits the stages of a sparse result that is appended to in one pass,
// with room for bound entries.
func (k *kernel) onePass(body ir.Stmt, segments []segment, totals loop.BufferID, bound loop.SizeExpr) {
	t := k.step.Result
	tables := k.tableAllocs(body)
	e := k.emitter("append_" + t.Name)
	b := e.B
	e.out = &assembly{mode: fillEntries, levels: t.Format.Physical(), segments: segments, values: k.Result.Values, ordered: true}
	e.root.wanted = k.parallel(body)
	for i := range segments {
		e.out.current = append(e.out.current, b.Var("n", b.Load(e.Write(totals), loop.Int(int64(i)))))
	}
	e.nest(body)
	for i := range segments {
		b.Store(e.Write(totals), loop.Int(int64(i)), e.out.current[i])
	}
	written := 0 // segments whose positions the nest has written, but for the first
	if e.out.allParents && segments[0].first == 1 {
		written = 1
	}
	if e.root.cut && len(k.workspaces) == 0 && e.root.grain == 0 {
		e.root.grain = max(joinGrain/int64(len(k.accessesIn(body))), minJoinGrain)
	}
	part := k.partition(e.root)

	k.addTables(tables, part)
	if k.inserts != nil {
		k.insertStages(body, part)
	}
	room := loop.Stage{Name: "allocate", Partition: -1}
	trim := loop.Stage{Name: "trim", Partition: -1}
	var parents, used loop.SizeExpr = loop.SizeConst(1), loop.SizeConst(1)
	for l, axis := range t.Format.Order() {
		for i, s := range segments {
			if s.first != l {
				continue
			}
			one := loop.SizeConst(1)
			room.Allocs = append(room.Allocs, loop.Alloc{Buffer: s.pos, Len: &loop.SizeOp{Op: loop.Add, X: parents, Y: one}, Zero: i >= written})
			if i > 0 {
				trim.Trims = append(trim.Trims, loop.Trim{Buffer: s.pos, Len: &loop.SizeOp{Op: loop.Add, X: used, Y: one}})
			}
			trim.Lets = append(trim.Lets, loop.ScalarLet{Scalar: s.total, Value: &loop.SizeLoad{Buffer: totals, Index: loop.SizeConst(i)}})
			for _, crd := range s.crd {
				room.Allocs = append(room.Allocs, loop.Alloc{Buffer: crd, Len: bound})
				trim.Trims = append(trim.Trims, loop.Trim{Buffer: crd, Len: loop.SizeScalar(s.total)})
			}
			parents, used = bound, loop.SizeScalar(s.total)
		}
		if t.Format.Physical()[l].Full() { // above all sparse ones
			n := loop.SizeScalar(k.Dim(t, axis))
			parents, used = emit.Times(parents, n), emit.Times(used, n)
		}
	}
	room.Allocs = append(room.Allocs, loop.Alloc{Buffer: k.Result.Values, Len: bound})
	trim.Trims = append(trim.Trims, loop.Trim{Buffer: k.Result.Values, Len: loop.SizeScalar(segments[len(segments)-1].total)})
	k.AddStage(room)
	k.makeRoom(part)
	s := e.Stage("append")
	s.Partition, s.Ordered = part, true
	if part >= 0 && k.opts.positions() == loop.U64 { // as Join wants; narrower ones are asked for by who has one thread
		s.Join = k.join(body, segments, totals, e.root)
		if s.Join != nil && written > 0 {
			s.Join.Shift = segments[0].pos
			if p := e.root.pieces; p != nil {
				s.Join.Rows = p.Starts[0]
			}
		}
		if s.Join == nil && k.opts.Assembly == Joined {
			k.roomless, k.again = true, true
		}
	}
	k.OnePass = true
	s.Allocs = []loop.Alloc{{Buffer: totals, Len: loop.SizeConst(len(segments)), Zero: true}}
	k.AddStage(s)
	k.mendStage(e.root.pieces, segments, totals)
	k.AddStage(trim)
	if written > 0 {
		e := k.emitter("first")
		e.B.Store(e.Write(segments[0].pos), loop.Int(0), loop.Number(k.opts.positions(), 0))
		k.AddStage(e.Stage("first"))
	}
	k.positions(segments, written)
}

// insertStages emits the stages that count insertions into the workspaces, each
// chunk's and then all, and fail where that is far above the operands' entries.
func (k *kernel) insertStages(body ir.Stmt, part int) {
	t := k.step.Result
	inserts := k.Buffer(t.Name+"_chunk_inserts", loop.I64, loop.Temp)
	k.chunkInserts = inserts
	total := k.Buffer(t.Name+"_all_inserts", loop.I64, loop.Temp)
	limit := k.NewScalar(t.Name+"_limit", false)
	operands := &loop.SizeOp{Op: loop.Add, X: loop.SizeConst(1 << 12), Y: k.operandEntries(body)}

	e := k.emitter("inserts_" + t.Name)
	b := e.B
	e.quiet, e.symbolic = true, true
	e.root.wanted = part >= 0
	e.bound = &bound{total: b.Var("inserts", loop.Int(0))}
	e.nest(body)
	b.Store(e.Write(inserts), b.Chunk(), e.bound.total)
	s := e.Stage("inserts")
	s.Lets = []loop.ScalarLet{{Scalar: limit, Value: &loop.SizeOp{Op: loop.Mul, X: operands, Y: loop.SizeConst(onePassFactor)}}}
	k.perChunk(&s, part, loop.Alloc{Buffer: inserts, Len: k.Chunks(part)})
	k.AddStage(s)

	e = k.emitter("all_inserts")
	b = e.B
	chunks := e.chunks(part)
	sum := b.Var("sum", loop.Int(0))
	b.For("c", loop.Int(0), chunks, func(c loop.Expr) {
		b.Assign(sum, b.Add(sum, b.Load(e.Read(inserts), c)))
		b.If(b.Gt(sum, e.Scalar(limit)), func() { b.Fail("%s", TooMany) }, nil)
	})
	b.Store(e.Write(total), loop.Int(0), sum)
	s = e.Stage("all_inserts")
	s.Allocs = []loop.Alloc{{Buffer: total, Len: loop.SizeConst(1)}}
	k.AddStage(s)
	k.AddStage(loop.Stage{Name: "size", Partition: -1,
		Lets: []loop.ScalarLet{{Scalar: *k.inserts, Value: &loop.SizeLoad{Buffer: total, Index: loop.SizeConst(0)}}}})
}
