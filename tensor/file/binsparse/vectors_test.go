package binsparse

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file reads and writes the vectors of binsparse's conformance suite.

// vector is one of the conformance vectors: an array in one format.
type vector struct {
	ID        string             `json:"id"`
	Array     string             `json:"array"`
	AxisOrder []int              `json:"axis_order"`
	Structure []string           `json:"structure"`
	DenseRank int                `json:"dense_rank"`
	Arrays    map[string][]int64 `json:"arrays"`
	Values    json.RawMessage    `json:"values"`
	Shape     []int64            `json:"shape"`
	Binsparse *struct {
		Format string             `json:"format"`
		Custom map[string]any     `json:"custom"`
		Arrays map[string][]int64 `json:"arrays"`
	} `json:"binsparse"`
}

// vectors are those that have a binsparse form.
func vectors(t *testing.T) []vector {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "internal", "testing", "conformance", "testdata", "formats", "formats.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Arrays map[string]struct {
			Shape []int64 `json:"shape"`
		}
		Groups map[string][]vector
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var list []vector
	for _, group := range []string{"standard", "edge", "large_dims", "dense_dims"} {
		for _, v := range file.Groups[group] {
			if v.Binsparse == nil {
				t.Errorf("%s has no binsparse form", v.ID)
				continue
			}
			if v.Shape == nil {
				v.Shape = file.Arrays[v.Array].Shape
			}
			list = append(list, v)
		}
	}
	if len(list) < 200 {
		t.Errorf("only %d vectors", len(list))
	}
	return list
}

// tensorOf makes the tensor of a vector's own arrays.
func (v *vector) tensorOf(t *testing.T) *tensor.Tensor {
	var kinds []tensor.LevelKind
	for _, name := range slices.Concat(v.Structure, slices.Repeat([]string{"D"}, v.DenseRank)) {
		kinds = append(kinds, map[string]tensor.LevelKind{"S": tensor.S, "C": tensor.C, "DC": tensor.DC, "D": tensor.D}[name])
	}
	arrays := map[string]tensor.Array{}
	for name, list := range v.Arrays {
		arrays[name] = tensor.ArrayOf(list)
	}
	m, err := tensor.NewNamedLevels(v.Shape, kinds, v.AxisOrder, arrays, tensor.ArrayOf(v.values(t)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// values flattens the values, which may be nested by dense dimensions.
func (v *vector) values(t *testing.T) []float64 {
	var nested any
	if err := json.Unmarshal(v.Values, &nested); err != nil {
		t.Fatal(err)
	}
	list := []float64{}
	var flatten func(any)
	flatten = func(x any) {
		switch x := x.(type) {
		case float64:
			list = append(list, x)
		case []any:
			for _, y := range x {
				flatten(y)
			}
		}
	}
	flatten(nested)
	return list
}

// TestVectors encodes each conformance vector and compares it with its binsparse
// form, and reads that form.
func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			want := v.tensorOf(t)
			text, arrays, err := Encode(want, Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string][]int64{}
			for _, a := range arrays {
				if a.Name != "values" {
					wide, err := a.Data.Convert(tensor.Int64)
					if err != nil {
						t.Fatal(err)
					}
					got[a.Name] = append([]int64{}, tensor.View[int64](wide)...)
				}
			}
			if diff := gocmp.Diff(v.Binsparse.Arrays, got); diff != "" {
				t.Errorf("arrays (-want +got):\n%s", diff)
			}
			d, err := Parse(text)
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if name := cmp.Or(d.Format.Name(), "custom"); v.Binsparse.Format != "" && name != v.Binsparse.Format {
				t.Errorf("format %q, want %q", name, v.Binsparse.Format)
			}
			again, err := Read(d, memoryOf(arrays), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !tensor.Equal(again, want) || again.Format() != want.Format() {
				t.Errorf("read back %v, want %v", again, want)
			}
			v.readCustom(t, want)
		})
	}
}

// readCustom reads the levels of the vector, which are spelled independently.
func (v *vector) readCustom(t *testing.T, want *tensor.Tensor) {
	custom, err := json.Marshal(v.Binsparse.Custom)
	if err != nil {
		t.Fatal(err)
	}
	shape, err := json.Marshal(v.Shape)
	if err != nil {
		t.Fatal(err)
	}
	values := v.values(t)
	count, err := json.Marshal(len(values))
	if err != nil {
		t.Fatal(err)
	}
	m := memory{"values": tensor.ArrayOf(values)}
	for name, list := range v.Binsparse.Arrays {
		m[name] = tensor.ArrayOf(list)
	}
	got, err := readText(`{"binsparse": {"version": "0.1", "shape": `+string(shape)+`, "number_of_stored_values": `+string(count)+
		`, "data_types": {"values": "float64"}, "custom": `+string(custom)+`}}`, m)
	if err != nil {
		t.Fatal(err)
	}
	if !tensor.Equal(got, want) {
		t.Errorf("of custom levels read %v, want %v", got, want)
	}
}
