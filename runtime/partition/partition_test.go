package partition

import (
	"math"
	"slices"
	"sort"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// chunksOf lists the bounds of a cut: chunk k is [list[k], list[k+1]).
func chunksOf(t interface {
	Fatalf(string, ...any)
}, c *Cut) []int64 {
	bounds := []int64{0}
	for k := range c.Chunks {
		lo, hi := c.Chunk(k)
		if lo != bounds[k] || hi <= lo {
			t.Fatalf("chunk %d is [%d, %d), want it to begin at %d and not to be empty", k, lo, hi, bounds[k])
		}
		bounds = append(bounds, hi)
	}
	return bounds
}

func weightsOf[T integer](w []T, elem loop.Type) Weights {
	return Weights{Ptr: unsafe.Pointer(unsafe.SliceData(w)), Len: int64(len(w)), Elem: elem}
}

func TestCutEven(t *testing.T) {
	for _, tt := range []struct {
		n, grain int64
		want     []int64
	}{
		{0, 10, []int64{0}},
		{1, 10, []int64{0, 1}},
		{10, 10, []int64{0, 10}},
		{11, 10, []int64{0, 10, 11}},
		{5, 1, []int64{0, 1, 2, 3, 4, 5}},
		{5, math.MaxInt64, []int64{0, 5}},
	} {
		var c Cut
		c.Even(tt.n, tt.grain)
		if got := chunksOf(t, &c); !slices.Equal(got, tt.want) {
			t.Errorf("Even(%d, %d) cuts at %d, want %d", tt.n, tt.grain, got, tt.want)
		}
	}
	var c Cut
	c.Even(math.MaxInt64, 1)
	if lo, hi := c.Chunk(c.Chunks - 1); c.Chunks > maxChunks || lo >= hi || hi != math.MaxInt64 {
		t.Errorf("the largest domain has %d chunks, the last [%d, %d)", c.Chunks, lo, hi)
	}
}

func TestCutByWeight(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pos   []uint32
		grain int64
		want  []int64
	}{
		{"no elements", []uint32{0}, 4, []int64{0}},
		{"light", []uint32{0, 1, 2}, 100, []int64{0, 2}},
		{"weights count beside elements", []uint32{0, 3, 6, 9, 12}, 8, []int64{0, 2, 4}},
		{"empty elements weigh too", []uint32{0, 0, 0, 0, 0}, 2, []int64{0, 2, 4}},
		{"a heavy element stays whole", []uint32{0, 1, 101, 102}, 4, []int64{0, 2, 3}},
		{"the base does not matter", []uint32{50, 53, 56, 59, 62}, 8, []int64{0, 2, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c Cut
			if err := c.ByWeight(int64(len(tt.pos)-1), tt.grain, weightsOf(tt.pos, loop.U32)); err != nil {
				t.Fatal(err)
			}
			if got := chunksOf(t, &c); !slices.Equal(got, tt.want) {
				t.Errorf("cut at %d, want %d", got, tt.want)
			}
		})
	}
}

// Cuts cover the domain, and no chunk is heavier than the grain plus its last
// element.
func TestCutByWeightIsBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 5), rapid.Just(int64(0)), rapid.Int64Range(0, 1000)), 0, 200).Draw(t, "weights")
		grain := rapid.Int64Range(1, 500).Draw(t, "grain")
		pos := []int64{rapid.Int64Range(0, 10).Draw(t, "base")}
		for _, w := range weights {
			pos = append(pos, pos[len(pos)-1]+w)
		}
		n := int64(len(weights))
		var c Cut
		if err := c.ByWeight(n, grain, weightsOf(pos, loop.I64)); err != nil {
			t.Fatal(err)
		}
		bounds := chunksOf(t, &c)
		if bounds[len(bounds)-1] != n {
			t.Fatalf("cut at %d, want it to end at %d", bounds, n)
		}
		for k := range c.Chunks {
			lo, hi := c.Chunk(k)
			if load := pos[hi-1] - pos[lo] + hi - 1 - lo; load > grain {
				t.Fatalf("chunk [%d, %d) weighs %d without its last element, the grain is %d", lo, hi, load, grain)
			}
		}
	})
}

