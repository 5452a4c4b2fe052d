// Package product emits sparse results on grids that are gathered row by row in a workspace, such as products of
// sparse matrices: teams of threads make them. How many values a row puts into its
// workspace is counted first. A row with few is a warp's: its lanes share the values of
// all loops of the row evenly, and find out which are of one column by a hash table in
// shared memory (team.go, hash.go). A row with so many that few columns are
// without one is cut into slices of columns that blocks take, with a place for each column
// (slice.go). Other rows are run by single threads, in the general way, by the caller, who has the nest.
package product

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
	"github.com/lacuna-sparse/lacuna/lower/workspace"
)

// Rows is a result whose rows are shared out to teams.
type Rows struct {
	*emit.Builder
	// Space and Store are those of the workspace, which has one dimension; keys in tables have the type Key.
	Space *workspace.Space
	Store workspace.Store
	Key   loop.Type
	// Crd are the coordinates of the last of so many segments of the result.
	Segments int
	Crd      []loop.BufferID
	Plain    bool // the entries of the workspace are taken as they are, and no others
	// Begin begins to write the nest in a function: one that writes the result, or else counts its entries.
	Begin func(f *emit.Func, fills bool) Nest
	// Products has for each row how many values it puts into its workspace, at most;
	// Counts how many entries it appends to each segment, and then their places.
	Products, Counts loop.BufferID
	Count            loop.ScalarID // of rows
	// Others is 1 if there are rows for single threads, else 0.
	Others  loop.ScalarID
	classes []rowClass
	slicing slicing
}

// Plan makes the buffers and scalars of the rows.
func (p *Rows) Plan() {
	p.classes = p.teamClasses()
	name := p.name()
	p.Products = p.Buffer(name+"_products", loop.I64, loop.Temp)
	p.Count, p.Others = p.NewScalar(name+"_rows", false), p.NewScalar(name+"_others", false)
	p.slicing = p.newSlicing()
}

func (p *Rows) name() string { return p.Result.Tensor.Name }

// Classes is how many classes of rows teams take.
func (p *Rows) Classes() int { return len(p.classes) }

// mode is what the functions of a nest are called for.
func mode(fills bool) string {
	if fills {
		return "fill"
	}
	return "count"
}

// rowClass is a class of rows by their products.
type rowClass struct {
	above, most int64         // products: more than above, at most most
	team, warps int           // warps of a team, which takes a row, and of a block
	some        loop.ScalarID // 1 if there are rows of the class, else 0
}

// teamClasses are the classes of rows that teams take, by their products; smaller ones in tests.
func (p *Rows) teamClasses() []rowClass {
	list := []rowClass{{most: 64, team: 1, warps: 8}, {most: 256, team: 1, warps: 4}, {most: 1024, team: 8, warps: 8}}
	if p.Grain > 0 {
		list = []rowClass{{most: 4, team: 1, warps: 2}, {most: 64, team: 1, warps: 2}, {most: 128, team: 2, warps: 2}}
	}
	above := int64(0)
	for i := range list {
		c := &list[i]
		c.above = above
		for c.bytes(p) > loop.MaxShared {
			if c.team == 1 && c.warps > 2 {
				c.warps--
			} else {
				c.most /= 2
			}
		}
		above = c.most
		c.some = p.NewScalar(p.name()+"_class", false)
	}
	return list
}

// bytes is the shared memory that a block needs to fill rows.
func (c *rowClass) bytes(p *Rows) int64 {
	const more = 512 // sums, and what arrays are rounded up by
	key, value := int64(p.Key.Size()), int64(p.Space.ValueType().Size())
	n := max(c.most, loop.WarpSize)
	return int64(c.warps/c.team)*(n*(3*key+2*value+8)+int64(c.team)*loop.WarpSize*16) + more
}

// place is where the number of entries that a row appends to a segment is kept.
func (p *Rows) place(b *loop.Builder, row loop.Expr, segment int) loop.Expr {
	return b.Add(b.Mul(row, loop.Int(int64(p.Segments))), loop.Int(int64(segment)))
}

