package tensor

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// This file tests New on arrays that make no sense.

// obeys checks arrays by the definition of the levels, without regard to speed: the
// reference for what New accepts.
func obeys(shape []int64, format Format, levels []Level, values Array) bool {
	parents := 1
	segments := format.segments()
	for k := 0; k < len(levels); {
		if len(segments) == 0 || segments[0].first != k {
			parents *= int(shape[format.order[k]])
			k++
		} else {
			seg := segments[0]
			segments = segments[1:]
			n := levels[seg.last].Crd.n
			for l := seg.first; l <= seg.last; l++ {
				if levels[l].Crd.n != n {
					return false
				}
			}
			begin := integersOf(levels[k].Pos)
			if k == 0 && begin == nil || levels[k].Pos.dt == Invalid {
				begin = []int64{0, int64(n)}
			}
			if !pointersObey(begin, parents, int64(n), k > 0 && format.Levels()[k-1] == DC) || !tuplesObey(shape, format, levels, seg, begin) {
				return false
			}
			parents, k = n, seg.last+1
		}
		if k == format.SparseRank() && format.grouped() {
			group := integersOf(levels[k-1].Group)
			if len(group) == 0 || !pointersObey(group, parents, group[len(group)-1], format.Levels()[k-1] == DC) {
				return false
			}
			parents = int(group[len(group)-1])
		}
	}
	return values.n == parents
}

// pointersObey says whether pointers group n positions by parents; those of a DC level hold no repeated values.
func pointersObey(begin []int64, parents int, n int64, distinct bool) bool {
	if distinct && len(slices.Compact(slices.Clone(begin))) < len(begin) {
		return false
	}
	return len(begin) == parents+1 && begin[0] == 0 && begin[parents] == n && slices.IsSorted(begin)
}

func tuplesObey(shape []int64, format Format, levels []Level, seg segment, begin []int64) bool {
	flags := format.flag(seg.first) | format.flag(seg.last)
	repeats := flags&Duplicates != 0 && !(format.grouped() && seg.last == format.SparseRank()-1)
	for p := range len(begin) - 1 {
		var tuples [][]int64
		for q := begin[p]; q < begin[p+1]; q++ {
			var tuple []int64
			for l := seg.first; l <= seg.last; l++ {
				c := levels[l].Crd.At64(int(q))
				if c < 0 || c >= shape[format.order[l]] {
					return false
				}
				tuple = append(tuple, c)
			}
			tuples = append(tuples, tuple)
		}
		if flags&Unsorted != 0 {
			slices.SortFunc(tuples, slices.Compare[[]int64])
		}
		for q := 1; q < len(tuples); q++ {
			if c := slices.Compare(tuples[q-1], tuples[q]); c > 0 || c == 0 && !repeats {
				return false
			}
		}
	}
	return true
}

// damage changes an index array in one place, or its length.
func damage(t *rapid.T, a Array) Array {
	if a.dt == Invalid {
		return a
	}
	list := integersOf(a)
	at := rapid.IntRange(0, max(len(list)-1, 0)).Draw(t, "at")
	switch kind := rapid.IntRange(0, 4).Draw(t, "damage"); {
	case kind == 0:
		list = append(list, rapid.Int64Range(-1, 4).Draw(t, "v"))
	case len(list) == 0:
	case kind == 1:
		list = list[:len(list)-1]
	case kind == 2 && at > 0:
		list[at-1], list[at] = list[at], list[at-1]
	default:
		list[at] = rapid.SampledFrom([]int64{-1 << 31, -1, 0, 1, 2, 3, 4, 1<<31 - 1}).Draw(t, "v")
	}
	out, _ := ArrayOf(list).Convert(rapid.SampledFrom([]DType{Int32, Int64, Uint32, Uint64}).Draw(t, "type"))
	return out
}

