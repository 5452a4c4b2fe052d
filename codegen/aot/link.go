package aot

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/lower/prim"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Input is a planned program to be compiled.
type Input struct {
	Name   string // of the kernel: an identifier of C
	Source string // the program's text
	Plan   *ir.Plan
	Alg    ir.Algebra
	// Index gives the types of the index arrays of operands.
	Index emit.OperandTypes
	// Wide makes the pointers and coordinates of results 64 bits wide; extents of more than 2^32
	// and results of as many entries are refused without it.
	Wide bool
	// Grain is as in lower.Options.
	Grain int64
	// Grids makes a program of grid functions, for a GPU. The plan must have been made
	// with that option, too.
	Grids bool
	// OnePass appends the entries of sparse results in one pass where a bound for their number is known beforehand that
	// cannot be too large, for programs that run on one thread.
	OnePass bool
}

// stored is where a tensor of the plan is in the linked program.
type stored struct {
	levels []Level
	values Array
	fill   loop.BufferID // -1: none
	dims   []loop.SizeExpr
	// count is the number of values, by level: of positions after that level.
	count []loop.SizeExpr
}

// linker joins the steps of a plan.
type linker struct {
	in      Input
	out     *Program
	loops   *loop.Program
	stored  map[*ir.Tensor]*stored
	wider   bool // the conversion being linked may have more entries than 32 bits count
	extents *extents
	step    int
}

// Link lowers the steps of a plan and joins them to one program. The error is a
// *lang.Error, a *NameError, or an *UnsupportedError for operands in parts.
func Link(in Input) (*Program, error) {
	if err := CheckName(in.Name); err != nil {
		return nil, err
	}
	k := &linker{
		in:     in,
		loops:  &loop.Program{Name: loop.CleanName(in.Name)},
		stored: map[*ir.Tensor]*stored{},
	}
	k.out = &Program{Name: in.Name, Source: in.Source, Loops: k.loops, Constants: map[loop.BufferID]tensor.Scalar{}, Counted: map[loop.BufferID]string{}, Grids: in.Grids}
	if err := k.operands(); err != nil {
		return nil, err
	}
	for i, st := range in.Plan.Steps {
		k.step = i
		if err := k.add(st); err != nil {
			return nil, err
		}
	}
	k.results()
	if !in.Grids {
		k.out.StateWords = stateWords(k.out)
	}
	return k.out, nil
}

func (k *linker) buffer(name string, elem loop.Type, role loop.Role) loop.BufferID {
	k.loops.Buffers = append(k.loops.Buffers, loop.Buffer{Name: loop.CleanName(name), Elem: elem, Role: role})
	return loop.BufferID(len(k.loops.Buffers) - 1)
}

func (k *linker) scalar(name string) loop.ScalarID {
	k.loops.Scalars = append(k.loops.Scalars, loop.ProgramScalar{Name: loop.CleanName(name)})
	return loop.ScalarID(len(k.loops.Scalars) - 1)
}

// let gives an expression that is needed before the first stage a scalar, if it has none.
func (k *linker) let(name string, e loop.SizeExpr) loop.ScalarID {
	if s, ok := e.(loop.SizeScalar); ok {
		return loop.ScalarID(s)
	}
	for _, l := range k.out.Extents {
		if sameSize(l.Value, e) {
			return l.Scalar
		}
	}
	id := k.scalar(name)
	k.out.Extents = append(k.out.Extents, loop.ScalarLet{Scalar: id, Value: e})
	return id
}

// place is where a tensor of the program stands among the operands, -1 if nowhere.
func (k *linker) place(t *lang.Tensor) int {
	i := 0
	for _, o := range k.in.Plan.Operands {
		switch {
		case o.Source == t:
			return i
		case o.Source.StoredOf == nil:
			i++
		}
	}
	return -1
}

// operands enters the operands and works out all extents.
func (k *linker) operands() error {
	shapes := map[*lang.Tensor][]loop.SizeExpr{}
	for _, o := range k.in.Plan.Operands {
		if len(o.Pieces) != 1 {
			return &UnsupportedError{fmt.Sprintf("operand %s is stored in %d parts", o.Source.Name, len(o.Pieces)), "store it as one tensor"}
		}
		if o.Source.StoredOf == nil {
			shapes[o.Source] = k.operand(o)
		}
	}
	var err error
	k.extents, err = bindExtents(k.in.Plan.Source, shapes, k.place)
	if err != nil {
		return err
	}
	k.out.Checks = append(k.out.Checks, k.extents.checks...)
	k.out.Operands = len(k.out.Tensors)
	for _, o := range k.in.Plan.Operands {
		if o.Source.StoredOf != nil {
			k.pattern(o)
		}
	}
	return nil
}

