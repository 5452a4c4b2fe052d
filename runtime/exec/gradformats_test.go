package exec

import (
	"maps"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/lang/derive"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func TestGroupFormats(t *testing.T) {
	parse := func(s string, rank int) tensor.Format {
		f, err := tensor.ParseFormat(s, rank)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	s := parse("S", 1)
	type groups = []derive.Group
	tests := []struct {
		name    string
		operand tensor.Format
		groups  groups // of which dy, the adjoint, is sparse, and dx is dense
		result  tensor.Format
		want    map[string]tensor.Format
	}{
		{"rows of coordinates", tensor.COO, groups{{Name: "t", Axes: []int{0}}}, tensor.COO, map[string]tensor.Format{"t": s}},
		{"columns of coordinates", tensor.COO, groups{{Name: "t", Axes: []int{1}}}, tensor.COOC, map[string]tensor.Format{"t": s}},
		{"columns of rows", tensor.DCSR, groups{{Name: "dy", Axes: []int{1}}, {Name: "t", Axes: []int{1}}}, tensor.DCSC, map[string]tensor.Format{"dy": s, "t": s}},
		{"nothing but a dense adjoint", tensor.DCSR, groups{{Name: "dx", Axes: []int{1}}}, tensor.DCSR, nil},
		{"rows and columns", tensor.COO, groups{{Name: "t", Axes: []int{1}}, {Name: "u", Axes: []int{0}}}, tensor.COO, nil},
		{"all rows are there", tensor.CSR, groups{{Name: "t", Axes: []int{1}}, {Name: "dy", Axes: []int{0}}}, tensor.CSR, nil},
		{"a sparse adjoint across all rows", tensor.CSR, groups{{Name: "t", Axes: []int{1}}, {Name: "dy", Axes: []int{1}}}, tensor.DCSC, map[string]tensor.Format{"dy": s, "t": s}},
		{"blocks", parse("S-D", 2), groups{{Name: "t", Axes: []int{0}}}, parse("S-D", 2), nil},
		{"flags", parse("COO(unsorted)", 2), groups{{Name: "t", Axes: []int{1}}}, parse("COO(unsorted)", 2), nil},
		{"two axes of three, in their own order", tensor.CSF(3), groups{{Name: "t", Axes: []int{2, 0}}, {Name: "u", Axes: []int{2}}},
			mustFormat(t, tensor.CSF(3).Levels(), []int{2, 0, 1}), map[string]tensor.Format{"t": mustFormat(t, []tensor.LevelKind{tensor.DC, tensor.S}, []int{0, 1}), "u": s}},
	}
	for _, test := range tests {
		result, got := groupFormats(test.operand, test.groups, "dy", func(name string) bool { return name == "dx" })
		if result != test.result || !maps.Equal(got, test.want) {
			t.Errorf("%s: %v and %v, want %v and %v", test.name, result, got, test.result, test.want)
		}
	}
}

func mustFormat(t *testing.T, levels []tensor.LevelKind, order []int) tensor.Format {
	t.Helper()
	f, err := tensor.FormatOf(levels, slices.Clone(order))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
