package tensor

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawShapeOf draws a shape of as many elements as another.
func drawShapeOf(t *rapid.T, shape []int64) []int64 {
	total, _ := product(shape)
	if total == 0 {
		out := rapid.SliceOfN(rapid.Int64Range(0, 4), 1, 4).Draw(t, "new shape")
		out[rapid.IntRange(0, len(out)-1).Draw(t, "empty axis")] = 0
		return out
	}
	var out []int64
	for rest := total; len(out) < 5; {
		var divisors []int64
		for d := int64(1); d <= rest; d++ {
			if rest%d == 0 {
				divisors = append(divisors, d)
			}
		}
		d := rapid.SampledFrom(divisors).Draw(t, "extent")
		if len(out) == 4 {
			d = rest
		}
		if rest == 1 && rapid.Bool().Draw(t, "end") {
			break
		}
		out = append(out, d)
		rest /= d
	}
	return out
}

// TestReshape compares a reshaped tensor with the elements in row-major order.
func TestReshape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 4)
		f := drawFormat(t, len(m.shape), "format")
		pos, crd := drawIndexTypes(t)
		a := m.build(t, f, WithIndexTypes(pos, crd))
		shape := drawShapeOf(t, m.shape)
		g := drawFormat(t, len(shape), "new format")
		b, err := a.Reshape(shape, g, WithName("B"))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(b); err != nil {
			t.Fatalf("%v breaks the rules: %v", b, err)
		}
		if b.format != g || !slices.Equal(b.shape, shape) || b.name != "B" {
			t.Fatalf("%v as %v %s is %v", a, g, shapeString(shape), b)
		}
		before, err := a.ToDense()
		if err != nil {
			t.Fatal(err)
		}
		after, err := b.ToDense()
		if err != nil {
			t.Fatal(err)
		}
		if after.n != before.n {
			t.Fatalf("%d elements, want %d", after.n, before.n)
		}
		for i := range before.n {
			if got, want := after.Scalar(i), before.Scalar(i); !got.Same(want) {
				t.Fatalf("%v: element %d is %v, want %v", b, i, got, want)
			}
		}
		if f.SparseRank() < len(m.shape) || g.SparseRank() < len(shape) || len(shape) == 0 || len(m.shape) == 0 {
			return
		}
		checkIndexTypes(t, b, commonPos(a, pos), crd)
		if b.NNZ() != a.NNZ() {
			t.Fatalf("%v has %d stored, want %d", b, b.NNZ(), a.NNZ())
		}
		back, err := b.Reshape(m.shape, f, WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		if d := Diff(back, a); d != "" {
			t.Fatalf("%v by way of %v: %s", a, b, d)
		}
	})
}

// commonPos is the type of pointers to expect of what is made from a, whose pointers have
// the type pos: any if it has none but those of the root.
func commonPos(a *Tensor, pos DType) DType {
	for k, l := range a.levels {
		if k > 0 && l.Kind == CompressedLevel {
			return pos
		}
	}
	return Invalid
}

// TestReshapeToFlags reshapes to formats with flags: those whose last level groups values have an array for that,
// which no reshape takes from the operand.
func TestReshapeToFlags(t *testing.T) {
	a := must(FromCoords([]int64{2, 3}, CSR, [][]int64{{0, 1, 1}, {2, 0, 2}}, ArrayOf([]float64{1, 2, 3})))
	want := []float64{0, 0, 1, 2, 0, 3}
	for _, text := range []string{
		"C-C-C(duplicates)", "C-DC-DC(duplicates)", "DC(duplicates)-C-S", "S(unsorted)-S-S(duplicates)", "C-C-S(duplicates)",
		"DC(duplicates)-D-D", "C-C(duplicates)-D", "C-DC(duplicates)-D",
	} {
		f := mustParse(t, text, 3)
		for _, shape := range [][]int64{{2, 1, 3}, {1, 2, 3}, {2, 3, 1}, {3, 2, 1}} {
			if shared, ok := a.Reshaped(shape, f); ok {
				t.Errorf("%v shares its arrays with %v", a, shared)
			}
			b, err := a.Reshape(shape, f)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if err := validate(b); err != nil {
				t.Errorf("%v breaks the rules: %v", b, err)
				continue
			}
			if got := View[float64](must(b.ToDense())); b.Format() != f || !slices.Equal(got, want) {
				t.Errorf("%s as %s: %v with %v, want %v", text, shapeString(shape), b, got, want)
			}
		}
	}
}

