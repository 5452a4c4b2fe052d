package loop

import (
	"fmt"
	"reflect"
)

// expr checks e and everything in it.
func (v *verifier) expr(e Expr) {
	for _, x := range Operands(e) {
		v.expr(x)
	}
	switch e := e.(type) {
	case *Const:
		if !e.isCanonical() {
			v.problem("a constant of type %s cannot have the bits %#x, %#x", e.Typ, e.Bits, e.Imag)
		}
	case *Ref:
		if v.see(e.Var) && v.vars[e.Var].Type != e.Typ {
			v.problem("reads %s as %s; it is of type %s", v.names.variable(e.Var), e.Typ, v.vars[e.Var].Type)
		}
	case *Load:
		v.want(e.Index, I64, "the index")
		if v.hasBuffer(e.Buf) && v.bufs[e.Buf].Elem != e.Elem {
			v.problem("loads %s from %s, a buffer of %s", e.Elem, v.names.buffer(e.Buf), v.bufs[e.Buf].Elem)
		}
	case *Unary:
		if t := UnaryType(e.Op, e.X.Type()); t == Invalid || t != e.Typ {
			v.problem("%s of %s does not give %s", opName(unaryOps[:], int(e.Op)), e.X.Type(), e.Typ)
		}
	case *Binary:
		if t := BinaryType(e.Op, e.X.Type()); t == Invalid || t != e.Typ || e.X.Type() != e.Y.Type() {
			v.problem("%s of %s and %s does not give %s", opName(binaryOps[:], int(e.Op)), e.X.Type(), e.Y.Type(), e.Typ)
		}
	case *Select:
		v.want(e.Cond, Bool, "the condition of select")
		if e.X.Type() != e.Y.Type() {
			v.problem("select between %s and %s", e.X.Type(), e.Y.Type())
		}
	case *FMA:
		if t := e.X.Type(); FMAType(t) == Invalid || e.Y.Type() != t || e.Z.Type() != t {
			v.problem("fma of %s, %s and %s", t, e.Y.Type(), e.Z.Type())
		}
	case *Cast:
		if !e.Typ.IsCompute() {
			v.problem("casts to %s, which is not a type to compute in", e.Typ)
		}
	case *Call:
		v.call(e)
	case *Special:
		if e.Reg == InvalidRegister || int(e.Reg) >= len(registers) {
			v.problem("a register that does not exist")
		} else if v.grid == nil {
			v.problem("%s() has no value outside of a grid function", e.Reg)
		}
	}
}

// opName is the text of an operator, which may not be a valid one.
func opName(table []opFacts, op int) string {
	if op > 0 && op < len(table) {
		return table[op].name
	}
	return fmt.Sprintf("operator %d", op)
}

func (v *verifier) call(e *Call) {
	callee, ok := v.lookup(e.Fn)
	if !ok {
		v.problem("calls %s, which is not in the library", e.Fn)
		return
	}
	v.wantName(isCallable(e.Fn), "function", e.Fn)
	if callee.Result != e.Typ {
		v.problem("calls %s for %s; it gives %s", e.Fn, e.Typ, callee.Result)
	}
	if len(callee.Args) != len(e.Args) {
		v.problem("calls %s with %d arguments; it takes %d", e.Fn, len(e.Args), len(callee.Args))
		return
	}
	for i, a := range e.Args {
		if t := typeOf(callee.Vars, callee.Args[i]); t != a.Type() {
			v.problem("argument %d of %s is of type %s, not %s", i+1, e.Fn, a.Type(), t)
		}
	}
}

// A measurer finds trees that are too high or too big to work on, or that lack
// a part, before anything else looks at them.
type measurer struct {
	left int // nodes that may still come
	msg  string
}

func (m *measurer) enter(node any, depth int) bool {
	m.left--
	switch {
	case m.msg != "":
	case node == nil || reflect.ValueOf(node).IsNil():
		m.msg = "a statement or expression is missing (nil)"
	case depth >= maxDepth:
		m.msg = fmt.Sprintf("nested deeper than %d levels", maxDepth)
	case m.left < 0:
		m.msg = fmt.Sprintf("more than %d statements and expressions", maxNodes)
	}
	return m.msg == ""
}

func (m *measurer) block(body []Stmt, depth int) {
	for _, s := range body {
		if !m.enter(s, depth) {
			return
		}
		for _, e := range Exprs(s) {
			m.expr(e, 0)
		}
		switch s := s.(type) {
		case *For:
			m.block(s.Body, depth+1)
		case *While:
			m.block(s.Body, depth+1)
		case *If:
			m.block(s.Then, depth+1)
			m.block(s.Else, depth+1)
		}
	}
}

// expr also looks into operands before Type may, as Type of a Select follows
// its operand.
func (m *measurer) expr(e Expr, depth int) {
	if !m.enter(e, depth) {
		return
	}
	if b, ok := e.(*Binary); ok && int(b.Op) >= len(binaryOps) {
		m.msg = "an operator that does not exist"
	}
	if u, ok := e.(*Unary); ok && int(u.Op) >= len(unaryOps) {
		m.msg = "an operator that does not exist"
	}
	for _, x := range Operands(e) {
		m.expr(x, depth+1)
	}
}
