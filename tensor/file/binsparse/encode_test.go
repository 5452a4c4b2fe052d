package binsparse

import (
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

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