// operand enters one operand and returns its shape.
func (k *linker) operand(o *ir.Operand) []loop.SizeExpr {
	t := o.Pieces[0]
	x := Tensor{Name: o.Source.Name, Format: t.Format, DType: t.DType, Fill: t.Fill, FillKnown: t.FillKnown, FillBuffer: -1}
	for axis := range t.Rank {
		id := k.scalar(fmt.Sprintf("%s_dim%d", x.Name, axis))
		k.loops.Scalars[id].Bound = true
		x.Dims = append(x.Dims, id)
		x.Extents = append(x.Extents, loop.SizeScalar(id))
	}
	s := &stored{dims: x.Extents, fill: -1}
	for l, kind := range t.Format.Physical() {
		level := Level{Pointers: Array{Buffer: -1}, Indices: Array{Buffer: -1}}
		if kind.HasPos() {
			level.Pointers = k.input(t, fmt.Sprintf("%s%d_pos", x.Name, l), l, emit.Positions)
		}
		if kind.HasCrd() {
			level.Indices = k.input(t, fmt.Sprintf("%s%d_crd", x.Name, l), l, emit.Coordinates)
		}
		s.levels = append(s.levels, level)
	}
	elem := loop.Type(t.DType)
	s.values = Array{Type: elem, Buffer: k.buffer(x.Name+"_vals", elem, loop.Input)}
	k.measure(t.Format, s)
	x.Levels, x.Values = s.levels, s.values
	if form, ok := k.in.Plan.Options.Forms[x.Name]; ok && form.Pieces[0].Mirror.Kind != ir.NoMirror {
		k.out.Checks = append(k.out.Checks, Check{Code: ErrShape, Tensor: len(k.out.Tensors), X: x.Extents[0], Y: x.Extents[1], Equal: true,
			Message: x.Name + " is one triangle of a square matrix, but its extents differ"})
	}
	if t.Format.IsDense() && !t.FillKnown {
		// What it is outside its extents is the caller's choice.
		x.FillBuffer = k.buffer(x.Name+"_fill", elem, loop.Input)
		s.fill = x.FillBuffer
	}
	k.stored[t] = s
	k.out.Tensors = append(k.out.Tensors, x)
	return x.Extents
}

// input is an index array of an operand.
func (k *linker) input(t *ir.Tensor, name string, level int, kind emit.ArrayKind) Array {
	elem := loop.Type(k.in.Index.IndexType(t, level, kind))
	return Array{Type: elem, Buffer: k.buffer(name, elem, loop.Input)}
}

// measure works out how long the arrays of a stored tensor are.
func (k *linker) measure(f tensor.Format, s *stored) {
	var n loop.SizeExpr = loop.SizeConst(1)
	order := f.Order()
	for l, kind := range f.Physical() {
		switch {
		case kind.Full():
			n = sizeMul(n, s.dims[order[l]])
		case kind.Ranges():
			s.levels[l].Pointers.Len = sizeAdd(n, loop.SizeConst(1))
			n = &loop.SizeLoad{Buffer: s.levels[l].Pointers.Buffer, Index: n}
		}
		if kind.HasCrd() {
			s.levels[l].Indices.Len = n
		}
		s.count = append(s.count, n)
	}
	s.values.Len = n
}

// pattern makes the tensor that tells what an operand stores.
func (k *linker) pattern(o *ir.Operand) {
	t := o.Pieces[0]
	var of *stored
	for _, other := range k.in.Plan.Operands {
		if other.Source == o.Source.StoredOf {
			of = k.stored[other.Pieces[0]]
		}
	}
	b := loop.NewBuilder("fill_" + t.Name)
	buf := b.Buf("values", loop.Bool, loop.ReadWrite)
	b.ForIndependent("p", b.Lo(), b.Hi(), func(p loop.Expr) { b.Store(buf, p, loop.Truth(true)) })
	vals := k.buffer(t.Name+"_vals", loop.Bool, loop.Temp)
	k.elementwise("pattern", b.Func(), vals, of.values.Len, []loop.BufferID{vals})
	k.stored[t] = &stored{levels: of.levels, values: Array{Type: loop.Bool, Buffer: vals, Len: of.values.Len}, fill: -1, dims: of.dims, count: of.count}
}

