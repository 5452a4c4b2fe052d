package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// checkPlain compares the standard form with a tensor of the entries.
func (c *formatCase) checkPlain(t *testing.T, spelled *tensor.Tensor) {
	plain, err := spelled.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	if d := tensor.Diff(plain, c.build(t, spelled.Format().Standard())); d != "" {
		t.Errorf("made standard, it differs from what its entries make: %s", d)
	}
	c.checkEntries(t, plain)
}

// checkNames reads the format's abbreviation and its name in binsparse.
func (c *formatCase) checkNames(t *testing.T, format tensor.Format) {
	text := strings.ReplaceAll(c.Abbr, "F", "D")
	text, otherOrder := strings.CutSuffix(text, "-X")
	got, err := tensor.ParseFormat(text, -1)
	if c.Abbr == "F" { // a lone D is a name for every rank
		got, err = tensor.ParseFormat(text, 1)
	}
	if err == nil && (otherOrder || c.DenseRank > 0) {
		got, err = got.WithOrder(c.AxisOrder)
	}
	if err != nil || got != format {
		t.Errorf("%s reads as %v, %v, want %v", c.Abbr, got, err, format)
	}
	if c.Binsparse != nil && c.Binsparse.Format != "custom" {
		if got, err := tensor.ParseFormat(c.Binsparse.Format, format.Rank()); err != nil || got != format {
			t.Errorf("%s reads as %v, %v, want %v", c.Binsparse.Format, got, err, format)
		}
	}
}

// checkEntries compares every stored value, by coordinates and by look-up.
func (c *formatCase) checkEntries(t *testing.T, a *tensor.Tensor) {
	want := map[string]float64{}
	for _, entry := range c.Entries {
		at := make([]int64, len(c.Shape))
		for axis := range at {
			at[axis] = int64(entry[axis])
		}
		want[fmt.Sprint(at)] += entry[len(at)]
	}
	for _, entry := range c.Entries {
		at := make([]int64, len(c.Shape))
		for axis := range at {
			at[axis] = int64(entry[axis])
		}
		if got, sum := a.At(at...).Float64(), want[fmt.Sprint(at)]; got != sum {
			t.Errorf("at %v: %v, want %v", at, got, sum)
		}
	}
	coords, values, err := a.ToCoords()
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]float64{}
	for i := range values.Len() {
		at := make([]int64, len(c.Shape))
		for axis := range at {
			at[axis] = coords[axis][i]
		}
		stored[fmt.Sprint(at)] += values.Scalar(i).Float64()
	}
	for at, sum := range stored {
		if sum != want[at] {
			t.Errorf("the values stored at %v make %v, want %v", at, sum, want[at])
		}
	}
	for k, size := range c.LevelSize {
		if got := a.Levels()[k].Size; got != size {
			t.Errorf("level %d has the size %d, want %d", k, got, size)
		}
	}
}

// checkPhysical compares the physical levels with MLIR's, and the arrays with
// binsparse's.
func (c *formatCase) checkPhysical(t *testing.T, a *tensor.Tensor) {
	mlir, binsparse := map[string][]int64{}, map[string][]int64{}
	var names []string
	for k, l := range a.Levels() {
		names = append(names, l.LevelType.String())
		if l.Kind == tensor.CompressedLevel {
			mlir[fmt.Sprintf("positions_%d", k)] = integers(l.Pos)
			if k > 0 {
				binsparse[fmt.Sprintf("pointers_to_%d", k)] = integers(l.Pos)
			}
		}
		if l.Kind != tensor.DenseLevel {
			mlir[fmt.Sprintf("coordinates_%d", k)] = integers(l.Crd)
			binsparse[fmt.Sprintf("indices_%d", k)] = integers(l.Crd)
		}
	}
	if c.MLIR != nil {
		if !slices.Equal(names, c.MLIR.Levels) {
			t.Errorf("physical levels %v, want %v", names, c.MLIR.Levels)
		}
		compareBuffers(t, "physical arrays", mlir, c.MLIR.Buffers)
	}
	if c.Binsparse != nil {
		compareBuffers(t, "binsparse arrays", binsparse, c.Binsparse.Arrays)
	}
}

// checkRoundTrips converts to other formats and back, with several index types.
func (c *formatCase) checkRoundTrips(t *testing.T, a *tensor.Tensor) {
	others := []tensor.Format{tensor.Coordinates(a.Rank()), tensor.CSF(a.Rank())}
	if c.Multigraph {
		for i, text := range []string{"COO(duplicates)", "CSF(duplicates)"} {
			var err error
			if others[i], err = tensor.ParseFormat(text, a.Rank()); err != nil {
				t.Fatal(err)
			}
		}
	}
	size := int64(1)
	for _, n := range a.Shape() {
		size = min(size*min(n, 1<<20), 1<<31)
	}
	if size < 1<<20 && !c.Multigraph {
		others = append(others, tensor.Dense(a.Rank()))
	}
	for _, other := range others {
		b, err := a.Convert(other)
		if err != nil {
			t.Fatal(err)
		}
		back, err := b.Convert(a.Format())
		if err != nil {
			t.Fatal(err)
		}
		if d := tensor.Diff(back, a); d != "" {
			t.Errorf("by way of %v: %s", other, d)
		}
	}
	if slices.Max(append(a.Shape(), 0)) > 127 {
		return
	}
	for index := tensor.Int8; index <= tensor.Uint64; index++ {
		b, err := c.construct(t, index)
		if err != nil {
			t.Fatalf("with %v indices: %v", index, err)
		}
		if d := tensor.Diff(b, a); d != "" {
			t.Errorf("with %v indices: %s", index, d)
		}
	}
}

// spelledArrays lists a tensor's arrays under their spelled names.
func spelledArrays(a *tensor.Tensor) map[string][]int64 {
	out := map[string][]int64{}
	for k := range a.Rank() {
		if indices, ok := a.Indices(k); ok {
			out[fmt.Sprintf("indices_%d", k)] = integers(indices)
		}
		if pointers, ok := a.Pointers(k); ok {
			out[fmt.Sprintf("pointers_%d", k)] = integers(pointers)
		}
	}
	return out
}

func integers(a tensor.Array) []int64 {
	out := make([]int64, a.Len())
	for i := range out {
		out[i] = a.At64(i)
	}
	return out
}

// compareBuffers compares named arrays of integers.
func compareBuffers(t *testing.T, what string, got, want map[string][]int64) {
	t.Helper()
	if !maps.EqualFunc(got, want, slices.Equal[[]int64]) {
		t.Errorf("%s %v, want %v", what, got, want)
	}
}
