package loop

import "slices"

// The sizes of tiles. A tile is a few rows of a line of memory each, which eight registers of 256 bits hold; what is left of the
// columns goes through narrower ones. Between two stores of it there are as many steps as leave the operand that all rows share in the
// nearest cache, and the rows between two walks through that operand leave theirs in the next.
const (
	tileRows   = 4
	tileBytes  = 64
	tileNarrow = 4
	tileSteps  = 256
	tileBlock  = 128 // rows
	mostTiled  = 40  // the size of a row
)

// Tile returns f with dense products computed in tiles of several rows and columns that stay in registers while their
// terms are added (Lam, Rothberg, Wolf, "The cache performance and optimizations of blocked algorithms", 1991; Goto, van de Geijn,
// "Anatomy of high-performance matrix multiplication", 2008):
//
//	for i { for k { for independent j { y[i*stride + j] = y[i*stride + j] + a[…]*b[…] } } }
//
// where a loop that sets the row to a constant may stand before that over k.
// A term takes a load of a for each row and one of b for each vector of columns, where it took loads and a store of y as well.
// Compilers make vectors of the columns. What all rows share is first packed, in the order in which tiles take it, where the function has memory
// for that (AddPanels). Each element takes its terms one after the other in the order of before, so the bits are the same.
// f itself is not changed.
func Tile(f *Func) *Func {
	return replaceLoops(f, func(n *rewrite, s *For) []Stmt {
		if p := panelOf(s); p != nil {
			p.pack(f)
			return n.tiles(p)
		}
		return nil
	})
}

// Panelled returns f with a buffer for what Tile packs, of so many elements of a type; f itself and 0 where it packs nothing.
func Panelled(f *Func) (out *Func, elem Type, size int64) {
	replaceLoops(f, func(_ *rewrite, s *For) []Stmt {
		p := panelOf(s)
		if p == nil {
			return nil
		}
		if n := int64(len(p.shared())); n > 0 && (size == 0 || elem == p.elem) {
			elem, size = p.elem, max(size, n*tileSteps*int64(tileBytes/p.elem.Size())+tileRows*tileNarrow)
		}
		return []Stmt{s}
	})
	if size == 0 {
		return f, Invalid, 0
	}
	c := *f
	c.Bufs = append(slices.Clip(f.Bufs), Buf{Name: "panel", Elem: elem, Panel: true})
	return &c, elem, size
}

// AddPanels gives the functions of a program that have dense products memory of their threads, to pack operands in.
func AddPanels(p *Program) {
	for i := range p.Stages {
		s := &p.Stages[i]
		if s.Func == nil {
			continue
		}
		f, elem, size := Panelled(s.Func)
		if size == 0 {
			continue
		}
		id := BufferID(len(p.Buffers))
		p.Buffers = append(p.Buffers, Buffer{Name: "panel", Elem: elem, Role: Scratch})
		s.Func, s.Bufs = f, append(s.Bufs, id)
		list := &s.Allocs
		if s.Partition >= 0 {
			list = &s.PartitionAllocs
		}
		*list = append(*list, Alloc{Buffer: id, Len: SizeConst(size)})
	}
}

// panel is a loop over rows around one that updates a row again and again.
type panel struct {
	*row
	rows    *For
	first   Expr // what the row is set to before, nil if it is not
	rowLets []*Let
	stride  Expr // from an element to the one of the next row
	// packed are the loads whose elements are packed, in the order of their parts of the buffer in.
	packed []*Load
	in     BufID
}

// shared lists the loads, of the type of the elements, that all rows share, but not all steps and columns.
func (p *panel) shared() (list []*Load) {
	byRow, byCol := map[VarID]bool{p.rows.Var: true}, map[VarID]bool{p.inner.Var: true}
	look := func(e Expr) {
		WalkExpr(e, func(e Expr) {
			l, ok := e.(*Load)
			if ok && l.Buf != p.store.Buf && l.Elem == p.elem && Reads(l.Index, byCol) && Reads(l.Index, p.varies) && !Reads(l.Index, byRow) {
				list = append(list, l)
			}
		})
	}
	for _, l := range slices.Concat(p.rowLets, p.outerLets, p.innerLets) {
		look(l.Value)
		byRow[l.Var], byCol[l.Var] = Reads(l.Value, byRow), Reads(l.Value, byCol)
	}
	look(p.store.Value)
	return list
}

// pack chooses what is packed where f has memory for it.
func (p *panel) pack(f *Func) {
	p.in = BufID(slices.IndexFunc(f.Bufs, func(b Buf) bool { return b.Panel && b.Elem == p.elem }))
	if p.in >= 0 {
		p.packed = p.shared()
	}
}

