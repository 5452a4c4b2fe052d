package loop

import "fmt"

// Access says what a function does with a buffer.
type Access bool

// The two ways to use a buffer.
const (
	ReadWrite Access = false
	ReadOnly  Access = true
)

// A Builder writes a function statement by statement. Blocks are Go functions
// that add statements to the builder:
//
//	b := loop.NewBuilder("scale")
//	y := b.Buf("y", loop.F64, loop.ReadWrite)
//	n := b.Arg("n")
//	b.For("i", loop.Int(0), n, func(i loop.Expr) {
//		b.Store(y, i, b.Mul(loop.Float(loop.F64, 2), b.Load(y, i)))
//	})
//	f := b.Func()
//
// Every variable is fresh: names are for the reader and need not differ. The
// operators simplify as they build (see NewBinary). A Builder panics when it is
// given operands whose types do not fit, which is a mistake of the compiler and
// never of its input.
type Builder struct {
	f      *Func
	block  *[]Stmt
	fixed  []bool // by VarID: the variable is never assigned
	fails  map[string]int
	origin Origin // of statements that are added
}

// NewBuilder starts a function. Its chunk triple is named chunk, lo and hi.
func NewBuilder(name string) *Builder {
	f := &Func{Name: CleanName(name)}
	b := &Builder{f: f, block: &f.Body, fails: map[string]int{}}
	f.Chunk = b.fresh("chunk", I64, fixedVar)
	f.Lo = b.fresh("lo", I64, fixedVar)
	f.Hi = b.fresh("hi", I64, fixedVar)
	return b
}

const (
	fixedVar   = true
	mutableVar = false
)

func (b *Builder) fresh(name string, t Type, fixed bool) VarID {
	if !t.IsCompute() {
		panic(fmt.Sprintf("BUG: variable %s of type %s", name, t))
	}
	b.f.Vars = append(b.f.Vars, Var{Name: CleanName(name), Type: t})
	b.fixed = append(b.fixed, fixed)
	return VarID(len(b.f.Vars) - 1)
}

// Func returns the function built so far, with variables and messages numbered
// in the order of the text. The builder may go on; the result does not change.
func (b *Builder) Func() *Func { return compact(b.f, b.numbered) }

// Buf adds a buffer parameter.
func (b *Builder) Buf(name string, elem Type, access Access) BufID {
	b.f.Bufs = append(b.f.Bufs, Buf{Name: CleanName(name), Elem: elem, ReadOnly: access == ReadOnly})
	return BufID(len(b.f.Bufs) - 1)
}

// Once says that each element of a read-only buffer is read about once; see Buf.
func (b *Builder) Once(buf BufID) {
	b.grid()
	b.f.Bufs[buf].Once = true
}

// Elem is the element type of a buffer; its values are of type Elem.Compute().
func (b *Builder) Elem(buf BufID) Type { return b.buf(buf).Elem }

// Arg adds a scalar parameter (I64).
func (b *Builder) Arg(name string) Expr {
	id := b.fresh(name, I64, fixedVar)
	b.f.Args = append(b.f.Args, id)
	return b.ref(id)
}

func (b *Builder) ref(id VarID) *Ref { return &Ref{Var: id, Typ: b.f.Vars[id].Type} }

// Chunk is the number of the chunk that the function is called for. Grid functions
// have none, nor Lo and Hi.
func (b *Builder) Chunk() Expr { return b.ref(b.f.Chunk) }

// Lo is the first element of the chunk.
func (b *Builder) Lo() Expr { return b.ref(b.f.Lo) }

// Hi is one past the last element of the chunk.
func (b *Builder) Hi() Expr { return b.ref(b.f.Hi) }

func (b *Builder) emit(s Stmt) {
	stamp(s, b.origin)
	*b.block = append(*b.block, s)
}

// nested runs body and returns the statements that it adds.
func (b *Builder) nested(body func()) []Stmt {
	if body == nil {
		return nil
	}
	var inner []Stmt
	outer := b.block
	b.block = &inner
	body()
	b.block = outer
	return inner
}

// Comment adds a line for the reader of the printed code.
func (b *Builder) Comment(format string, args ...any) {
	b.emit(&Comment{Text: commentText(fmt.Sprintf(format, args...))})
}

