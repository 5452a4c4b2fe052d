package loop

import "fmt"

// NewGridBuilder starts a grid function whose blocks have the given number of
// threads, a multiple of 32 up to 1024.
func NewGridBuilder(name string, threads int) *Builder {
	b := &Builder{f: &Func{Name: CleanName(name), Chunk: NoVar, Lo: NoVar, Hi: NoVar}, fails: map[string]int{}}
	b.f.Grid = &Grid{Threads: threads}
	b.block = &b.f.Body
	return b
}

// Resident sets how many blocks a processor should have room for; see Grid.
func (b *Builder) Resident(blocks int) { b.grid().Resident = blocks }

// firstShared is the number that a Builder gives to the first shared array, as
// buffers may still come; Func numbers them anew.
const firstShared BufID = 1 << 30

// Shared adds an array of n elements that each block has for itself. It may be
// called at any time.
func (b *Builder) Shared(name string, elem Type, n int64) BufID {
	g := b.grid()
	g.Shared = append(g.Shared, Shared{Name: CleanName(name), Elem: elem, Len: n})
	return firstShared + BufID(len(g.Shared)-1)
}

func (b *Builder) grid() *Grid {
	if b.f.Grid == nil {
		panic("BUG: a grid construct in the ordinary function " + b.f.Name)
	}
	return b.f.Grid
}

// buf is what a number given out by Buf or Shared stands for.
func (b *Builder) buf(id BufID) Buf {
	if id >= firstShared {
		s := b.f.Grid.Shared[id-firstShared]
		return Buf{Name: s.Name, Elem: s.Elem}
	}
	return b.f.Bufs[id]
}

// numbered is the final number of a buffer or shared array.
func (b *Builder) numbered(id BufID) BufID {
	if id >= firstShared {
		return id - firstShared + BufID(len(b.f.Bufs))
	}
	return id
}

// Special reads a special register.
func (b *Builder) Special(r Register) Expr {
	b.grid()
	return &Special{Reg: r}
}

// Barrier lets the threads of the scope wait for each other.
func (b *Builder) Barrier(s Scope) {
	b.grid()
	b.emit(&Barrier{Scope: s})
}

// Shuffle names the value that another thread of the warp has; see Shuffle and
// ShuffleKind.
func (b *Builder) Shuffle(name string, kind ShuffleKind, value, lane Expr, width int) Expr {
	b.grid()
	wantIndex(lane)
	s := &Shuffle{Var: b.fresh(name, value.Type(), fixedVar), Kind: kind, Value: value, Lane: lane, Width: width}
	b.emit(s)
	return b.ref(s.Var)
}

// Ballot names the U32 that tells for which lanes of the warp cond holds.
func (b *Builder) Ballot(name string, cond Expr) Expr {
	b.grid()
	wantBool(cond)
	s := &Ballot{Var: b.fresh(name, U32, fixedVar), Cond: cond}
	b.emit(s)
	return b.ref(s.Var)
}

// Atomic changes element index of a buffer or shared array in one step. op is
// not AtomicCompareAndSwap.
func (b *Builder) Atomic(op AtomicOp, buf BufID, index, value Expr) {
	b.atomic(&Atomic{Var: NoVar, Op: op, Buf: buf, Index: index, Value: value})
}

// AtomicOld is Atomic that also names the element's value before.
func (b *Builder) AtomicOld(name string, op AtomicOp, buf BufID, index, value Expr) Expr {
	return b.named(name, &Atomic{Op: op, Buf: buf, Index: index, Value: value})
}

// CompareAndSwap gives element index the value if it equals expected, in one step,
// and names what it was before.
func (b *Builder) CompareAndSwap(name string, buf BufID, index, expected, value Expr) Expr {
	return b.named(name, &Atomic{Op: AtomicCompareAndSwap, Buf: buf, Index: index, Expected: expected, Value: value})
}

func (b *Builder) named(name string, s *Atomic) Expr {
	s.Var = b.fresh(name, b.buf(s.Buf).Elem, fixedVar)
	b.atomic(s)
	return b.ref(s.Var)
}

func (b *Builder) atomic(s *Atomic) {
	b.grid()
	wantIndex(s.Index)
	p := b.buf(s.Buf)
	if p.ReadOnly || !s.Op.Takes(p.Elem) || s.Value.Type() != p.Elem ||
		(s.Expected != nil) != (s.Op == AtomicCompareAndSwap) || s.Expected != nil && s.Expected.Type() != p.Elem {
		panic(fmt.Sprintf("BUG: %s of %s on buffer %s of %s", s.Op, s.Value.Type(), p.Name, p.Elem))
	}
	b.emit(s)
}
