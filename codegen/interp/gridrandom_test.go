package interp

import (
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

// Random grid functions give, in several orders of their blocks and threads, what
// the reference gives that runs all threads statement by statement; and what does
// not race is not taken for a race.
func TestRandomGrids(t *testing.T) {
	lookup := library(t, "scalar twice_f64(x: f64) f64 {\n  return x + x\n}\nscalar clamp_i64(x: i64) i64 {\n  if x > 9 {\n    return 9\n  }\n  return max(x, -9)\n}\n")
	var scalars []*loop.Scalar
	for _, name := range []string{"twice_f64", "clamp_i64"} {
		s, _ := lookup(name)
		scalars = append(scalars, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := looptest.DrawGrid(t, scalars...)
		wantStatus, want, err := c.Run(lookup)
		if err != nil {
			t.Fatalf("%v\n%s", err, c.Func)
		}
		k, err := CompileGrid(c.Func, lookup)
		if err != nil {
			t.Fatalf("%v\n%s", err, c.Func)
		}
		for _, seed := range []uint64{0, rapid.Uint64().Draw(t, "seed"), 7} {
			got := c.CopyMemory()
			var bufs []Memory
			for i, b := range got {
				bufs = append(bufs, Memory{Ptr: unsafe.Pointer(unsafe.SliceData(b)), Len: int64(len(b) / c.Func.Bufs[i].Elem.Size())})
			}
			status, err := k.Run(bufs, c.Args, Launch{Blocks: c.Blocks, Seed: seed})
			if err != nil || status != int64(wantStatus) {
				t.Fatalf("seed %d: status %d, %v; want %d\n%s", seed, status, err, wantStatus, c.Func)
			}
			if err := looptest.SameMemory(c.Func, got, want); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, c.Func)
			}
		}
	})
}