// Row emits a row between the loading and storing of what is known of its entries. leads holds for a thread that stores.
func (p *Rows) Row(f *emit.Func, entries []*loop.Ref, fills bool, leads, row loop.Expr, body func(p loop.Expr)) {
	b := f.B
	p.openRow(f, entries, fills, row)
	body(row)
	if !fills {
		b.If(leads, func() {
			for i, n := range entries {
				b.Store(f.Write(p.Counts), p.place(b, row, i), n)
			}
		}, nil)
	}
}

// openRow says where the entries of a row begin: at its places, or at 0 to count them.
func (p *Rows) openRow(f *emit.Func, entries []*loop.Ref, fills bool, row loop.Expr) {
	for i, n := range entries {
		start := loop.Expr(loop.Int(0))
		if fills {
			start = f.B.Load(f.Read(p.Counts), p.place(f.B, row, i))
		}
		f.B.Assign(n, start)
	}
}

// Singles emits a loop over those of the rows from begin to end that are for single threads.
func (p *Rows) Singles(f *emit.Func, begin, end loop.Expr, body func(row loop.Expr)) {
	b := f.B
	least := f.Scalar(p.slicing.least)
	b.For("row", begin, end, func(row loop.Expr) {
		n := b.Let("products", b.Load(f.Read(p.Products), row))
		b.If(b.And(b.Gt(n, loop.Int(p.Most())), b.Lt(n, least)), func() { body(row) }, nil)
	})
}

// Most is how many products a row has at most that a team takes.
func (p *Rows) Most() int64 { return p.classes[len(p.classes)-1].most }

// ClassStages counts the rows of each class, lists those that are cut into slices, and
// finds out how much room the workspaces of single threads need.
func (p *Rows) ClassStages() {
	name, k := p.name(), int64(len(p.classes))
	// Rows of each class, in slices and for single threads, and the most products of these.
	tallies := p.Buffer(name+"_tallies", loop.I64, loop.Temp)
	t := p.team("classes", 8, 8)
	b := t.B
	var tally []*loop.Ref
	for range k + 3 {
		tally = append(tally, b.Var("rows", loop.Int(0)))
	}
	rows, least := t.Scalar(p.Count), t.Scalar(p.slicing.least)
	threads := loop.Int(t.Threads())
	at := b.Var("row", b.Add(b.Mul(b.Special(loop.BlockIndex), threads), b.Special(loop.ThreadIndex)))
	step := b.Let("step", b.Mul(b.Special(loop.BlockCount), threads))
	count := func(i int64, is loop.Expr) { b.Assign(tally[i], b.Add(tally[i], b.Cast(loop.I64, is))) }
	b.While(b.Lt(at, rows), func() {
		n := b.Let("products", b.Load(t.Read(p.Products), at))
		for i, c := range p.classes {
			count(int64(i), c.has(b, n))
		}
		b.If(b.Gt(n, loop.Int(p.Most())), func() {
			b.If(b.Ge(n, least), func() {
				place := b.AtomicOld("place", loop.AtomicAdd, t.Write(tallies), loop.Int(k), loop.Int(1))
				b.Store(t.Write(p.slicing.rowOf), place, at)
			}, func() {
				count(k+1, loop.Truth(true))
				b.Assign(tally[k+2], b.Max(tally[k+2], n))
			})
		}, nil)
		b.Assign(at, b.Add(at, step))
	})
	for i, n := range tally {
		combine, op := b.Add, loop.AtomicAdd
		switch int64(i) {
		case k:
			continue
		case k + 2:
			combine, op = b.Max, loop.AtomicMax
		}
		for d := int64(loop.WarpSize / 2); d > 0; d /= 2 {
			b.Assign(n, combine(n, b.Shuffle("other", loop.ShuffleXor, n, loop.Int(d), loop.WarpSize)))
		}
		b.If(b.And(b.Eq(t.Lane(), loop.Int(0)), b.Gt(n, loop.Int(0))), func() {
			b.Atomic(op, t.Write(tallies), loop.Int(int64(i)), n)
		}, nil)
	}
	const perThread = 8
	s := t.Launch("classes", emit.Min(emit.CeilDiv(loop.SizeScalar(p.Count), loop.SizeConst(perThread*t.Threads())), loop.SizeConst(coop.MaxBlocks)))
	s.Lets = p.slicing.lets
	s.Allocs = []loop.Alloc{{Buffer: tallies, Len: loop.SizeConst(k + 3), Zero: true}, {Buffer: p.slicing.rowOf, Len: loop.SizeScalar(p.Count)}}
	s.Symbolic = true
	p.AddStage(s)
	p.sizeStages(tallies)
}

