package convert

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func format(t *testing.T, name string, rank int) tensor.Format {
	t.Helper()
	f, err := tensor.ParseFormat(name, rank)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestChoosePath(t *testing.T) {
	near := func(int) int64 { return 100 }
	far := func(int) int64 { return 1 << 15 }
	for _, c := range []struct {
		from, to string
		data     Data
		want     string
	}{
		{"CSR", "DCSR", Data{Shape: []int64{1000, 1000}, Entries: 5000}, "in order"},
		{"COO", "CSR", Data{Shape: []int64{1 << 40, 1 << 40}, Entries: 5000}, "in order"},
		{"CSR", "D-D", Data{Shape: []int64{1000, 1000}, Entries: 5000}, "in order"},
		{"CSR", "CSC", Data{Shape: []int64{10, 1 << 16}, Entries: 1 << 20, Spread: near},
			"sorted by the coordinates of 1 axes in one counting pass"},
		{"CSR", "CSC", Data{Shape: []int64{1 << 16, 1 << 16}, Entries: 1 << 20, Spread: far},
			"grouped by 8 bits of the row, then within groups sorted by radix, then in one counting pass by row: 2 axes carried in 32 bits"},
		{"CSR", "DCSC", Data{Shape: []int64{1 << 16, 1 << 16}, Entries: 1 << 20, Spread: far},
			"grouped by 8 bits, then sorted by the coordinates of 1 axes in one counting pass: 2 axes carried in 32 bits"},
		{"CSR", "CSC", Data{Shape: []int64{20000, 20000}, Entries: 320000, Spread: far, Threads: 2},
			"grouped by 7 bits of the row, then within groups sorted by radix, then in one counting pass by row: 2 axes carried in 32 bits, in up to 8 chunks"},
		{"CSR", "CSC", Data{Shape: []int64{1 << 16, 1 << 16}, Entries: 1 << 20, Spread: far, Threads: 1, Cache: 2 << 20, Shared: 4<<20 + 128},
			"sorted by the coordinates of 1 axes in one counting pass, by one thread"},
		{"CSR", "CSC", Data{Shape: []int64{1 << 16, 1 << 16}, Entries: 1 << 20, Spread: far, Threads: 1, Cache: 2 << 20, Shared: 4 << 20},
			"grouped by 8 bits of the row, then within groups sorted by radix, then in one counting pass by row: 2 axes carried in 32 bits, by one thread"},
		{"CSR", "CSC", Data{Shape: []int64{1 << 16, 1 << 16}, Entries: 1 << 20, Spread: far, Threads: 2, Cache: 2 << 20, Shared: 8 << 20},
			"sorted by the coordinates of 1 axes in one counting pass, in up to 8 chunks"},
		{"CSR", "CSC", Data{Shape: []int64{1 << 16, 1 << 16}, Entries: 1 << 20, Spread: far, Threads: 8, Cache: 2 << 20, Shared: 8 << 20},
			"grouped by 8 bits of the row, then within groups sorted by radix, then in one counting pass by row: 2 axes carried in 32 bits, in up to 32 chunks"},
		{"CSR", "CSC", Data{Shape: []int64{1 << 17, 1 << 17}, Entries: 1 << 21, Spread: func(int) int64 { return 1 << 16 }, Threads: 1, Cache: 2 << 20, Shared: 1 << 30},
			"grouped by 8 bits of the row, then within groups sorted by radix, then in one counting pass by row: 2 axes carried in 32 bits, by one thread"},
		{"DCSR", "DCSC", Data{Shape: []int64{1 << 30, 1 << 30}, Entries: 5000},
			"sorted by radix: 1 axes in 32 bits by 3 passes of 10, 1 axes carried in 32 bits, by one thread"},
		{"DCSR", "DCSC", Data{Shape: []int64{1 << 30, 1 << 30}, Entries: 5000, Threads: 2, Grain: 1},
			"sorted by radix: 1 axes in 32 bits by 3 passes of 10, 1 axes carried in 32 bits, in up to 8 chunks"},
		{"DCSR", "DCSC", Data{Shape: []int64{1 << 30, 1 << 30}, Entries: cost.AloneEntries + 1, Threads: 2},
			"sorted by radix: 1 axes in 32 bits by 3 passes of 10, 1 axes carried in 32 bits, in up to 8 chunks"},
		{"COO", "CSR", Data{Shape: []int64{20000, 20000}, Entries: 320000, Order: Unordered},
			"grouped by 5 bits of the row, then within groups sorted by radix, then in one counting pass by row: 2 axes in 32 bits by 2 passes of 8"},
		{"COO", "CSR", Data{Shape: []int64{8192, 8192}, Entries: cost.AloneGrouped, Order: Unordered, Threads: 2},
			"grouped by 3 bits of the row, then within groups sorted by radix, then in one counting pass by row: 2 axes in 32 bits by 1 passes of 13, in up to 8 chunks"},
		{"COO", "CSR", Data{Shape: []int64{8192, 8192}, Entries: cost.AloneGrouped - 1, Order: Unordered, Threads: 2},
			"sorted by radix, then in one counting pass by row: 2 axes in 32 bits by 1 passes of 13, by one thread"},
		{"COO", "CSC", Data{Shape: []int64{5000, 3000}, Entries: 100000, Order: Unordered, Threads: 1},
			"sorted by radix, then in one counting pass by row: 2 axes in 32 bits by 1 passes of 13, by one thread"},
		{"COO", "CSR", Data{Shape: []int64{1 << 20, 1 << 16}, Entries: 1 << 20, Order: Unordered},
			"grouped by 7 bits of the row, then within groups sorted by radix, then in one counting pass by row: 2 axes in 32 bits by 2 passes of 8"},
		{"COO", "CSR", Data{Shape: []int64{20000, 20000}, Entries: 320000, DType: tensor.Float16, Order: Unordered},
			"grouped by 7 bits, then sorted within groups by radix: 2 axes in 32 bits by 3 passes of 8"},
		{"COO", "DCSR", Data{Shape: []int64{20000, 20000}, Entries: 320000, Order: Unordered},
			"grouped by 7 bits, then sorted within groups by radix: 2 axes in 32 bits by 3 passes of 8"},
		{"COO", "CSR", Data{Shape: []int64{2000000, 20000}, Entries: 320000, Order: Unordered},
			"grouped by 7 bits, then sorted within groups by radix: 2 axes in 64 bits by 3 passes of 10"},
		{"CSR", "CSC", Data{Shape: []int64{10, 1 << 16}, Entries: 1 << 20, Spread: near, Threads: 1},
			"sorted by the coordinates of 1 axes in one counting pass, by one thread"},
		{"COO", "CSR", Data{Shape: []int64{1, 1}, Entries: 3, Order: Unordered},
			"sorted by radix, then in one counting pass by row: 2 axes carried in 32 bits, by one thread"},
		{"COO", "CSR", Data{Shape: []int64{1 << 40, 1 << 40}, Entries: 320000, Order: Unordered},
			"grouped by 7 bits, then sorted within groups by radix: 1 axes in 64 bits by 4 passes of 9, 1 axes in 64 bits by 4 passes of 10"},
		{"COO", "CSR", Data{Shape: []int64{1 << 40, 1 << 40}, Entries: 320000, Order: Repeating}, "in order"},
		{"CSR", "CSC", Data{Shape: []int64{10, 200}, Entries: 1 << 20, DType: tensor.Complex64, Grids: true},
			"sorted by radix: 1 axes in 32 bits by 1 passes of 8, 1 axes carried in 32 bits"},
		{"CSR", "CSC", Data{Shape: []int64{10, 1}, Entries: 10, Grids: true},
			"sorted by radix: 1 axes in 32 bits by 1 passes of 1, 1 axes carried in 32 bits"},
		{"CSR", "CSC", Data{Shape: []int64{10, 200}, Entries: 1 << 20, Spread: far, Grids: true},
			"sorted by radix: 1 axes in 32 bits by 1 passes of 8, 1 axes carried in 32 bits"},
		{"COO", "CSR", Data{Shape: []int64{1 << 22, 1 << 22}, Entries: 1 << 26, Order: Unordered, Grids: true},
			"sorted by radix: 2 axes in 64 bits by 6 passes of 8"},
		{"CSR", "CSC", Data{Shape: []int64{10, 1 << 16}, Entries: 1 << 20, Spread: far, Grids: true},
			"sorted by radix: 1 axes in 32 bits by 2 passes of 8, 1 axes carried in 32 bits"},
	} {
		if c.data.DType == tensor.Invalid {
			c.data.DType = tensor.Float64
		}
		p, ok := ChoosePath(format(t, c.from, 2), format(t, c.to, 2), c.data)
		if got := p.String(); got != c.want || !ok {
			t.Errorf("%s to %s of %v: %q, want %q", c.from, c.to, c.data.Shape, got, c.want)
		}
	}
	wide := Data{Shape: []int64{1 << 62, 1 << 62, 1 << 62, 1 << 62}, Entries: 1 << 20, Order: Unordered}
	if _, ok := ChoosePath(tensor.Coordinates(4), tensor.Coordinates(4), wide); ok {
		t.Error("248 bits are sorted by a kernel")
	}
}

func TestUnsortedPrefix(t *testing.T) {
	for _, c := range []struct {
		axes, source []int
		want         int
	}{
		{[]int{0, 1, 2}, []int{0, 1, 2}, 0},
		{[]int{1, 0}, []int{0, 1}, 1},
		{[]int{2, 0, 1}, []int{0, 1, 2}, 1},
		{[]int{0, 2, 1}, []int{0, 1, 2}, 2},
		{[]int{2, 1, 0}, []int{0, 1, 2}, 2},
		{[]int{0, 1}, []int{0, 1, 2}, 0}, // blocks of axis 2
		{[]int{0, 2}, []int{0, 1, 2}, 2},
	} {
		if got := unsortedPrefix(c.axes, c.source); got != c.want {
			t.Errorf("by %v from %v: %d, want %d", c.axes, c.source, got, c.want)
		}
	}
}

type narrowTypes struct{}

func (narrowTypes) IndexType(*ir.Tensor, int, emit.ArrayKind) tensor.DType { return tensor.Uint32 }

// TestConvertPrograms checks that programs are well formed, and what the simple
// ones consist of.
func TestConvertPrograms(t *testing.T) {
	for _, c := range []struct {
		from, to, stages string
		order            EntryOrder
		threads          int
		entries          int64 // 0: enough for several threads
		far              bool  // neighbours go to places far apart
	}{
		{from: "COO", to: "CSR", stages: "size allocate fill close"},
		{from: "DCSR", to: "COO", stages: "size allocate fill"},
		{from: "CSR", to: "DCSR", stages: "size count place allocate fill close"},
		{from: "CSR", to: "CSC", stages: "size count place_ranges place move"},
		{from: "CSR", to: "DCSC", stages: "size count place_ranges place move count place allocate fill close"},
		{from: "CSR", to: "D-D", stages: "size initialise scatter"},
		{from: "D-D", to: "COO", stages: "size count place allocate fill"},
		{from: "COO", to: "S-D", stages: "size count place allocate initialise fill"},
		{from: "CSR", to: "CSC", stages: "size count place move", threads: 1},
		{from: "CSR", to: "CSC", stages: "size count place move", entries: 1000},
		{from: "COO", to: "CSR", stages: "size count place move count place move repeats gather merge trim", order: Unordered, threads: 1},
		{from: "COO", to: "CSR", order: Unordered,
			stages: "size count place_ranges place move sort_rows repeats gather merge trim"},
		{from: "CSR", to: "CSC", stages: "size count place_ranges place move sort_rows", far: true},
	} {
		from := &ir.Tensor{Name: "A", Rank: 2, DType: tensor.Float64, Format: format(t, c.from, 2)}
		to := &ir.Tensor{Name: "B", Rank: 2, DType: tensor.Float64, Format: format(t, c.to, 2)}
		entries := c.entries
		if entries == 0 {
			entries = 2 * emit.ChunkGrain
		}
		data := Data{Shape: []int64{1000, 1000}, Entries: entries, DType: tensor.Float64, Order: c.order, Threads: c.threads}
		if c.far {
			data.Spread = func(int) int64 { return data.farBuckets(1000) }
		}
		path, _ := ChoosePath(from.Format, to.Format, data)
		k, err := Lower(from, to, narrowTypes{}, Options{Path: path, Entries: c.order})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.Program.Verify(nil); err != nil {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
		var stages []string
		for _, s := range k.Program.Stages {
			stages = append(stages, s.Name)
		}
		if got := strings.Join(stages, " "); got != c.stages {
			t.Errorf("%s to %s: stages %s, want %s", c.from, c.to, got, c.stages)
		}
	}
}

// TestConvertShares checks that arrays which the target has in common with the
// source are not written.
func TestConvertShares(t *testing.T) {
	from := &ir.Tensor{Name: "A", Rank: 2, DType: tensor.Float64, Format: tensor.COO}
	to := &ir.Tensor{Name: "B", Rank: 2, DType: tensor.Float64, Format: tensor.CSR}
	k, err := Lower(from, to, narrowTypes{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for what, id := range map[string]loop.BufferID{"values": k.Result.Values, "coordinates": k.Result.Levels[1].Crd} {
		if k.Program.Buffers[id].Role != loop.Input {
			t.Errorf("the %s are not shared", what)
		}
	}
	if k.Program.Buffers[k.Result.Levels[1].Pos].Role != loop.Output {
		t.Error("the positions are not written")
	}
}

func TestConvertRefuses(t *testing.T) {
	matrix := func(dt tensor.DType, f tensor.Format) *ir.Tensor {
		return &ir.Tensor{Name: "A", Rank: f.Rank(), DType: dt, Format: f}
	}
	f64 := tensor.Float64
	for _, c := range []struct {
		from, to *ir.Tensor
		entries  EntryOrder
		want     string
	}{
		{matrix(f64, tensor.CSR), matrix(tensor.Float32, tensor.CSC), Stored, "rank and element type must be the same"},
		{matrix(f64, tensor.CSR), matrix(f64, tensor.CSF(3)), Stored, "rank and element type must be the same"},
		{matrix(f64, tensor.CSR), matrix(f64, tensor.CSC), Repeating, "only a list of coordinates"},
		{matrix(f64, tensor.COO), matrix(f64, tensor.CSC), Unordered, "only a list of coordinates"},
	} {
		_, err := Lower(c.from, c.to, narrowTypes{}, Options{Entries: c.entries})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: %v, want %q", c.from.Format, c.to.Format, err, c.want)
		}
	}
}