// TestReshapeShares has the reshapes that copy nothing.
func TestReshapeShares(t *testing.T) {
	for _, c := range []struct {
		from, to       []int64
		before, after  string
		sharesPointers bool
	}{
		{[]int64{4, 6}, []int64{4, 2, 3}, "D", "D", false},
		{[]int64{2, 2, 3}, []int64{12}, "D", "D", false},
		{[]int64{4, 6}, []int64{4, 1, 6}, "CSR", "C-C-S", true},
		{[]int64{4, 6}, []int64{1, 4, 6}, "CSR", "C-C-S", true},
		{[]int64{1, 4, 6}, []int64{4, 6}, "C-C-S", "CSR", true},
		{[]int64{4, 6}, []int64{4, 6, 1}, "CSC", "C-S-D[1,0,2]", true},
		{[]int64{4, 6, 6}, []int64{4, 6, 2, 3}, "C-S-D", "C-S-D-D", true},
		{[]int64{4, 6, 2, 3}, []int64{1, 4, 6, 6}, "DC-S-D-D", "C-DC-S-D", true},
		{[]int64{4, 6}, []int64{2, 2, 6}, "DCSR", "DC-DC-S", false},
		{[]int64{4, 6}, []int64{24}, "COO", "S", false},
	} {
		before, err := ParseFormat(c.before, len(c.from))
		if err != nil {
			t.Fatal(err)
		}
		after, err := ParseFormat(c.after, len(c.to))
		if err != nil {
			t.Fatal(err)
		}
		a, err := FromCoords(c.from, before, oneEntry(c.from), f64(7))
		if err != nil {
			t.Fatal(err)
		}
		b, err := a.Reshape(c.to, after)
		if err != nil {
			t.Fatal(err)
		}
		if b.values != a.values {
			t.Errorf("%v as %v does not share the values", a, b)
		}
		pos := func(x *Tensor) Array { // of the last sparse segment
			segments := x.format.segments()
			return x.levels[segments[len(segments)-1].first].Pos
		}
		if c.sharesPointers && pos(a) != pos(b) {
			t.Errorf("%v as %v does not share the pointers", a, b)
		}
		if got := b.At(lastCoord(c.to)...); got.Float64() != 7 {
			t.Errorf("%v as %v: the last element is %v", a, b, got)
		}
	}
}

// oneEntry are the coordinates of the last element of a shape.
func oneEntry(shape []int64) [][]int64 {
	coords := make([][]int64, len(shape))
	for axis, c := range lastCoord(shape) {
		coords[axis] = []int64{c}
	}
	return coords
}

func lastCoord(shape []int64) []int64 {
	at := make([]int64, len(shape))
	for axis, n := range shape {
		at[axis] = n - 1
	}
	return at
}

