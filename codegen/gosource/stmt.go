package gosource

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// writer writes the functions of a file. names and bufs are those of the function that it is in.
type writer struct {
	out     strings.Builder
	names   []string
	bufs    []string
	elems   []loop.Type // of the buffers
	read    map[loop.VarID]bool
	lookup  func(string) (*loop.Scalar, bool)
	prefix  string            // of the names of functions
	scalars map[string]string // functions that are written or about to be, by the name in the loop language
	waiting []*loop.Scalar
	err     error
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("gosource: "+format, args...)
	}
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

// name gives each variable of a function a name of its own, and finds those that are read.
func (w *writer) name(vars []loop.Var, body []loop.Stmt) {
	w.names, w.read = make([]string, len(vars)), map[loop.VarID]bool{}
	for i, v := range vars {
		w.names[i] = fmt.Sprintf("%s_%d", identifier(v.Name), i)
	}
	loop.WalkStmts(body, func(s loop.Stmt) {
		for _, e := range loop.Exprs(s) {
			loop.WalkExpr(e, func(e loop.Expr) {
				if r, ok := e.(*loop.Ref); ok {
					w.read[r.Var] = true
				}
			})
		}
	})
}

// identifier is a name that Go takes, before a number.
func identifier(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if !token.IsIdentifier(clean + "_") {
		clean = "v" + clean
	}
	return clean
}

// function writes the function of a stage: buffers, scalars and the chunk in, a status out.
func (w *writer) function(name string, f *loop.Func) {
	w.name(f.Vars, f.Body)
	w.bufs, w.elems = nil, nil
	var params []string
	for i, b := range f.Bufs {
		w.bufs = append(w.bufs, fmt.Sprintf("%s_b%d", identifier(b.Name), i))
		w.elems = append(w.elems, b.Elem)
		params = append(params, w.bufs[i]+" []"+goTypes[b.Elem])
	}
	for _, v := range append(append([]loop.VarID(nil), f.Args...), f.Chunk, f.Lo, f.Hi) {
		params = append(params, w.names[v]+" int64")
	}
	w.line("\nfunc %s(%s) int64 {", name, strings.Join(params, ", "))
	w.block(f.Body)
	w.line("return 0\n}")
}

// scalar is the name of a scalar function, which is written later.
func (w *writer) scalar(fn string) string {
	if name, ok := w.scalars[fn]; ok {
		return name
	}
	s, ok := w.lookup(fn)
	if !ok {
		w.fail("there is no scalar function %s", fn)
		return fn
	}
	w.scalars[fn] = w.prefix + "_" + identifier(fn)
	w.waiting = append(w.waiting, s)
	return w.scalars[fn]
}

// rest writes the scalar functions that are waiting.
func (w *writer) rest() {
	for len(w.waiting) > 0 {
		s := w.waiting[0]
		w.waiting = w.waiting[1:]
		w.name(s.Vars, s.Body)
		var params []string
		for _, v := range s.Args {
			params = append(params, w.names[v]+" "+goTypes[s.Vars[v].Type])
		}
		w.line("\nfunc %s(%s) %s {", w.scalars[s.Name], strings.Join(params, ", "), goTypes[s.Result])
		w.block(s.Body)
		w.line("panic(\"unreachable\")\n}")
	}
}

func (w *writer) block(body []loop.Stmt) {
	for _, s := range body {
		w.stmt(s)
	}
}

func (w *writer) stmt(s loop.Stmt) {
	switch s := s.(type) {
	case *loop.Let:
		w.line("%s := %s", w.names[s.Var], w.expr(s.Value))
		if !w.read[s.Var] {
			w.line("_ = %s", w.names[s.Var])
		}
	case *loop.Assign:
		w.line("%s = %s", w.names[s.Var], w.expr(s.Value))
	case *loop.Store:
		w.store(s)
	case *loop.For:
		v := w.names[s.Var]
		w.line("for %s, end := %s, %s; %s < end; %s++ {", v, w.expr(s.Lo), w.expr(s.Hi), v, v)
		w.block(s.Body)
		w.line("}")
	case *loop.While:
		w.line("for %s {", w.expr(s.Cond))
		w.block(s.Body)
		w.line("}")
	case *loop.If:
		w.line("if %s {", w.expr(s.Cond))
		w.block(s.Then)
		if len(s.Else) > 0 {
			w.line("} else {")
			w.block(s.Else)
		}
		w.line("}")
	case *loop.Fail:
		w.line("return %d", 1+s.Code)
	case *loop.Return:
		w.line("return %s", w.expr(s.Value))
	case *loop.Comment:
		w.line("// %s", strings.ReplaceAll(s.Text, "\n", " "))
	default:
		w.fail("%T is no statement of a kernel for a processor", s)
	}
}

func (w *writer) store(s *loop.Store) {
	value := w.expr(s.Value)
	w.line("%s[%s] = %s", w.bufs[s.Buf], w.expr(s.Index), w.stored(s, value))
}

// stored is a value as the buffer has it.
func (w *writer) stored(s *loop.Store, value string) string {
	switch w.elems[s.Buf] {
	case loop.F16:
		return "loop.F32ToF16(" + value + ")"
	case loop.BF16:
		return "loop.F32ToBF16(" + value + ")"
	}
	return value
}
