// Package lower turns one compute step of a plan into a program of loops.
//
// Every tensor access of the step has a cursor: how many of its storage levels
// the enclosing loops have resolved, at which position, and whether that
// position is known to be stored (access.go). A Forall asks the iteration
// algebra of package ir which coordinates it must visit (leaves.go), walks
// them by the cheapest loop that covers the set (forall.go): one operand's
// entries, a merge of several, or the whole dimension. What lies outside the
// set is folded in closed form (gap.go). Results are stored, accumulated or
// appended at the leaf; sparse results are counted first and filled second, by
// the same code in two modes (assemble.go). kernel.go cuts all that into
// stages.
//
// There is no case for any storage format or kind of level by name: levels have
// properties, and package level has the code that goes over one.
package lower

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/directives"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/pieces"
	"github.com/lacuna-sparse/lacuna/lower/prim"
	"github.com/lacuna-sparse/lacuna/lower/scatter"
)

// Options steer lowering.
type Options struct {
	// Coordinates is the type of the result's coordinate arrays: U32 or U64.
	Coordinates loop.Type
	// Positions is the type of the result's position arrays: U64, also where it is not set, or U32. Then
	// the caller sees to it that no array of coordinates is given more elements than that counts.
	Positions loop.Type
	// Workspace is how workspaces store their entries.
	Workspace WorkspaceKind
	// LimitWide makes a program fail with [TooWide] where a hash table for several
	// dimensions would be larger than its operands: for plans that have another one
	// with workspaces of one dimension each.
	LimitWide bool
	// Tables makes the tables of a plan; without them loops go through all
	// their operands. Their index variables must not have more than MaxTableKeys
	// values.
	Tables bool
	// Selected looks entries up in tables without a branch where it can: of what is not there, nothing is added. It
	// pays where processors cannot tell beforehand what is there.
	Selected bool
	// Assembly is how the entries of a sparse result get their places, where it
	// can be chosen.
	Assembly Assembly
	// Grids is for engines that share loops among threads: folds stay plain loops,
	// not cut into lanes and blocks for vector instructions.
	Grids bool
	// Copies lets threads have copies of a dense result where the order of updates does
	// not matter, for engines that run such chunks at the same time.
	Copies bool
	// Private, where it is 2 or more, is into how many parts a scatter is cut that adds up floats, which all have a copy of the
	// result of their own.
	Private int64
	// Split lets chunks begin and end inside an outermost coordinate, where many entries lie under one.
	Split bool
	// Grain, when not 0, is the work of one chunk of every parallel loop, so that
	// tests cut small data too.
	Grain int64
}

// positions is the type of the result's position arrays.
func (o *Options) positions() loop.Type {
	if o.Positions == loop.Invalid {
		return loop.U64
	}
	return o.Positions
}

// Assembly is how the entries of a sparse result get their places.
type Assembly uint8

// The ways of assembly. All give the same result.
const (
	// Counted entries are counted first, by the chunks of the nest, and then written
	// where the sums of the counts say.
	Counted Assembly = iota
	// Appended entries are written in one pass by one thread, where there is a bound
	// for their number that is not far from the size of the operands. The program
	// fails with [TooMany] where the bound turns out to be.
	Appended
	// Joined entries are appended in one pass by several threads, where there is such a
	// bound for each chunk too, or nothing to cut into chunks. Where only a mask bounds
	// them, each chunk writes into room of its own, from which all is moved together.
	Joined
)

// String is the name of the way.
func (a Assembly) String() string {
	return [...]string{Counted: "counted", Appended: "appended", Joined: "joined"}[a]
}

// Step lowers a compute step.
func Step(c *ir.Compute, alg ir.Algebra, types emit.OperandTypes, opts Options) (*emit.Kernel, error) {
	k := newKernel(c, alg, types, opts)
	for k.lower(); k.again; k.lower() {
		before := k
		k = newKernel(c, alg, types, opts)
		k.roomless, k.deepest, k.opts.Private = before.roomless, before.deepest, before.opts.Private
	}
	done := k.Done()
	done.Mapping = c.Directives.Mapping
	err := directives.Apply(done.Program, c)
	if !opts.Grids {
		loop.AddPanels(done.Program)
	}
	return done, err
}

func newKernel(c *ir.Compute, alg ir.Algebra, types emit.OperandTypes, opts Options) *kernel {
	k := &kernel{
		Builder: emit.New(c.Result.Name, types), step: c, alg: alg, opts: opts,
		tables: map[*ir.Tabulate]*table{},
		asked:  alg.AskedStates(c), cuts: map[*ir.Forall]*pieces.Pieces{}, deepest: math.MaxInt,
	}
	k.direct()
	if c.Stmt != nil {
		k.Origin = emit.Origin(c.Stmt.Pos)
	}
	k.Grain, k.Result.Tensor = k.opts.Grain, c.Result
	k.scatter = &scatter.Result{Builder: k.Builder, Step: c, Extent: k.extent, Grids: opts.Grids}
	return k
}

// direct sets the options that the step's schedule says.
func (k *kernel) direct() {
	d := &k.step.Directives
	for _, kind := range []WorkspaceKind{DenseWorkspace, HashWorkspace, SortWorkspace} {
		if kind.String() == d.Workspace {
			k.opts.Workspace = kind
		}
	}
	if d.Intersect != "" {
		k.opts.Tables = d.Intersect == "table"
	}
	if d.Grain > 0 {
		k.opts.Grain = d.Grain
	}
	k.opts.Copies = k.opts.Copies && !d.Serial
}

// kernel is a program under construction.
type kernel struct {
	*emit.Builder
	step       *ir.Compute
	alg        ir.Algebra
	opts       Options
	cells      []cell // temporaries computed by earlier stages
	workspaces []*gathering
	tables     map[*ir.Tabulate]*table
	inserts    *loop.ScalarID // into all workspaces, where the program counts them
	// chunkInserts are those of each chunk, once their stage is there.
	chunkInserts loop.BufferID
	// roomless: the nest has chunks of which nobody knows how much they append.
	roomless bool
	// deepest is in how many loops pieces may begin at most, as far as is known.
	deepest int
	// again: what has been found out, of the two above, makes another program.
	again      bool
	cuts       map[*ir.Forall]*pieces.Pieces // by outermost loop
	accessList []*ir.Access
	asked      map[*ir.Temp]bool // reductions whose states matter
	sharing    *sharing          // of the functions that are begun now
	scatter    *scatter.Result
}

// input is the program buffer of an operand's array.
func (k *kernel) Input(t *ir.Tensor, level int, kind emit.ArrayKind) loop.BufferID {
	if t.Work != nil {
		return k.workspaceOf(t).Crd[level]
	}
	return k.Builder.Input(t, level, kind)
}

// extent is the program scalar with the number of values of an index variable.
func (k *kernel) extent(v *ir.Index) loop.ScalarID {
	v = k.step.Indices[v.ID] // copies share one extent
	return k.Bound(emit.Scalar{Index: v}, "n_"+v.Name)
}

// literal is the program scalar with a number of the text.
func (k *kernel) literal(n int) loop.ScalarID {
	return k.Bound(emit.Scalar{Literal: n}, ir.LiteralName(n))
}

// Prim are those of the options that scans, sorts and order statistics have.
func (o Options) Prim() prim.Options {
	return prim.Options{Coordinates: o.Coordinates, Positions: o.positions(), Grids: o.Grids, Grain: o.Grain}
}
