package tensor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRelaxedFormatsMeanSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(1, 4).Draw(t, "rank")
		a, m := drawRelaxed(t, rank)
		m.check(t, a)
		if back, err := NewNamed(a.shape, a.format, arraysOf(a), a.values, WithFill(a.fill)); err != nil || Diff(a, back) != "" {
			t.Fatalf("from its spelled arrays: %v, %v", back, err)
		}
		if text := a.format.String(); true {
			if f, err := ParseFormat(text, rank); err != nil || f != a.format {
				t.Fatalf("%q reads as %v, %v", text, f, err)
			}
		}
		coords, values, err := a.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		for axis := range coords {
			if !slices.Equal(coords[axis], m.coords[axis]) && len(m.coords[axis]) > 0 {
				t.Fatalf("%v: coordinates of axis %d %v, want %v", a, axis, coords[axis], m.coords[axis])
			}
		}
		if values.Len() != m.values.Len() {
			t.Fatalf("%v: %d values, want %d", a, values.Len(), m.values.Len())
		}
		plain, err := a.Canonical()
		if err != nil || plain.format != a.format.Standard() {
			t.Fatalf("plain form %v, %v", plain, err)
		}
		m.check(t, plain)

		target := drawAnyFormat(t, rank)
		b, err := a.Convert(target)
		if err != nil || b.format != target {
			t.Fatalf("%v converted to %v, want %v: %v", a, b, target, err)
		}
		m.checkMeaning(t, b)
		if target.Multigraph() && !target.HasBlocks() && !a.format.HasBlocks() && b.NNZ() != a.NNZ() {
			t.Fatalf("%v converted to %v loses entries", a, b)
		}
		c, err := FromCoords(m.shape, target, m.coords, m.values, WithFill(m.fill))
		if err != nil {
			t.Fatal(err)
		}
		m.checkMeaning(t, c)
		if target.Multigraph() && !target.HasBlocks() && c.NNZ() != int64(m.values.n) {
			t.Fatalf("%v of %d entries", c, m.values.n)
		}
		pruned, err := a.Prune()
		if err != nil {
			t.Fatal(err)
		}
		m.checkMeaning(t, pruned)
		perm := rapid.Permutation(identity(rank)).Draw(t, "perm")
		turned, err := a.Transpose(perm)
		if err != nil {
			t.Fatal(err)
		}
		each(m.shape, func(at []int64) {
			to := make([]int64, rank)
			for k, axis := range perm {
				to[k] = at[axis]
			}
			if got, want := turned.At(to...), m.at(at); !got.Same(want) {
				t.Fatalf("%v transposed at %v is %v, want %v", a, to, got, want)
			}
		})
		elements, _ := product(m.shape)
		flat, err := a.Reshape([]int64{elements}, CSF(1))
		if err != nil {
			t.Fatal(err)
		}
		twice, err := Concat(0, Coordinates(rank), a, a)
		if err != nil {
			t.Fatal(err)
		}
		pattern, err := Pattern(a)
		if err != nil {
			t.Fatal(err)
		}
		i := int64(0)
		each(m.shape, func(at []int64) {
			below := slices.Clone(at)
			below[0] += m.shape[0]
			for what, got := range map[string]Scalar{"reshaped": flat.At(i), "joined": twice.At(below...)} {
				if want := m.at(at); !got.Same(want) {
					t.Fatalf("%v %s at %v is %v, want %v", a, what, at, got, want)
				}
			}
			if _, stored := m.stored[fmt.Sprint(at)]; pattern.At(at...).Bool() && !stored && !a.format.HasBlocks() || stored && !pattern.At(at...).Bool() {
				t.Fatalf("the pattern of %v at %v: %v", a, at, pattern.At(at...))
			}
			i++
		})
	})
}

// arraysOf lists a tensor's arrays under their spelled names.
func arraysOf(a *Tensor) map[string]Array {
	out := map[string]Array{}
	for k := range a.Rank() {
		if indices, ok := a.Indices(k); ok {
			out[crdName(k)] = indices
		}
		if pointers, ok := a.Pointers(k); ok {
			out[posName(k+1)] = pointers
		}
	}
	return out
}

