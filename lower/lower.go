// Package lower turns one compute step of a plan into a program of loops.
//
// Every tensor access of the step has a cursor: how many of its storage levels
// the enclosing loops have resolved, at which position, and whether that
// position is known to be stored (access.go). A Forall asks the iteration
// algebra of package ir which coordinates it must visit (leaves.go), walks
// them by the cheapest loop that covers the set (iterate.go): one operand's
// entries, a merge of several, or the whole dimension. What lies outside the
// set is folded in closed form (reduce.go). Results are stored, accumulated or
// appended at the leaf; sparse results are counted first and filled second, by
// the same code in two modes (assemble.go). kernel.go cuts all that into
// stages.
//
// There is no case for any storage format by name: levels are dense,
// compressed or singleton, with properties.
package lower

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Kernel is a lowered compute step: the program and what to bind to it.
type Kernel struct {
	Program *loop.Program
	Inputs  []Input
	Scalars []Scalar
	Result  Result
	// Notes say for each loop which set of coordinates it visits and how, for
	// explain --stage lattice.
	Notes []string
	// OnePass says that a sparse result is appended to in one pass, by one thread or
	// several.
	OnePass bool
}

// ArrayKind names one of the arrays of a tensor.
type ArrayKind uint8

// The arrays of a tensor.
const (
	Positions ArrayKind = iota // of a compressed level
	Coordinates
	Values
	FillValue // one element: a fill known at run time
	Words     // packed coordinates of sorted entries, of a conversion
)

// Input says which array of which operand a program buffer holds.
type Input struct {
	Buffer loop.BufferID
	Tensor *ir.Tensor
	Level  int // storage level, for Positions and Coordinates
	Kind   ArrayKind
}

// Scalar says what the caller binds to a program scalar: the extent of an
// index variable, or of an axis of a tensor (the result included); or a number of the text.
type Scalar struct {
	Scalar loop.ScalarID
	Index  *ir.Index
	Tensor *ir.Tensor
	Axis   int
	// Literal, when not 0, is a number of the program's text instead (ir.IndexExpr.Literal).
	Literal int
}

// Result says where the result's arrays are after the run.
type Result struct {
	Tensor *ir.Tensor
	Levels []ResultLevel // in storage order
	Values loop.BufferID
	// Fill is a buffer of one element, -1 when the fill is known.
	Fill loop.BufferID
	// Shared, when not nil, is an operand whose first SharedLevels levels are those
	// of the result too.
	Shared       *ir.Tensor
	SharedLevels int
	// Words and Found are of conversions that only sort or check: see
	// ConvertOptions and CheckCoordinates.
	Words []loop.BufferID
	Found loop.BufferID
}

// ResultLevel holds the buffers of one level; -1 for an array it does not have.
type ResultLevel struct{ Pos, Crd loop.BufferID }

// OperandTypes gives the element types of the arrays that a kernel is
// specialised for.
type OperandTypes interface {
	// IndexType is the element type of a Positions or Coordinates array.
	IndexType(t *ir.Tensor, level int, kind ArrayKind) tensor.DType
}

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
	// Assembly is how the entries of a sparse result get their places, where it
	// can be chosen.
	Assembly Assembly
	// Grids is for engines that share loops among threads: folds stay plain loops,
	// not cut into lanes and blocks for vector instructions.
	Grids bool
	// Copies lets threads have copies of a dense result where the order of updates does
	// not matter, for engines that run such chunks at the same time.
	Copies bool
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

// chunkGrain is how much work (entries and rows) one chunk of a parallel loop
// gets: enough to hide the hand-over, little enough to cancel and balance.
const chunkGrain = 1 << 15

// Step lowers a compute step.
func Step(c *ir.Compute, alg ir.Algebra, types OperandTypes, opts Options) (*Kernel, error) {
	k := newKernel(c, alg, types, opts)
	k.lower()
	if k.roomless {
		k = newKernel(c, alg, types, opts)
		k.roomless = true
		k.lower()
	}
	return &Kernel{Program: k.program, Inputs: k.inputList, Scalars: k.scalarList, Result: k.result, Notes: k.notes, OnePass: k.appends}, nil
}

