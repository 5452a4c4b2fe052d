package from

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestBuilder compares what a builder makes, with and without files, with what is made of lists, or with a map.
func TestBuilder(t *testing.T) {
	t.Run("f64", func(t *testing.T) { testBuilder(t, func(x int) float64 { return float64(x) / 3 }) })
	t.Run("f16", func(t *testing.T) {
		testBuilder(t, func(x int) tensor.F16 { return tensor.F16(tensor.Float16Bits(float32(x) * 700)) })
	})
	t.Run("bool", func(t *testing.T) { testBuilder(t, func(x int) bool { return x%2 == 0 }) })
	t.Run("c128", func(t *testing.T) { testBuilder(t, func(x int) complex128 { return complex(float64(x), 1) }) })
	t.Run("int", func(t *testing.T) { testBuilder(t, func(x int) int { return x }) })
}

func testBuilder[T tensor.Element](t *testing.T, value func(int) T) {
	dir := t.TempDir()
	sparseDense, err := tensor.FormatOf([]tensor.LevelKind{tensor.S, tensor.D}, nil)
	if err != nil {
		t.Fatal(err)
	}
	formats := []tensor.Format{tensor.CSR, tensor.CSC, tensor.COO, tensor.DCSR, tensor.Dense(2), sparseDense}
	if multi, err := tensor.COO.Flag(1, tensor.Duplicates); err == nil {
		formats = append(formats, multi)
	}
	rapid.Check(t, func(r *rapid.T) {
		format := rapid.SampledFrom(formats).Draw(r, "format")
		on := rapid.SampledFrom([]OnDuplicate{Sum, KeepLast, Refuse}).Draw(r, "on")
		b := NewBuilder[T](format, on)
		if n := rapid.IntRange(0, 6).Draw(r, "spill after"); n > 0 {
			b.SpillTo(dir, n)
		}
		shape := []int64{5, 4}
		n := rapid.IntRange(0, 30).Draw(r, "entries")
		coords, values, last, twice := [][]int{{}, {}}, []T{}, map[[2]int]int{}, false
		for k := range n {
			i, j := rapid.IntRange(0, 4).Draw(r, "i"), rapid.IntRange(0, 3).Draw(r, "j")
			v := value(rapid.IntRange(-9, 9).Draw(r, "value"))
			b.Add(v, int64(i), int64(j))
			at, seen := last[[2]int{i, j}]
			twice = twice || seen
			last[[2]int{i, j}] = k
			if on == KeepLast && seen {
				values[at], last[[2]int{i, j}] = v, at
				continue
			}
			last[[2]int{i, j}] = len(values)
			coords[0], coords[1], values = append(coords[0], i), append(coords[1], j), append(values, v)
		}
		if b.Len() != n {
			r.Fatalf("it has %d entries, not %d", b.Len(), n)
		}
		got, err := b.Build(shape)
		if on == Refuse && twice {
			if err == nil || !strings.Contains(err.Error(), "two entries at [") {
				r.Fatalf("duplicates were not refused: %v", err)
			}
			return
		}
		want, err2 := tensor.FromCoords(shape, format, coords, tensor.ArrayOf(values))
		if err != nil || err2 != nil {
			r.Fatal(err, err2)
		}
		if !tensor.Equal(got, want) {
			r.Fatal(tensor.Diff(got, want))
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			r.Fatalf("files are left: %v", left)
		}
	})
}

func TestBuilderShape(t *testing.T) {
	b := NewBuilder[float32](tensor.COO, Sum)
	b.Add(1, 1<<40, 7)
	a, err := b.Build(nil)
	if err != nil || a.Shape()[0] != 1<<40+1 || a.Shape()[1] != 8 || a.At(1<<40, 7).Float64() != 1 {
		t.Errorf("%v, %v", a, err)
	}
	if a, err = b.Build(nil); err != nil || a.NNZ() != 0 || a.Shape()[0] != 0 {
		t.Errorf("a builder of nothing makes %v, %v", a, err)
	}
	scalar := NewBuilder[int](tensor.Dense(0), Sum)
	scalar.Add(2)
	scalar.Add(3)
	if a, err = scalar.Build(nil); err != nil || a.At().Int64() != 5 {
		t.Errorf("%v, %v", a, err)
	}
}

func TestBuilderErrors(t *testing.T) {
	for _, c := range []struct {
		add   func(b *Builder[int])
		shape []int64
		want  string
	}{
		{func(b *Builder[int]) { b.Add(1, 1) }, nil, `entry 0 has 1 coordinates, and format CSR as many as 2 levels`},
		{func(b *Builder[int]) { b.Add(1, 1, -1) }, nil, `entry 0 has the coordinate -1 on axis 1`},
		{func(b *Builder[int]) { b.Add(1, 1, 1) }, []int64{2, 1}, `an entry has the coordinate 1: axis 1 has the size 1`},
		{func(b *Builder[int]) { b.Add(1, 1, 1) }, []int64{2}, `shape 2 has 1 dimensions`},
		{func(b *Builder[int]) { b.SpillTo("", 0) }, nil, `the number of entries to hold is 1 or more`},
		{func(b *Builder[int]) { b.SpillTo("/nowhere/at/all", 1); b.Add(1, 0, 0) }, nil, `cannot spill its entries`},
	} {
		b := NewBuilder[int](tensor.CSR, Sum)
		c.add(b)
		_, err := b.Build(c.shape, tensor.WithName("A"))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `tensor "A"`) {
			t.Errorf("%v, want %s", err, c.want)
		}
		if strings.Contains(c.want, "spill its") && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v does not wrap its cause", err)
		}
	}
}
