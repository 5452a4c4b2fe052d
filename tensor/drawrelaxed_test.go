package tensor

import (
	"slices"

	"pgregory.net/rapid"
)

// This file draws random arrays in formats with flags, for the tests of this package.

// drawAnyFormat draws a format of any kind, with flags or without.
func drawAnyFormat(t *rapid.T, rank int) Format {
	for {
		levels := make([]LevelKind, rank)
		flags := make([]LevelFlags, rank)
		dense := rapid.SampledFrom([]int{0, 0, 0, 1, 2, rank}).Draw(t, "dense levels")
		dense = min(dense, rank)
		for k := range levels {
			levels[k] = D
			if k < rank-dense {
				levels[k] = rapid.SampledFrom([]LevelKind{S, C, DC}).Draw(t, "level")
				flags[k] = LevelFlags(rapid.IntRange(0, 3).Draw(t, "flags"))
			}
		}
		order := rapid.Permutation(identity(rank)).Draw(t, "order")
		if last := rank - dense - 1; last >= 0 && flags[last]&Duplicates == 0 {
			levels[last] = S
		}
		// Flags that have no meaning where they are go.
		for k := range flags {
			for flag := LevelFlags(1); flag <= allFlags; flag <<= 1 {
				one := make([]LevelFlags, rank)
				one[k] = flag
				if last := rank - dense - 1; last >= 0 && levels[last] != S {
					one[last] |= Duplicates
				}
				if _, err := FormatWith(levels, order, one); err != nil {
					flags[k] &^= flag
				}
			}
		}
		if f, err := FormatWith(levels, order, flags); err == nil {
			return f
		}
	}
}

// drawStored draws arrays in a format, by the definition of its levels alone, and the
// entries that they mean.
type drawStored struct {
	t      *rapid.T
	format Format
	shape  []int64
	levels []Level
	at     [][]int64 // level coordinates of each position of the last level done
}

// tuples draws the coordinates under one parent in a segment.
func (d *drawStored) tuples(seg segment, room int) [][]int64 {
	flags := d.format.flag(seg.first) | d.format.flag(seg.last)
	repeats := flags&Duplicates != 0 && !(d.format.grouped() && seg.last == d.format.SparseRank()-1)
	n := rapid.IntRange(d.least(seg.first), room).Draw(d.t, "fibre")
	if slices.ContainsFunc(d.format.Order()[seg.first:d.format.SparseRank()], func(axis int) bool { return d.shape[axis] == 0 }) {
		return nil // no coordinate has anything under it
	}
	var list [][]int64
	for range n {
		tuple := make([]int64, seg.last-seg.first+1)
		for i := range tuple {
			tuple[i] = rapid.Int64Range(0, d.shape[d.format.order[seg.first+i]]-1).Draw(d.t, "c")
		}
		if repeats || !slices.ContainsFunc(list, func(x []int64) bool { return slices.Equal(x, tuple) }) {
			list = append(list, tuple)
		}
	}
	if flags&Unsorted == 0 {
		slices.SortStableFunc(list, slices.Compare[[]int64])
	}
	return list
}

// least is how many positions of level k, or values, a parent has at least.
func (d *drawStored) least(k int) int {
	if k > 0 && d.format.Levels()[k-1] == DC {
		return 1
	}
	return 0
}

func (d *drawStored) draw() {
	d.levels = make([]Level, d.format.Rank())
	d.at = [][]int64{{}}
	segments := d.format.segments()
	for k := 0; k < d.format.Rank(); {
		var next [][]int64
		if len(segments) > 0 && segments[0].first == k {
			seg := segments[0]
			segments = segments[1:]
			pos := []uint16{0}
			crd := make([][]uint16, seg.last+1)
			for _, prefix := range d.at {
				for _, tuple := range d.tuples(seg, 3) {
					next = append(next, slices.Concat(prefix, tuple))
					for i, c := range tuple {
						crd[seg.first+i] = append(crd[seg.first+i], uint16(c))
					}
				}
				pos = append(pos, uint16(len(next)))
			}
			for l := seg.first; l <= seg.last; l++ {
				d.levels[l].Crd = ArrayOf(crd[l])
			}
			d.levels[k].Pos = ArrayOf(pos)
			k = seg.last + 1
		} else {
			for _, prefix := range d.at {
				for c := range d.shape[d.format.order[k]] {
					next = append(next, append(slices.Clone(prefix), c))
				}
			}
			k++
		}
		d.at = next
		if k == d.format.SparseRank() && d.format.grouped() {
			d.group(k - 1)
		}
	}
}

// group draws how many values each position of the last level has.
func (d *drawStored) group(level int) {
	pos := []uint16{0}
	var next [][]int64
	for _, at := range d.at {
		for range rapid.IntRange(d.least(level+1), 2).Draw(d.t, "values") {
			next = append(next, at)
		}
		pos = append(pos, uint16(len(next)))
	}
	d.levels[level].Group = ArrayOf(pos)
	d.at = next
}

// drawRelaxed draws a tensor in any format, and what it means.
func drawRelaxed(t *rapid.T, rank int) (*Tensor, model) {
	d := &drawStored{t: t, format: drawAnyFormat(t, rank), shape: rapid.SliceOfN(rapid.Int64Range(0, 3), rank, rank).Draw(t, "shape")}
	d.draw()
	dt := drawDType(t)
	m := model{shape: d.shape, stored: map[string]Scalar{}, fill: Int(dt, rapid.Int64Range(0, 1).Draw(t, "fill"))}
	m.coords = make([][]int64, rank)
	m.values, _ = MakeArray(dt, len(d.at))
	for i, tuple := range d.at {
		at := make([]int64, rank)
		for k, c := range tuple {
			at[d.format.order[k]] = c
		}
		for axis, c := range at {
			m.coords[axis] = append(m.coords[axis], c)
		}
		m.add(i, at, Int(dt, rapid.Int64Range(0, 4).Draw(t, "v")))
	}
	a, err := New(d.shape, d.format, d.levels, m.values, WithFill(m.fill))
	if err != nil {
		t.Fatalf("%v: %v", d.format, err)
	}
	return a, m
}