// evenGrain is the work of a chunk of loops over elements.
const evenGrain = 1 << 15

// elementwise adds a stage that allocates a buffer of n elements and computes each of
// them.
func (k *linker) elementwise(name string, f *loop.Func, out loop.BufferID, n loop.SizeExpr, bufs []loop.BufferID) {
	part := len(k.loops.Partitions)
	k.loops.Partitions = append(k.loops.Partitions, loop.Partition{Name: fmt.Sprintf("cut%d", part), N: n, Weights: -1,
		Grain: evenGrain, Chunks: k.scalar(fmt.Sprintf("cut%d_chunks", part))})
	k.addStage(loop.Stage{Name: name, Partition: part, Func: f, Bufs: bufs, Allocs: []loop.Alloc{{Buffer: out, Len: n}}})
}

// addStage adds a stage that is not of a step's program, as grid functions if the
// program is of those.
func (k *linker) addStage(s loop.Stage) {
	if !k.in.Grids {
		k.loops.Stages = append(k.loops.Stages, s)
		return
	}
	p := *k.loops
	p.Stages = []loop.Stage{s}
	p.Buffers = slices.Clone(p.Buffers)
	for i, id := range s.Bufs {
		p.Buffers[id].Elem = s.Func.Bufs[i].Elem // which may move values as integers
	}
	mapped := gpu.Map(&p, gpu.Options{})
	k.loops.Partitions = nil // of this stage
	k.loops.Scalars = mapped.Scalars
	k.loops.Buffers = append(k.loops.Buffers, mapped.Buffers[len(k.loops.Buffers):]...)
	k.loops.Stages = append(k.loops.Stages, mapped.Stages...)
}

// add lowers a step and adds its stages.
func (k *linker) add(st ir.Step) error {
	switch s := st.(type) {
	case *ir.Convert:
		return k.convert(s)
	case *ir.Join:
		return &UnsupportedError{fmt.Sprintf("operand %s has to be made one tensor of its parts, or a whole matrix of its triangle", s.Operand.Source.Name),
			"store it as one tensor of all its elements"}
	case *ir.Compute:
		return k.compute(s)
	case *ir.Scan:
		low, err := prim.Scan(s, k, k.options(lower.DenseWorkspace).Prim())
		return k.lines(low, err, s.To, k.stored[s.From].dims)
	case *ir.Sort:
		low, err := prim.Sort(s, k, k.options(lower.DenseWorkspace).Prim())
		return k.lines(low, err, s.To, k.stored[s.From].dims)
	case *ir.Statistic:
		low, err := prim.Statistic(s, k, k.options(lower.DenseWorkspace).Prim())
		return k.lines(low, err, s.To, ir.StatisticShape(s, func(t *ir.Tensor) []loop.SizeExpr { return k.stored[t].dims }))
	}
	panic(fmt.Sprintf("BUG: step %T", st))
}

// IndexType implements emit.OperandTypes by what has been linked so far.
func (k *linker) IndexType(t *ir.Tensor, level int, kind emit.ArrayKind) tensor.DType {
	s := k.stored[t]
	switch {
	case s == nil && kind == emit.Positions: // the target of a conversion
		return tensor.DType(k.positions())
	case s == nil:
		return tensor.DType(k.coordinates())
	case kind == emit.Positions:
		return tensor.DType(s.levels[level].Pointers.Type)
	}
	return tensor.DType(s.levels[level].Indices.Type)
}

// coordinates is the type of the coordinates of what steps make.
func (k *linker) coordinates() loop.Type {
	if k.in.Wide {
		return loop.U64
	}
	return loop.U32
}

// positions is the type of the pointers of what steps make: that of operands, unless something else was declared. A
// launcher of grids has no stage to refuse too many entries in.
func (k *linker) positions() loop.Type {
	if k.in.Wide || k.in.Grids || k.wider {
		return loop.U64
	}
	return loop.U32
}

func (k *linker) options(work lower.WorkspaceKind) lower.Options {
	return lower.Options{Coordinates: k.coordinates(), Positions: k.positions(), Workspace: work, Grids: k.in.Grids, Grain: k.in.Grain}
}