// TestReshapeLarge splits and merges axes of which there are more elements than can be
// counted in 32 bits, or, in axes that stay, in 63.
func TestReshapeLarge(t *testing.T) {
	const n = int64(1) << 40
	a, err := FromCoords([]int64{n, n}, DCSR, [][]int64{{3, n - 1}, {n - 1, 5}}, f64(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Reshape([]int64{1 << 10, 1 << 30, 1, n}, CSF(4))
	if err != nil {
		t.Fatal(err)
	}
	if got := b.At(1<<10-1, 1<<30-1, 0, 5); got.Float64() != 2 {
		t.Errorf("%v: %v", b, got)
	}
	c, err := b.Reshape([]int64{n, n}, DCSR)
	if err != nil {
		t.Fatal(err)
	}
	if d := Diff(a, c); d != "" {
		t.Error(d)
	}
}

func TestReshapeErrors(t *testing.T) {
	const n = int64(1) << 40
	for _, c := range []struct {
		from, to []int64
		format   Format
		want     string
	}{
		{[]int64{2, 3}, []int64{4}, CSF(1), "cannot reshape 2x3, of 6 elements, to 4, of 4 elements: the numbers must be the same"},
		{[]int64{0, 3}, []int64{3}, CSF(1), "of 0 elements"},
		{[]int64{2, 3}, []int64{6}, CSR, "format CSR has 2 levels"},
		{[]int64{2, 3}, []int64{-2, -3}, CSR, "sizes are 0 or more"},
		{[]int64{n, n}, []int64{n / 2, 2 * n}, COO, "at most 2^63-1 elements"},
		{[]int64{n, n}, []int64{n, n}, Dense(2), "more than 2^63-1 elements"},
	} {
		a, err := FromCoords(c.from, Coordinates(len(c.from)), make([][]int64, len(c.from)), f64(), WithName("A"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = a.Reshape(c.to, c.format); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `tensor "A"`) {
			t.Errorf("%v to %v: error %v, want %q", c.from, c.to, err, c.want)
		}
	}
}

// TestTranspose compares every element, and checks that nothing was copied.
func TestTranspose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 4)
		a := m.build(t, drawFormat(t, len(m.shape), "format"))
		perm := rapid.Permutation(identity(a.Rank())).Draw(t, "perm")
		b, err := a.Transpose(perm)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(b); err != nil {
			t.Fatalf("%v breaks the rules: %v", b, err)
		}
		if b.values != a.values || !slices.Equal(b.levels, a.levels) {
			t.Fatal("arrays were copied")
		}
		each(b.shape, func(at []int64) {
			from := make([]int64, len(at))
			for k, axis := range perm {
				from[axis] = at[k]
			}
			if got, want := b.At(at...), a.At(from...); !got.Same(want) {
				t.Fatalf("at %v: %v, want %v", at, got, want)
			}
		})
	})
	a, err := FromCoords([]int64{2, math.MaxInt64}, CSR, [][]int64{{1}, {math.MaxInt64 - 1}}, f64(5))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := a.Transpose(nil); err != nil || b.Format() != CSC || b.At(math.MaxInt64-1, 1).Float64() != 5 {
		t.Errorf("%v, %v", b, err)
	}
	if _, err := a.Transpose([]int{0, 0}); err == nil || !strings.Contains(err.Error(), "not a permutation of 0 to 1") {
		t.Errorf("axes 0, 0: %v", err)
	}
}

// TestReshapeFlags reshapes to and from formats with flags, the groups of values of a multigraph among them.
func TestReshapeFlags(t *testing.T) {
	formats := func(rank int) (list []Format) {
		names := [][]string{1: {"D", "S", "DC(duplicates)", "C(duplicates)", "S(unsorted,duplicates)"},
			2: {"CSR", "C-S(duplicates)", "C-DC(duplicates)", "DC-DC(duplicates)", "DC(duplicates)-D", "COO(unsorted,duplicates)"}}[rank]
		for _, name := range names {
			f, err := ParseFormat(name, rank)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, f)
		}
		return list
	}
	values := ArrayOf([]float64{0, 3, 0, 4})
	for _, from := range [][]int64{{4}, {4, 1}, {1, 4}, {2, 2}} {
		for _, to := range [][]int64{{4}, {4, 1}, {1, 4}, {2, 2}} {
			for _, f := range formats(len(from)) {
				for _, g := range formats(len(to)) {
					a, err := FromDense(from, f, values)
					if err != nil {
						t.Fatal(err)
					}
					b, err := a.Reshape(to, g)
					if err != nil {
						t.Fatal(err)
					}
					if shared, ok := a.Reshaped(to, g); ok {
						b = shared
					}
					if err := validate(b); err != nil {
						t.Errorf("%v as %v %s: %v", a, g, shapeString(to), err)
						continue
					}
					if got, err := b.ToDense(); err != nil || !slices.Equal(View[float64](got), View[float64](values)) {
						t.Errorf("%v as %v %s has the elements %v (%v)", a, g, shapeString(to), got, err)
					}
				}
			}
		}
	}
}