// sizeStages takes the tallies to the host, with the capacity of a workspace for all that
// a single thread's row may insert.
func (p *Rows) sizeStages(tallies loop.BufferID) {
	name, k := p.name(), len(p.classes)
	sizes := p.Buffer(name+"_sizes", loop.I64, loop.Temp)
	e := p.NewFunc("sizes")
	b := e.B
	for i := range k + 2 {
		b.Store(e.Write(sizes), loop.Int(int64(i)), b.Load(e.Read(tallies), loop.Int(int64(i))))
	}
	list := []loop.ScalarID{p.slicing.rows, p.Others}
	if p.Store.Facts().Bounded {
		need := b.Var("need", b.Load(e.Read(tallies), loop.Int(int64(k+2))))
		if p.Store.Facts().Distinct {
			p.Space.LimitToKeys(e, need)
		}
		b.Assign(need, b.Min(need, loop.Int(emit.MaxEntries)))
		workspace.StoreRoom(p.Store, e, need, sizes, int64(k+2))
		list = append(list, p.Space.Capacity, p.Space.Shift)
	}
	s := e.Stage("sizes")
	s.Allocs, s.Symbolic = []loop.Alloc{{Buffer: sizes, Len: loop.SizeConst(k + len(list))}}, true
	p.AddStage(s)
	lets := loop.Stage{Name: "rows", Partition: -1}
	load := func(i int) loop.SizeExpr { return &loop.SizeLoad{Buffer: sizes, Index: loop.SizeConst(i)} }
	for i, c := range p.classes {
		lets.Lets = append(lets.Lets, loop.ScalarLet{Scalar: c.some, Value: emit.Min(load(i), loop.SizeConst(1))})
	}
	for i, id := range list {
		v := load(k + i)
		if id == p.Others {
			v = emit.Min(v, loop.SizeConst(1))
		}
		lets.Lets = append(lets.Lets, loop.ScalarLet{Scalar: id, Value: v})
	}
	p.AddStage(lets)
}

// has reports whether a row of n products is of the class.
func (c rowClass) has(b *loop.Builder, n loop.Expr) loop.Expr {
	return b.And(b.Gt(n, loop.Int(c.above)), b.Le(n, loop.Int(c.most)))
}

// Stage is the stage in which teams run the rows of a class. It is not ok where they cannot.
func (p *Rows) Stage(class int, fills bool) (st loop.Stage, ok bool) {
	c, name := &p.classes[class], mode(fills)
	begin := func() *team {
		return p.team(fmt.Sprintf("%s%d_%s", name, c.most, p.name()), c.team, c.warps)
	}
	rows := func(g *team) (fits bool) {
		leader := g.B.Let("leader", g.B.Eq(g.Rank(), loop.Int(0)))
		nest := p.Begin(g.Func, fills)
		nest.Lead(leader)
		t := newHashTeam(g, p, c, nest, fills)
		t.leader = leader
		nest.Run(t)
		return t.fits
	}
	return coop.Twice(begin, rows, func(g *team) loop.Stage {
		how := "_by_warp"
		if !g.Single() {
			how = "_by_block"
		}
		s := g.Launch(name+how, emit.Product(g.BlocksFor(emit.CeilDiv(loop.SizeScalar(p.Count), loop.SizeConst(rowsPerTeam))), loop.SizeScalar(c.some)))
		s.Symbolic = !fills
		return s
	})
}
