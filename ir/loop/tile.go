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
// A term takes a load of a for each row and one of b for each vector of columns, where it took loads and a store of y as well.
// Compilers make vectors of the columns. Each element takes its terms one after the other in the order of before, so the bits are the same.
// f itself is not changed.
func Tile(f *Func) *Func {
	return replaceLoops(f, func(n *rewrite, s *For) []Stmt {
		if p := panelOf(s); p != nil {
			return n.tiles(p)
		}
		return nil
	})
}

// panel is a loop over rows around one that updates a row again and again.
type panel struct {
	*row
	rows    *For
	rowLets []*Let
	stride  Expr // from an element to the one of the next row
}

// panelOf recognises what Tile unrolls: a row whose steps and columns are the same for all rows, and whose elements
// are so many after those of the row before.
func panelOf(s *For) *panel {
	p := &panel{rows: s}
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
			if p.row = rowOf(x); p.row == nil {
				return nil
			}
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
	return p
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

// tiles is a panel in tiles, from the widest to the narrowest, and the rows that are left, or all of them where rows overlap.
func (n *rewrite) tiles(p *panel) []Stmt {
	var out []Stmt
	let := func(name string, e Expr) Expr {
		l, r := n.let(name, e)
		out = append(out, l)
		return r
	}
	bin := NewBinary
	lo := let("begin", p.rows.Lo)
	columns := let("columns", bin(Max, bin(Sub, p.inner.Hi, p.inner.Lo), Int(0)))
	apart := &Select{Cond: bin(Le, columns, p.stride), X: bin(Sub, p.rows.Hi, lo), Y: Int(0)}
	rows := let("rows", bin(Mul, bin(Div, bin(Max, apart, Int(0)), Int(tileRows)), Int(tileRows)))
	steps := let("steps", bin(Sub, p.outer.Hi, p.outer.Lo))

	block, part := n.fresh("block", I64), n.fresh("part", I64)
	ref := func(v VarID) Expr { return &Ref{Var: v, Typ: I64} }
	var inBlock, inPart []Stmt
	first, firstIs := n.let("first", bin(Add, lo, bin(Mul, ref(block), Int(tileBlock))))
	here, hereIs := n.let("here", bin(Div, bin(Min, bin(Sub, rows, bin(Mul, ref(block), Int(tileBlock))), Int(tileBlock)), Int(tileRows)))
	from, fromIs := n.let("from", bin(Add, p.outer.Lo, bin(Mul, ref(part), Int(tileSteps))))
	to, toIs := n.let("to", bin(Min, p.outer.Hi, bin(Add, fromIs, Int(tileSteps))))
	inPart = append(inPart, from, to)
	column := p.inner.Lo
	left := columns
	for _, width := range []int{tileBytes / p.elem.Size(), tileNarrow, 1} {
		strips := let("strips", bin(Div, left, Int(int64(width))))
		strip, of := n.fresh("strip", I64), n.fresh("tile", I64)
		t := &tile{panel: p, rewrite: n, width: width, names: map[VarID][]VarID{}}
		body := t.emit(bin(Add, firstIs, bin(Mul, ref(of), Int(tileRows))), bin(Add, column, bin(Mul, ref(strip), Int(int64(width)))), fromIs, toIs)
		inPart = append(inPart, &For{Var: strip, Lo: Int(0), Hi: strips, Body: []Stmt{&For{Var: of, Lo: Int(0), Hi: hereIs, Body: body}}})
		column = let("column", bin(Add, column, bin(Mul, strips, Int(int64(width)))))
		left = let("left", bin(Sub, left, bin(Mul, strips, Int(int64(width)))))
	}
	inBlock = []Stmt{first, here, &For{Var: part, Lo: Int(0), Hi: ceilDiv(steps, tileSteps), Body: inPart}}
	rest := *p.rows
	rest.Lo = bin(Add, lo, rows)
	return append(out, &For{Var: block, Lo: Int(0), Hi: ceilDiv(rows, tileBlock), Body: inBlock}, &rest)
}

// ceilDiv is how many parts of a size x has.
func ceilDiv(x Expr, size int64) Expr {
	return NewBinary(Div, NewBinary(Add, x, Int(size-1)), Int(size))
}

// tile is one under construction.
type tile struct {
	*panel
	*rewrite
	width int
	// names are what variables of the panel are called: for each row and column those that differ in both, row by row.
	names        map[VarID][]VarID
	byRow, byCol map[VarID]bool
}

// emit is the tile whose first element is at a row and a column, over some of the steps.
func (t *tile) emit(row, column, from, to Expr) []Stmt {
	t.byRow, t.byCol = map[VarID]bool{t.rows.Var: true}, map[VarID]bool{t.inner.Var: true}
	var out, step []Stmt
	t.each(t.rows.Var, I64, func(r, _ int, id VarID) {
		out = append(out, &Let{Var: id, Value: NewBinary(Add, row, Int(int64(r)))})
	})
	t.each(t.inner.Var, I64, func(_, c int, id VarID) {
		out = append(out, &Let{Var: id, Value: NewBinary(Add, column, Int(int64(c)))})
	})
	steps := t.fresh(t.vars[t.outer.Var].Name, I64)
	t.names[t.outer.Var] = []VarID{steps}
	for _, l := range slices.Concat(t.rowLets, t.outerLets, t.innerLets) {
		t.byRow[l.Var], t.byCol[l.Var] = Reads(l.Value, t.byRow), Reads(l.Value, t.byCol)
		t.each(l.Var, l.Value.Type(), func(r, c int, id VarID) {
			copied := &Let{Var: id, Value: t.at(r, c, nil).expr(l.Value), Origin: l.Origin}
			if t.varies[l.Var] {
				step = append(step, copied)
			} else {
				out = append(out, copied)
			}
		})
	}
	var stores []Stmt
	for r := range tileRows {
		for c := range t.width {
			sum := t.fresh("sum", t.elem)
			is := &Ref{Var: sum, Typ: t.elem}
			index := t.at(r, c, nil).expr(t.store.Index)
			out = append(out, &Let{Var: sum, Mutable: true, Value: &Load{Buf: t.store.Buf, Elem: t.elem, Index: index}})
			step = append(step, &Assign{Var: sum, Value: t.at(r, c, is).expr(t.store.Value)})
			stores = append(stores, &Store{Buf: t.store.Buf, Index: index, Value: is, Origin: t.store.Origin})
		}
	}
	return append(append(out, &For{Var: steps, Lo: from, Hi: to, Body: step}), stores...)
}

// each makes the copies of a variable, one for each row and column that it differs in.
func (t *tile) each(v VarID, typ Type, make func(r, c int, id VarID)) {
	rows, columns := 1, 1
	if t.byRow[v] {
		rows = tileRows
	}
	if t.byCol[v] {
		columns = t.width
	}
	t.names[v] = nil
	for r := range rows {
		for c := range columns {
			id := t.fresh(t.vars[v].Name, typ)
			make(r, c, id)
			t.names[v] = append(t.names[v], id)
		}
	}
}

// at copies expressions for a row and a column; sum is what stands in for the element.
func (t *tile) at(r, c int, sum Expr) rewriter {
	of := rewriter{buffer: func(b BufID) BufID { return b }, variable: func(v VarID) VarID {
		ids, own := t.names[v]
		if !own {
			return v
		}
		at := 0
		if t.byRow[v] {
			at = r
		}
		if t.byCol[v] {
			at = at*t.width + c
		}
		return ids[at]
	}}
	of.load = func(l *Load) Expr {
		if l.Buf == t.store.Buf {
			return sum
		}
		return nil
	}
	return of
}
