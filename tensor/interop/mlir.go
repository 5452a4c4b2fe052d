package interop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// MLIR is a tensor as MLIR's sparse_tensor dialect stores it.
type MLIR struct {
	// Encoding is the attribute of the tensor's type:
	// #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed), posWidth = 32, crdWidth = 32 }>.
	Encoding string
	// Shape is the extent of each dimension.
	Shape []int64
	// Positions and Coordinates are the buffers of each level; the zero Array for
	// levels that have none. Where singletons are stored as an array of structures
	// (MLIR's default; "soa" says otherwise), the level that begins their run has
	// the coordinates of all, entry by entry.
	Positions, Coordinates []tensor.Array
	Values                 tensor.Array
}

// ToMLIR returns the tensor in the storage of MLIR's sparse_tensor dialect. Arrays are
// shared, and singletons are "soa", as our arrays are; where the pointer arrays, or the
// index arrays, of levels differ in width, those that are narrower are copied, since MLIR
// has one width for each. A last C or DC level of a multigraph becomes compressed(nonunique)
// coordinates, which is a conversion. MLIR's implicit value is 0: another fill is an
// error, and so is a [tensor.Structure].
func ToMLIR(t *tensor.Tensor) (*MLIR, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	dims := make([]mlirLevel, t.Rank())
	for k, axis := range t.Format().Order() {
		dims[k].dim = axis
	}
	m, err := toMLIR(t, dims, t.Shape())
	return m, tensor.Named(err, tensor.WithName(t.Name()))
}

// ToMLIRBlocked is ToMLIR for a tensor that [tensor.Tensor.Blocked] made of one with the given
// shape: levels are written as quotients and remainders of the dimensions, such as
// "d0 floordiv 2 : dense" and "d0 mod 2 : dense".
func ToMLIRBlocked(t *tensor.Tensor, shape []int64) (*MLIR, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	if _, err := tensor.NewBlocks(t, shape); err != nil {
		return nil, err
	}
	rank := len(shape)
	block := t.Shape()[rank:]
	levels := make([]mlirLevel, t.Rank())
	for k, axis := range t.Format().Order() {
		levels[k] = mlirLevel{dim: axis % rank, part: quotient, block: block[axis%rank]}
		if axis >= rank {
			levels[k].part = remainder
		}
	}
	m, err := toMLIR(t, levels, slices.Clone(shape))
	return m, tensor.Named(err, tensor.WithName(t.Name()))
}

// levelPart is what a level stores of a dimension.
type levelPart uint8

const (
	whole levelPart = iota
	quotient
	remainder
)

// mlirLevel is one level of an encoding.
type mlirLevel struct {
	tensor.LevelType
	dim   int
	part  levelPart
	block int64
	soa   bool
}

// String writes the level as in an encoding's map.
func (l mlirLevel) String() string {
	s := fmt.Sprintf("d%d", l.dim)
	switch l.part {
	case quotient:
		s += fmt.Sprintf(" floordiv %d", l.block)
	case remainder:
		s += fmt.Sprintf(" mod %d", l.block)
	}
	kind := l.LevelType.String()
	switch {
	case l.soa && strings.HasSuffix(kind, ")"):
		kind = strings.TrimSuffix(kind, ")") + ", soa)"
	case l.soa:
		kind += "(soa)"
	}
	return s + " : " + strings.ReplaceAll(kind, "nonunique,nonordered", "nonunique, nonordered")
}

func toMLIR(t *tensor.Tensor, levels []mlirLevel, shape []int64) (*MLIR, error) {
	switch {
	case t.Structure() != tensor.General:
		return nil, tensor.Errorf(-1, "MLIR has no %v matrices: expand it first", t.Structure())
	case t.Fill() != tensor.Zero(t.DType()):
		return nil, tensor.Errorf(-1, "the fill is %v: MLIR's implicit value is 0", t.Fill())
	}
	from, err := ungrouped(t)
	if err != nil {
		return nil, err
	}
	pos, crd, err := indexArrays(from)
	if err != nil {
		return nil, tensor.Errorf(-1, "%v", err)
	}
	m := &MLIR{Shape: shape, Values: from.Values()}
	var posWidth, crdWidth int
	if m.Positions, posWidth, err = sameWidth(pos); err == nil {
		m.Coordinates, crdWidth, err = sameWidth(crd)
	}
	if err != nil {
		return nil, tensor.Errorf(-1, "%v", err)
	}
	for k, physical := range from.Format().Physical() {
		levels[k].LevelType = physical
		levels[k].soa = physical.Branchless()
	}
	m.Encoding = encodingText(len(shape), levels, posWidth, crdWidth)
	return m, nil
}

// encodingText writes an encoding; widths of 0 bits are left out.
func encodingText(dims int, levels []mlirLevel, posWidth, crdWidth int) string {
	names := make([]string, dims)
	for d := range names {
		names[d] = fmt.Sprintf("d%d", d)
	}
	texts := make([]string, len(levels))
	for k, l := range levels {
		texts[k] = l.String()
	}
	s := fmt.Sprintf("#sparse_tensor.encoding<{ map = (%s) -> (%s)", strings.Join(names, ", "), strings.Join(texts, ", "))
	if posWidth > 0 {
		s += fmt.Sprintf(", posWidth = %d", posWidth)
	}
	if crdWidth > 0 {
		s += fmt.Sprintf(", crdWidth = %d", crdWidth)
	}
	return s + " }>"
}

