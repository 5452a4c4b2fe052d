package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// convert stores the input in the expected format: by construction, by
// conversion, and by a program that copies it.
func (c *mlirCase) convert(t *testing.T, on evaluator) {
	names := slices.Sorted(maps.Keys(c.Inputs))
	if len(names) != 1 {
		t.Fatalf("%d inputs, want one", len(names))
	}
	in := c.input(t, names[0])
	from, to := parseLayout(t, in.Format, in.Shape), parseLayout(t, c.Expected.Format, c.Expected.Shape)
	dt := in.dtype(t)
	types := tensor.WithIndexTypes(tensor.Invalid, width(t, c.CrdWidth))
	built, err := tensor.FromCoords(to.shape, to.format, to.split(in.Coords), mlirValues(t, in.Values, dt), types)
	if err != nil {
		t.Fatal(err)
	}
	c.check(t, "construction", built)
	a := c.operand(t, names[0], 0)
	if len(from.shape) == len(to.shape) {
		for _, middle := range []tensor.Format{from.format, tensor.Dense(len(from.shape)), tensor.Coordinates(len(from.shape))} {
			b, err := a.Convert(middle)
			if err != nil {
				t.Fatal(err)
			}
			if b, err = b.Convert(to.format, types); err != nil {
				t.Fatal(err)
			}
			c.check(t, "conversion from "+middle.String(), b)
		}
	}
	left, right := copyIndices(from, to)
	text := fmt.Sprintf("X(%s) = A(%s)", strings.Join(left, ","), strings.Join(right, ","))
	c.evaluate(t, on, mlirProgram{text: text}, lacuna.Args{"A": a})
}

// copyIndices are the indices of a result and an operand that hold the same
// tensor under two layouts, at most one of which splits dimensions.
func copyIndices(from, to layout) (left, right []string) {
	whole := make([]string, len(to.dims))
	for dim, name := range to.dims {
		whole[dim] = name
		if block := to.blockOf(dim); block > 0 {
			whole[dim] = fmt.Sprintf("%d*%sb+%sr", block, name, name)
		}
	}
	for _, x := range to.axes {
		left = append(left, to.dims[x.dim]+map[part]string{quotient: "b", remainder: "r"}[x.part])
	}
	return left, from.indices(whole)
}

