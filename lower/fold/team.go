package fold

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// Prefix gives each thread of a team the fold of what the threads before it have, and of all.
type Prefix struct {
	monoid monoid
	prefix *coop.Prefix
}

// NewPrefix is that of a team, whose function b writes.
func NewPrefix(t *coop.Team, b *loop.Builder, r *ir.Reduce) *Prefix {
	m := monoid{b, r}
	return &Prefix{m, t.Prefix(m)}
}

// Of returns the fold before the thread and that of the whole team; own is changed.
func (p *Prefix) Of(own State) (before, total State) {
	x, y := p.prefix.Of(own.Vars)
	return p.monoid.state(x), p.monoid.state(y)
}

// Assign sets a state.
func (p *Prefix) Assign(s State, vars []loop.Expr) { p.prefix.Assign(s.Vars, vars) }

// Values are the parts of a state as values.
func (s State) Values() []loop.Expr { return coop.Values(s.Vars) }

// monoid is a fold as the threads of a team combine it.
type monoid struct {
	b *loop.Builder
	r *ir.Reduce
}

func (m monoid) state(vars []*loop.Ref) State { return Of(m.b, m.r, true, vars, nil) }

func (m monoid) Types() []loop.Type                         { return Types(m.r) }
func (m monoid) Open() []*loop.Ref                          { return Open(m.b, m.r, true).Vars }
func (m monoid) Combine(vars []*loop.Ref, with []loop.Expr) { m.state(vars).Combine(with) }