// TestFibreLimit compares with the definition: no position has more children than the
// limit, and joining neighbours that share a coordinate gives the tensor back.
func TestFibreLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 4)
		rank := len(m.shape)
		if rank < 2 {
			return
		}
		levels := CSF(rank).Levels()
		flags := make([]LevelFlags, rank)
		some := false
		for k := range rank - 1 {
			if rapid.Bool().Draw(t, "S") && k+2 < rank {
				levels[k] = S
				continue
			}
			if rapid.Bool().Draw(t, "split") || !some && k == rank-2 {
				flags[k], some = Duplicates, true
			}
		}
		format, err := FormatWith(levels, rapid.Permutation(identity(rank)).Draw(t, "order"), flags)
		if err != nil {
			t.Fatal(err)
		}
		limit := rapid.Int64Range(1, 3).Draw(t, "limit")
		a, err := FromCoords(m.shape, format, m.coords, m.values, WithFill(m.fill), WithFibreLimit(limit))
		if err != nil {
			t.Fatal(err)
		}
		m.checkMeaning(t, a)
		for k := range rank - 1 {
			if flags[k] == 0 {
				continue
			}
			stats, err := a.FibreLengths(k + 1)
			if err != nil {
				t.Fatal(err)
			}
			if stats.Fibres > 0 && stats.Max > limit {
				t.Fatalf("%v: a fibre of %d under level %d, limit %d", a, stats.Max, k, limit)
			}
		}
		whole, err := a.Convert(format.Standard())
		if err != nil {
			t.Fatal(err)
		}
		want, err := FromCoords(m.shape, format.Standard(), m.coords, m.values, WithFill(m.fill))
		if err != nil {
			t.Fatal(err)
		}
		if d := Diff(whole, want); d != "" {
			t.Fatalf("%v joined again: %s", a, d)
		}
	})
}

// TestFibreLimitIsReached checks that a fibre is not split before it is too long.
func TestFibreLimitIsReached(t *testing.T) {
	var coords [2][]int64
	for row, length := range []int{0, 1, 4, 5, 8, 9} {
		for c := range length {
			coords[0], coords[1] = append(coords[0], int64(row)), append(coords[1], int64(c))
		}
	}
	a, err := FromCoords([]int64{6, 9}, mustParse(t, "DC(duplicates)-S", 2), coords[:], ArrayOf(make([]float64, 27)), WithFibreLimit(4))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(integersOf(a.levels[0].Crd), integersOf(a.levels[1].Pos)), "[1 2 3 3 4 4 5 5 5] [0 1 5 9 10 14 18 22 26 27]"; got != want {
		t.Errorf("split into %s, want %s", got, want)
	}
}

func TestFlagsRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"C(unsorted)-S", "level 0 is C, which has every coordinate in order"},
		{"S-S(unsorted)", "level 1 continues a run of S levels"},
		{"S(duplicates)-S", "level 0 is in a run of S levels"},
		{"C(duplicates)-S", "level 0 is C before S"},
		{"S-D(duplicates)", "level 1 is D"},
		{"C-C", "the last level before the dense ones must be S, or be flagged"},
		{"C-S(sorted)", `did you mean "unsorted"`},
		{"D-D(unsorted)", "level 1 is D"},
		{"C-S(unsorted", "close the parenthesis"},
	} {
		f, err := ParseFormat(c.text, 2)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s reads as %v, %v; want %q", c.text, f, err, c.want)
		}
	}
	if f, err := ParseFormat("D(unsorted)", 2); err == nil {
		t.Errorf("D(unsorted) reads as %v", f)
	}
	if _, err := FormatWith([]LevelKind{S}, nil, []LevelFlags{8}); err == nil {
		t.Error("a flag that there is not is accepted")
	}
	if _, err := FormatWith([]LevelKind{S}, nil, []LevelFlags{0, 0}); err == nil {
		t.Error("two flags for one level are accepted")
	}
	a, err := FromCoords([]int64{2, 2}, CSR, [][]int64{{0}, {1}}, ArrayOf([]float64{3}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Convert(CSR, WithFibreLimit(2)); err == nil || !strings.Contains(err.Error(), "no level that can be split") {
		t.Errorf("a fibre limit for CSR: %v", err)
	}
	split := mustParse(t, "DC(duplicates)-S", 2)
	if _, err := a.Convert(split, WithFibreLimit(0)); err == nil {
		t.Error("the fibre limit 0 is accepted")
	}
}

func mustParse(t *testing.T, text string, rank int) Format {
	t.Helper()
	f, err := ParseFormat(text, rank)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestNamesWithFlags(t *testing.T) {
	for _, c := range []struct {
		text string
		rank int
		want string
	}{
		{"CSR(unsorted,duplicates)", 2, "C-S(unsorted,duplicates)"},
		{"coo(Unsorted)", 3, "S(unsorted)-S-S"},
		{"COO(duplicates)", 2, "S-S(duplicates)"},
		{"CSF(unsorted)", 3, "DC(unsorted)-DC(unsorted)-S(unsorted)"},
		{"S(duplicates)", 1, "S(duplicates)"},
		{"C(duplicates)", 1, "C(duplicates)"},
		{"S-C(duplicates)", 2, "DC-C(duplicates)"},
		{"C-DC(duplicates)-C", 2, "C-DC(duplicates)-C"},
		{"C-S(duplicates)[1,0]", 2, "C-S(duplicates)-C"},
		{"DC(duplicates)-C-S", 3, "DC(duplicates)-C-S"},
	} {
		f, err := ParseFormat(c.text, c.rank)
		if err != nil || f.String() != c.want {
			t.Errorf("%s reads as %v, %v, want %s", c.text, f, err, c.want)
		}
	}
}

func TestUnsortedNeedsUnique(t *testing.T) {
	unsorted := mustParse(t, "C-S(unsorted)", 2)
	make := func(format Format, crd []uint32) (*Tensor, error) {
		return New([]int64{2, 5}, format, []Level{{}, {Pos: ArrayOf([]uint32{0, 3, 4}), Crd: ArrayOf(crd)}}, ArrayOf([]float64{1, 2, 3, 4}), WithName("A"))
	}
	if _, err := make(CSR, []uint32{4, 0, 2, 0}); err == nil {
		t.Error("unsorted coordinates are accepted without the flag")
	}
	if a, err := make(unsorted, []uint32{4, 0, 2, 0}); err != nil || a.At(0, 4).Float64() != 1 {
		t.Errorf("%v, %v", a, err)
	}
	_, err := make(unsorted, []uint32{4, 0, 4, 0})
	want := `tensor "A", level 1, position 2: indices_1[2] = 4 repeats the coordinate of position 0: coordinates must be unique`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = make(unsorted, []uint32{4, 0, 5, 0})
	if err == nil || !strings.Contains(err.Error(), "indices_1[2] = 5 is out of range") {
		t.Errorf("%v", err)
	}
	if a, err := make(mustParse(t, "C-S(unsorted,duplicates)", 2), []uint32{4, 0, 4, 0}); err != nil || a.At(0, 4).Float64() != 4 {
		t.Errorf("%v, %v", a, err)
	}
}

// TestSortedRelaxedShares checks that arrays which happen to be standard are not copied.
func TestSortedRelaxedShares(t *testing.T) {
	a, err := FromCoords([]int64{3, 3}, mustParse(t, "C-S(unsorted,duplicates)", 2), [][]int64{{2, 0}, {1, 1}}, ArrayOf([]float64{3, 4}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Canonical()
	if err != nil || b.format != CSR || b.values.data != a.values.data {
		t.Errorf("%v of %v, %v", b, a, err)
	}
	if b, err = a.Convert(CSR); err != nil || b.values.data != a.values.data {
		t.Errorf("%v of %v, %v", b, a, err)
	}
	c, err := b.Convert(a.format)
	if err != nil || c.values.data != a.values.data || fmt.Sprint(c.Levels()) != fmt.Sprint(a.Levels()) {
		t.Errorf("%v of %v, %v", c, b, err)
	}
}

// TestBlocksOfMultigraphs makes one block of each coordinate's sums where the source does
// not say which values share one.
func TestBlocksOfMultigraphs(t *testing.T) {
	blocks := mustParse(t, "S(duplicates)-D", 2)
	coords := [][]int64{{0, 0, 0, 1}, {0, 1, 1, 0}}
	values := ArrayOf([]float64{1, 2, 3, 4})
	a, err := FromCoords([]int64{2, 2}, mustParse(t, "COO(duplicates)", 2), coords, values, WithFill(One(Float64)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Convert(blocks)
	if err != nil {
		t.Fatal(err)
	}
	c, err := FromCoords([]int64{2, 2}, blocks, coords, values, WithFill(One(Float64)))
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []*Tensor{b, c} {
		if got := fmt.Sprint(integersOf(got.levels[0].Crd), View[float64](got.values)); got != "[0 1] [1 5 4 1]" {
			t.Errorf("blocks %s", got)
		}
	}
}

// TestGroupsOutOfPlace gives pointers to values where there are none, and none where
// there are.
func TestGroupsOutOfPlace(t *testing.T) {
	pos, crd := ArrayOf([]uint32{0, 1}), ArrayOf([]uint32{0})
	for want, levels := range map[string][]Level{
		"an array that groups values is given for a level that has none": {{}, {Pos: pos, Crd: crd, Group: pos}},
		"an array that groups values is given for a level":               {{Group: pos}, {Pos: pos, Crd: crd}},
	} {
		if a, err := New([]int64{1, 1}, CSR, levels, ArrayOf([]float64{1})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %q", a, err, want)
		}
	}
	a, err := New([]int64{1, 1}, mustParse(t, "C-DC(duplicates)", 2), []Level{{}, {Pos: pos, Crd: crd}}, ArrayOf([]float64{1}))
	if want := "pointers_1, which groups the values, is missing"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, %v; want %q", a, err, want)
	}
}
