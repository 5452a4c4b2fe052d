package interp

import (
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

// This file runs random grids in every order that tests can think of: grid.go, gridcode.go and race.go together.

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
			status, got, err := runGrid(k, c, seed)
			if err != nil || status != int64(wantStatus) {
				t.Fatalf("seed %d: status %d, %v; want %d\n%s", seed, status, err, wantStatus, c.Func)
			}
			if err := looptest.SameMemory(c.Func, got, want); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, c.Func)
			}
		}
	})
}

// runGrid runs a case on fresh memory, which it returns.
func runGrid(k *GridKernel, c looptest.GridCase, seed uint64) (int64, [][]byte, error) {
	memory := c.CopyMemory()
	var bufs []Memory
	for i, b := range memory {
		bufs = append(bufs, Memory{Ptr: unsafe.Pointer(unsafe.SliceData(b)), Len: int64(len(b) / c.Func.Bufs[i].Elem.Size())})
	}
	status, err := k.Run(bufs, c.Args, Launch{Blocks: c.Blocks, Seed: seed})
	return status, memory, err
}

// Without one of its barriers a function still gives the same in every order of its
// threads, or is found to race: in every order. (Not so one whose atomics do not
// commute: they do not race, and tell the order.)
func TestRandomRaces(t *testing.T) {
	races, runs := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := looptest.DrawGrid(t)
		barriers := 0
		ops, ordered := map[loop.BufID]loop.AtomicOp{}, false
		loop.WalkStmts(c.Func.Body, func(s loop.Stmt) {
			switch s := s.(type) {
			case *loop.Barrier:
				barriers++
			case *loop.Atomic:
				if op, seen := ops[s.Buf]; seen && op != s.Op || s.Var != loop.NoVar {
					ordered = true
				}
				ops[s.Buf] = s.Op
			}
		})
		if barriers == 0 || ordered {
			return
		}
		drop := rapid.IntRange(0, barriers-1).Draw(t, "barrier")
		c.Func.Body = without(c.Func.Body, &drop)
		k, err := CompileGrid(c.Func, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, c.Func)
		}
		runs++
		wantStatus, want, wantErr := runGrid(k, c, 0)
		if wantErr != nil {
			races++
		}
		for seed := range uint64(4) {
			status, got, err := runGrid(k, c, 1+seed)
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("seed %d: %v; in order: %v\n%s", 1+seed, err, wantErr, c.Func)
			}
			if err != nil {
				continue
			}
			if status != wantStatus {
				t.Fatalf("seed %d: status %d; in order: %d\n%s", 1+seed, status, wantStatus, c.Func)
			}
			if err := looptest.SameMemory(c.Func, got, want); err != nil {
				t.Fatalf("seed %d: %v\n%s", 1+seed, err, c.Func)
			}
		}
	})
	if runs > 40 && (races == 0 || races == runs) {
		t.Errorf("%d of %d functions race", races, runs)
	}
}

// without copies a block without the barrier that is number n, counted down.
func without(body []loop.Stmt, n *int) []loop.Stmt {
	var out []loop.Stmt
	for _, s := range body {
		switch x := s.(type) {
		case *loop.Barrier:
			*n--
			if *n == -1 {
				continue
			}
		case *loop.For:
			s = &loop.For{Var: x.Var, Lo: x.Lo, Hi: x.Hi, Body: without(x.Body, n)}
		case *loop.While:
			s = &loop.While{Cond: x.Cond, Body: without(x.Body, n)}
		case *loop.If:
			s = &loop.If{Cond: x.Cond, Then: without(x.Then, n), Else: without(x.Else, n)}
		}
		out = append(out, s)
	}
	return out
}