// panelOf recognises what Tile unrolls: a row whose steps and columns are the same for all rows, and whose elements
// are so many after those of the row before.
func panelOf(s *For) *panel {
	p := &panel{rows: s}
	var sets *For
	var filled *Store
	byRow := map[VarID]bool{s.Var: true}
	for _, x := range s.Body {
		switch x := x.(type) {
		case *Let:
			if x.Mutable || p.row != nil {
				return nil
			}
			p.rowLets = append(p.rowLets, x)
			byRow[x.Var] = true
		case *For:
			if p.row != nil {
				return nil
			}
			if p.row = rowOf(x); p.row != nil {
				continue
			}
			if p.first != nil || len(x.Body) != 1 || !x.Independent {
				return nil
			}
			set, ok := x.Body[0].(*Store)
			if !ok {
				return nil
			}
			if p.first, ok = set.Value.(*Const); !ok {
				return nil
			}
			sets, filled = x, set
		default:
			return nil
		}
	}
	if p.row == nil || p.size > mostTiled || !tileable(p.elem) {
		return nil
	}
	for _, e := range []Expr{p.outer.Lo, p.outer.Hi, p.inner.Lo, p.inner.Hi} {
		if Reads(e, byRow) {
			return nil
		}
	}
	a := affine{lets: map[VarID]Expr{}, inside: map[VarID]bool{s.Var: true, p.outer.Var: true, p.inner.Var: true}}
	for _, lets := range [][]*Let{p.rowLets, p.outerLets, p.innerLets} {
		for _, l := range lets {
			if loadsFrom(l.Value, map[BufID]bool{p.store.Buf: true}) {
				return nil
			}
			a.lets[l.Var], a.inside[l.Var] = l.Value, true
		}
	}
	column, ok := a.coefficient(p.store.Index, p.inner.Var)
	if c, isConst := column.(*Const); !ok || !isConst || c.Bits != 1 {
		return nil
	}
	if p.stride, ok = a.coefficient(p.store.Index, s.Var); !ok || p.stride == nil {
		return nil
	}
	if sets != nil && !p.setBy(sets, filled, a.lets) {
		return nil
	}
	return p
}

// setBy reports whether a loop sets the elements of the row that the panel adds to, and no others.
func (p *panel) setBy(s *For, x *Store, lets map[VarID]Expr) bool {
	var same func(a, b Expr) bool
	same = func(a, b Expr) bool {
		if r, ok := a.(*Ref); ok && lets[r.Var] != nil {
			return same(lets[r.Var], b)
		}
		if r, ok := b.(*Ref); ok && lets[r.Var] != nil {
			return same(a, lets[r.Var])
		}
		switch a := a.(type) {
		case *Ref:
			r, ok := b.(*Ref)
			return ok && (r.Var == a.Var && a.Var != s.Var || a.Var == s.Var && r.Var == p.inner.Var)
		case *Const:
			c, ok := b.(*Const)
			return ok && *c == *a
		case *Binary:
			c, ok := b.(*Binary)
			return ok && c.Op == a.Op && same(a.X, c.X) && same(a.Y, c.Y)
		}
		return false
	}
	return x.Buf == p.store.Buf && same(s.Lo, p.inner.Lo) && same(s.Hi, p.inner.Hi) && same(x.Index, p.store.Index)
}

// tileable reports whether vectors of a type are one register.
func tileable(t Type) bool { return (t.IsInt() || t.IsFloat()) && t.Size() >= 4 }

// affine finds the coefficients of variables in an index.
type affine struct {
	lets   map[VarID]Expr
	inside map[VarID]bool // variables that a coefficient may not have in it
}

// coefficient is what a step of v adds to e, nil for nothing; it is known only of sums and of products with what is the same in
// all iterations.
func (a affine) coefficient(e Expr, v VarID) (c Expr, ok bool) {
	switch e := e.(type) {
	case *Const:
		return nil, true
	case *Ref:
		if e.Var == v {
			return Int(1), true
		}
		if value, isLet := a.lets[e.Var]; isLet {
			return a.coefficient(value, v)
		}
		return nil, true
	case *Binary:
		x, okX := a.coefficient(e.X, v)
		y, okY := a.coefficient(e.Y, v)
		switch {
		case !okX || !okY:
			return nil, false
		case y == nil && (x == nil || e.Op == Add || e.Op == Sub):
			return x, true
		case x == nil && e.Op == Add:
			return y, true
		case y == nil && e.Op == Mul && !Reads(e.Y, a.inside):
			return NewBinary(Mul, x, e.Y), true
		case x == nil && e.Op == Mul && !Reads(e.X, a.inside):
			return NewBinary(Mul, y, e.X), true
		}
		return nil, false
	}
	for _, x := range Operands(e) {
		if c, ok := a.coefficient(x, v); !ok || c != nil {
			return nil, false
		}
	}
	return nil, true
}
