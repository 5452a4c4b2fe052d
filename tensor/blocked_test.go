package tensor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBlocked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, m := drawRelaxed(t, rapid.IntRange(1, 3).Draw(t, "rank"))
		rank := a.Rank()
		block := rapid.SliceOfN(rapid.Int64Range(1, 4), rank, rank).Draw(t, "block")
		format := drawAnyFormat(t, 2*rank)
		b, err := a.Blocked(block, format)
		if err != nil {
			t.Fatal(err)
		}
		if b.format != format {
			t.Fatalf("%v, want %v", b, format)
		}
		if err := validate(b); err != nil {
			t.Fatal(err)
		}
		each(b.shape, func(at []int64) {
			from := make([]int64, rank)
			inside := true
			for axis, size := range block {
				from[axis] = at[axis]*size + at[rank+axis]
				inside = inside && from[axis] < a.shape[axis]
			}
			want := m.fill
			if inside {
				want = m.at(from)
			}
			if got := b.At(at...); !got.Same(want) {
				t.Fatalf("%v blocked to %v at %v is %v, want %v", a, b, at, got, want)
			}
		})
		c, err := b.Unblocked(a.shape, a.format)
		if err != nil {
			t.Fatal(err)
		}
		m.checkMeaning(t, c)
		if kind := b.levels[0].Kind; kind == DenseLevel {
			return
		}
		z, err := b.MortonOrder()
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(z); err != nil {
			t.Fatalf("%v in Morton order: %v", b, err)
		}
		each(b.shape, func(at []int64) {
			if got, want := z.At(at...), b.At(at...); !got.Same(want) {
				t.Fatalf("%v in Morton order at %v is %v, want %v", b, at, got, want)
			}
		})
	})
}

// TestBSR compares with SciPy's bsr_matrix of the same matrix.
func TestBSR(t *testing.T) {
	// 1 2 . . 5
	// . 3 . . .
	// . . . . 4
	a, err := FromCoords([]int64{3, 5}, CSR, [][]int64{{0, 0, 0, 1, 2}, {0, 1, 4, 1, 4}}, ArrayOf([]float64{1, 2, 5, 3, 4}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Blocked([]int64{2, 2}, BSR)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "2x3x2x2 f64 C-S-D-D, 12 stored, fill 0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, want := range map[string][]uint32{"pointers_0": {0, 2, 3}, "indices_1": {0, 2, 2}} {
		if got := View[uint32](arraysOf(b)[name]); !slices.Equal(got, want) {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	if got, want := View[float64](b.values), []float64{1, 2, 0, 3, 5, 0, 0, 0, 4, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("values %v, want %v", got, want)
	}
}

// TestHiCOO checks the arrays of a small tensor worked out by hand:
// blocks in Z-order, pointers to their entries, coordinates within in bytes.
func TestHiCOO(t *testing.T) {
	coords := [][]int64{{0, 0, 1, 2, 2, 3}, {0, 3, 0, 1, 2, 3}, {0, 0, 1, 0, 2, 2}}
	a, err := FromCoords([]int64{4, 4, 3}, Coordinates(3), coords, ArrayOf([]float64{1, 2, 3, 4, 5, 6}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Blocked([]int64{2, 2, 2}, HiCOO(3))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]int64{
		"indices_0": {0, 0, 1, 1}, "indices_1": {0, 1, 0, 1}, "indices_2": {0, 0, 0, 1}, "pointers_2": {0, 2, 3, 4, 6},
		"indices_3": {0, 1, 0, 0, 0, 1}, "indices_4": {0, 0, 1, 1, 0, 1}, "indices_5": {0, 1, 0, 0, 0, 0},
	} {
		got := arraysOf(b)[name]
		if fmt.Sprint(integersOf(got)) != fmt.Sprint(want) {
			t.Errorf("%s %v, want %v", name, integersOf(got), want)
		}
		if wide := strings.Contains("indices_3 indices_4 indices_5", name); wide != (got.dt == Uint8) {
			t.Errorf("%s has the type %v", name, got.dt)
		}
	}
	// Z-order of the blocks (0,0,0), (0,1,0), (1,0,0), (1,1,1) is their row-major
	// order; of those of a longer tensor it is not.
	c, err := FromCoords([]int64{2, 8}, COO, [][]int64{{0, 0, 1}, {1, 7, 0}}, ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	z, err := c.MortonOrder()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(integersOf(z.levels[0].Crd), integersOf(z.levels[1].Crd), View[float64](z.values)); got != "[0 1 0] [1 0 7] [1 3 2]" {
		t.Errorf("Z-order %s", got)
	}
	if z.format.String() != "S(unsorted)-S" {
		t.Errorf("%v", z)
	}
}

func integersOf(a Array) []int64 {
	out := make([]int64, a.n)
	for i := range out {
		out[i] = a.At64(i)
	}
	return out
}

// TestUnblockedCuts has values in the padding.
func TestUnblockedCuts(t *testing.T) {
	for _, text := range []string{"C-S-D-D", "S-S-S-S", "D"} {
		b, err := FromDense([]int64{1, 2, 2, 2}, mustParse(t, text, 4), ArrayOf([]float64{1, 2, 3, 4, 5, 6, 7, 8}))
		if err != nil {
			t.Fatal(err)
		}
		a, err := b.Unblocked([]int64{1, 3}, CSR)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(a, integersOf(a.levels[1].Crd), View[float64](a.values)); got != "1x3 f64 CSR, 3 stored, fill 0 [0 1 2] [1 2 5]" {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestBlockedRefused(t *testing.T) {
	a, err := FromCoords([]int64{3, 5}, CSR, [][]int64{{0}, {0}}, ArrayOf([]float64{1}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Blocked([]int64{2, 2}, BSR)
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func() (*Tensor, error){
		"has 1 extents, the tensor 2 axes":                           func() (*Tensor, error) { return a.Blocked([]int64{2}, BSR) },
		"the extent 0 in axis 1":                                     func() (*Tensor, error) { return a.Blocked([]int64{2, 0}, BSR) },
		"has 4 dimensions, format CSR":                               func() (*Tensor, error) { return a.Blocked([]int64{2, 2}, CSR) },
		"that takes the rank 2":                                      func() (*Tensor, error) { return b.Unblocked([]int64{3}, CSF(1)) },
		"2x3 blocks of 2x2 do not make the shape 3x7, which has 2x4": func() (*Tensor, error) { return b.Unblocked([]int64{3, 7}, CSR) },
		"no coordinates in level 0":                                  func() (*Tensor, error) { return a.MortonOrder() },
		"it cannot be set":                                           func() (*Tensor, error) { return a.Blocked([]int64{2, 2}, BSR, WithFill(One(Float64))) },
	} {
		if got, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %q", got, err, want)
		}
	}
	huge, err := FromCoords([]int64{1<<63 - 1}, CSF(1), [][]int64{{1<<63 - 2}}, ArrayOf([]float64{1}))
	if err != nil {
		t.Fatal(err)
	}
	h, err := huge.Blocked([]int64{1 << 62}, Coordinates(2))
	if err != nil || h.At(1, 1<<62-2).Float64() != 1 {
		t.Fatalf("%v, %v", h, err)
	}
	back, err := h.Unblocked(huge.shape, CSF(1))
	if err != nil || Diff(back, huge) != "" {
		t.Fatalf("%v, %v", back, err)
	}
}
