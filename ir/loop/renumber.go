package loop

import (
	"slices"
	"strings"
)

// Compact returns a copy of f whose variables and messages are numbered in the
// order of the text, without those that do not occur in it. Parsing what f
// prints gives exactly this function.
func Compact(f *Func) *Func {
	return compact(f, func(id BufID) BufID { return id })
}

// compact is Compact that also numbers buffers anew.
func compact(f *Func, buffer func(BufID) BufID) *Func {
	c := newCompactor(f.Vars)
	c.rewriter.buffer = buffer
	out := &Func{Name: f.Name, Bufs: slices.Clone(f.Bufs)}
	for _, id := range f.Args {
		out.Args = append(out.Args, c.number(id))
	}
	if f.Grid == nil {
		out.Chunk, out.Lo, out.Hi = c.number(f.Chunk), c.number(f.Lo), c.number(f.Hi)
	} else {
		out.Chunk, out.Lo, out.Hi = NoVar, NoVar, NoVar
		out.Grid = &Grid{Threads: f.Grid.Threads, Resident: f.Grid.Resident, Shared: slices.Clone(f.Grid.Shared)}
	}
	codes := map[int]int{}
	c.rewriter.fail = func(code int) int {
		if _, seen := codes[code]; !seen {
			codes[code] = len(codes)
			out.Fails = append(out.Fails, f.Fails[code])
		}
		return codes[code]
	}
	out.Body = c.body(f.Body)
	out.Vars = c.vars
	return out
}

// A compactor numbers variables as they come.
type compactor struct {
	rewriter
	old  []Var
	ids  map[VarID]VarID
	vars []Var
}

func newCompactor(vars []Var) *compactor {
	c := &compactor{old: vars, ids: make(map[VarID]VarID, len(vars))}
	c.rewriter.variable = c.number
	return c
}

func (c *compactor) number(id VarID) VarID {
	n, seen := c.ids[id]
	if !seen {
		n = VarID(len(c.vars))
		c.ids[id] = n
		c.vars = append(c.vars, c.old[id])
	}
	return n
}

// body numbers the declarations first, in their order, then copies.
func (c *compactor) body(body []Stmt) []Stmt {
	WalkStmts(body, func(s Stmt) {
		if id, ok := Declared(s); ok {
			c.number(id)
		}
	})
	return c.block(body)
}

// commentText keeps a comment on one line.
func commentText(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}
