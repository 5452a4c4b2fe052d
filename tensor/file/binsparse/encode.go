package binsparse

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Array is an array to be put into a container.
type Array struct {
	Name string
	Type DataType
	// Data are the elements as they are stored: complex numbers as pairs of
	// floats, Bools as uint8, one element for an iso type.
	Data tensor.Array
}

// Options say how a tensor is encoded. The zero value writes the types that the
// tensor has, a fill only if it is not 0, and the name of a predefined format in
// place of its levels.
type Options struct {
	// Header holds keys for the descriptor (see [ParseHeader]). Those that the
	// tensor decides, such as the shape, must be right; index arrays and the fill are
	// converted to the data types it has, where that loses nothing. If its Fill is
	// set, the array fill_value is written even if it is 0.
	Header *Descriptor
	// Whole is what the descriptor says of a tensor of which the one that is encoded is a part; nil: it is all.
	Whole *Whole
}

// Whole is what is to be known of a tensor whose parts are encoded each on its own.
type Whole struct {
	Shape     []int64
	Stored    int64                   // values
	DataTypes map[string]tensor.DType // of arrays whose types those of the part do not tell
}

// Encode returns the descriptor of t, version 0.1, as JSON, and its arrays, which
// share the memory of t where nothing has to be converted. Half precision, which
// binsparse does not have, is widened to float32. A structure is kept. The error is
// an [*Error].
func Encode(t *tensor.Tensor, o Options) (descriptor []byte, arrays []Array, err error) {
	if t, err = t.Listed(); err != nil {
		return nil, nil, err
	}
	if t, err = standard(t); err != nil {
		return nil, nil, tensorError(err)
	}
	e := &encoder{Options: o, tensor: t, format: FormatOf(t.Format()), keys: map[string]jsonValue{}}
	if o.Header == nil {
		e.Header = &Descriptor{Format: e.format}
	} else if err := e.checkHeader(); err != nil {
		return nil, nil, err
	}
	if err := e.indices(); err != nil {
		return nil, nil, err
	}
	if err := e.values(); err != nil {
		return nil, nil, err
	}
	descriptor, err = e.descriptor()
	return descriptor, e.arrays, err
}

// standard returns the tensor with its levels sorted and unique, as binsparse has them.
func standard(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.Structure() == tensor.General {
		return t.Canonical()
	}
	f, err := tensor.FormatOf(t.Format().Levels(), t.Format().Order())
	if err != nil { // several values for each index: there is no triangle of that format
		return t.Canonical()
	}
	if f == t.Format() {
		return t, nil
	}
	return t.Convert(f)
}

// encoder encodes one tensor.
type encoder struct {
	Options
	tensor *tensor.Tensor
	format Format
	arrays []Array
	keys   map[string]jsonValue
}

// checkHeader reports keys of the header that are not true of the tensor.
func (e *encoder) checkHeader() error {
	h, t := e.Header, e.tensor
	levels := splitDense(h.Format.Levels)
	for i := range levels {
		if levels[i].Contiguous {
			return errorf("the header asks for contiguous indices, which can only be read")
		}
		levels[i].Unsorted = false // sorted ones are allowed there, too
	}
	if !slices.Equal(levels, e.format.Levels) || !slices.Equal(h.Format.Order, e.format.Order) {
		return errorf("the header asks for another format than %v, in which the tensor is stored: convert it first", t.Format())
	}
	_, hasShape := h.keys["shape"]
	_, hasStored := h.keys["number_of_stored_values"]
	_, hasStructure := h.keys["structure"]
	switch {
	case hasShape && !slices.Equal(h.Shape, t.Shape()):
		return errorf("the header has the shape %v, but the tensor has %v", h.Shape, t.Shape())
	case hasStored && h.Stored != t.NNZ():
		return errorf("the header has number_of_stored_values %d, but the tensor has %d", h.Stored, t.NNZ())
	case hasStructure && h.Structure != t.Structure():
		return errorf("the header has the structure %v, but the tensor has %v", h.Structure, t.Structure())
	case h.IndexBase != 0:
		return errorf("the header asks for index_base %d: only 0 can be written", h.IndexBase)
	}
	return nil
}

