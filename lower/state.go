package lower

import (
	"maps"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/pieces"
	"github.com/lacuna-sparse/lacuna/lower/scatter"
	"github.com/lacuna-sparse/lacuna/lower/workspace"
)

// state is what the code at one place knows: it is copied when a block opens,
// so that what a block learns does not leak out of it.
type state struct {
	index   map[*ir.Index]loop.Expr
	cursors map[*ir.Access]cursor
	values  map[*ir.Access]loop.Expr // loaded elements
	temps   map[*ir.Temp]value
	result  resultState
}

// value is a reduction's result.
type value struct {
	expr loop.Expr
	// present says whether the fold visited anything, nil for certainly; if
	// not, the value is background.
	present    loop.Expr
	background ir.Expr
}

func (st *state) clone() *state {
	c := *st
	c.index, c.cursors, c.values, c.temps = maps.Clone(st.index), maps.Clone(st.cursors), maps.Clone(st.values), maps.Clone(st.temps)
	return &c
}

// reading is a copy of the state that knows of no other accesses than those of a
// nest: what the nest does not read need not be found.
func (st *state) reading(s ir.Stmt) *state {
	c, used := st.clone(), ir.AccessesOf(s)
	maps.DeleteFunc(c.cursors, func(a *ir.Access, _ cursor) bool { return !used[a] })
	return c
}

// emitter writes one function of the program.
type emitter struct {
	*kernel
	*emit.Func

	accs  map[*ir.Temp]fold.State // open folds
	out   *assembly               // how the result is written
	atoms []atom
	// symbolic: only the patterns of results and workspaces are computed.
	symbolic bool
	// entries is the number of entries of each workspace that is ready to be read.
	entries map[*gathering]loop.Expr
	uses    map[*gathering]*workspace.Use
	lookups map[*ir.Access]lookup // by what is in tables now
	// bound, when not nil, counts insertions instead of making them.
	bound *bound
	// shared, when not nil, emits loops and workspaces for a team of threads.
	shared *sharing
	// leader, when not nil, holds for the one thread of a team that stores what all have.
	leader loop.Expr
	quiet  bool // do not add notes: this is a second emission of the same nest
	root   rootLoop
	depth  int // loops open
	// rootAt is the entry of root.over, or the index, that the outermost loop is at; nil where it goes through several operands.
	rootAt loop.Expr
	// clears says that the outermost loop, if it is over a whole dimension, is to set elements of the result, and cleared that it does.
	clears, cleared bool
	// partial is set when a loop over the result leaves coordinates out, so
	// that what it leaves out must be there already.
	partial bool
	// either are two different conditions of which one holds, in a merge.
	either []loop.Expr
	// gapRows, when not nil, is the matrix whose rows a scatter goes through, the gaps of
	// which are folded before it: visits need not be counted.
	gapRows *ir.Access
	// split, when not nil, is the piece of the nest that the function runs.
	split *split
	// private, when not nil, is what the function adds to in place of the result.
	private *scatter.Private
	// rootGap is the gap of the outermost loop when that loop is cut into chunks.
	rootGap *gap
}

// rootLoop says how the outermost loop of a function is cut into chunks.
type rootLoop struct {
	wanted bool // a cut is welcome
	cut    bool // the loop runs from Lo to Hi of the chunk
	n      loop.SizeExpr
	weight loop.BufferID // -1: none
	grain  int64         // 0: the usual one
	// over is the access whose outermost entries are cut, nil where a whole dimension
	// is; ragged says that a chunk begins and ends elsewhere than it is told.
	over   *ir.Access
	ragged bool
	pieces *pieces.Pieces // nil: chunks are of values of the index, or of over's entries
	// Visited, when not nil, receives the number of coordinates visited by the
	// chunk; the gap is folded in later.
	visited *loop.Ref
}

func (k *kernel) emitter(name string) *emitter { return k.emitterOf(k.NewFunc(name)) }

func (k *kernel) emitterOf(f *emit.Func) *emitter {
	return &emitter{
		kernel: k, Func: f,
		accs: map[*ir.Temp]fold.State{}, entries: map[*gathering]loop.Expr{}, uses: map[*gathering]*workspace.Use{},
		lookups: map[*ir.Access]lookup{}, root: rootLoop{weight: -1}, shared: k.sharing,
	}
}

// start is the state at the beginning of a function: results of earlier stages
// are loaded, and accesses without index variables are resolved.
func (e *emitter) start(accesses []*ir.Access) *state {
	st := &state{index: map[*ir.Index]loop.Expr{}, cursors: map[*ir.Access]cursor{}, values: map[*ir.Access]loop.Expr{}, temps: map[*ir.Temp]value{}}
	for _, c := range e.cells {
		st.temps[c.temp] = e.loadCell(c)
	}
	for _, a := range accesses {
		st.cursors[a] = cursor{access: a, pos: loop.Int(0), exact: true}
	}
	e.advance(st)
	return st
}