// narrow checks that coordinates of a shape have the bits that results have for them.
func (k *linker) narrow(name string, dims []loop.SizeExpr) {
	if k.in.Wide {
		return
	}
	for axis, n := range dims {
		if c, ok := n.(loop.SizeConst); ok && c <= 1<<32 {
			continue
		}
		k.out.Checks = append(k.out.Checks, Check{Code: ErrExtent, Tensor: -1, X: n, Y: loop.SizeConst(1 << 32),
			Message: fmt.Sprintf("extent %d of %s exceeds 2^32: build the kernel with 64-bit coordinates", axis, name)})
	}
}

// compute adds a step that is a loop nest.
func (k *linker) compute(s *ir.Compute) error {
	src := k.in.Plan.Source
	at := slices.Index(src.Stmts, s.Stmt)
	indices, shape := ir.StepExtents(s, k.extents.index[at], k.extents.shapes[s.Stmt.LHS.Tensor])
	k.counts(s, indices)
	if !s.Result.Format.IsDense() {
		k.narrow(s.Result.Name, shape)
	}
	low, err := k.nest(s)
	if err != nil {
		return err
	}
	err = k.join(low, s.Result, shape, func(x emit.Scalar) loop.SizeExpr {
		switch {
		case x.Index != nil:
			return indices[x.Index.ID]
		case x.Tensor == low.Result.Tensor:
			return shape[x.Axis]
		}
		return k.stored[x.Tensor].dims[x.Axis]
	})
	if unmet := (*gpu.MappingError)(nil); errors.As(err, &unmet) {
		return s.Directives.Fail("gpu", unmet.Error())
	}
	return err
}

// nest lowers a loop nest: what may turn out to have too many entries for one pass is counted first.
func (k *linker) nest(s *ir.Compute) (*emit.Kernel, error) {
	o := k.options(k.workspaceKind(s))
	if k.in.OnePass {
		o.Assembly = lower.Appended
		low, err := lower.Step(s, k.in.Alg, k, o)
		if err != nil || !slices.ContainsFunc(low.Program.Stages, mayFailTooMany) {
			return low, err
		}
		o.Assembly = lower.Counted
	}
	return lower.Step(s, k.in.Alg, k, o)
}

func mayFailTooMany(s loop.Stage) bool {
	return s.Func != nil && slices.Contains(s.Func.Fails, lower.TooMany)
}

// workspaceKind is how workspaces store their entries: with a place for each key,
// unless those are combinations of several coordinates, of which there may be far more
// than there is memory for, or on a grid, where thousands of threads have a workspace each.
func (k *linker) workspaceKind(s *ir.Compute) lower.WorkspaceKind {
	if k.in.Grids {
		return lower.HashWorkspace
	}
	for _, w := range s.Workspaces {
		if len(w.Indices) > 1 {
			return lower.HashWorkspace
		}
	}
	return lower.DenseWorkspace
}

// counts checks that what a step counts fits 63 bits, as do the keys of workspaces.
func (k *linker) counts(s *ir.Compute, indices []loop.SizeExpr) {
	product := func(message string, vars []*ir.Index) {
		if len(vars) < 2 {
			return
		}
		c := Check{Code: ErrSize, Tensor: -1, Message: message, X: loop.SizeConst(1), Y: loop.SizeConst(1<<62 + (1<<62 - 1))}
		for _, v := range vars {
			c.If = append(c.If, indices[v.ID])
			c.X = sizeMul(c.X, indices[v.ID])
		}
		k.out.Checks = append(k.out.Checks, c)
	}
	for _, r := range s.OpenCounts(k.in.Alg) {
		product("a count of coordinates may not fit 63 bits", r.Vars)
	}
	for _, w := range s.Workspaces {
		var vars []*ir.Index
		for _, x := range w.Indices {
			vars = append(vars, x.Plain())
		}
		product("the extents of a workspace multiply to more than 2^63", vars)
	}
}

// lines adds a step that runs over lines of a tensor.
func (k *linker) lines(low *emit.Kernel, err error, to *ir.Tensor, shape []loop.SizeExpr) error {
	if err != nil {
		return err
	}
	return k.join(low, to, shape, func(x emit.Scalar) loop.SizeExpr {
		if x.Tensor == low.Result.Tensor {
			return shape[x.Axis]
		}
		return k.stored[x.Tensor].dims[x.Axis]
	})
}
