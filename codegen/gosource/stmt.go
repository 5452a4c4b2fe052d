package gosource

import (
	"fmt"
	"go/token"
	"regexp"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// writer writes the functions of a file. names and bufs are those of the function that it is in.
type writer struct {
	out     strings.Builder
	current string // its name
	vars    []loop.Var
	loops   int      // in it
	inner   []string // loops of it that are functions of their own (apart.go)
	names   []string
	bufs    []string
	elems   []loop.Type              // of the buffers
	fixed   []bool                   // whether the function only reads them
	rows    []row                    // of the loops that are being written
	values  map[loop.VarID]loop.Expr // of variables that loops define (rows.go)
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

// name gives each variable of a function a name of its own.
func (w *writer) name(vars []loop.Var) {
	w.vars, w.names, w.values = vars, make([]string, len(vars)), map[loop.VarID]loop.Expr{}
	for i, v := range vars {
		w.names[i] = fmt.Sprintf("%s_%d", identifier(v.Name), i)
	}
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
	w.name(f.Vars)
	w.bufs, w.elems, w.fixed = nil, nil, nil
	var params []string
	for i, b := range f.Bufs {
		w.bufs = append(w.bufs, fmt.Sprintf("%s_b%d", identifier(b.Name), i))
		w.elems, w.fixed = append(w.elems, b.Elem), append(w.fixed, b.ReadOnly)
		params = append(params, w.bufs[i]+" []"+goTypes[b.Elem])
	}
	for _, v := range append(append([]loop.VarID(nil), f.Args...), f.Chunk, f.Lo, f.Hi) {
		params = append(params, w.names[v]+" int64")
	}
	w.body(name, fmt.Sprintf("(%s) int64", strings.Join(params, ", ")), f.Body, "return 0")
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
		w.name(s.Vars)
		var params []string
		for _, v := range s.Args {
			params = append(params, w.names[v]+" "+goTypes[s.Vars[v].Type])
		}
		w.body(w.scalars[s.Name], fmt.Sprintf("(%s) %s", strings.Join(params, ", "), goTypes[s.Result]), s.Body, `panic("unreachable")`)
	}
}

// body writes a function, and the loops of it that are functions.
func (w *writer) body(name, signature string, body []loop.Stmt, end string) {
	w.current, w.loops, w.inner = name, countLoops(body), nil
	text := w.text(func() { w.block(body) })
	w.line("\nfunc %s%s {\n%s%s\n}", name, signature, text, end)
	for _, inner := range w.inner {
		w.line("%s", inner)
	}
}

// text is what write writes. Of variables that turn out not to be used it says so, as Go asks.
func (w *writer) text(write func()) string {
	before := w.out.String()
	w.out.Reset()
	write()
	text := w.out.String()
	w.out.Reset()
	w.out.WriteString(before)
	used := words(text)
	return unused().ReplaceAllStringFunc(text, func(line string) string {
		name := unused().FindStringSubmatch(line)[1]
		if used[name] > 2 { // where it is defined, and here
			return ""
		}
		return "_ = " + name + "\n"
	})
}

// words counts the words of a text.
func words(text string) map[string]int {
	n := map[string]int{}
	for _, word := range word().FindAllString(text, -1) {
		n[word]++
	}
	return n
}

var (
	word   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\w+`) })
	unused = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^//unused (\w+)\n`) })
)

// mayBeUnused stands behind the definition of a variable: it may be a part of an index that is not written (rows.go).
func (w *writer) mayBeUnused(name string) { w.line("//unused %s", name) }

func (w *writer) block(body []loop.Stmt) {
	for _, s := range body {
		w.stmt(s)
	}
}

func (w *writer) stmt(s loop.Stmt) {
	switch s := s.(type) {
	case *loop.Let:
		w.line("%s := %s", w.names[s.Var], w.expr(s.Value))
		w.mayBeUnused(w.names[s.Var])
	case *loop.Assign:
		w.line("%s = %s", w.names[s.Var], w.expr(s.Value))
	case *loop.Store:
		w.store(s)
	case *loop.For:
		w.loop(s)
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
	w.line("%s = %s", w.element(s.Buf, s.Index), w.stored(s, value))
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