func TestCutByWeightBoundsTheChunks(t *testing.T) {
	pos := make([]uint64, 1<<18)
	for i := range pos {
		pos[i] = uint64(i) * 3
	}
	var c Cut
	if err := c.ByWeight(int64(len(pos)-1), 1, weightsOf(pos, loop.U64)); err != nil {
		t.Fatal(err)
	}
	if c.Chunks > maxChunks || c.Chunks < maxChunks/2 {
		t.Errorf("%d chunks, want nearly %d", c.Chunks, maxChunks)
	}
	chunksOf(t, &c)
}

// Weights that break the rules may give any cut or an error, but not a crash.
func TestCutByWeightOfNonsense(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pos := rapid.SliceOfN(rapid.Uint64(), 1, 40).Draw(t, "pos")
		n := rapid.Int64Range(0, int64(len(pos))).Draw(t, "n")
		var c Cut
		if rapid.Bool().Draw(t, "ends fit") { // so that the middle is looked at
			pos[0] %= 1 << 20
			pos[len(pos)-1] = pos[0] + pos[len(pos)-1]%(1<<20)
		}
		err := c.ByWeight(n, rapid.Int64Range(1, 1<<21).Draw(t, "grain"), weightsOf(pos, loop.U64))
		if err == nil {
			chunksOf(t, &c)
		}
		if n == int64(len(pos)) && err == nil {
			t.Fatal("weights too short for the domain were accepted")
		}
	})
}

func TestSearch(t *testing.T) {
	const n = 12
	w := make([]uint8, n) // load(i) is i
	for lo := range int64(n) {
		for hi := lo + 1; hi <= n; hi++ {
			for guess := lo; guess < hi; guess++ {
				for target := range uint64(n + 2) {
					want := lo + int64(sort.Search(int(hi-lo), func(i int) bool { return uint64(lo)+uint64(i) >= target }))
					if got := search(w, target, lo, hi, guess); got != want {
						t.Fatalf("search for %d in [%d, %d) from %d = %d, want %d", target, lo, hi, guess, got, want)
					}
				}
			}
		}
	}
}

// The element type of the weights does not change the cut.
func TestCutByWeightOfAllWidths(t *testing.T) {
	same := func(w Weights) {
		var c Cut
		if err := c.ByWeight(4, 8, w); err != nil {
			t.Fatal(err)
		}
		if got, want := chunksOf(t, &c), []int64{0, 2, 4}; !slices.Equal(got, want) {
			t.Errorf("%s: cut at %d, want %d", w.Elem, got, want)
		}
	}
	same(weightsOf([]int8{50, 53, 56, 59, 62}, loop.I8))
	same(weightsOf([]int16{50, 53, 56, 59, 62}, loop.I16))
	same(weightsOf([]int32{50, 53, 56, 59, 62}, loop.I32))
	same(weightsOf([]int64{50, 53, 56, 59, 62}, loop.I64))
	same(weightsOf([]uint8{50, 53, 56, 59, 62}, loop.U8))
	same(weightsOf([]uint16{50, 53, 56, 59, 62}, loop.U16))
	same(weightsOf([]uint32{50, 53, 56, 59, 62}, loop.U32))
	same(weightsOf([]uint64{50, 53, 56, 59, 62}, loop.U64))
}

// BenchmarkCut is the cost of cutting a million rows into a thousand chunks.
func BenchmarkCut(b *testing.B) {
	pos := make([]uint32, 1_000_001)
	for i := range pos {
		pos[i] = uint32(i * 10)
	}
	w := weightsOf(pos, loop.U32)
	var c Cut
	for b.Loop() {
		if err := c.ByWeight(1_000_000, 11_000, w); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(c.Chunks), "chunks")
}
