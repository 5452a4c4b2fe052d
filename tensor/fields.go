package tensor

import (
	"bytes"
	"fmt"
	"slices"
)

// WithValues returns a tensor with the structure of t, that is its format and its index
// arrays, and other values: one for each that t stores, in storage order, or, with
// extra extents, a row-major block of extra[0]×extra[1]×… for each. The extra axes come
// after those of t and are stored in D levels. All arrays are shared. The options are
// [WithFill] and [WithName]; without them the fill is 0 and the name that of t.
//
// A tensor with a [Structure] keeps it, if the new values fit it; with extra axes there
// is none to keep, and it is an error. Attributes are dropped.
func (t *Tensor) WithValues(values Array, extra []int64, opts ...Option) (*Tensor, error) {
	return t.derived(opts, func(o options) (*Tensor, error) { return t.withValues(values, extra, o) })
}

func (t *Tensor) withValues(values Array, extra []int64, o options) (*Tensor, error) {
	if len(extra) > 0 && t.structure != General {
		return nil, tensorError("blocks of values cannot be %v: expand the matrix first", t.structure)
	}
	format, err := Stack(nil, t.format, Dense(len(extra)))
	if err != nil {
		return nil, tensorError("%v", err)
	}
	shape := append(t.Shape(), extra...)
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	if err := checkValues(values); err != nil {
		return nil, err
	}
	fill, err := o.fillFor(values.dt)
	if err != nil {
		return nil, err
	}
	block, ok := product(extra)
	if n, fits := mulSizes(int64(t.values.n), block); !ok || !fits || n != int64(values.n) {
		return nil, tensorError("there are %d values for %d stored positions with a block of %s each", values.n, t.values.n, shapeString(extra))
	}
	levels := append(t.Levels(), make([]Level, len(extra))...)
	out := NewTrusted(shape, format, levels, values, fill)
	out.name = o.name
	return out.WithStructure(t.structure)
}

// SameStructure reports whether two tensors store values at the same places: the levels of
// the one are the first levels of the other, what the other has more are D levels of
// further axes, and the index arrays have the same elements. Values, fills, names and index
// types do not matter. A tensor that was released has no places.
func SameStructure(a, b *Tensor) bool {
	unpin, err := pinAll([]*Tensor{a, b})
	if err != nil {
		return false
	}
	defer unpin()
	if a.Rank() > b.Rank() {
		a, b = b, a
	}
	format, err := Stack(nil, a.format, Dense(b.Rank()-a.Rank()))
	if err != nil || format != b.format || a.structure != b.structure || !slices.Equal(a.shape, b.shape[:a.Rank()]) {
		return false
	}
	for k, l := range a.levels {
		m := b.levels[k]
		if !sameIndices(l.Pos, m.Pos) || !sameIndices(l.Crd, m.Crd) || !sameIndices(l.Group, m.Group) {
			return false
		}
	}
	return true
}

// sameIndices reports whether two index arrays have the same elements.
func sameIndices(a, b Array) bool {
	switch {
	case a.n != b.n:
		return false
	case a.dt == b.dt && a.remote != nil && a.remote == b.remote:
		return true // wherever that is
	case a.dt == b.dt:
		return a.Pointer() == b.Pointer() || bytes.Equal(a.Raw(), b.Raw())
	}
	return diffIndices(a, b) == ""
}

// Fields are several named tensors of one structure, such as the weight and the colour of
// the edges of a graph: the index arrays are stored once. A field may have blocks of
// values, in D levels of axes of its own. Fields are immutable.
type Fields struct {
	names   []string
	tensors []*Tensor
}

// NewFields makes the set of the named tensors, in the order of the names. It is an error
// if there is none, if two have one name, or if they are not of the same structure in
// the sense of [SameStructure]. All but the first take over its index arrays.
func NewFields(names []string, tensors []*Tensor) (*Fields, error) {
	if len(names) == 0 || len(names) != len(tensors) {
		return nil, tensorError("fields need a name for each tensor, and one tensor or more: %d names are given for %d tensors", len(names), len(tensors))
	}
	f := &Fields{names: slices.Clone(names)}
	base := -1 // the tensor of the least rank, whose levels all have
	for i, t := range tensors {
		switch {
		case t == nil:
			return nil, tensorError("field %q is nil", names[i])
		case slices.Contains(names[:i], names[i]):
			return nil, tensorError("there are two fields named %q", names[i])
		case base < 0 || t.Rank() < tensors[base].Rank():
			base = i
		}
	}
	unpin, err := pinAll(tensors)
	if err != nil {
		return nil, err
	}
	defer unpin()
	for i, t := range tensors {
		if !SameStructure(tensors[base], t) {
			return nil, named(tensorError("it is stored at other places than field %q, or in another format", names[base]), names[i])
		}
		f.tensors = append(f.tensors, t.with(func(out *Tensor) {
			out.levels = t.Levels()
			copy(out.levels, tensors[base].levels)
		}))
	}
	return f, nil
}

// Names returns the names of the fields, in order.
func (f *Fields) Names() []string { return slices.Clone(f.names) }

// Len is the number of fields.
func (f *Fields) Len() int { return len(f.names) }

// Field returns the tensor of a name; nil if there is none.
func (f *Fields) Field(name string) *Tensor {
	if i := slices.Index(f.names, name); i >= 0 {
		return f.tensors[i]
	}
	return nil
}

// Bytes is the memory that the values of all fields and the index arrays, which they share,
// take together.
func (f *Fields) Bytes() int64 {
	n := int64(0)
	for i, t := range f.tensors {
		if i == 0 {
			n = t.Bytes()
			continue
		}
		n += t.values.Bytes()
	}
	return n
}

// Convert stores every field in another format, which is that of a field without blocks;
// those that have blocks keep them. It is an error if the results are not of one
// structure, as when a conversion from D levels leaves out what equals the fill in one
// field and not in another.
func (f *Fields) Convert(format Format) (*Fields, error) {
	if f == nil || len(f.tensors) == 0 {
		return nil, tensorError("there are no fields: make some with NewFields")
	}
	converted := make([]*Tensor, len(f.tensors))
	for i, t := range f.tensors {
		own, err := Stack(nil, format, Dense(t.Rank()-format.Rank()))
		if err != nil || t.Rank() < format.Rank() {
			return nil, named(tensorError("its rank is %d, format %v is for rank %d", t.Rank(), format, format.Rank()), f.names[i])
		}
		if converted[i], err = t.Convert(own); err != nil {
			return nil, fmt.Errorf("field %q: %w", f.names[i], err)
		}
	}
	return NewFields(f.names, converted)
}