// errNoMLIR says that there are no levels to read.
var errNoMLIR = tensor.Errorf(-1, "the MLIR tensor is nil: make one with ToMLIR, or fill in its fields")

// Interleaved returns the tensor with the coordinates of every run of singletons as an
// array of structures, MLIR's default, instead of an array for each level. These arrays
// are copied.
func (m *MLIR) Interleaved() (*MLIR, error) {
	if m == nil {
		return nil, errNoMLIR
	}
	e, err := parseEncoding(m.Encoding, len(m.Shape))
	if err != nil {
		return nil, err
	}
	if err := e.checkBuffers(m); err != nil {
		return nil, err
	}
	out := *m
	out.Coordinates = slices.Clone(m.Coordinates)
	for k := 0; k < len(e.levels); {
		last := e.run(k)
		if last > k && e.levels[last].soa {
			if out.Coordinates[k], err = interleave(m.Coordinates[k : last+1]); err != nil {
				return nil, tensor.Errorf(k, "%v", err)
			}
			for l := k + 1; l <= last; l++ {
				out.Coordinates[l] = tensor.Array{}
				e.levels[l].soa = false
			}
		}
		k = last + 1
	}
	out.Encoding = encodingText(len(m.Shape), e.levels, e.posWidth, e.crdWidth)
	return &out, nil
}

// interleave joins arrays of one length and type element by element.
func interleave(arrays []tensor.Array) (tensor.Array, error) {
	n, dt := arrays[0].Len(), arrays[0].DType()
	for _, a := range arrays {
		if a.Len() != n || a.DType().Size() != dt.Size() {
			return tensor.Array{}, fmt.Errorf("coordinates of a run have %d and %d elements, of %v and %v: they must be alike", n, a.Len(), dt, a.DType())
		}
	}
	out, err := tensor.MakeArray(dt, n*len(arrays))
	if err != nil {
		return out, err
	}
	to, size := out.Raw(), dt.Size()
	for j, a := range arrays {
		from := a.Raw()
		for i := range n {
			copy(to[(i*len(arrays)+j)*size:], from[i*size:(i+1)*size])
		}
	}
	return out, nil
}

// separate takes array j of count interleaved ones out.
func separate(a tensor.Array, j, count int) (tensor.Array, error) {
	out, err := tensor.MakeArray(a.DType(), a.Len()/count)
	if err != nil {
		return out, err
	}
	from, to, size := a.Raw(), out.Raw(), a.DType().Size()
	for i := range out.Len() {
		copy(to[i*size:], from[(i*count+j)*size:(i*count+j+1)*size])
	}
	return out, nil
}

// FromMLIR makes a tensor of the buffers of MLIR's sparse_tensor dialect, which are checked
// as [tensor.New] does and shared, but for interleaved coordinates, which are copied. Where the
// encoding divides dimensions (floordiv and mod), the tensor is the blocked one: its axes
// are the dimensions, of divided ones the quotients, then the remainders of those that are
// divided, in order; [tensor.Tensor.Unblocked] joins them if all are. Levels that we have no way
// to store (loose_compressed, structured, batch) and unknown properties are errors that
// name them.
func FromMLIR(m *MLIR, opts ...tensor.Option) (*tensor.Tensor, error) {
	if m == nil {
		return nil, errNoMLIR
	}
	t, err := fromMLIR(m, opts)
	return t, tensor.Named(err, opts...)
}

func fromMLIR(m *MLIR, opts []tensor.Option) (*tensor.Tensor, error) {
	e, err := parseEncoding(m.Encoding, len(m.Shape))
	if err != nil {
		return nil, err
	}
	order, shape, err := e.axes(m.Shape)
	if err != nil {
		return nil, err
	}
	types := make([]tensor.LevelType, len(e.levels))
	for k, l := range e.levels {
		types[k] = l.LevelType
	}
	format, err := tensor.FormatOfPhysical(types, order)
	if err != nil {
		return nil, tensor.Errorf(-1, "%v", err)
	}
	if err := e.checkBuffers(m); err != nil {
		return nil, err
	}
	levels := make([]tensor.Level, len(types))
	for k := range levels {
		levels[k].Pos, levels[k].Crd = m.Positions[k], m.Coordinates[k]
	}
	for k := 0; k < len(levels); {
		last := e.run(k)
		if last > k && !e.levels[last].soa {
			both, count := m.Coordinates[k], last-k+1
			if both.Len()%count != 0 {
				return nil, tensor.Errorf(k, "coordinates_%d has %d elements, not a multiple of %d: the coordinates of %d levels are interleaved in it", k, both.Len(), count, count)
			}
			for l := k; l <= last; l++ {
				if levels[l].Crd, err = separate(both, l-k, count); err != nil {
					return nil, tensor.Errorf(l, "%v", err)
				}
			}
		}
		k = last + 1
	}
	t, err := tensor.New(shape, format, levels, m.Values, opts...)
	if err == nil && t.Fill() != tensor.Zero(t.DType()) {
		return nil, tensor.Errorf(-1, "the fill is %v: MLIR's implicit value is 0", t.Fill())
	}
	return t, err
}
