package emit

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// ChunkGrain is how much work (entries and rows) one chunk of a parallel loop
// gets: enough to hide the hand-over, little enough to cancel and balance.
const ChunkGrain = 1 << 15

// Builder is a program under construction.
type Builder struct {
	Kernel
	Types OperandTypes
	// Grain, when not 0, is the work of one chunk of every parallel loop.
	Grain int64
	// Origin is what the step is made for: what its functions do comes from there, where nothing closer is said.
	Origin  loop.Origin
	inputs  map[Input]loop.BufferID  // keys have no Buffer
	scalars map[Scalar]loop.ScalarID // keys have no Scalar
}

// New begins a program.
func New(name string, types OperandTypes) *Builder {
	return &Builder{
		Kernel: Kernel{Program: &loop.Program{Name: loop.CleanName(name)}, Result: Result{Values: -1, Fill: -1, Found: -1}},
		Types:  types, inputs: map[Input]loop.BufferID{}, scalars: map[Scalar]loop.ScalarID{},
	}
}

// Done is what has been made.
func (k *Builder) Done() *Kernel {
	done := k.Kernel
	return &done
}

// Origin is a place of a program's text as statements know it.
func Origin(p ir.Pos) loop.Origin {
	if !p.IsKnown() {
		return 0
	}
	return loop.OriginAt(p.Offset)
}

// Type is the loop type of a tensor type: the two enumerations agree.
func Type(dt tensor.DType) loop.Type { return loop.Type(dt) }

// ComputeType is the type in which elements of type dt are computed.
func ComputeType(dt tensor.DType) loop.Type { return Type(dt).Compute() }

// Constant is a tensor scalar as a literal of its compute type.
func Constant(v tensor.Scalar) *loop.Const {
	t := ComputeType(v.DType())
	if t != Type(v.DType()) {
		v = v.Convert(tensor.DType(t))
	}
	lo, hi := v.Bits()
	return &loop.Const{Typ: t, Bits: lo, Imag: hi}
}

// Buffer adds a buffer.
func (k *Builder) Buffer(name string, elem loop.Type, role loop.Role) loop.BufferID {
	k.Program.Buffers = append(k.Program.Buffers, loop.Buffer{Name: loop.CleanName(name), Elem: elem, Role: role})
	return loop.BufferID(len(k.Program.Buffers) - 1)
}

// NewScalar adds a scalar; the caller of the program gives those that are bound.
func (k *Builder) NewScalar(name string, bound bool) loop.ScalarID {
	k.Program.Scalars = append(k.Program.Scalars, loop.ProgramScalar{Name: loop.CleanName(name), Bound: bound})
	return loop.ScalarID(len(k.Program.Scalars) - 1)
}

// Input is the program buffer of an operand's array.
func (k *Builder) Input(t *ir.Tensor, level int, kind ArrayKind) loop.BufferID {
	key := Input{Tensor: t, Level: level, Kind: kind}
	if id, ok := k.inputs[key]; ok {
		return id
	}
	var name string
	var elem loop.Type
	switch kind {
	case Positions:
		name, elem = fmt.Sprintf("%s%d_pos", t.Name, level), Type(k.Types.IndexType(t, level, kind))
	case Coordinates:
		name, elem = fmt.Sprintf("%s%d_crd", t.Name, level), Type(k.Types.IndexType(t, level, kind))
	case Values:
		name, elem = t.Name+"_vals", Type(t.DType)
	case FillValue:
		name, elem = t.Name+"_fill", Type(t.DType)
	}
	return k.Bind(key, name, elem)
}

// Bind adds a buffer that the caller gives.
func (k *Builder) Bind(key Input, name string, elem loop.Type) loop.BufferID {
	id := k.Buffer(name, elem, loop.Input)
	k.inputs[key] = id
	key.Buffer = id
	k.Inputs = append(k.Inputs, key)
	return id
}

// Dim is the program scalar with the extent of an axis of a tensor.
func (k *Builder) Dim(t *ir.Tensor, axis int) loop.ScalarID {
	return k.Bound(Scalar{Tensor: t, Axis: axis}, fmt.Sprintf("%s_dim%d", t.Name, axis))
}

// Size is the number of elements of a tensor's levels from level on, all of which are dense.
func (k *Builder) Size(t *ir.Tensor, level int) loop.SizeExpr {
	var n loop.SizeExpr = loop.SizeConst(1)
	for l, axis := range t.Format.Order() {
		if l >= level {
			n = Times(n, loop.SizeScalar(k.Dim(t, axis)))
		}
	}
	return n
}

// Bound is the program scalar that the caller binds to what key says.
func (k *Builder) Bound(key Scalar, name string) loop.ScalarID {
	if id, ok := k.scalars[key]; ok {
		return id
	}
	id := k.NewScalar(name, true)
	k.scalars[key] = id
	key.Scalar = id
	k.Scalars = append(k.Scalars, key)
	return id
}

// Partition adds the cut of n elements into chunks, by weights unless that is -1, of so
// much work; 0 is the usual.
func (k *Builder) Partition(n loop.SizeExpr, weights loop.BufferID, grain int64) int {
	id := len(k.Program.Partitions)
	name := fmt.Sprintf("cut%d", id)
	switch {
	case k.Grain > 0:
		grain = k.Grain
	case grain == 0:
		grain = ChunkGrain
	}
	k.Program.Partitions = append(k.Program.Partitions, loop.Partition{
		Name: name, N: n, Weights: weights, Grain: grain,
		Chunks: k.NewScalar(name+"_chunks", false),
	})
	return id
}

// Chunks is the number of chunks of a partition, 1 without one.
func (k *Builder) Chunks(partition int) loop.SizeExpr {
	if partition < 0 {
		return loop.SizeConst(1)
	}
	return loop.SizeScalar(k.Program.Partitions[partition].Chunks)
}

// AddStage adds a stage.
func (k *Builder) AddStage(s loop.Stage) { k.Program.Stages = append(k.Program.Stages, s) }

// AddStages adds stages.
func (k *Builder) AddStages(list []loop.Stage) { k.Program.Stages = append(k.Program.Stages, list...) }
