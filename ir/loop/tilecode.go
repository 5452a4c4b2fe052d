package loop

import "slices"

// The tiles of a panel, which tile.go finds.

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
	for _, t := range p.widths(n) {
		width := t.width
		strips := let("strips", bin(Div, left, Int(int64(width))))
		if t.cut {
			strips, t.left = let("strips", bin(Min, left, Int(1))), left
		}
		strip, of := n.fresh("strip", I64), n.fresh("tile", I64)
		from := bin(Add, column, bin(Mul, ref(strip), Int(int64(width))))
		inStrip := t.filled(from, fromIs, toIs)
		row := bin(Add, firstIs, bin(Mul, ref(of), Int(tileRows)))
		body := t.emit(row, from, fromIs, toIs)
		if p.first != nil {
			body = append(t.set(row, from, bin(Eq, ref(part), Int(0))), body...)
		}
		inPart = append(inPart, &For{Var: strip, Lo: Int(0), Hi: strips, Body: append(inStrip, &For{Var: of, Lo: Int(0), Hi: hereIs, Body: body})})
		column = let("column", bin(Add, column, bin(Mul, strips, Int(int64(width)))))
		left = let("left", bin(Sub, left, bin(Mul, strips, Int(int64(width)))))
	}
	parts := ceilDiv(steps, tileSteps)
	if p.first != nil {
		parts = bin(Max, parts, Int(1)) // which sets rows
	}
	inBlock = []Stmt{first, here, &For{Var: part, Lo: Int(0), Hi: parts, Body: inPart}}
	rest := *p.rows
	rest.Lo = bin(Add, lo, rows)
	return append(out, &For{Var: block, Lo: Int(0), Hi: ceilDiv(rows, tileBlock), Body: inBlock}, &rest)
}

// widths are the tiles that a panel is computed in, one after the other.
func (p *panel) widths(n *rewrite) []*tile {
	wide, narrow := &tile{panel: p, rewrite: n, width: tileBytes / p.elem.Size()}, &tile{panel: p, rewrite: n, width: tileNarrow}
	last := &tile{panel: p, rewrite: n, width: 1}
	if len(p.packed) > 0 && p.elem.IsFloat() { // sums that are not there are of anything, and integers must not be divided by that
		last.width, last.cut = tileNarrow, true
	}
	return []*tile{wide, narrow, last}
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
	// cut: of the tile's columns only the first few are there, as many as are left. The others are computed like the last of these and not
	// stored: four columns are a vector's work, one or two would be that of as many numbers.
	cut  bool
	left Expr
	// names are what variables of the panel are called in the tile: for each row and column those that differ in both, row by row.
	names        map[VarID][]VarID
	byRow, byCol map[VarID]bool
}

// filled packs a strip of columns, over some of the steps.
func (t *tile) filled(column, from, to Expr) []Stmt {
	if len(t.packed) == 0 {
		return nil
	}
	out, step, counter, place := t.open(nil, column, from)
	for k, l := range t.packed {
		for c := range t.width {
			step = append(step, &Store{Buf: t.in, Index: t.slot(place, k, c), Value: t.at(0, c, nil, nil).expr(l), Origin: t.store.Origin})
		}
	}
	return append(out, &For{Var: counter, Lo: from, Hi: to, Body: step})
}

// set sets the elements of a tile where a condition holds.
func (t *tile) set(row, column, where Expr) []Stmt {
	out, _, _, _ := t.open(row, column, Int(0))
	var stores []Stmt
	for r := range tileRows {
		for c := range t.width {
			stores = append(stores, &Store{Buf: t.store.Buf, Index: t.at(r, c, nil, nil).expr(t.store.Index), Value: t.first, Origin: t.store.Origin})
		}
	}
	return []Stmt{&If{Cond: where, Then: append(out, stores...)}}
}

