package tensor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// Operand is what an expression may be given for one of its tensors: a [*Tensor],
// [*Parts] that together are one, or [*Blocks] of one.
type Operand interface {
	// Name is the name given to it, or "".
	Name() string
	// Shape is the extent of each logical axis.
	Shape() []int64
	// Rank is the number of dimensions.
	Rank() int
	// DType is the element type.
	DType() DType
	// Fill is the value at coordinates that are not stored.
	Fill() Scalar
	// NNZ is the number of stored values.
	NNZ() int64
	// Bytes is the memory that values and index arrays take, in bytes.
	Bytes() int64

	operand()
}

func (*Tensor) operand() {}
func (*Parts) operand()  {}

// Parts is one tensor stored as several, its parts: each coordinate is stored by at
// most one of them, and has the fill where none does. Parts differ in format and
// in the order of their axes, and have the shape, the element type and the fill in
// common. Like a Tensor it is immutable and safe for concurrent use.
//
// Mixed formats of the literature are Parts: [HBCSF] and [MMCSF] make two of
// them, and a band beside scattered elements, or dense blocks beside single
// elements, are others.
type Parts struct {
	parts []*Tensor
}

// NewParts makes one tensor of parts. There must be one at least; parts that store
// nothing are fine. That no two parts store one coordinate is checked, by sorting
// the coordinates of all; elements of dense blocks are stored, whatever their value.
// The error is a [*FormatError], which names the parts by their numbers.
func NewParts(parts ...*Tensor) (*Parts, error) {
	p := &Parts{parts: slices.Clone(parts)}
	if len(parts) == 0 {
		return nil, tensorError("a tensor in parts needs at least one part")
	}
	if len(parts) > maxParts {
		return nil, tensorError("%d parts: there may be %d", len(parts), maxParts)
	}
	first := parts[0]
	for k, t := range parts {
		switch {
		case t == nil:
			return nil, tensorError("part %d is nil", k)
		case !slices.Equal(t.shape, first.shape):
			return nil, tensorError("part %d has the shape %s, but part 0 has %s", k, shapeString(t.shape), shapeString(first.shape))
		case t.DType() != first.DType():
			return nil, tensorError("part %d has elements of type %v, but part 0 of type %v: convert one", k, t.DType(), first.DType())
		case !t.IsCanonical():
			return nil, tensorError("part %d is %v %v: parts are sorted, and store all their elements (see Canonical)", k, t.structure, t.format)
		case !t.fill.Same(first.fill):
			return nil, tensorError("part %d has the fill %v, but part 0 has %v", k, t.fill, first.fill)
		}
	}
	unpin, err := pinAll(parts)
	if err != nil {
		return nil, err
	}
	defer unpin()
	if err := p.checkDisjoint(); err != nil {
		return nil, err
	}
	return p, nil
}

// NewTrustedParts makes one tensor of parts that are known to go together and to be
// disjoint, without looking at them. Anything else must use [NewParts].
func NewTrustedParts(parts ...*Tensor) *Parts { return &Parts{parts: slices.Clone(parts)} }

// maxParts bounds the parts of a tensor: an expression over it is compiled for each.
const maxParts = 16

// Parts returns the parts.
func (p *Parts) Parts() []*Tensor { return slices.Clone(p.parts) }

// first is a part, which has what the parts have in common; of zero Parts a zero Tensor, which has no element type.
func (p *Parts) first() *Tensor {
	if len(p.parts) == 0 {
		var none Tensor
		return &none
	}
	return p.parts[0]
}

// Name is the first part's name.
func (p *Parts) Name() string { return p.first().name }

// Shape is the extent of each logical axis.
func (p *Parts) Shape() []int64 { return p.first().Shape() }

// Rank is the number of dimensions.
func (p *Parts) Rank() int { return p.first().Rank() }

// DType is the element type.
func (p *Parts) DType() DType { return p.first().DType() }

// Fill is the value at coordinates that no part stores.
func (p *Parts) Fill() Scalar { return p.first().fill }

// NNZ is the number of values that the parts store.
func (p *Parts) NNZ() int64 {
	n := int64(0)
	for _, t := range p.parts {
		n += t.NNZ()
	}
	return n
}

// Bytes is the memory that values and index arrays of all parts take, in bytes.
func (p *Parts) Bytes() int64 {
	n := int64(0)
	for _, t := range p.parts {
		n += t.Bytes()
	}
	return n
}

// At returns the value at a coordinate as [Tensor.At] does.
func (p *Parts) At(coord ...int64) Scalar {
	v := Scalar{}
	for _, t := range p.parts {
		if v = t.At(coord...); !v.Same(t.fill) {
			return v
		}
	}
	return v
}

// Expand stores all parts as one tensor in a format.
func (p *Parts) Expand(format Format, opts ...Option) (*Tensor, error) {
	if p == nil || len(p.parts) == 0 {
		return nil, errNoTensor
	}
	o := collect(opts)
	if o.name == "" {
		o.name = p.Name()
	}
	if err := checkShape(p.parts[0].shape, format); err != nil {
		return nil, named(err, o.name)
	}
	unpin, err := pinAll(p.parts)
	if err != nil {
		return nil, err
	}
	defer unpin()
	e, err := p.entries(o.memory)
	if err != nil {
		return nil, named(tensorError("%v", err), o.name)
	}
	t, err := assemble(e, p.parts[0].shape, format, p.Fill(), &o)
	return t, named(err, o.name)
}

// String describes the tensor and its parts in a few words, such as
// "3x4 f64, 5 stored in 2 parts (3 CSR, 2 COO), fill 0".
func (p *Parts) String() string {
	var list []string
	for _, t := range p.parts {
		list = append(list, fmt.Sprintf("%d %v", t.NNZ(), t.format))
	}
	return fmt.Sprintf("%s %v, %d stored in %d parts (%s), fill %v",
		shapeString(p.first().shape), p.DType(), p.NNZ(), len(p.parts), strings.Join(list, ", "), p.Fill())
}

// entries lists the entries of all parts, one part after the other.
func (p *Parts) entries(memory *memoryLimit) (entries, error) {
	lists := make([]entries, len(p.parts))
	for k, t := range p.parts {
		var err error
		if lists[k], err = t.elementEntries(); err != nil {
			return entries{}, err
		}
	}
	return joined(p.parts[0].shape, memory, lists, 0, nil)
}

// checkDisjoint reports a coordinate that two parts store.
func (p *Parts) checkDisjoint() error {
	if len(p.parts) == 1 {
		return nil
	}
	e, err := p.entries(nil)
	if err != nil {
		return tensorError("%v", err)
	}
	if p.Rank() == 0 {
		return tensorError("parts 0 and 1 both store the only element: parts must be disjoint")
	}
	a, b, err := column.Repeated(e.n, e.cols)
	if err != nil {
		return tensorError("%v", err)
	}
	if a != b {
		return tensorError("parts %d and %d both store the coordinate %s: parts must be disjoint",
			p.partOf(a), p.partOf(b), column.Coordinate(e.cols, a))
	}
	return nil
}

// partOf is the part that entry i of entries is of.
func (p *Parts) partOf(i int) int {
	for k, t := range p.parts {
		if i -= int(t.NNZ()); i < 0 {
			return k
		}
	}
	panic("BUG: entry beyond the last part")
}
