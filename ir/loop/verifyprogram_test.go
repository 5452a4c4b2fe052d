package loop

import (
	"strings"
	"testing"
)

// Scalars: n 0, k 1, chunks 2. Buffers: A 0, t 1, y 2.
const programText = `program p {
  scalar n bound
  scalar k
  scalar chunks
  buffer A: []u32 input
  buffer t: []f64 temp
  buffer y: []f64 output
  partition rows of k weights A grain 16 chunks chunks
  stage one over rows {
    let k = A[n] + 1
    alloc y[k] zero
    partitioned {
      alloc t[chunks]
    }
    run(A, t, y; n)
    func f(readonly A: []u32, t: []f64, y: []f64; n: i64) chunk c, lo, hi {
      y[n] = t[c] + f64(A[0])
    }
  }
  stage two over rows ordered {
    run(y; chunks)
    func g(y: []f64; m: i64) chunk c, lo, hi {
      y[m] = 0.0
    }
  }
}
`

func TestVerifyProgram(t *testing.T) {
	one := SizeConst(1)
	deep := SizeExpr(one)
	for range maxDepth {
		deep = &SizeOp{Op: Add, X: deep, Y: one}
	}
	wide := SizeExpr(one)
	for range 40 {
		wide = &SizeOp{Op: Add, X: wide, Y: wide}
	}
	size := func(e SizeExpr) func(*Program) {
		return func(p *Program) { p.Stages[0].Lets[0].Value = e }
	}
	// join makes the second stage join parts of y, and changes that.
	join := func(change func(*Stage)) func(*Program) {
		return func(p *Program) {
			p.Scalars = append(p.Scalars, ProgramScalar{Name: "c"}, ProgramScalar{Name: "lo"}, ProgramScalar{Name: "hi"})
			p.Buffers = append(p.Buffers, Buffer{Name: "ends", Elem: I64, Role: Temp})
			s := &p.Stages[1]
			s.Allocs = []Alloc{{Buffer: 3, Len: one}}
			s.Bufs = append(s.Bufs, 3)
			s.Func.Bufs = append(s.Func.Bufs, Buf{Name: "ends", Elem: I64})
			s.Join = &Join{Ends: 3, Chunk: 3, Lo: 4, Hi: 5, Room: SizeScalar(5), Moves: []Move{{Buffer: 2}}, Shift: -1, Rows: -1}
			if change != nil {
				change(s)
			}
		}
	}
	// copies makes threads have copies of y in the second stage, and changes that.
	copies := func(change func(*Stage)) func(*Program) {
		return func(p *Program) {
			p.Scalars = append(p.Scalars, ProgramScalar{Name: "copies"})
			p.Buffers = append(p.Buffers, Buffer{Name: "all", Elem: p.Buffers[2].Elem, Role: Temp})
			s := &p.Stages[1]
			s.Copies = &Copies{Count: 3, Chunks: SizeScalar(0), List: []Copy{{Buffer: 2, All: 3, Start: Number(p.Buffers[2].Elem, 0)}}}
			if change != nil {
				change(s)
			}
		}
	}
	for _, c := range []struct {
		change func(*Program)
		want   string
	}{
		{func(*Program) {}, ""},
		{func(p *Program) { p.Name = "" }, `"" cannot name a program`},
		{func(p *Program) { p.Scalars[0].Name = "a b" }, `"a b" cannot name a scalar`},
		{func(p *Program) { p.Buffers[0].Name = "1" }, `"1" cannot name a buffer`},
		{func(p *Program) { p.Buffers[1].Elem = Invalid }, "the buffer t has no element type"},
		{func(p *Program) { p.Buffers[1].Role = 7 }, "the buffer t has no role"},
		{func(p *Program) { p.Partitions[0].Name = "-" }, `"-" cannot name a partition`},
		{func(p *Program) { p.Partitions[0].Grain = 0 }, "the grain 0 is less than 1 (in: partition rows)"},
		{func(p *Program) { p.Partitions[0].Weights = -2 }, "uses buffer -2 as weights"},
		{func(p *Program) { p.Partitions[0].Weights = 2 }, "the weights y are not integers"},
		{func(p *Program) { p.Partitions[0].Weights = 9 }, "uses buffer 9; there are 3"},
		{func(p *Program) { p.Partitions[0].Weights = 1 }, "uses the buffer t before it is allocated"},
		{func(p *Program) { p.Partitions[0].N = SizeScalar(2) }, "uses the scalar chunks before it is defined (in: stage one)"},
		{func(p *Program) { p.Partitions[0].Chunks = 0 }, "defines n, which the caller binds"},
		{func(p *Program) { p.Partitions[0].Chunks = 3 }, "defines scalar 3; there are 3"},
		{func(p *Program) { p.Stages[0].Name = "a-b" }, `"a-b" cannot name a stage`},
		{func(p *Program) { p.Stages[0].Partition = 1 }, "uses partition 1; there are 1"},
		{func(p *Program) { p.Stages[0].Partition = -2 }, "uses partition -2"},
		{func(p *Program) { p.Stages[0].Partition = -1 }, "sizes things after a partition but has none"},
		{func(p *Program) { p.Stages[1].Lets = p.Stages[0].Lets }, "defines k again (in: stage two)"},
		{func(p *Program) { p.Stages[1].Allocs = p.Stages[0].Allocs }, "allocates y again"},
		{func(p *Program) { p.Stages[0].Allocs[0].Buffer = 0 }, "allocates A, which the caller provides"},
		{func(p *Program) { p.Stages[0].Allocs[0].Buffer = 5 }, "allocates buffer 5; there are 3"},
		{func(p *Program) { p.Stages[0].Allocs = nil }, "uses the buffer y before it is allocated"},
		{func(p *Program) {
			p.Buffers = append(p.Buffers, Buffer{Name: "z", Elem: I8, Role: Output})
		}, "the output z is never allocated"},
		{size(nil), "a size expression is missing (nil)"},
		{size((*SizeOp)(nil)), "a size expression is missing (nil)"},
		{size((*SizeLoad)(nil)), "a size expression is missing (nil)"},
		{size(&SizeOp{Op: Rem, X: one, Y: one}), "% does not occur in sizes"},
		{size(SizeScalar(9)), "uses scalar 9; there are 3"},
		{size(&SizeLoad{Buffer: 2, Index: one}), "uses the buffer y before it is allocated"},
		{size((*SizeHint)(nil)), "a size expression is missing (nil)"},
		{size(&SizeHint{Buffer: 2, Index: one, Else: one}), "uses the buffer y before it is allocated"},
		{size(&SizeHint{Buffer: 0, Index: one}), "a size expression is missing (nil)"},
		{size(deep), "the size expression is too big"},
		{size(wide), "the size expression is too big"},
		{func(p *Program) {
			p.Stages[1].Lets = []ScalarLet{{Scalar: 1, Value: &SizeLoad{Buffer: 2, Index: one}}}
		}, "reads a size from y, which does not hold integers"},
		{func(p *Program) {
			p.Stages[1].Trims = []Trim{{Buffer: 1, Len: SizeConst(1)}}
		}, "trims t, which is not an output"},
		{func(p *Program) {
			p.Buffers[1].Role = Scratch
			p.Stages[1].Lets = []ScalarLet{{Scalar: 1, Value: &SizeLoad{Buffer: 1, Index: one}}}
		}, "reads a size from t, of which every thread has its own"},
		{join(nil), ""},
		{join(func(s *Stage) { s.Ordered = false }), "is no ordered stage with a partition"},
		{join(func(s *Stage) { s.Join.Lo = 0 }), "defines n, which the caller binds"},
		{join(func(s *Stage) { s.Join.Lo = s.Join.Hi }), "defines hi again"},
		{join(func(s *Stage) { s.Join.Room = nil }), "a size expression is missing (nil)"},
		{join(func(s *Stage) { s.Join.Room = SizeScalar(99) }), "uses scalar 99"},
		{join(func(s *Stage) { s.Join.Ends = 2 }), "joins lists by the ends in y, which is no temporary of I64"},
		{join(func(s *Stage) { s.Join.Ends = 77 }), "uses buffer 77"},
		{join(func(s *Stage) { s.Join.Moves[0].Buffer = 0 }), "joins parts of A, which is not an output"},
		{join(func(s *Stage) { s.Join.Moves[0].List = -1 }), "moves list -1 from element 0 on"},
		{join(func(s *Stage) { s.Join.Moves[0].First = 2 }), "moves list 0 from element 2 on"},
		{join(func(s *Stage) { s.Join.Moves = append(s.Join.Moves, s.Join.Moves[0]) }), "joins parts of y twice"},
		{join(func(s *Stage) { s.Join.Shift = 2 }), "shifts y, which is not of U64"},
		{copies(nil), ""},
		{copies(func(s *Stage) { s.Ordered = false }), "copies buffers, but is no ordered stage"},
		{copies(func(s *Stage) { s.Join = &Join{} }), "copies buffers, but is no ordered stage"},
		{copies(func(s *Stage) { s.Copies.Count = 0 }), "defines n, which the caller binds"},
		{copies(func(s *Stage) { s.Copies.Chunks = nil }), "a size expression is missing (nil)"},
		{copies(func(s *Stage) { s.Args[0] = 3 }), "uses the scalar copies before it is defined"},
		{copies(func(s *Stage) { s.Copies.List[0].Buffer = 99 }), "uses buffer 99"},
		{copies(func(s *Stage) { s.Copies.List[0].Buffer = 0 }), "copies A, which is no output"},
		{copies(func(s *Stage) { s.Copies.List[0].Buffer = 1 }), "copies t, which its function does not get"},
		{copies(func(s *Stage) { s.Copies.List = append(s.Copies.List, s.Copies.List[0]) }), "copies y twice"},
		{copies(func(s *Stage) { s.Copies.List[0].Start = nil }), "has no start of"},
		{copies(func(s *Stage) { s.Copies.List[0].Start = Truth(false) }), "has no start of"},
		{copies(func(s *Stage) { s.Copies.List[0].All = 99 }), "allocates buffer 99"},
		{copies(func(s *Stage) { s.Copies.List[0].All = 1 }), "allocates t again"},
		{func(p *Program) {
			copies(nil)(p)
			p.Buffers[3].Role = Output
		}, "keeps copies of y in all, which is no temporary"},
		{func(p *Program) { p.Stages[0].Func = nil }, "passes buffers or scalars, but has no function"},
		{func(p *Program) { p.Stages[0].Bufs = p.Stages[0].Bufs[1:] }, "passes 2 buffers and 1 scalars; f takes 3 and 1"},
		{func(p *Program) { p.Stages[1].Args = nil }, "passes 1 buffers and 0 scalars; g takes 1 and 1"},
		{func(p *Program) { p.Stages[1].Args[0] = -1 }, "uses scalar -1"},
		{func(p *Program) { p.Stages[1].Bufs[0] = 0 }, "passes A of u32 as y of f64"},
		{func(p *Program) { p.Stages[1].Bufs[0] = 0 }, "passes the input A as y, which is not read-only"},
		{func(p *Program) { p.Stages[0].Bufs[1] = 2 }, "passes y twice though it is written; buffers must not overlap"},
		{func(p *Program) { p.Stages[0].Bufs[1] = 44 }, "uses buffer 44; there are 3"},
		{func(p *Program) { p.Stages[0].Func.Body = append(p.Stages[0].Func.Body, &Fail{}) }, "func f: fails with message 0; there are 0"},
	} {
		p, err := ParseProgram(programText)
		if err != nil {
			t.Fatal(err)
		}
		c.change(p)
		err = p.Verify(nil)
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestParseProgramErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"program p", "func p", `1:1: expected "program", found "func"`},
		{"scalar k", "scalar n", `3:10: "n" is already declared`},
		{"scalar k", "size k", `3:3: expected scalar, buffer, partition, stage or "}", found "size"`},
		{"temp", "shared", `6:19: expected input, output, temp, inout or scratch, found "shared"`},
		{"of k", "of q", `8:21: "q" is not declared here`},
		{"of k", "of 1 % 2", `8:23: expected "grain", found "%"`},
		{"weights A", "weights n", `8:31: "n" is not a buffer of the program`},
		{"grain 16", "grain k", `8:39: expected a whole number, found "k"`},
		{"grain 16", "grain 1.5", `8:39: 1.5 is not a whole number, as i64 wants`},
		{"one over rows", "one over cols", `9:18: there is no partition "cols" before this stage`},
		{"let k = A[n] + 1", "let A = 1", `10:9: "A" is not a scalar of the program`},
		{"let k = A[n] + 1", "let k = A + 1", `10:15: expected "[", found "+"`},
		{"let k = A[n] + 1", "let k = xor(n, n)", `10:13: sizes know the functions min and max, not "xor"`},
		{"let k = A[n] + 1", "let k = -n", `10:14: expected a whole number, found "n"`},
		{"let k = A[n] + 1", "let k = " + strings.Repeat("(", 5000), "nested deeper than"},
		{"let k = A[n] + 1", "let k = 1" + strings.Repeat("+1", 5000), "nested deeper than"},
		{"alloc y[k] zero", "alloc y[k] zero let k = 1", `11:21: lets stand first`},
		{"run(A, t, y; n)\n", "", `15:9: expected "}", found "func"`},
		{"partition rows of k", "partition rows of k grain 1 chunks n partition rows of k", `8:50: the partition "rows" is already declared`},
	} {
		src := strings.Replace(programText, c.old, c.new, 1)
		if src == programText {
			t.Errorf("%q does not occur", c.old)
		}
		if _, err := ParseProgram(src); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.new, err, c.want)
		}
	}
	p, err := ParseProgram(programText)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.String(); got != programText {
		t.Errorf("prints as\n%s", got)
	}
}
