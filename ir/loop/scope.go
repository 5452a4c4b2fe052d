package loop

import "slices"

// A declKind says what a name stands for.
type declKind uint8

const (
	isLet    declKind = iota // a variable that is never assigned: a let, a parameter, a loop variable
	isVar                    // a variable that may be assigned
	isBuffer                 // a buffer
)

// declared is what a name stands for: a kind and a VarID or BufID.
type declared struct {
	kind declKind
	id   int
}

// A scope is what the parser knows inside one function.
type scope struct {
	names  map[string]declared // by printed name, suffix included
	open   []string            // names of the blocks being read, innermost last
	vars   []Var
	bufs   []Buf
	fails  []string
	failed map[int]bool // numbers of messages that occurred
	scalar bool         // reading a Scalar
	result Type         // of the Scalar
}

// enter starts a block; leave takes what it returns.
func (s *scope) enter() int { return len(s.open) }

// leave forgets the names declared since enter.
func (s *scope) leave(mark int) {
	for _, name := range s.open[mark:] {
		delete(s.names, name)
	}
	s.open = s.open[:mark]
}

// declare makes a name known up to the end of the block. A visible name cannot
// be declared again.
func (s *scope) declare(p *parser, name token, d declared) {
	if p.err != nil {
		return
	}
	if _, known := s.names[name.text]; known {
		p.failAt(name.offset, "%q is already declared", name.text)
		return
	}
	s.names[name.text] = d
	s.open = append(s.open, name.text)
}

// variable declares a new variable.
func (s *scope) variable(p *parser, name token, t Type, kind declKind) VarID {
	id := len(s.vars)
	s.vars = append(s.vars, Var{Name: baseName(name.text), Type: t})
	s.declare(p, name, declared{kind: kind, id: id})
	return VarID(id)
}

// message returns the text of a Fail number that occurred before.
func (s *scope) message(code int) (string, bool) {
	if !s.failed[code] {
		return "", false
	}
	return s.fails[code], true
}

func (s *scope) setMessage(code int, text string) {
	if s.failed == nil {
		s.failed = map[int]bool{}
	}
	s.failed[code] = true
	for len(s.fails) <= code {
		s.fails = append(s.fails, "")
	}
	s.fails[code] = text
}

func isReserved(word string) bool { return slices.Contains(reserved[:], word) }
