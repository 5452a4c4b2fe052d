package loop_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

// This file tests what holds of all programs: printing, parsing, verifying, simplifying and removing dead code, on random ones.

func TestPrintParseProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := looptest.Func(t)
		text := f.String()
		got, err := loop.ParseFunc(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		wantEqual(t, f, got, text)
		if again := got.String(); again != text {
			t.Fatalf("printed as\n%s\nthen as\n%s", text, again)
		}
	})
}

func TestPrintParseGridProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := looptest.DrawGrid(t).Func
		text := f.String()
		got, err := loop.ParseFunc(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		wantEqual(t, f, got, text)
		if again := got.String(); again != text {
			t.Fatalf("printed as\n%s\nthen as\n%s", text, again)
		}
	})
}

// Removing dead code from grid functions leaves them even where threads meet, and
// changes nothing that can be seen.
func TestRemoveDeadGridProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := looptest.DrawGrid(t)
		short := c
		short.Func = loop.RemoveDead(c.Func)
		if err := short.Func.Verify(nil); err != nil {
			t.Fatalf("%v\nfrom\n%s", err, c.Func)
		}
		status, memory, err := c.Run(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, gotMemory, err := short.Run(nil)
		if err != nil {
			t.Fatalf("%v\nin\n%s\nfrom\n%s", err, short.Func, c.Func)
		}
		// Messages are numbered anew: of several failures another may be the greatest.
		if (got == 0) != (status == 0) {
			t.Fatalf("%s, want %s:\n%s\nfrom\n%s", message(short.Func, got), message(c.Func, status), short.Func, c.Func)
		}
		if err := looptest.SameMemory(c.Func, gotMemory, memory); err != nil {
			t.Fatalf("%v:\n%s\nfrom\n%s", err, short.Func, c.Func)
		}
	})
}

// wantEqual compares trees, where nil and empty lists are the same. DeepEqual is
// much faster than cmp and settles most cases.
func wantEqual(t *rapid.T, printed, read any, text string) {
	t.Helper()
	if reflect.DeepEqual(printed, read) {
		return
	}
	if diff := cmp.Diff(printed, read, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("read back differently (-printed +read):\n%s\n%s", diff, text)
	}
}

// Removing dead code changes nothing that can be seen, and once is enough.
func TestRemoveDeadProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := looptest.Draw(t)
		short := c
		short.Func = loop.RemoveDead(c.Func)
		if err := short.Func.Verify(nil); err != nil {
			t.Fatalf("%v\nfrom\n%s", err, c.Func)
		}
		wantSame(t, c, short)
		if again := loop.RemoveDead(short.Func); again.String() != short.Func.String() {
			t.Fatalf("not done in one go:\n%s\nthen\n%s", short.Func, again)
		}
	})
}

// Building an expression with the simplifying constructors changes no value.
func TestSimplifyProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := looptest.Draw(t)
		simple := c
		f := *c.Func
		f.Body = rebuildBlock(f.Body)
		simple.Func = &f
		if err := f.Verify(nil); err != nil {
			t.Fatalf("%v\nfrom\n%s", err, c.Func)
		}
		wantSame(t, c, simple)
	})
}

func wantSame(t *rapid.T, before, after looptest.Case) {
	t.Helper()
	status, memory, err := before.Run(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, gotMemory, err := after.Run(nil)
	if err != nil {
		t.Fatalf("%v\nin\n%s\nfrom\n%s", err, after.Func, before.Func)
	}
	if m, want := message(after.Func, got), message(before.Func, status); m != want {
		t.Fatalf("%s, want %s:\n%s\nfrom\n%s", m, want, after.Func, before.Func)
	}
	if err := looptest.SameMemory(before.Func, gotMemory, memory); err != nil {
		t.Fatalf("%v:\n%s\nfrom\n%s", err, after.Func, before.Func)
	}
}

// message is what a status means: messages may be numbered differently.
func message(f *loop.Func, status int) string {
	if status == 0 {
		return "success"
	}
	return "failure: " + f.Fails[status-1]
}

// rebuildBlock copies statements with every expression built anew.
func rebuildBlock(body []loop.Stmt) []loop.Stmt {
	var out []loop.Stmt
	for _, s := range body {
		switch x := s.(type) {
		case *loop.Let:
			s = &loop.Let{Var: x.Var, Mutable: x.Mutable, Value: rebuild(x.Value)}
		case *loop.Assign:
			s = &loop.Assign{Var: x.Var, Value: rebuild(x.Value)}
		case *loop.Store:
			s = &loop.Store{Buf: x.Buf, Index: rebuild(x.Index), Value: rebuild(x.Value)}
		case *loop.For:
			s = &loop.For{Var: x.Var, Lo: rebuild(x.Lo), Hi: rebuild(x.Hi), Body: rebuildBlock(x.Body)}
		case *loop.While:
			s = &loop.While{Cond: rebuild(x.Cond), Body: rebuildBlock(x.Body)}
		case *loop.If:
			s = &loop.If{Cond: rebuild(x.Cond), Then: rebuildBlock(x.Then), Else: rebuildBlock(x.Else)}
		}
		out = append(out, s)
	}
	return out
}

func rebuild(e loop.Expr) loop.Expr {
	switch e := e.(type) {
	case *loop.Load:
		return &loop.Load{Buf: e.Buf, Elem: e.Elem, Index: rebuild(e.Index)}
	case *loop.Unary:
		return loop.NewUnary(e.Op, rebuild(e.X))
	case *loop.Binary:
		return loop.NewBinary(e.Op, rebuild(e.X), rebuild(e.Y))
	case *loop.Select:
		return loop.NewSelect(rebuild(e.Cond), rebuild(e.X), rebuild(e.Y))
	case *loop.Cast:
		return loop.NewCast(e.Typ, rebuild(e.X))
	}
	return e
}

// Random programs print and parse. They verify as far as the sizes go: every
// stage allocates before it runs a function over what is there.
func TestProgramPrintParseProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prog := drawProgram(t)
		if err := prog.Verify(nil); err != nil {
			t.Fatalf("%v\n%s", err, prog)
		}
		text := prog.String()
		got, err := loop.ParseProgram(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		wantEqual(t, prog, got, text)
	})
}

