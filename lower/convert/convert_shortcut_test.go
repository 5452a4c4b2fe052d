package convert

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// sharedList is a shortcut of this file alone: a sorted list that is stored as it is needs no stages.
var sharedList = shortcut{
	place: -1,
	path: func(from, to tensor.Format, d *Data) (Path, bool) {
		return Path{Way: "shared"}, from == to && from.IsCoordinates() && d.Order == Stored && d.Map == nil
	},
	takes: func(c *converter) bool { return c.how.Path.Way == "shared" },
	emit: func(c *converter) {
		c.Result.Values, c.Result.Levels = c.vals, emit.NoArrays(c.to.Rank)
		for l, axis := range c.to.Format.Order() {
			c.Result.Levels[l].Crd = c.source.column(axis)
		}
	},
}

// A shortcut is a file that registers it: it is chosen for the conversions that it is for, alone, and lowers them.
func TestShortcut(t *testing.T) {
	before := shortcuts
	shortcuts = append([]shortcut(nil), before...)
	register(sharedList)
	defer func() { shortcuts = before }()
	for _, c := range []struct {
		from, to string
		stages   int
		path     string
	}{
		{"COO", "COO", 1, "shared"}, // the size, which all have
		{"COO", "CSR", 4, "in order"},
		{"CSR", "D-D", 3, "in order"},
	} {
		from := &ir.Tensor{Name: "A", Rank: 2, DType: tensor.Float64, Format: format(t, c.from, 2)}
		to := &ir.Tensor{Name: "B", Rank: 2, DType: tensor.Float64, Format: format(t, c.to, 2)}
		path, ok := ChoosePath(from.Format, to.Format, Data{Shape: []int64{100, 100}, Entries: 50, DType: tensor.Float64})
		if path.String() != c.path || !ok {
			t.Errorf("%s to %s: by %q, %v, want %q", c.from, c.to, path, ok, c.path)
		}
		k, err := Lower(from, to, narrowTypes{}, Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Program.Verify(nil); err != nil {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
		if len(k.Program.Stages) != c.stages {
			t.Errorf("%s to %s: %d stages, want %d", c.from, c.to, len(k.Program.Stages), c.stages)
		}
		shared := k.Program.Buffers[k.Result.Values].Role == loop.Input
		if want := c.from == "COO"; shared != want {
			t.Errorf("%s to %s: the values are shared: %v, want %v", c.from, c.to, shared, want)
		}
	}
}
