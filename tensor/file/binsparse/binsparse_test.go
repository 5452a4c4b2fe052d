package binsparse

import (
	"errors"
	"strings"
	"testing"

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
