package conformance

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file reads the vectors and compares results with them.

// tacoFile is a file of expression vectors in the schema sparse-conformance/1.
type tacoFile struct {
	Schema string     `json:"schema"`
	Cases  []tacoCase `json:"cases"`
}

// tacoCase is one expression with its operands and result.
type tacoCase struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Expr string `json:"expr"`
	// Concrete is the expression as loops; some cases have nothing else.
	Concrete string          `json:"concrete"`
	Einsum   *string         `json:"einsum"`
	Inputs   []tacoTensor    `json:"inputs"`
	InOut    *tacoTensor     `json:"inout"`
	Output   tacoTensor      `json:"output"`
	Ops      json.RawMessage `json:"ops"`
	Why      string          `json:"why"`
	Text     string          `json:"text"` // of a schedule
	Formats  map[string]string
	Dims     map[string][]int64 `json:"dims"`
	File     *struct {
		Format, Text string
	} `json:"file"`
	Expect struct {
		Dense   []json.RawMessage `json:"dense"`
		Storage *struct {
			Levels []struct {
				Kind     string
				Pos, Crd []int64
			}
			Vals []json.RawMessage
		} `json:"storage"`
		Dims    []int64             `json:"dims"`
		Entries [][]json.RawMessage `json:"entries"`
		Parsed  [][]string          `json:"parsed"` // words of commands
	} `json:"expect"`
}

type tacoTensor struct {
	Name   string
	DType  string
	Dims   []int64
	Format struct {
		Levels []string
		Order  []int
	}
	Fill    float64
	Entries [][]json.RawMessage
}

// tacoFormat parses TACO's letters with an optional axis order: "ss order 1,0".
func tacoFormat(s string, rank int) (tensor.Format, error) {
	letters, order, ordered := strings.Cut(s, " order ")
	f, err := tensor.ParseFormat(letters, rank)
	if err != nil || !ordered {
		return f, err
	}
	var axes []int
	for _, p := range strings.Split(order, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil {
			return f, err
		}
		axes = append(axes, n)
	}
	return f.WithOrder(axes)
}

func dtype(t *testing.T, name string) tensor.DType {
	dt, err := tensor.ParseDType(name)
	if err != nil {
		t.Fatal(err)
	}
	return dt
}

// format spells TACO's level kinds. A padded singleton has no counterpart: the
// operand is stored compressed instead, which changes no value.
func (x *tacoTensor) format(t *testing.T) tensor.Format {
	n := len(x.Format.Levels)
	levels := make([]tensor.LevelKind, n)
	last := -1
	for l, kind := range x.Format.Levels {
		if kind != "dense" {
			last = l
		}
	}
	for l, kind := range x.Format.Levels {
		switch {
		case l > last:
			levels[l] = tensor.D
		case kind == "dense":
			levels[l] = tensor.C
		case l == last || kind == "compressed-nonunique":
			levels[l] = tensor.S
		default:
			levels[l] = tensor.DC
		}
	}
	f, err := tensor.FormatOf(levels, x.Format.Order)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (x *tacoTensor) build(t *testing.T) *tensor.Tensor {
	dt := dtype(t, x.DType)
	coords := make([][]int64, len(x.Dims))
	vals, err := tensor.MakeArray(dt, len(x.Entries))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range x.Entries {
		c, v := entry(t, e)
		for a := range coords {
			coords[a] = append(coords[a], c[a])
		}
		vals.SetScalar(i, tensor.Float(dt, v))
	}
	if len(x.Dims) == 0 {
		v := tensor.Zero(dt)
		if len(x.Entries) > 0 {
			v = vals.Scalar(0)
		}
		return tensor.ScalarTensor(v)
	}
	out, err := tensor.FromCoords(x.Dims, x.format(t), coords, vals, tensor.WithFill(tensor.Float(dt, x.Fill)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// entry decodes [[coordinates], value].
func entry(t *testing.T, e []json.RawMessage) ([]int64, float64) {
	var coord []int64
	if err := json.Unmarshal(e[0], &coord); err != nil {
		t.Fatal(err)
	}
	return coord, number(t, e[1])
}

// number decodes a JSON number or one of the strings "nan", "inf", "-inf".
func number(t *testing.T, raw json.RawMessage) float64 {
	v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// closeTo compares a result with a vector: the vectors' decimals are exact for
// small numbers and shortest representations otherwise, so only functions
// leave room for the last bits.
func closeTo(got, want float64) bool {
	if math.IsNaN(want) {
		return math.IsNaN(got)
	}
	return got == want || math.Abs(got-want) <= 1e-14*math.Abs(want)
}

func checkDense(t *testing.T, got *tensor.Tensor, want []json.RawMessage) {
	dense, err := got.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	if dense.Len() != len(want) {
		t.Fatalf("%d elements, want %d", dense.Len(), len(want))
	}
	for i, raw := range want {
		if g, w := dense.Scalar(i).Float64(), number(t, raw); !closeTo(g, w) {
			t.Errorf("element %d is %v, want %v", i, g, w)
		}
	}
}

// checkStorage compares the arrays of a stored tensor with the vector's.
func (c *tacoCase) checkStorage(t *testing.T, kinds []string, got *tensor.Tensor) {
	want := c.Expect.Storage
	if want == nil || slices.Contains(kinds, "singleton-padded") {
		return
	}
	for l, level := range want.Levels {
		have := got.Levels()[l]
		if level.Pos != nil && !equalIndices(have.Pos, level.Pos) {
			t.Errorf("level %d: positions %v, want %v", l, indices(have.Pos), level.Pos)
		}
		if level.Crd != nil && !equalIndices(have.Crd, level.Crd) {
			t.Errorf("level %d: coordinates %v, want %v", l, indices(have.Crd), level.Crd)
		}
	}
	vals := got.Values()
	if vals.Len() != len(want.Vals) {
		t.Fatalf("%d values, want %d", vals.Len(), len(want.Vals))
	}
	for i, raw := range want.Vals {
		if g, w := vals.Scalar(i).Float64(), number(t, raw); !closeTo(g, w) {
			t.Errorf("value %d is %v, want %v", i, g, w)
		}
	}
}

func indices(a tensor.Array) []int64 {
	list := make([]int64, a.Len())
	for i := range list {
		list[i] = a.At64(i)
	}
	return list
}

func equalIndices(a tensor.Array, want []int64) bool { return slices.Equal(indices(a), want) }