// indices adds the arrays of the sparse levels.
func (e *encoder) indices() error {
	dim := 0
	for _, l := range e.format.Levels {
		for k := dim; k < dim+l.Rank && l.Kind == SparseLevel; k++ {
			if k == dim && dim > 0 {
				if err := e.index(pointersTo(k), e.tensor.LevelAt(k).Pos); err != nil {
					return err
				}
			}
			if err := e.index(indices(k), e.tensor.LevelAt(k).Crd); err != nil {
				return err
			}
		}
		dim += l.Rank
	}
	return nil
}

// index adds an array of integers, of the type that the header asks for.
func (e *encoder) index(name string, a tensor.Array) error {
	if want, ok := e.Header.DataTypes[name]; ok && want.Elem != a.DType() {
		if want.Iso || !want.Elem.IsInteger() {
			return datasetErrorf(name, "the header asks for %s: expected an integer type", want)
		}
		for i := range a.Len() {
			if v := a.Scalar(i); v.Convert(want.Elem).Convert(tensor.Uint64) != v.Convert(tensor.Uint64) {
				return datasetErrorf(name, "element %d is %v, which %s cannot hold", i, v, want)
			}
		}
		var err error
		if a, err = a.Convert(want.Elem); err != nil {
			return &Error{Dataset: name, Msg: err.Error(), Err: err}
		}
	}
	e.arrays = append(e.arrays, Array{name, DataType{Elem: a.DType()}, a})
	return nil
}

// values adds the arrays of the values and of the fill.
func (e *encoder) values() error {
	values, fill := e.tensor.Values(), e.tensor.Fill()
	if dt := values.DType(); dt == tensor.Float16 || dt == tensor.BFloat16 {
		var err error
		if values, err = values.Convert(tensor.Float32); err != nil {
			return &Error{Dataset: valuesName, Msg: err.Error(), Err: err}
		}
		fill = fill.Convert(tensor.Float32)
	}
	want, ok := e.Header.DataTypes[valuesName]
	if !ok {
		want.Elem = values.DType()
	}
	if want.Elem != values.DType() {
		return datasetErrorf(valuesName, "the header asks for %s, but the tensor has %s", want, DataType{Elem: values.DType()})
	}
	if want.Iso {
		var err error
		if values, err = isoValue(values, fill); err != nil {
			return err
		}
	}
	e.arrays = append(e.arrays, Array{valuesName, want, stored(values)})
	if !e.Header.Fill && fill.Same(tensor.Zero(fill.DType())) {
		return nil
	}
	fillType, ok := e.Header.DataTypes[fillName]
	if !ok {
		fillType.Elem = fill.DType()
	}
	if !fill.Convert(fillType.Elem).Convert(fill.DType()).Same(fill) {
		return datasetErrorf(fillName, "the header asks for %s, which cannot hold the fill %v", fillType, fill)
	}
	one, err := tensor.MakeArray(fillType.Elem, 1)
	if err != nil {
		return &Error{Dataset: fillName, Msg: err.Error(), Err: err}
	}
	one.SetScalar(0, fill)
	e.arrays = append(e.arrays, Array{fillName, fillType, stored(one)})
	e.keys["fill"] = jsonValue("true")
	return nil
}

// isoValue returns the one element that all values are; the fill, if there are
// none, as an iso array is never empty.
func isoValue(values tensor.Array, fill tensor.Scalar) (tensor.Array, error) {
	if values.Len() == 0 {
		one, err := tensor.MakeArray(values.DType(), 1)
		if err == nil {
			one.SetScalar(0, fill)
		}
		return one, err
	}
	raw, size := values.Raw(), values.DType().Size()
	for i := size; i < len(raw); i += size {
		if !bytes.Equal(raw[i:i+size], raw[:size]) {
			return values, datasetErrorf(valuesName, "the header asks for one value for all (iso), but element %d is %v and the first is %v",
				i/size, values.Scalar(i/size), values.Scalar(0))
		}
	}
	return values.Slice(0, 1), nil
}