// Let names a value and returns what to use for it: a new variable or, where
// that is as good, the value itself (a constant, or a variable that does not
// change).
func (b *Builder) Let(name string, value Expr) Expr {
	switch v := value.(type) {
	case *Const:
		return v
	case *Ref:
		if b.fixed[v.Var] {
			return v
		}
	}
	id := b.fresh(name, value.Type(), fixedVar)
	b.emit(&Let{Var: id, Value: value})
	return b.ref(id)
}

// Var declares a variable that Assign may change.
func (b *Builder) Var(name string, value Expr) *Ref {
	id := b.fresh(name, value.Type(), mutableVar)
	b.emit(&Let{Var: id, Mutable: true, Value: value})
	return b.ref(id)
}

// Assign gives a variable made by Var a new value.
func (b *Builder) Assign(v *Ref, value Expr) {
	if b.fixed[v.Var] || v.Typ != value.Type() {
		panic(fmt.Sprintf("BUG: assigning %s to %s of type %s", value.Type(), b.f.Vars[v.Var].Name, v.Typ))
	}
	b.emit(&Assign{Var: v.Var, Value: value})
}

// Load reads element index of a buffer; half-precision elements become F32.
func (b *Builder) Load(buf BufID, index Expr) Expr {
	wantIndex(index)
	return &Load{Buf: buf, Elem: b.buf(buf).Elem, Index: index}
}

// LoadIndex reads element index of an integer buffer as I64. Unsigned elements
// are extended with zeros.
func (b *Builder) LoadIndex(buf BufID, index Expr) Expr {
	return NewCast(I64, b.Load(buf, index))
}

// Store writes element index of a buffer. The value is of type Elem.Compute().
func (b *Builder) Store(buf BufID, index, value Expr) {
	wantIndex(index)
	p := b.buf(buf)
	if p.ReadOnly || value.Type() != p.Elem.Compute() {
		panic(fmt.Sprintf("BUG: storing %s to buffer %s of %s", value.Type(), p.Name, p.Elem))
	}
	b.emit(&Store{Buf: buf, Index: index, Value: value})
}

func wantIndex(e Expr) {
	if e.Type() != I64 {
		panic("BUG: an index of type " + e.Type().String())
	}
}

// For runs body for i = lo, lo+1, …, hi-1.
func (b *Builder) For(name string, lo, hi Expr, body func(i Expr)) {
	b.loop(name, &For{Lo: lo, Hi: hi}, body)
}

// ForIndependent is For where iterations touch different elements, or only
// read, so that an engine may reorder or vectorise them.
func (b *Builder) ForIndependent(name string, lo, hi Expr, body func(i Expr)) {
	b.loop(name, &For{Lo: lo, Hi: hi, Independent: true}, body)
}

// loop adds a loop; one that does nothing is left out.
func (b *Builder) loop(name string, s *For, body func(i Expr)) {
	wantIndex(s.Lo)
	wantIndex(s.Hi)
	s.Var = b.fresh(name, I64, fixedVar)
	s.Body = b.nested(func() { body(b.ref(s.Var)) })
	if len(s.Body) > 0 {
		b.emit(s)
	}
}

// While runs body as long as cond holds.
func (b *Builder) While(cond Expr, body func()) {
	wantBool(cond)
	if c, ok := cond.(*Const); ok && c.Bits == 0 {
		return
	}
	b.emit(&While{Cond: cond, Body: b.nested(body)})
}

// If runs then where cond holds and otherwise the other block; either may be
// nil. Of a constant condition only the block that runs is built, in place.
func (b *Builder) If(cond Expr, then, otherwise func()) {
	wantBool(cond)
	if c, ok := cond.(*Const); ok {
		block := otherwise
		if c.Bits != 0 {
			block = then
		}
		if block != nil {
			block()
		}
		return
	}
	s := &If{Cond: cond, Then: b.nested(then), Else: b.nested(otherwise)}
	switch {
	case len(s.Then) == 0 && len(s.Else) == 0:
		return
	case len(s.Then) == 0:
		s = &If{Cond: NewUnary(Not, cond), Then: s.Else}
	}
	b.emit(s)
}