func newKernel(c *ir.Compute, alg ir.Algebra, types OperandTypes, opts Options) *kernel {
	k := &kernel{
		step: c, alg: alg, types: types, opts: opts,
		program: &loop.Program{Name: loop.CleanName(c.Result.Name)},
		inputs:  map[Input]loop.BufferID{},
		scalars: map[Scalar]loop.ScalarID{},
		tables:  map[*ir.Tabulate]*table{},
		asked:   alg.AskedStates(c),
	}
	k.result.Tensor, k.result.Fill = c.Result, -1
	return k
}

// kernel is a program under construction.
type kernel struct {
	step       *ir.Compute
	alg        ir.Algebra
	types      OperandTypes
	opts       Options
	program    *loop.Program
	inputs     map[Input]loop.BufferID // keys have no Buffer
	inputList  []Input
	scalars    map[Scalar]loop.ScalarID // keys have no Scalar
	scalarList []Scalar
	result     Result
	notes      []string
	cells      []cell // temporaries computed by earlier stages
	workspaces []*workspace
	tables     map[*ir.Tabulate]*table
	inserts    *loop.ScalarID // into all workspaces, where the program counts them
	// chunkInserts are those of each chunk, once their stage is there.
	chunkInserts loop.BufferID
	appends      bool // the result is appended to in one pass
	// roomless: the nest has chunks of which nobody knows how much they append.
	roomless   bool
	accessList []*ir.Access
	asked      map[*ir.Temp]bool // reductions whose states matter
	sharing    *sharing          // of the functions that are begun now
	counts     *loop.BufferID    // visits to each element of the result, where its gap is counted
}

// loopType is the loop type of a tensor type: the two enumerations agree.
func loopType(dt tensor.DType) loop.Type { return loop.Type(dt) }

// computeType is the type in which elements of type dt are computed.
func computeType(dt tensor.DType) loop.Type { return loopType(dt).Compute() }

func (k *kernel) buffer(name string, elem loop.Type, role loop.Role) loop.BufferID {
	k.program.Buffers = append(k.program.Buffers, loop.Buffer{Name: loop.CleanName(name), Elem: elem, Role: role})
	return loop.BufferID(len(k.program.Buffers) - 1)
}

func (k *kernel) newScalar(name string, bound bool) loop.ScalarID {
	k.program.Scalars = append(k.program.Scalars, loop.ProgramScalar{Name: loop.CleanName(name), Bound: bound})
	return loop.ScalarID(len(k.program.Scalars) - 1)
}

// input is the program buffer of an operand's array.
func (k *kernel) input(t *ir.Tensor, level int, kind ArrayKind) loop.BufferID {
	if t.Work != nil {
		return k.workspaceOf(t).crd[level]
	}
	key := Input{Tensor: t, Level: level, Kind: kind}
	if id, ok := k.inputs[key]; ok {
		return id
	}
	var name string
	var elem loop.Type
	switch kind {
	case Positions:
		name, elem = fmt.Sprintf("%s%d_pos", t.Name, level), loopType(k.types.IndexType(t, level, kind))
	case Coordinates:
		name, elem = fmt.Sprintf("%s%d_crd", t.Name, level), loopType(k.types.IndexType(t, level, kind))
	case Values:
		name, elem = t.Name+"_vals", loopType(t.DType)
	case FillValue:
		name, elem = t.Name+"_fill", loopType(t.DType)
	}
	id := k.buffer(name, elem, loop.Input)
	k.inputs[key] = id
	key.Buffer = id
	k.inputList = append(k.inputList, key)
	return id
}

// extent is the program scalar with the number of values of an index variable.
func (k *kernel) extent(v *ir.Index) loop.ScalarID {
	v = k.step.Indices[v.ID] // copies share one extent
	return k.bound(Scalar{Index: v}, "n_"+v.Name)
}

// dim is the program scalar with the extent of an axis of a tensor.
func (k *kernel) dim(t *ir.Tensor, axis int) loop.ScalarID {
	return k.bound(Scalar{Tensor: t, Axis: axis}, fmt.Sprintf("%s_dim%d", t.Name, axis))
}

// literal is the program scalar with a number of the text.
func (k *kernel) literal(n int) loop.ScalarID {
	return k.bound(Scalar{Literal: n}, ir.LiteralName(n))
}

func (k *kernel) bound(key Scalar, name string) loop.ScalarID {
	if id, ok := k.scalars[key]; ok {
		return id
	}
	id := k.newScalar(name, true)
	k.scalars[key] = id
	key.Scalar = id
	k.scalarList = append(k.scalarList, key)
	return id
}