// stored returns values in the type that a container keeps them in.
func stored(a tensor.Array) tensor.Array {
	switch dt := a.DType(); {
	case dt.IsComplex():
		return tensor.ArrayAt(dt.Real(), a.Pointer(), 2*a.Len())
	case dt == tensor.Bool:
		return tensor.ArrayAt(tensor.Uint8, a.Pointer(), a.Len())
	}
	return a
}

// keyOrder is the order in which keys are written; others follow, sorted.
var keyOrder = []string{"version", "format", "custom", "shape", "number_of_stored_values", "structure", "fill", "data_types"}

// descriptor writes the JSON.
func (e *encoder) descriptor() ([]byte, error) {
	types := map[string]string{}
	for _, a := range e.arrays {
		types[a.Name] = a.Type.String()
	}
	shape, entries := e.tensor.Shape(), e.tensor.NNZ()
	if w := e.Whole; w != nil {
		shape, entries = w.Shape, w.Stored
		for name, dt := range w.DataTypes {
			types[name] = DataType{Elem: dt}.String()
		}
	}
	e.set("version", "0.1")
	if name := e.format.Name(); name != "" {
		e.set("format", name)
	} else {
		e.set("format", "custom")
		e.set("custom", customJSON(e.format))
	}
	e.set("shape", append([]int64{}, shape...))
	e.set("number_of_stored_values", entries)
	if s := e.tensor.Structure(); s != tensor.General {
		e.set("structure", s.String())
	}
	for key, value := range e.Header.keys {
		if key == "fill" {
			continue
		}
		e.keys[key] = value
		if key == "format" || key == "custom" {
			e.keepFormat()
		}
	}
	e.set("data_types", types)
	outer := map[string]jsonValue{"binsparse": orderedObject(e.keys)}
	maps.Copy(outer, e.Header.metadata)
	return orderedObject(outer), nil
}

// keepFormat takes the header's own spelling of the format.
func (e *encoder) keepFormat() {
	for _, key := range []string{"format", "custom"} {
		delete(e.keys, key)
		if value, ok := e.Header.keys[key]; ok {
			e.keys[key] = value
		}
	}
	if _, ok := e.keys["format"]; !ok {
		e.set("format", "custom")
	}
}

// set marshals a value that JSON can always hold.
func (e *encoder) set(key string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	e.keys[key] = text
}

// orderedObject writes an object with the keys of a descriptor in their usual
// order.
func orderedObject(keys map[string]jsonValue) jsonValue {
	var b bytes.Buffer
	b.WriteByte('{')
	write := func(key string) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(key) // a string can always be marshalled
		b.Write(name)
		b.WriteByte(':')
		b.Write(keys[key])
	}
	for _, key := range keyOrder {
		if _, ok := keys[key]; ok {
			write(key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(keyOrder, key) {
			write(key)
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

// levelJSON is a level as the descriptor has it.
type levelJSON struct {
	Kind  string     `json:"level_desc"`
	Rank  int        `json:"rank,omitempty"`
	Level *levelJSON `json:"level,omitempty"`
}

// customJSON is the description of a format level by level. The transpose is
// written even where it is the identity: there are readers that cannot do without.
func customJSON(f Format) any {
	level := &levelJSON{Kind: "element"}
	for i := len(f.Levels) - 1; i >= 0; i-- {
		kind := "dense"
		if f.Levels[i].Kind == SparseLevel {
			kind = "sparse"
		}
		level = &levelJSON{kind, f.Levels[i].Rank, level}
	}
	return struct {
		Transpose []int      `json:"transpose"`
		Level     *levelJSON `json:"level"`
	}{append([]int{}, f.Order...), level}
}