func drawProgram(t *rapid.T) *loop.Program {
	prog := &loop.Program{
		Name:    "random",
		Scalars: []loop.ProgramScalar{{Name: "n", Bound: true}, {Name: "to", Bound: true}},
		Buffers: []loop.Buffer{{Name: "A", Elem: loop.U32, Role: loop.Input}, {Name: "n", Elem: loop.I64, Role: loop.InOut}},
	}
	scalar := func(name string) loop.ScalarID {
		prog.Scalars = append(prog.Scalars, loop.ProgramScalar{Name: name})
		return loop.ScalarID(len(prog.Scalars) - 1)
	}
	known := 2 // scalars defined so far
	var size func(height int) loop.SizeExpr
	size = func(height int) loop.SizeExpr {
		k := rapid.IntRange(0, 5).Draw(t, "size")
		switch {
		case height == 0 || k == 0:
			return loop.SizeConst(rapid.Int64().Draw(t, "const"))
		case k == 1:
			return loop.SizeScalar(rapid.IntRange(0, known-1).Draw(t, "scalar"))
		case k == 2:
			return &loop.SizeLoad{Buffer: loop.BufferID(rapid.IntRange(0, 1).Draw(t, "buffer")), Index: size(height - 1)}
		case k == 3:
			return &loop.SizeHint{Buffer: loop.BufferID(rapid.IntRange(0, 1).Draw(t, "buffer")), Index: size(height - 1), Else: size(height - 1)}
		}
		op := rapid.SampledFrom([]loop.BinaryOp{loop.Add, loop.Sub, loop.Mul, loop.Div, loop.Min, loop.Max}).Draw(t, "op")
		return &loop.SizeOp{Op: op, X: size(height - 1), Y: size(height - 1)}
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "stages") {
		s := loop.Stage{Name: fmt.Sprintf("s%d", i), Partition: -1, Ordered: rapid.Bool().Draw(t, "ordered")}
		s.Lets = append(s.Lets, loop.ScalarLet{Scalar: scalar("k"), Value: size(4)})
		known = len(prog.Scalars)
		if rapid.Bool().Draw(t, "partition") {
			s.Partition = len(prog.Partitions)
			weights := loop.BufferID(rapid.IntRange(-1, 1).Draw(t, "weights"))
			prog.Partitions = append(prog.Partitions, loop.Partition{
				Name: "rows", N: size(2), Weights: weights, Grain: 1 + int64(i), Chunks: scalar("chunks"),
			})
			s.PartitionLets = []loop.ScalarLet{{Scalar: scalar("k"), Value: size(1)}}
			known = len(prog.Scalars)
		}
		if rapid.Bool().Draw(t, "func") {
			s.Func = looptest.Func(t)
			for _, b := range s.Func.Bufs {
				id := loop.BufferID(len(prog.Buffers))
				prog.Buffers = append(prog.Buffers, loop.Buffer{Name: b.Name, Elem: b.Elem, Role: loop.Temp})
				alloc := loop.Alloc{Buffer: id, Len: size(1), Zero: rapid.Bool().Draw(t, "zero")}
				s.Bufs = append(s.Bufs, id)
				if s.Partition >= 0 {
					s.PartitionAllocs = append(s.PartitionAllocs, alloc)
				} else {
					s.Allocs = append(s.Allocs, alloc)
				}
			}
			for range s.Func.Args {
				s.Args = append(s.Args, loop.ScalarID(rapid.IntRange(0, known-1).Draw(t, "arg")))
			}
		}
		prog.Stages = append(prog.Stages, s)
	}
	return prog
}