// Seldom runs then where cond holds, which it is expected to do in few cases.
func (b *Builder) Seldom(cond Expr, then func()) {
	wantBool(cond)
	b.emit(&If{Cond: cond, Then: b.nested(then), Seldom: true})
}

// Unless runs body where cond does not hold. Its loops over ranges are not put under a condition
// but have no iterations where it holds, so that threads which go through them
// together stay together; what body declares is there in either case.
func (b *Builder) Unless(cond Expr, body func()) {
	wantBool(cond)
	for _, s := range b.nested(body) {
		switch s := s.(type) {
		case *Let, *Comment:
			b.emit(s)
		case *For:
			s.Lo = b.Let("from", s.Lo)
			s.Hi = b.Let("to", NewSelect(cond, s.Lo, s.Hi))
			b.emit(s)
		default:
			b.emit(&If{Cond: NewUnary(Not, cond), Then: []Stmt{s}})
		}
	}
}

func wantBool(e Expr) {
	if e.Type() != Bool {
		panic("BUG: a condition of type " + e.Type().String())
	}
}

// Fail stops the function with a message for the user. Equal messages share a
// number.
func (b *Builder) Fail(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	code, known := b.fails[message]
	if !known {
		code = len(b.f.Fails)
		b.fails[message] = code
		b.f.Fails = append(b.f.Fails, message)
	}
	b.emit(&Fail{Code: code})
}

// The operators, for short; see NewBinary, NewUnary, NewSelect, NewFMA and NewCast.

// Add is x + y.
func (b *Builder) Add(x, y Expr) Expr { return NewBinary(Add, x, y) }

// Sub is x - y.
func (b *Builder) Sub(x, y Expr) Expr { return NewBinary(Sub, x, y) }

// Mul is x * y.
func (b *Builder) Mul(x, y Expr) Expr { return NewBinary(Mul, x, y) }

// Div is x / y.
func (b *Builder) Div(x, y Expr) Expr { return NewBinary(Div, x, y) }

// Rem is x % y.
func (b *Builder) Rem(x, y Expr) Expr { return NewBinary(Rem, x, y) }

// Min is min(x, y).
func (b *Builder) Min(x, y Expr) Expr { return NewBinary(Min, x, y) }

// Max is max(x, y).
func (b *Builder) Max(x, y Expr) Expr { return NewBinary(Max, x, y) }

// And is x & y.
func (b *Builder) And(x, y Expr) Expr { return NewBinary(And, x, y) }

// Or is x | y.
func (b *Builder) Or(x, y Expr) Expr { return NewBinary(Or, x, y) }

// Not is !x.
func (b *Builder) Not(x Expr) Expr { return NewUnary(Not, x) }

// Eq is x == y.
func (b *Builder) Eq(x, y Expr) Expr { return NewBinary(Eq, x, y) }

// Ne is x != y.
func (b *Builder) Ne(x, y Expr) Expr { return NewBinary(Ne, x, y) }

// Lt is x < y.
func (b *Builder) Lt(x, y Expr) Expr { return NewBinary(Lt, x, y) }

// Le is x <= y.
func (b *Builder) Le(x, y Expr) Expr { return NewBinary(Le, x, y) }

// Gt is x > y.
func (b *Builder) Gt(x, y Expr) Expr { return NewBinary(Gt, x, y) }

// Ge is x >= y.
func (b *Builder) Ge(x, y Expr) Expr { return NewBinary(Ge, x, y) }

// Select is x where cond holds and y otherwise; both are evaluated.
func (b *Builder) Select(cond, x, y Expr) Expr { return NewSelect(cond, x, y) }

// FMA is x*y + z, rounded once.
func (b *Builder) FMA(x, y, z Expr) Expr { return NewFMA(x, y, z) }

// Cast converts x to t.
func (b *Builder) Cast(t Type, x Expr) Expr { return NewCast(t, x) }

// Call applies a library function with result type t.
func (b *Builder) Call(fn string, t Type, args ...Expr) Expr {
	if !isCallable(fn) || !t.IsCompute() {
		panic(fmt.Sprintf("BUG: a call of %s with result type %s", fn, t))
	}
	return &Call{Fn: fn, Typ: t, Args: args}
}
