package tensor

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestWindow compares windows of every place and width with the list of all
// coordinates, in random formats.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rank := rapid.IntRange(1, 4).Draw(r, "rank")
		shape := make([]int64, rank)
		for k := range shape {
			shape[k] = rapid.Int64Range(0, 5).Draw(r, "size")
		}
		levels := make([]LevelKind, rank)
		dense := rapid.IntRange(0, rank).Draw(r, "dense")
		for k := range levels {
			switch {
			case k >= rank-dense:
				levels[k] = D
			case k == rank-dense-1:
				levels[k] = S
			default:
				levels[k] = rapid.SampledFrom([]LevelKind{S, C, DC}).Draw(r, "level")
			}
		}
		format, err := FormatOf(levels, rapid.Permutation(identity(rank)).Draw(r, "order"))
		if err != nil {
			r.Fatal(err)
		}
		total, _ := product(shape)
		elements := make([]float64, total)
		for i := range elements {
			elements[i] = float64(rapid.IntRange(0, 2).Draw(r, "element"))
		}
		types := WithIndexTypes(rapid.SampledFrom([]DType{Invalid, Int64, Uint16}).Draw(r, "pos"), rapid.SampledFrom([]DType{Invalid, Uint8}).Draw(r, "crd"))
		x, err := FromDense(shape, format, ArrayOf(elements), types)
		if err != nil {
			r.Fatal(err)
		}
		all, values, err := x.ToCoords()
		if err != nil {
			r.Fatal(err)
		}
		w := x.Window()
		lo := rapid.IntRange(0, values.Len()).Draw(r, "lo")
		hi := rapid.IntRange(lo, values.Len()).Draw(r, "hi")
		for _, part := range [][2]int{{lo, hi}, {0, lo}, {0, values.Len()}} {
			for axis, got := range w.Coords(part[0], part[1]) {
				if want := all[axis][part[0]:part[1]]; !slices.Equal(got, want) {
					r.Fatalf("%v: axis %d of values %v: %v, want %v", x, axis, part, got, want)
				}
			}
		}
	})
}