// checkHostile compares what New says of damaged arrays with the definition.
func checkHostile(t *rapid.T) {
	rank := rapid.IntRange(1, 4).Draw(t, "rank")
	d := &drawStored{t: t, format: drawAnyFormat(t, rank), shape: rapid.SliceOfN(rapid.Int64Range(0, 3), rank, rank).Draw(t, "shape")}
	d.draw()
	wide := rapid.Bool().Draw(t, "u32") // the usual types have checks of their own
	for k := range d.levels {
		l := &d.levels[k]
		for _, a := range []*Array{&l.Pos, &l.Crd, &l.Group} {
			if a.dt != Invalid && wide {
				*a, _ = a.Convert(Uint32)
			}
		}
	}
	values := ArrayOf(make([]float64, max(0, len(d.at)+rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "values"))))
	for range rapid.IntRange(0, 2).Draw(t, "times") {
		l := &d.levels[rapid.IntRange(0, rank-1).Draw(t, "level")]
		a := rapid.SampledFrom([]*Array{&l.Crd, &l.Pos, &l.Crd, &l.Group}).Draw(t, "array")
		*a = damage(t, *a)
	}
	a, err := New(d.shape, d.format, d.levels, values)
	want := obeys(d.shape, d.format, d.levels, values)
	if (err == nil) != want {
		t.Fatalf("%v of %v: New says %v, the definition %v", d.format, d.levels, err, want)
	}
	if err != nil {
		var e *FormatError
		if !errors.As(err, &e) {
			t.Fatalf("error %v is a %T", err, err)
		}
		return
	}
	if plain, err := a.Canonical(); err != nil || validate(plain) != nil {
		t.Fatalf("%v, whose plain form is %v, %v", a, plain, err)
	}
}

func TestNewAgreesWithTheDefinition(t *testing.T) { rapid.Check(t, checkHostile) }

func FuzzNew(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkHostile)) }

// TestPairs checks runs of two levels, which have a pass of their own, in both widths.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		format        string
		rows, columns []uint32
		want          string // "" if it is right
	}{
		{"COO", []uint32{0, 0, 1}, []uint32{0, 2, 0}, ""},
		{"COO", []uint32{0, 0, 1}, []uint32{0, 0, 0}, "indices_1[1] = 0 repeats"},
		{"COO", []uint32{0, 0, 1}, []uint32{2, 0, 0}, "indices_1[1] = 0 follows 2"},
		{"COO", []uint32{1, 0, 1}, []uint32{0, 0, 0}, "indices_0[1] = 0 follows 1"},
		{"COO", []uint32{0, 1, 1}, []uint32{3, 0, 1}, "indices_1[0] = 3 is out of range"},
		{"COO", []uint32{0, 1, 2}, []uint32{0, 0, 0}, "indices_0[2] = 2 is out of range"},
		{"COO(duplicates)", []uint32{0, 0, 1}, []uint32{1, 1, 0}, ""},
		{"COO(duplicates)", []uint32{0, 0, 1}, []uint32{2, 1, 0}, "indices_1[1] = 1 follows 2"},
		{"COO(duplicates)", []uint32{1, 0, 1}, []uint32{0, 0, 0}, "indices_0[1] = 0 follows 1"},
		{"COO(unsorted)", []uint32{1, 0, 1}, []uint32{0, 0, 2}, ""},
		{"COO(unsorted)", []uint32{1, 0, 1}, []uint32{0, 0, 0}, "indices_1[2] = 0 repeats the coordinate of position 0"},
	} {
		for _, index := range []DType{Uint32, Uint64, Int32, Uint8} {
			rows, _ := ArrayOf(c.rows).Convert(index)
			columns, _ := ArrayOf(c.columns).Convert(index)
			_, err := New([]int64{2, 3}, mustParse(t, c.format, 2), []Level{{Crd: rows}, {Crd: columns}}, ArrayOf([]float64{1, 2, 3}))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s %v of %v, %v: %v, want %q", c.format, index, c.rows, c.columns, err, c.want)
			}
		}
	}
}
