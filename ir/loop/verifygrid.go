package loop

import (
	"errors"
	"math/bits"
	"slices"
)

// gridHeader checks what makes f a grid function or an ordinary one.
func (v *verifier) gridHeader(f *Func) {
	g := f.Grid
	if g == nil {
		return
	}
	if f.Chunk != NoVar || f.Lo != NoVar || f.Hi != NoVar {
		v.problem("a grid function has no chunk; use blocks() and its parameters")
	}
	if g.Resident < 0 || g.Resident > MaxResident {
		v.problem("%d resident blocks; there are 0 to %d", g.Resident, MaxResident)
	}
	if g.Threads <= 0 || g.Threads > MaxThreads || g.Threads%WarpSize != 0 {
		v.problem("a block of %d threads; it is a multiple of %d up to %d", g.Threads, WarpSize, MaxThreads)
	}
	for i, s := range g.Shared {
		v.wantName(isName(s.Name), "shared array", s.Name)
		if s.Elem == Invalid || int(s.Elem) >= len(types) {
			v.problem("shared array %d has no element type", i)
			return
		}
		if s.Len < 0 {
			v.problem("the shared array %s has %d elements", s.Name, s.Len)
		}
	}
	if n := g.Bytes(); n > MaxShared {
		v.problem("the shared arrays of a block take more than %d bytes", MaxShared)
	}
}

// quick checks what stands in for f while f is compiled.
func (v *verifier) quick(f *Func) {
	q := f.Quick
	switch {
	case f.Grid == nil || q.Grid == nil:
		v.problem("only a grid function has a quick one, which is a grid function too")
		return
	case q.Quick != nil:
		v.problem("the quick function has a quick one itself")
		return
	case q.Grid.Threads != f.Grid.Threads:
		v.problem("the quick function has blocks of %d threads, not %d", q.Grid.Threads, f.Grid.Threads)
	case len(q.Args) != len(f.Args):
		v.problem("the quick function has %d scalar parameters, not %d", len(q.Args), len(f.Args))
	case !slices.EqualFunc(q.Bufs, f.Bufs, func(x, y Buf) bool { return x.Elem == y.Elem && (x.ReadOnly || !y.ReadOnly) }):
		v.problem("the quick function has other buffers")
	case !slices.Equal(q.Fails, f.Fails):
		v.problem("the quick function fails with other messages")
	}
	if err := (*VerifyError)(nil); errors.As(q.Verify(v.resolve), &err) {
		v.problem("the quick function: %s", err.Problems[0].Msg)
	}
}

// gridStmt checks a statement of grid functions but for where it stands.
func (v *verifier) gridStmt(s Stmt) {
	if v.grid == nil {
		v.problem("only a grid function may use this")
	}
	switch s := s.(type) {
	case *Barrier:
		if s.Scope > WarpScope {
			v.problem("a barrier of scope %d", s.Scope)
		}
	case *Shuffle:
		v.expr(s.Value)
		v.expr(s.Lane)
		v.want(s.Lane, I64, "the lane")
		if int(s.Kind) >= len(shuffles) {
			v.problem("a shuffle of kind %d", s.Kind)
		}
		if s.Width <= 0 || s.Width > WarpSize || bits.OnesCount(uint(s.Width)) != 1 {
			v.problem("segments of %d lanes; they have 1, 2, 4, 8, 16 or 32", s.Width)
		}
		v.declare(s.Var, s.Value.Type(), fixedVar)
	case *Ballot:
		v.expr(s.Cond)
		v.want(s.Cond, Bool, "the condition")
		v.declare(s.Var, U32, fixedVar)
	case *Atomic:
		v.atomic(s)
	}
}

func (v *verifier) atomic(s *Atomic) {
	for _, e := range Exprs(s) {
		v.expr(e)
	}
	v.want(s.Index, I64, "the index")
	if !v.hasBuffer(s.Buf) {
		return
	}
	b := v.bufs[s.Buf]
	if b.ReadOnly {
		v.problem("changes %s, which is read-only", v.names.buffer(s.Buf))
	}
	switch {
	case !s.Op.Takes(b.Elem):
		v.problem("%s is not defined on elements of type %s", s.Op, b.Elem)
		return
	case s.Op == AtomicCompareAndSwap:
		v.want(s.Expected, b.Elem, "the expected value")
	case s.Expected != nil:
		v.problem("%s expects no value", s.Op)
	}
	v.want(s.Value, b.Elem, "the value")
	if s.Var != NoVar {
		v.declare(s.Var, b.Elem, fixedVar)
	}
}