// insert stores entries: all at once, and one by one with a program.
func (c *mlirCase) insert(t *testing.T, on evaluator) {
	l, dt := parseLayout(t, c.Expected.Format, c.Expected.Shape), c.Expected.dtype(t)
	build := func(f tensor.Format, coords [][]int64, values []json.RawMessage) *tensor.Tensor {
		a, err := tensor.FromCoords(l.shape, f, l.split(coords), mlirValues(t, values, dt))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	var coords [][]int64
	var values []json.RawMessage
	for _, m := range regexp.MustCompile(`\(([\d,]+)\)=([\d.]+)`).FindAllStringSubmatch(c.Operation, -1) {
		var coord []int64
		if err := json.Unmarshal([]byte("["+m[1]+"]"), &coord); err != nil {
			t.Fatal(err)
		}
		coords, values = append(coords, coord), append(values, json.RawMessage(m[2]))
	}
	c.check(t, "construction", build(l.format, coords, values))
	var step func(by string, x *tensor.Tensor, p int)
	step = func(by string, x *tensor.Tensor, p int) {
		if p == len(coords) {
			c.check(t, by+": insertion", x)
			return
		}
		args := lacuna.Args{"X": x, "E": build(tensor.Coordinates(len(l.shape)), coords[p:p+1], values[p:p+1])}
		on(t, "X(i,j) += E(i,j)", args, nil, func(_ *testing.T, by string, got *tensor.Tensor) { step(by, got, p+1) })
	}
	step("", build(l.format, nil, nil), 0)
}

// assemble makes a batch of coordinate lists from its arrays: pos has the first
// position and the one after the last for each batch, which must leave no gap.
func (c *mlirCase) assemble(t *testing.T) {
	var pos []int64
	var crd [][]int64
	var values []float64
	for name, to := range map[string]any{"pos": &pos, "crd_pairs": &crd, "values": &values} {
		if err := json.Unmarshal(c.Inputs[name], to); err != nil {
			t.Fatal(err)
		}
	}
	if len(pos) == 0 || len(pos)%2 != 0 || len(crd) < len(values) {
		t.Fatal("the arrays do not fit together")
	}
	starts := []int64{pos[0]}
	for b := 0; b < len(pos); b += 2 {
		if pos[b] != starts[len(starts)-1] {
			t.Skip("loose_compressed levels with gaps are not stored")
		}
		starts = append(starts, pos[b+1])
	}
	n := len(values)
	levels := make([][]uint64, 2)
	shape := []int64{int64(len(starts) - 1), 0, 0}
	for _, pair := range crd[:n] {
		for k := range levels {
			levels[k] = append(levels[k], uint64(pair[k]))
			shape[k+1] = max(shape[k+1], pair[k]+1)
		}
	}
	arrays := map[string]tensor.Array{
		"pointers_0": tensor.ArrayOf(starts),
		"indices_1":  tensor.ArrayOf(levels[0]),
		"indices_2":  tensor.ArrayOf(levels[1]),
	}
	a, err := tensor.NewNamedLevels(shape, []tensor.LevelKind{tensor.C, tensor.S, tensor.S}, nil, arrays, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	coords, got, err := a.ToCoords()
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != len(c.Expected.Entries) {
		t.Fatalf("%d entries, want %d", got.Len(), len(c.Expected.Entries))
	}
	for p, want := range c.Expected.Entries {
		have := []float64{float64(coords[0][p]), float64(coords[1][p]), float64(coords[2][p]), got.Scalar(p).Float64()}
		if !slices.Equal(have, want) {
			t.Errorf("entry %d is %v, want %v", p, have, want)
		}
	}
}

// checkStorage compares the arrays of every level, and the values. Levels that
// we do not have are compared as far as they are the same as compressed ones:
// loose_compressed writes each segment's two ends, structured has no positions.
func (c *mlirCase) checkStorage(t *testing.T, how string, got *tensor.Tensor) {
	t.Helper()
	want := c.Expected.Storage
	l := parseLayout(t, c.Expected.Format, c.Expected.Shape)
	if got.Format() != l.format {
		t.Errorf("%s: stored as %v, want %v", how, got.Format(), l.format)
	}
	if len(want.Lvl) != got.Rank() {
		t.Fatalf("%s: %d levels, want %d", how, got.Rank(), len(want.Lvl))
	}
	for k, have := range got.Levels() {
		key := strconv.Itoa(k)
		if have.Size != want.Lvl[k] {
			t.Errorf("%s: level %d has the size %d, want %d", how, k, have.Size, want.Lvl[k])
		}
		if have.Kind == tensor.CompressedLevel && l.kinds[k] != "structured" {
			pos := indices(have.Pos)
			if l.kinds[k] == "loose_compressed" {
				pos = segments(pos)
			}
			if !slices.Equal(pos, want.Pos[key]) {
				t.Errorf("%s: level %d: positions %v, want %v", how, k, pos, want.Pos[key])
			}
		}
		if have.Kind != tensor.DenseLevel && !equalIndices(have.Crd, want.Crd[key]) {
			t.Errorf("%s: level %d: coordinates %v, want %v", how, k, indices(have.Crd), want.Crd[key])
		}
	}
	checkValues(t, how, got.Values(), want.Values)
}

// segments writes both ends of each segment.
func segments(pos []int64) []int64 {
	var out []int64
	for p := range len(pos) - 1 {
		out = append(out, pos[p], pos[p+1])
	}
	return out
}
