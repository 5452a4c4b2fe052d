package loop

import (
	"strconv"
	"strings"
)

// reserved are the words that cannot name a variable or a buffer in the text.
var reserved = [...]string{
	"let", "var", "for", "while", "if", "else", "fail", "return", "to",
	"true", "false", "nan", "inf",
}

// isName reports whether s is a name of the loop language: a letter or
// underscore followed by letters, digits and underscores, all ASCII.
func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i], i) {
			return false
		}
	}
	return s != ""
}

// isNameByte reports whether c may stand at place i of a name.
func isNameByte(c byte, i int) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || i > 0 && isDigit(c)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isCallable reports whether a scalar function may be called name: a name that
// the language does not already use with parentheses behind it.
func isCallable(name string) bool {
	_, builtin := builtins[name]
	return isName(name) && !builtin && TypeByName(name) == Invalid && !isReserved(name)
}

// isEntity reports whether name can name a function, a stage or a program.
func isEntity(name string) bool { return isName(name) && !isReserved(name) }

// CleanName turns any text into a name of the loop language by replacing what
// does not fit with underscores; empty text becomes "v".
func CleanName(s string) string {
	if isName(s) {
		return s
	}
	if s == "" {
		return "v"
	}
	b := []byte(s)
	for i, c := range b {
		if !isNameByte(c, 1) {
			b[i] = '_'
		}
	}
	if isDigit(b[0]) {
		return "_" + string(b)
	}
	return string(b)
}

// A namer hands out printed names. The second use of a name gets the suffix
// .1, the third .2 and so on; reserved words count as used.
type namer struct{ used map[string]int }

func newNamer() *namer {
	n := &namer{used: make(map[string]int, 2*len(reserved))}
	for _, w := range reserved {
		n.used[w] = 1
	}
	return n
}

func (n *namer) unique(name string) string {
	name = CleanName(name)
	k := n.used[name]
	n.used[name] = k + 1
	if k == 0 {
		return name
	}
	return name + "." + strconv.Itoa(k)
}

// baseName strips the suffix that a namer added.
func baseName(printed string) string {
	base, _, _ := strings.Cut(printed, ".")
	return base
}

// scopeNames holds the printed names of one function's variables and buffers.
type scopeNames struct{ vars, bufs []string }

func (s scopeNames) variable(id VarID) string {
	if id < 0 || int(id) >= len(s.vars) {
		return "?" + strconv.Itoa(int(id))
	}
	return s.vars[id]
}

func (s scopeNames) buffer(id BufID) string {
	if id < 0 || int(id) >= len(s.bufs) {
		return "?" + strconv.Itoa(int(id))
	}
	return s.bufs[id]
}

// funcNames names what f declares, in the order of the text, so that printing
// the parsed text again gives the same names.
func funcNames(f *Func) scopeNames {
	n := newNamer()
	bufs := make([]string, len(f.Bufs))
	for i, b := range f.Bufs {
		bufs[i] = n.unique(b.Name)
	}
	// Shared arrays stand behind the parameters.
	vars := n.parameters(f.Vars, f.entry())
	for _, b := range f.Buffers()[len(f.Bufs):] {
		bufs = append(bufs, n.unique(b.Name))
	}
	return scopeNames{bufs: bufs, vars: n.variables(vars, f.Vars, f.Body)}
}

// scalarNames is funcNames for a Scalar.
func scalarNames(s *Scalar) scopeNames {
	n := newNamer()
	return scopeNames{vars: n.variables(n.parameters(s.Vars, s.Args), s.Vars, s.Body)}
}

// parameters names the parameters, and nothing else yet.
func (n *namer) parameters(vars []Var, params []VarID) []string {
	names := make([]string, len(vars))
	for _, id := range params {
		n.variable(names, vars, id)
	}
	return names
}

// variable names a variable that has no name yet.
func (n *namer) variable(names []string, vars []Var, id VarID) {
	if id >= 0 && int(id) < len(vars) && names[id] == "" {
		names[id] = n.unique(vars[id].Name)
	}
}

// variables adds to the names of the parameters those of what the body declares,
// in the order of the text, then of whatever is left (variables that nothing
// declares).
func (n *namer) variables(names []string, vars []Var, body []Stmt) []string {
	name := func(id VarID) { n.variable(names, vars, id) }
	WalkStmts(body, func(s Stmt) {
		if id, ok := Declared(s); ok {
			name(id)
		}
	})
	for id := range vars {
		name(VarID(id))
	}
	return names
}