// emit is the tile whose first element is at a row and a column, over some of the steps.
func (t *tile) emit(row, column, from, to Expr) []Stmt {
	out, step, counter, place := t.open(row, column, from)
	var stores []Stmt
	for r := range tileRows {
		for c := range t.width {
			sum := t.fresh("sum", t.elem)
			is := &Ref{Var: sum, Typ: t.elem}
			buf, index := t.store.Buf, t.at(r, c, nil, nil).expr(t.store.Index)
			if t.cut {
				buf, index = t.in, t.outside(r, Int(int64(c)))
			}
			out = append(out, &Let{Var: sum, Mutable: true, Value: &Load{Buf: buf, Elem: t.elem, Index: index}})
			step = append(step, &Assign{Var: sum, Value: t.at(r, c, is, place).expr(t.store.Value)})
			stores = append(stores, &Store{Buf: buf, Index: index, Value: is, Origin: t.store.Origin})
		}
	}
	out = append(append(out, &For{Var: counter, Lo: from, Hi: to, Body: step, Unroll: 4}), stores...)
	if !t.cut {
		return out
	}
	in := t.copied(row, column, func(r int, index, c Expr) *Store {
		return &Store{Buf: t.in, Index: t.outside(r, c), Value: &Load{Buf: t.store.Buf, Elem: t.elem, Index: index}}
	})
	back := t.copied(row, column, func(r int, index, c Expr) *Store {
		return &Store{Buf: t.store.Buf, Index: index, Value: &Load{Buf: t.in, Elem: t.elem, Index: t.outside(r, c)}}
	})
	return slices.Concat([]Stmt{in}, out, []Stmt{back})
}

// outside is where an element of a tile that is cut stays, behind what is packed: four elements side by side, whichever are there, are what tells LLVM that
// they are a vector.
func (t *tile) outside(r int, c Expr) Expr {
	return NewBinary(Add, Int(int64(len(t.packed)*tileSteps*(tileBytes/t.elem.Size())+r*t.width)), c)
}

// copied is a loop over the columns c that a tile has, and in it a store for each row r whose element there has an index.
func (t *tile) copied(row, column Expr, store func(r int, index, c Expr) *Store) *For {
	one := &tile{panel: t.panel, rewrite: t.rewrite, width: 1}
	c := t.fresh("column", I64)
	is := &Ref{Var: c, Typ: I64}
	body, _, _, _ := one.open(row, NewBinary(Add, column, is), Int(0))
	for r := range tileRows {
		x := store(r, one.at(r, 0, nil, nil).expr(t.store.Index), is)
		x.Origin = t.store.Origin
		body = append(body, x)
	}
	return &For{Var: c, Lo: Int(0), Hi: t.left, Body: body}
}

// open makes the constants of a tile: those that are the same in all steps, and those of a step, with the variable that counts these from a first one on and
// where its part of what is packed begins. Without a row there are none that differ by row, and nothing is packed yet.
func (t *tile) open(row, column, from Expr) (out, step []Stmt, counter VarID, place Expr) {
	t.names = map[VarID][]VarID{}
	t.byRow, t.byCol = map[VarID]bool{t.rows.Var: true}, map[VarID]bool{t.inner.Var: true}
	if row != nil {
		t.each(t.rows.Var, I64, func(r, _ int, id VarID) {
			out = append(out, &Let{Var: id, Value: NewBinary(Add, row, Int(int64(r)))})
		})
	}
	t.each(t.inner.Var, I64, func(_, c int, id VarID) {
		at := NewBinary(Add, column, Int(int64(c)))
		if t.cut && c > 0 {
			at = NewBinary(Min, at, NewBinary(Sub, t.inner.Hi, Int(1)))
		}
		out = append(out, &Let{Var: id, Value: at})
	})
	counter = t.fresh(t.vars[t.outer.Var].Name, I64)
	t.names[t.outer.Var] = []VarID{counter}
	at, place := t.let("place", NewBinary(Mul, NewBinary(Sub, &Ref{Var: counter, Typ: I64}, from), Int(int64(t.width))))
	step = append(step, at)
	var packed Expr
	if row != nil {
		packed = place
	}
	for _, l := range slices.Concat(t.rowLets, t.outerLets, t.innerLets) {
		t.byRow[l.Var], t.byCol[l.Var] = Reads(l.Value, t.byRow), Reads(l.Value, t.byCol)
		if row == nil && t.byRow[l.Var] {
			continue
		}
		t.each(l.Var, l.Value.Type(), func(r, c int, id VarID) {
			copied := &Let{Var: id, Value: t.at(r, c, nil, packed).expr(l.Value), Origin: l.Origin}
			if t.varies[l.Var] {
				step = append(step, copied)
			} else {
				out = append(out, copied)
			}
		})
	}
	return out, step, counter, place
}

// slot is where a column of a load is packed, of the step whose part begins at a place.
func (t *tile) slot(place Expr, load, column int) Expr {
	return NewBinary(Add, place, Int(int64(load*tileSteps*t.width+column)))
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

// at copies expressions for a row and a column; sum is what stands in for the element, and what is packed is read from there if the place is known.
func (t *tile) at(r, c int, sum, place Expr) rewriter {
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
		if k := slices.Index(t.packed, l); k >= 0 && place != nil {
			return &Load{Buf: t.in, Elem: l.Elem, Index: t.slot(place, k, c)}
		}
		return nil
	}
	return of
}
