package tensor

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// jsonTensor is a tensor as JSON: what FromCoords takes.
type jsonTensor struct {
	Name      string       `json:"name,omitempty"`
	Shape     []int64      `json:"shape"`
	Type      string       `json:"type"`
	Format    string       `json:"format"`
	Fill      jsonScalar   `json:"fill"`
	Structure string       `json:"structure,omitempty"`
	Coords    [][]int64    `json:"coords"` // by axis; none of a format that is all D
	Values    []jsonScalar `json:"values"`
}

// jsonScalar is a JSON number, true or false; or a string, of what JSON has no numbers for: inf, nan, complex ones.
type jsonScalar string

func (x jsonScalar) MarshalJSON() ([]byte, error) {
	if json.Valid([]byte(x)) {
		return []byte(x), nil
	}
	return json.Marshal(string(x))
}

func (x *jsonScalar) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		var s string
		err := json.Unmarshal(text, &s)
		*x = jsonScalar(s)
		return err
	}
	*x = jsonScalar(text)
	return nil
}

// MaxJSON is how many stored values a tensor may have that is written as JSON.
const MaxJSON = 100_000

// jsonMemory is how much an array of a tensor may take that was read from JSON, in bytes: the size of the text times jsonGrowth, and jsonMemory anyway.
const (
	jsonMemory = 16 << 20
	jsonGrowth = 64
)

// MarshalJSON writes a small tensor as its shape, type, format, fill and entries. More than [MaxJSON] stored values
// are an error: files (package tensor/file) hold those.
func (t *Tensor) MarshalJSON() ([]byte, error) {
	text, err := t.json()
	if err != nil {
		return nil, fmt.Errorf("a tensor as JSON: %w", err)
	}
	return text, nil
}

func (t *Tensor) json() ([]byte, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	if t.NNZ() > MaxJSON {
		return nil, named(tensorError("%d values are stored, and JSON is for %d at most: write a file, or file.Binary", t.NNZ(), MaxJSON), t.name)
	}
	coords, values, err := t.ToCoords()
	if err != nil {
		return nil, err
	}
	if t.format.IsDense() && slices.IsSorted(t.format.Order()) {
		coords = nil
	}
	j := jsonTensor{Name: t.name, Shape: t.Shape(), Type: t.DType().String(), Format: t.format.String(), Fill: jsonScalar(t.fill.String()), Coords: coords}
	if t.structure != General {
		j.Structure = t.structure.String()
	}
	for i := range values.n {
		j.Values = append(j.Values, jsonScalar(values.Scalar(i).String()))
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what [Tensor.MarshalJSON] writes. The receiver must be a zero Tensor, since tensors do not change;
// null leaves it as it is.
func (t *Tensor) UnmarshalJSON(text []byte) error {
	if string(text) == "null" { // as package json asks
		return nil
	}
	read, err := readJSON(text)
	switch {
	case err != nil:
		return fmt.Errorf("a tensor as JSON: %w", err)
	case t == nil || t.values.dt.Valid():
		return errors.New("a tensor as JSON: it is read into a zero Tensor only, as tensors do not change")
	}
	t.become(read)
	return nil
}

func readJSON(text []byte) (*Tensor, error) {
	var j jsonTensor
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, err
	}
	read, err := j.tensor(WithName(j.Name), WithMemoryLimit(jsonMemory+jsonGrowth*int64(len(text))))
	return read, named(err, j.Name)
}

func (j *jsonTensor) tensor(opts ...Option) (*Tensor, error) {
	dt, err := ParseDType(j.Type)
	if err != nil {
		return nil, err
	}
	format, err := ParseFormat(j.Format, len(j.Shape))
	if err != nil {
		return nil, err
	}
	fill, err := ParseScalar(string(j.Fill), dt)
	if err != nil {
		return nil, err
	}
	values, err := MakeArray(dt, len(j.Values))
	if err != nil {
		return nil, err
	}
	for i, text := range j.Values {
		x, err := ParseScalar(string(text), dt)
		if err != nil {
			return nil, positionError(-1, i, "value %d: %v", i, err)
		}
		values.SetScalar(i, x)
	}
	opts = append(opts, WithFill(fill))
	var t *Tensor
	if j.Coords == nil && format.IsDense() {
		n, ok := product(j.Shape)
		if !ok || n > math.MaxInt || int(n) != values.n {
			return nil, tensorError("%d values are given for the shape %s", values.n, shapeString(j.Shape))
		}
		t, err = FromDense(j.Shape, format, values, opts...)
	} else {
		t, err = FromCoords(j.Shape, format, j.Coords, values, opts...)
	}
	if err != nil || j.Structure == "" {
		return t, err
	}
	structure, err := ParseStructure(j.Structure)
	if err != nil {
		return nil, err
	}
	return t.WithStructure(structure)
}
