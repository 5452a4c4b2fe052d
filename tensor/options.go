package tensor

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/parts"
)

// Option is an optional argument of the constructors.
type Option func(*options)

type options struct {
	name     string
	fill     Scalar
	pos, crd DType         // types of all index arrays, Invalid for the default
	levels   map[int]DType // types of one level's index arrays
	small    map[int]DType // default types of one level's Crd
	flags    []LevelFlags  // of NewNamedLevels
	limit    int64         // of fibres, where limited
	limited  bool
	memory   *memoryLimit // nil: none
}

func collect(opts []Option) options {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithFill sets the value of coordinates that are not stored; 0 without it.
// It is converted to the element type.
func WithFill(fill Scalar) Option { return func(o *options) { o.fill = fill } }

// WithName names the tensor in error messages and in its String.
func WithName(name string) Option { return func(o *options) { o.name = name } }

// WithIndexTypes sets the integer types of the pointer (Pos) and index (Crd)
// arrays that a constructor builds; Invalid leaves the default, the narrowest
// of Uint32 and Uint64 that fits. [New] and [NewNamed] keep the arrays
// they are given.
func WithIndexTypes(pos, crd DType) Option {
	return func(o *options) { o.pos, o.crd = pos, crd }
}

// WithIndexType sets the integer type of the arrays of one physical level, in
// storage order, over what WithIndexTypes says. The Pos array of level k+1 is
// pointers_k of the spelling.
func WithIndexType(level int, dt DType) Option {
	return func(o *options) {
		if o.levels == nil {
			o.levels = map[int]DType{}
		}
		o.levels[level] = dt
	}
}

// WithLevelFlags says the flags of each level to [NewNamedLevels]; to the other
// constructors the format says them.
func WithLevelFlags(flags ...LevelFlags) Option {
	flags = slices.Clone(flags)
	return func(o *options) { o.flags = flags }
}

// WithFibreLimit makes a constructor that builds arrays, or Convert, split the
// positions of those DC levels that are flagged [Duplicates]: none has more than n
// positions of the next level under it. Where the next level is C it has one for
// each coordinate, and nothing is split. It is an error if n is less than 1, or if no
// level of the format can be split.
func WithFibreLimit(n int64) Option {
	return func(o *options) {
		o.limit = n
		o.limited = true
	}
}

// asksIndexTypes reports whether index types are given.
func (o *options) asksIndexTypes() bool {
	return o.pos != Invalid || o.crd != Invalid || len(o.levels) > 0
}

// posType is the type of level's Pos array, whose largest value is max.
func (o *options) posType(level int, max uint64) (DType, error) {
	return o.indexType(level, o.pos, max, "pointers")
}

// crdType is the type of level's Crd array, whose values are below size.
func (o *options) crdType(level int, size int64) (DType, error) {
	if dt, ok := o.small[level]; ok {
		return dt, nil
	}
	return o.indexType(level, o.crd, maxCoordinate(size), "indices")
}

func (o *options) indexType(level int, general DType, max uint64, what string) (DType, error) {
	dt, ok := o.levels[level]
	if !ok || dt == Invalid {
		dt = general
	}
	switch {
	case dt == Invalid:
		return narrowestIndex(max), nil
	case !dt.IsInteger():
		return Invalid, levelError(level, "index type %v: it must be an integer type", dt)
	case max > dt.maxIndex():
		return Invalid, levelError(level, "%s go up to %d, which index type %v cannot hold: use a wider one", what, max, dt)
	}
	return dt, nil
}

// maxCoordinate is the largest coordinate of a dimension, 0 for an empty one.
func maxCoordinate(size int64) uint64 { return uint64(max(size, 1) - 1) }

// fillFor is the fill for elements of type dt.
func (o *options) fillFor(dt DType) (Scalar, error) {
	if !o.fill.dt.Valid() {
		return Zero(dt), nil
	}
	x := o.fill.Convert(dt)
	// Rounding a fill is fine, to change it is not: inf as an integer, 2 as a
	// Bool, an imaginary part dropped.
	rounds := dt.IsComplex() || dt.IsFloat() && !o.fill.dt.IsComplex()
	if !rounds && !x.Convert(o.fill.dt).Same(o.fill) {
		return Scalar{}, tensorError("fill %v is not a value of the element type %v", o.fill, dt)
	}
	return x, nil
}

// checkShape reports a shape that is not one for the format, and trailing
// dense levels too large to count.
func checkShape(shape []int64, format Format) error {
	if len(shape) != format.Rank() {
		return tensorError("shape %s has %d dimensions, format %v has %d levels", shapeString(shape), len(shape), format, format.Rank())
	}
	for axis, n := range shape {
		if n < 0 {
			return tensorError("axis %d has the size %d: sizes are 0 or more", axis, n)
		}
	}
	var block []int64
	for _, axis := range format.Order()[format.SparseRank():] {
		block = append(block, shape[axis])
	}
	if _, ok := product(block); !ok {
		return tensorError("the dense levels %s have more than 2^63-1 elements: store leading ones sparse", shapeString(block))
	}
	return nil
}

// checkValues reports an element type that is none, and Bools that are not 0
// or 1.
func checkValues(values Array) error {
	if !values.dt.Valid() {
		return tensorError("the values have no element type")
	}
	if values.dt != Bool {
		return nil
	}
	bytes := View[uint8](values)
	var found [parts.Most]bool
	parts.Do(len(bytes), checkWorth, func(part, lo, hi int) {
		all := uint8(0)
		for _, v := range bytes[lo:hi] {
			all |= v
		}
		found[part] = all > 1
	})
	if !slices.Contains(found[:], true) {
		return nil
	}
	i := slices.IndexFunc(bytes, func(v uint8) bool { return v > 1 })
	return &FormatError{Level: -1, Position: int64(i), Msg: fmt.Sprintf("values[%d] is the byte %d: a bool is 0 or 1", i, bytes[i])}
}
