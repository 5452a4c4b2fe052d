package binsparse

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// memory is a container in memory.
type memory map[string]tensor.Array

func (m memory) Dataset(name string) (Dataset, bool, error) {
	a, ok := m[name]
	return Dataset{a.DType(), []int64{int64(a.Len())}, func() (tensor.Array, error) { return a, nil }}, ok, nil
}

// memoryOf holds the arrays that Encode made.
func memoryOf(arrays []Array) memory {
	m := memory{}
	for _, a := range arrays {
		m[a.Name] = a.Data
	}
	return m
}

// ints is an array of uint64.
func ints(list ...uint64) tensor.Array { return tensor.ArrayOf(list) }

// readText reads a tensor of a descriptor and arrays.
func readText(text string, m memory) (*tensor.Tensor, error) {
	d, err := Parse([]byte(text))
	if err != nil {
		return nil, err
	}
	return Read(d, m, nil)
}

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

// one is a vector of 4 elements, two of which are stored.
const one = `"version": "0.1", "shape": [4], "number_of_stored_values": 2, "data_types": {"indices_0": "uint64", "values": "float64"}`

// TestDialects reads one tensor in all the ways that descriptors of it are written.
func TestDialects(t *testing.T) {
	m := memory{"indices_0": ints(1, 3), "values": tensor.ArrayOf([]float64{5, 7})}
	want, err := tensor.FromCoords([]int64{4}, tensor.Coordinates(1), [][]int64{{1, 3}}, tensor.ArrayOf([]float64{5, 7}))
	if err != nil {
		t.Fatal(err)
	}
	const level = `{"level_desc": "sparse", "rank": 1, "level": {"level_desc": "element"}}`
	for name, text := range map[string]string{
		"specification":       `{"binsparse": {"format": "CVEC", ` + one + `}}`,
		"metadata":            `{"author": {"name": "x"}, "binsparse": {"format": "CVEC", ` + one + `}, "comment": ""}`,
		"bare object":         `{"format": "CVEC", "comment": "", ` + one + `}`,
		"zarr":                `{"binsparse": {"binsparse": {"format": "CVEC", ` + one + `}}}`,
		"text in text":        `{"binsparse": "{\"format\": \"CVEC\", ` + strings.ReplaceAll(one, `"`, `\"`) + `}"}`,
		"padding":             "{\"format\": \"CVEC\", " + one + "}\x00\x00\x00",
		"old name":            `{"format": "VEC", ` + one + `}`,
		"patch version":       `{"format": "CVEC", ` + strings.Replace(one, "0.1", "0.1.3-rc1+abc", 1) + `}`,
		"number as version":   `{"format": "CVEC", ` + strings.Replace(one, `"0.1"`, "0.1", 1) + `}`,
		"custom":              `{"binsparse": {"format": "custom", "custom": {"transpose": [0], "level": ` + level + `}, ` + one + `}}`,
		"custom, no format":   `{"binsparse": {"custom": {"level": ` + level + `}, "fill": false, "attrs": {}, ` + one + `}}`,
		"name and custom":     `{"binsparse": {"format": "CVEC", "custom": {"level": ` + level + `}, ` + one + `}}`,
		"format as object":    `{"binsparse": {"format": {"custom": {"level": ` + level + `}}, ` + one + `}}`,
		"rank left out":       `{"binsparse": {"custom": {"transpose": null, "level": {"level_desc": "sparse", "level": {"level_desc": "element"}}}, ` + one + `}}`,
		"sorted, by the key":  `{"binsparse": {"custom": {"level": {"level_desc": "sparse", "rank": 1, "sorted": true, "contiguous": false, "level": {"level_desc": "element"}}}, ` + one + `}}`,
		"floating-point size": `{"format": "CVEC", ` + strings.Replace(one, "[4]", "[4e0]", 1) + `}`,
		"no type of indices":  `{"format": "CVEC", ` + strings.Replace(one, `"indices_0": "uint64", `, "", 1) + `}`,
		"structure null":      `{"format": "CVEC", "structure": null, "fill": null, "index_base": 0, ` + one + `}`,
		"general":             `{"format": "CVEC", "structure": "general", ` + one + `}`,
	} {
		got, err := readText(text, m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !tensor.Equal(got, want) {
			t.Errorf("%s: read %v, want %v", name, got, want)
		}
	}
}

// csr is the descriptor of a CSR matrix of 2x3, with further keys and types of values.
func csr(keys, values string) string {
	return `{"binsparse": {"version": "0.1", "format": "CSR", "shape": [2, 3], "number_of_stored_values": 3` + keys +
		`, "data_types": {"pointers_to_1": "uint64", "indices_1": "uint64", "values": "` + values + `", "fill_value": "float64"}}}`
}

// TestValues reads every modifier of values.
func TestValues(t *testing.T) {
	index := func(values tensor.Array) memory {
		return memory{"pointers_to_1": ints(0, 2, 3), "indices_1": ints(0, 2, 1), "values": values}
	}
	withFill := index(tensor.ArrayOf([]float64{1, 2, 3}))
	withFill["fill_value"] = tensor.ArrayOf([]float64{-1.5})
	narrow := index(tensor.ArrayOf([]int8{1, 2, 3}))
	narrow["fill_value"] = tensor.ArrayOf([]float64{-1.5})
	whole := index(tensor.ArrayOf([]int8{1, 2, 3}))
	whole["fill_value"] = tensor.ArrayOf([]float64{-1})
	for _, tt := range []struct {
		name, text string
		m          memory
		dtype      tensor.DType
		want       string // the matrix, row by row
	}{
		{"float64", csr("", "float64"), index(tensor.ArrayOf([]float64{1, 2, 3})), tensor.Float64, "1 0 2 0 3 0"},
		{"int8", csr("", "int8"), index(tensor.ArrayOf([]int8{1, -2, 3})), tensor.Int8, "1 0 -2 0 3 0"},
		{"iso", csr("", "iso[int8]"), index(tensor.ArrayOf([]int8{7})), tensor.Int8, "7 0 7 0 7 0"},
		{"complex", csr("", "complex[float32]"), index(tensor.ArrayOf([]float32{1, 2, 3, -4, 5, 0})), tensor.Complex64, "1+2i 0+0i 3-4i 0+0i 5+0i 0+0i"},
		{"complex of the container", csr("", "complex[float64]"), index(tensor.ArrayOf([]complex128{1 + 2i, 3, 5})), tensor.Complex128, "1+2i 0+0i 3+0i 0+0i 5+0i 0+0i"},
		{"iso complex", csr("", "iso[complex[float64]]"), index(tensor.ArrayOf([]float64{1, -2})), tensor.Complex128, "1-2i 0+0i 1-2i 0+0i 1-2i 0+0i"},
		{"bint8", csr("", "bint8"), index(tensor.ArrayOf([]uint8{1, 0, 255})), tensor.Bool, "true false false false true false"},
		{"bint8 as int8", csr("", "bint8"), index(tensor.ArrayOf([]int8{1, 0, 1})), tensor.Bool, "true false false false true false"},
		{"bint8 as boolean", csr("", "bint8"), index(tensor.ArrayOf([]bool{true, false, true})), tensor.Bool, "true false false false true false"},
		{"iso bint8", csr("", "iso[bint8]"), index(tensor.ArrayOf([]int8{1})), tensor.Bool, "true false true false true false"},
		{"fill", csr(`, "fill": true`, "float64"), withFill, tensor.Float64, "1 -1.5 2 -1.5 3 -1.5"},
		{"fill not asked for", csr(`, "fill": false`, "float64"), withFill, tensor.Float64, "1 0 2 0 3 0"},
		{"fill of a wider type", csr(`, "fill": true`, "int8"), narrow, tensor.Float64, "1 -1.5 2 -1.5 3 -1.5"},
		{"fill that fits", csr(`, "fill": true`, "int8"), whole, tensor.Int8, "1 -1 2 -1 3 -1"},
	} {
		got, err := readText(tt.text, tt.m)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var list []string
		for i := range int64(2) {
			for j := range int64(3) {
				list = append(list, got.At(i, j).String())
			}
		}
		if text := strings.Join(list, " "); text != tt.want || got.DType() != tt.dtype {
			t.Errorf("%s: %v %s, want %v %s", tt.name, got.DType(), text, tt.dtype, tt.want)
		}
	}
}

// TestOrderOfIndices reads levels that are not sorted, contiguous indices, and
// indices from 1.
func TestOrderOfIndices(t *testing.T) {
	want, err := tensor.FromCoords([]int64{3, 4, 2}, tensor.Coordinates(3), [][]int64{{2, 0, 2}, {1, 3, 0}, {1, 0, 1}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	head := func(keys string, custom string) string {
		return `{"binsparse": {"version": "0.1", "shape": [3, 4, 2], "number_of_stored_values": 3, "data_types": {"values": "float64"}` + keys +
			`, "custom": {"level": ` + custom + `}}}`
	}
	element := `{"level_desc": "element"}`
	coo := func(flags string) string {
		return `{"level_desc": "sparse", "rank": 3, ` + flags + ` "level": ` + element + `}`
	}
	two := func(first, second string) string {
		return `{"level_desc": "` + first + `", "rank": 1, "level": {"level_desc": "` + second + `", "rank": 2, "sorted": false, "level": ` + element + `}}`
	}
	values := tensor.ArrayOf([]float64{1, 2, 3})
	ordered := tensor.ArrayOf([]float64{2, 3, 1})
	for _, tt := range []struct {
		name, text string
		m          memory
	}{
		{"sorted", head("", coo("")), memory{"indices_0": ints(0, 2, 2), "indices_1": ints(3, 0, 1), "indices_2": ints(0, 1, 1), "values": ordered}},
		{"unsorted", head("", coo(`"sorted": false,`)), memory{"indices_0": ints(2, 0, 2), "indices_1": ints(1, 3, 0), "indices_2": ints(1, 0, 1), "values": values}},
		{"unsorted under dense", head("", two("dense", "sparse")),
			memory{"pointers_to_1": ints(0, 1, 1, 3), "indices_1": ints(3, 1, 0), "indices_2": ints(0, 1, 1), "values": tensor.ArrayOf([]float64{2, 1, 3})}},
		{"unsorted under sparse", head("", two("sparse", "sparse")),
			memory{"indices_0": ints(0, 2), "pointers_to_1": ints(0, 1, 3), "indices_1": ints(3, 1, 0), "indices_2": ints(0, 1, 1), "values": tensor.ArrayOf([]float64{2, 1, 3})}},
		{"contiguous", head("", coo(`"contiguous": true,`)), memory{"indices_from0_to2": ints(0, 2, 2, 3, 0, 1, 0, 1, 1), "values": ordered}},
		{"contiguous and unsorted", head("", coo(`"contiguous": true, "sorted": false,`)), memory{"indices_from0_to2": ints(2, 0, 2, 1, 3, 0, 1, 0, 1), "values": values}},
		{"from 1", head(`, "index_base": 1`, coo("")), memory{"indices_0": ints(1, 3, 3), "indices_1": ints(4, 1, 2), "indices_2": ints(1, 2, 2), "values": ordered}},
		{"from 1, with pointers", head(`, "index_base": 1`, two("dense", "sparse")),
			memory{"pointers_to_1": ints(1, 2, 2, 4), "indices_1": ints(4, 2, 1), "indices_2": ints(1, 2, 2), "values": tensor.ArrayOf([]float64{2, 1, 3})}},
	} {
		got, err := readText(tt.text, tt.m)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got, err = got.Convert(tensor.Coordinates(3)); err != nil || !tensor.Equal(got, want) {
			t.Errorf("%s: read %v, %v", tt.name, got, err)
		}
	}
	// Dense blocks of unsorted entries, and a dense level without positions.
	blocks, err := readText(`{"version": "0.1", "shape": [3, 2], "number_of_stored_values": 4, "data_types": {"values": "float64"},
		"custom": {"transpose": [1, 0], "level": {"level_desc": "sparse", "sorted": false, "level": {"level_desc": "dense", "level": {"level_desc": "element"}}}}}`,
		memory{"indices_0": ints(1, 0), "values": tensor.ArrayOf([]float64{1, 2, 3, 4, 5, 6})})
	if err == nil || !strings.Contains(err.Error(), "number_of_stored_values is 4, but the arrays hold 6 positions") {
		t.Errorf("%v, %v", blocks, err)
	}
	blocks, err = readText(`{"version": "0.1", "shape": [3, 2], "number_of_stored_values": 6, "data_types": {"values": "float64"},
		"custom": {"transpose": [1, 0], "level": {"level_desc": "sparse", "sorted": false, "level": {"level_desc": "dense", "level": {"level_desc": "element"}}}}}`,
		memory{"indices_0": ints(1, 0), "values": tensor.ArrayOf([]float64{1, 2, 3, 4, 5, 6})})
	if err != nil {
		t.Fatal(err)
	}
	if got := blocks.At(0, 0).String() + blocks.At(2, 0).String() + blocks.At(1, 1).String(); got != "462" {
		t.Errorf("blocks: %s", got)
	}
}

// TestRefused lists what is wrong with descriptors and arrays, and how it is said.
func TestRefused(t *testing.T) {
	vec := memory{"indices_0": ints(1, 3), "values": tensor.ArrayOf([]float64{5, 7})}
	with := func(name string, a tensor.Array) memory {
		m := memory{"pointers_to_1": ints(0, 2, 3), "indices_1": ints(0, 2, 1), "values": tensor.ArrayOf([]float64{1, 2, 3})}
		m[name] = a
		return m
	}
	level := func(text string) string { return `{"custom": {"level": ` + text + `}, ` + one + `}` }
	unsorted := level(`{"level_desc": "sparse", "sorted": false, "level": {"level_desc": "element"}}`)
	for _, tt := range []struct {
		text string
		m    memory
		want string
	}{
		{`[]`, vec, "the descriptor is not a JSON object"},
		{`null`, vec, "the descriptor is null"},
		{`{"binsparse": 3}`, vec, `"binsparse" is not a JSON object`},
		{`{"binsparse": {"format": "CVEC", "extra": 1, ` + one + `}}`, vec, `the key "extra" is not known`},
		{`{` + one + `}`, vec, `the descriptor has no "format"`},
		{`{"format": "custom", ` + one + `}`, vec, `no key of that name`},
		{`{"format": "ELL", ` + one + `}`, vec, `format "ELL" is not known`},
		{`{"format": {"ell": 1}, ` + one + `}`, vec, `expected it to hold "custom"`},
		{`{"format": 3, ` + one + `}`, vec, `format is 3: expected a name`},
		{`{"format": "CSR", ` + one + `}`, vec, "shape has 1 dimensions, but the format is for 2"},
		{`{"format": "CVEC", ` + strings.Replace(one, "0.1", "0.2", 1) + `}`, vec, `version "0.2" is not known`},
		{`{"format": "CVEC", ` + strings.Replace(one, "0.1", "0.10", 1) + `}`, vec, `version "0.10" is not known`},
		{`{"format": "CVEC", ` + strings.Replace(one, `"version"`, `"v"`, 1) + `}`, vec, `has no "version"`},
		{`{"format": "CVEC", ` + strings.Replace(one, `"shape"`, `"sizes"`, 1) + `}`, vec, `has no "shape"`},
		{`{"format": "CVEC", ` + strings.Replace(one, "[4]", "4", 1) + `}`, vec, "shape is 4: expected a list"},
		{`{"format": "CVEC", ` + strings.Replace(one, "[4]", "[-4]", 1) + `}`, vec, "shape[0] is -4: it is negative"},
		{`{"format": "CVEC", ` + strings.Replace(one, "[4]", "[4.5]", 1) + `}`, vec, "expected a whole number"},
		{`{"format": "CVEC", ` + strings.Replace(one, "[4]", "[1e17]", 1) + `}`, vec, "it is rounded"},
		{`{"format": "CVEC", ` + strings.Replace(one, "[4]", "[9223372036854775808]", 1) + `}`, vec, "it is rounded"},
		{`{"format": "CVEC", ` + strings.Replace(one, "[4]", "[1e400]", 1) + `}`, vec, "more than 2^63-1"},
		{`{"format": "CVEC", ` + strings.Replace(one, "[4]", `["4"]`, 1) + `}`, vec, "expected a whole number"},
		{`{"format": "CVEC", ` + strings.Replace(one, "values\": 2", "values\": 3", 1) + `}`, vec, "number_of_stored_values is 3, but the arrays hold 2 positions"},
		{`{"format": "CVEC", "fill": 3, ` + one + `}`, vec, "fill is 3: expected true or false"},
		{`{"format": "CVEC", "fill": true, ` + one + `}`, vec, `dataset "fill_value": data_types has no entry`},
		{`{"format": "CVEC", "index_base": 2, ` + one + `}`, vec, "index_base is 2: expected 0 or 1"},
		{`{"format": "CVEC", "index_base": 1, ` + one + `}`, memory{"indices_0": ints(0, 1), "values": vec["values"]}, "element 0 is 0: expected 1 or more"},
		{`{"format": "CVEC", "structure": "banded", ` + one + `}`, vec, `structure "banded" is not known`},
		{`{"format": "CVEC", "structure": "symmetric_lower", ` + one + `}`, vec, "square"},
		{`{"format": "CVEC", ` + strings.Replace(one, "float64", "float16", 1) + `}`, vec, `dataset "values": data type "float16" is not known`},
		{`{"format": "CVEC", ` + strings.Replace(one, "float64", "complex[int8]", 1) + `}`, vec, "is not known"},
		{`{"format": "CVEC", ` + strings.Replace(one, "float64", "iso[float64", 1) + `}`, vec, "the bracket is not closed"},
		{`{"format": "CVEC", ` + strings.Replace(one, "float64", "iso[iso[int8]]", 1) + `}`, vec, "is not known"},
		{`{"format": "CVEC", ` + strings.Replace(one, "float64", "float32", 1) + `}`, vec, "its elements are f64, but data_types says float32"},
		{`{"format": "CVEC", ` + strings.Replace(one, "float64", "complex[float64]", 1) + `}`, vec, "expected 4 (real and imaginary parts)"},
		{`{"format": "CVEC", ` + strings.Replace(one, `"float64"`, `1`, 1) + `}`, vec, "its data type is 1: expected a string"},
		{`{"format": "CVEC", ` + strings.Replace(one, `"uint64"`, `"float64"`, 1) + `}`, vec, `dataset "indices_0": data_types says float64: expected an integer type`},
		{`{"format": "CVEC", ` + one + `}`, memory{"values": vec["values"]}, `dataset "indices_0": it is missing`},
		{`{"format": "CVEC", ` + one + `}`, memory{"indices_0": ints(1, 3)}, `dataset "values": it is missing`},
		{`{"format": "CVEC", ` + one + `}`, memory{"indices_0": vec["values"], "values": vec["values"]}, "its elements are f64: expected an integer type"},
		{`{"format": "CVEC", ` + one + `}`, memory{"indices_0": ints(3, 1), "values": vec["values"]}, "coordinates must ascend"},
		{`{"format": "CVEC", ` + one + `}`, memory{"indices_0": ints(1, 4), "values": vec["values"]}, "indices_0[1] = 4 is out of range"},
		{`{"format": "CVEC", ` + one + `}`, memory{"indices_0": ints(1, 1), "values": vec["values"]}, "must be unique"},
		{unsorted, memory{"indices_0": ints(1, 1), "values": vec["values"]}, "coordinates repeat: 2 values are stored at 1 places"},
		{unsorted, memory{"indices_0": ints(3, 4), "values": vec["values"]}, `dataset "indices_0": element 1 is 4, out of range`},
		{level(`{"level_desc": "hash", "level": {}}`), vec, `custom.level is "hash", a level that is not known`},
		{level(`{"level_desc": "sparse", "rank": 1}`), vec, "custom.level.level is missing"},
		{level(`{"level_desc": "sparse", "rank": 0, "level": {}}`), vec, "custom.level has the rank 0"},
		{level(`{"level_desc": "dense", "rank": 65, "level": {}}`), vec, "has the rank 65"},
		{level(`{"level_desc": "dense", "rank": 64, "level": {"level_desc": "dense", "level": {}}}`), vec, "more than the 64 dimensions"},
		{level(`{"level_desc": "dense", "sorted": true, "level": {}}`), vec, `custom.level has the key "sorted"`},
		{level(`{"level_desc": "sparse", "sorted": 1, "level": {}}`), vec, "sorted is 1: expected true or false"},
		{level(`{"level": {}}`), vec, "custom.level has no level_desc"},
		{`{"custom": {"split": 1, "level": {}}, ` + one + `}`, vec, `custom has the key "split"`},
		{`{"custom": {"transpose": [1], "level": {"level_desc": "sparse", "level": {"level_desc": "element"}}}, ` + one + `}`, vec, "permutation of the axes 0 to 0"},
		{`{"custom": {"transpose": [0, 1], "level": {"level_desc": "sparse", "level": {"level_desc": "element"}}}, ` + one + `}`, vec, "custom.transpose has 2 axes, but the levels cover 1"},
		{`{"format": "DVEC", "custom": {"level": {"level_desc": "sparse", "level": {"level_desc": "element"}}}, ` + one + `}`, vec, "format is DVEC, but custom describes another one"},
		{csr("", "float64"), with("pointers_to_1", ints(0, 2, 3, 3)), `dataset "pointers_to_1": it has 4 elements: expected 3`},
		{csr("", "float64"), with("pointers_to_1", ints(0, 2, 2)), "pointers_to_1 ends with 2"},
		{csr("", "float64"), with("pointers_to_1", ints(0, 4, 3)), "pointers_to_1[2] = 3 is below 4"},
		{csr("", "float64"), with("values", tensor.ArrayOf([]float64{1, 2})), `dataset "values": it has 2 elements of type f64: expected 3 of float64`},
		{csr("", "iso[float64]"), with("values", tensor.ArrayOf([]float64{1, 2})), "expected 1 of iso[float64]"},
	} {
		got, err := readText(tt.text, tt.m)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s:\n%v, %v; want … %s …", tt.text, got, err, tt.want)
		}
	}
}

// TestEmpty reads tensors without values, whose arrays some writers leave out.
func TestEmpty(t *testing.T) {
	head := `{"version": "0.1", "number_of_stored_values": 0, "data_types": {"values": "float32"}, `
	for _, tt := range []struct {
		text string
		m    memory
	}{
		{head + `"shape": [5], "format": "CVEC"}`, memory{}},
		{head + `"shape": [5, 0], "format": "COOR"}`, memory{}},
		{head + `"shape": [2, 3], "format": "CSR"}`, memory{"pointers_to_1": ints(0, 0, 0)}},
		{head + `"shape": [0, 3], "format": "CSR"}`, memory{"pointers_to_1": ints(0)}},
		{head + `"shape": [2, 3], "format": "DCSR"}`, memory{"pointers_to_1": ints(0)}},
		{head + `"shape": [0, 9223372036854775807], "format": "DMATR"}`, memory{}},
		{head + `"shape": [5, 0, 9223372036854775807], "custom": {"level": {"level_desc": "dense", "rank": 3, "level": {"level_desc": "element"}}}}`, memory{}},
	} {
		got, err := readText(tt.text, tt.m)
		if err != nil || got.NNZ() != 0 || got.DType() != tensor.Float32 {
			t.Errorf("%s: %v, %v", tt.text, got, err)
		}
	}
}

// TestNothingIsAllocatedForPromises reads descriptors that promise what would not
// fit in any memory.
func TestNothingIsAllocatedForPromises(t *testing.T) {
	const huge = "1152921504606846976" // 2^60
	for _, tt := range []struct{ text, want string }{
		{`{"version": "0.1", "shape": [` + huge + `], "number_of_stored_values": ` + huge + `, "format": "DVEC", "data_types": {"values": "iso[int8]"}}`, "the file is too small"},
		{`{"version": "0.1", "shape": [` + huge + `], "number_of_stored_values": ` + huge + `, "format": "DVEC", "data_types": {"values": "int8"}}`, "it has 1 elements"},
		{`{"version": "0.1", "shape": [` + huge + `, 2], "number_of_stored_values": 1, "format": "CSR", "data_types": {"values": "int8"}}`, "expected 1152921504606846977"},
		{`{"version": "0.1", "shape": [` + huge + `, 16], "number_of_stored_values": 1, "format": "DMATR", "data_types": {"values": "int8"}}`, "more than 2^63-1 positions"},
		{`{"version": "0.1", "shape": [2, ` + huge + `], "number_of_stored_values": ` + huge + `, "data_types": {"values": "iso[int8]"},
			"custom": {"level": {"level_desc": "sparse", "level": {"level_desc": "dense", "level": {"level_desc": "element"}}}}}`, "the file is too small"},
	} {
		_, err := readText(tt.text, memory{"values": tensor.ArrayOf([]int8{1}), "indices_0": ints(1), "pointers_to_1": ints(0)})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s:\n%v; want … %s …", tt.text, err, tt.want)
		}
	}
}

// TestWrongDescriptors reads with descriptors that no text gives.
func TestWrongDescriptors(t *testing.T) {
	types := map[string]DataType{"values": {Elem: tensor.Float64}}
	for _, d := range []*Descriptor{
		{Format: Format{Levels: []Level{sparse(1)}, Order: []int{0}}, DataTypes: types},
		{Format: Format{Levels: []Level{sparse(1)}, Order: []int{0}}, Shape: []int64{-1}, DataTypes: types},
		{Format: Format{Levels: []Level{sparse(1)}, Order: []int{1}}, Shape: []int64{4}, DataTypes: types},
		{Format: Format{Levels: []Level{sparse(0)}, Order: []int{0}}, Shape: []int64{4}, DataTypes: types},
		{Format: Format{Levels: []Level{sparse(1 << 40)}, Order: []int{0}}, Shape: []int64{4}, DataTypes: types},
		{Format: Format{Levels: []Level{{Rank: 1}}, Order: []int{0}}, Shape: []int64{4}, DataTypes: types},
		{Format: Format{Levels: []Level{sparse(2)}, Order: []int{0}}, Shape: []int64{4}, DataTypes: types},
		{Format: Format{Levels: []Level{sparse(1)}, Order: []int{0}}, Shape: []int64{4}},
	} {
		var e *Error
		if _, err := Read(d, memory{"indices_0": ints(), "values": tensor.ArrayOf([]float64{})}, nil); !errors.As(err, &e) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// TestPattern makes tensors of a pattern, and patterns of tensors.
func TestPattern(t *testing.T) {
	shape := []int64{2, 3}
	values := tensor.ArrayOf([]int8{1, 2, 3, 4, 5, 6})
	some := []bool{true, false, true, false, false, true}
	fill := tensor.Int(tensor.Int8, 9)
	for _, f := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.DCSC, tensor.COO} {
		m, err := FromPattern(shape, f, values, tensor.ArrayOf(some), fill)
		if err != nil {
			t.Fatal(err)
		}
		if m.NNZ() != 3 || m.At(1, 2).Int64() != 6 || m.At(0, 1).Int64() != 9 {
			t.Errorf("%v", m)
		}
		pattern, err := Pattern(m)
		if err != nil || !slices.Equal(tensor.View[bool](pattern), some) {
			t.Errorf("%v: %v, %v", f, tensor.View[bool](pattern), err)
		}
	}
	if _, err := FromPattern(shape, tensor.Dense(2), values, tensor.ArrayOf(some), fill); err == nil || !strings.Contains(err.Error(), "the pattern stores 3 elements, but format D stores 6") {
		t.Errorf("dense: %v", err)
	}
	if _, err := FromPattern(shape, tensor.CSR, values, tensor.ArrayOf(some[:5]), fill); err == nil || !strings.Contains(err.Error(), "the pattern has 5 elements") {
		t.Errorf("short: %v", err)
	}
	if _, err := FromPattern([]int64{3, 3}, tensor.CSR, values, tensor.ArrayOf(some), fill); err == nil {
		t.Error("a pattern that is smaller than the shape was taken")
	}
}

// TestEncodeHeader keeps keys of a header, and refuses those that are not true.
func TestEncodeHeader(t *testing.T) {
	m, err := tensor.FromCoords([]int64{2, 300}, tensor.CSR, [][]int64{{0, 1}, {299, 0}}, tensor.ArrayOf([]float64{7, 7}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ header, want string }{
		{`{"format": "CSR", "shape": [2, 300], "data_types": {"values": "iso[float64]", "indices_1": "int16"}, "attrs": {"a": 1}}`,
			`{"binsparse":{"version":"0.1","format":"CSR","shape":[2, 300],"number_of_stored_values":2,"data_types":{"indices_1":"int16","pointers_to_1":"uint32","values":"iso[float64]"},"attrs":{"a": 1}}}`},
		{`{"by": "me", "binsparse": {"custom": {"level": {"level_desc": "dense", "rank": 1, "level": {"level_desc": "sparse", "rank": 1, "level": {"level_desc": "element"}}}}}}`,
			`{"binsparse":{"version":"0.1","format":"custom","custom":{"level": {"level_desc": "dense", "rank": 1, "level": {"level_desc": "sparse", "rank": 1, "level": {"level_desc": "element"}}}},"shape":[2,300],"number_of_stored_values":2,"data_types":{"indices_1":"uint32","pointers_to_1":"uint32","values":"float64"}},"by":"me"}`},
		{`{"format": "CSC"}`, "the header asks for another format than CSR"},
		{`{"format": "CSR", "shape": [300, 2]}`, "the header has the shape [300 2]"},
		{`{"format": "CSR", "number_of_stored_values": 3}`, "number_of_stored_values 3, but the tensor has 2"},
		{`{"format": "CSR", "structure": "symmetric_lower"}`, "the structure symmetric_lower, but the tensor has general"},
		{`{"format": "CSR", "index_base": 1}`, "index_base 1: only 0 can be written"},
		{`{"format": "CSR", "data_types": {"values": "float32"}}`, "the header asks for float32, but the tensor has float64"},
		{`{"format": "CSR", "data_types": {"indices_1": "uint8"}}`, "element 0 is 299, which uint8 cannot hold"},
		{`{"format": "CSR", "data_types": {"indices_1": "float64"}}`, "the header asks for float64: expected an integer type"},
		{`{"custom": {"level": {"level_desc": "dense", "level": {"level_desc": "sparse", "contiguous": true, "level": {"level_desc": "element"}}}}}`, "contiguous indices, which can only be read"},
	} {
		h, err := ParseHeader([]byte(tt.header))
		if err != nil {
			t.Fatalf("%s: %v", tt.header, err)
		}
		text, _, err := Encode(m, Options{Header: h})
		if got := string(text); err != nil && !strings.Contains(err.Error(), tt.want) || err == nil && got != tt.want {
			t.Errorf("%s:\n%s\n%v\nwant %s", tt.header, got, err, tt.want)
		}
	}
	two, err := tensor.FromCoords([]int64{2}, tensor.Coordinates(1), [][]int64{{0, 1}}, tensor.ArrayOf([]float64{7, 8}))
	if err != nil {
		t.Fatal(err)
	}
	iso, err := ParseHeader([]byte(`{"format": "CVEC", "data_types": {"values": "iso[float64]"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Encode(two, Options{Header: iso}); err == nil || !strings.Contains(err.Error(), "element 1 is 8 and the first is 7") {
		t.Errorf("iso: %v", err)
	}
}

// TestEncodeRelaxed encodes tensors whose levels are unsorted or repeat: sorted, and with
// the values of one place summed.
func TestEncodeRelaxed(t *testing.T) {
	format, err := tensor.FormatWith([]tensor.LevelKind{tensor.C, tensor.S}, nil, []tensor.LevelFlags{0, tensor.Unsorted | tensor.Duplicates})
	if err != nil {
		t.Fatal(err)
	}
	m, err := tensor.New([]int64{2, 3}, format, []tensor.Level{{}, {Pos: ints(0, 3, 4), Crd: ints(2, 0, 2, 1)}}, tensor.ArrayOf([]float64{1, 2, 4, 8}))
	if err != nil {
		t.Fatal(err)
	}
	text, arrays, err := Encode(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := readText(string(text), memoryOf(arrays))
	if err != nil {
		t.Fatal(err)
	}
	if got.Format() != tensor.CSR || got.NNZ() != 3 || got.At(0, 2).Float64() != 5 || got.At(0, 0).Float64() != 2 || got.At(1, 1).Float64() != 8 {
		t.Errorf("read %v", got)
	}
}
