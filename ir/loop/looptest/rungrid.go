package looptest

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Run calls the function of a case on a copy of its memory and returns the greatest
// status and the memory after it. It is a judge for engines, as Case.Run is, and runs a
// grid another way than the interpreter does: statement by statement, each for all
// threads of the block that come to it. The error tells what no engine may be
// given: also threads that do not meet where they should.
func (c GridCase) Run(resolve loop.Resolver) (status int, memory [][]byte, err error) {
	memory = c.CopyMemory()
	steps := 0
	for block := range c.Blocks {
		x := &gridRunner{c: c, left: c.Func.Grid.Threads}
		all := append([][]byte{}, memory...)
		for _, s := range c.Func.Grid.Shared {
			all = append(all, make([]byte, int(s.Len)*s.Elem.Size()))
		}
		var active []*gridThread
		for i := range c.Func.Grid.Threads {
			r := &runner{bufs: c.Func.Buffers(), vars: make([]loop.Const, len(c.Func.Vars)), memory: all, resolve: resolve, steps: &steps}
			for k, id := range c.Func.Args {
				r.vars[id] = *loop.Int(c.Args[k])
			}
			thread := int64(i)
			r.special = [...]int64{
				loop.BlockIndex: block, loop.BlockCount: c.Blocks, loop.ThreadIndex: thread,
				loop.WarpIndex: thread / loop.WarpSize, loop.LaneIndex: thread % loop.WarpSize,
			}
			active = append(active, &gridThread{runner: r, warp: i / loop.WarpSize})
		}
		x.block(c.Func.Body, active)
		if x.err != nil {
			return 0, nil, x.err
		}
		status = max(status, x.status)
	}
	return status, memory, nil
}

// A gridThread is a thread of the block that runs.
type gridThread struct {
	*runner
	warp  int
	ended bool
}

type gridRunner struct {
	c      GridCase
	left   int // threads that have not failed
	status int
	err    error
}

func (x *gridRunner) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf(format, args...)
	}
}

func (x *gridRunner) block(body []loop.Stmt, active []*gridThread) {
	for _, s := range body {
		var on []*gridThread
		for _, t := range active {
			if !t.ended {
				on = append(on, t)
			}
		}
		if len(on) == 0 || x.err != nil {
			return
		}
		x.stmt(s, on)
	}
}

func (x *gridRunner) stmt(s loop.Stmt, on []*gridThread) {
	switch s := s.(type) {
	case *loop.For:
		x.forLoop(s, on)
	case *loop.While:
		for on = x.where(s.Cond, on); len(on) > 0 && x.err == nil; on = x.where(s.Cond, on) {
			x.block(s.Body, on)
		}
	case *loop.If:
		then := x.where(s.Cond, on)
		chosen := map[*gridThread]bool{}
		for _, t := range then {
			chosen[t] = true
		}
		var otherwise []*gridThread
		for _, t := range on {
			if !chosen[t] {
				otherwise = append(otherwise, t)
			}
		}
		x.block(s.Then, then)
		x.block(s.Else, otherwise)
	case *loop.Fail:
		for _, t := range on {
			t.ended = true
			x.left--
		}
		x.status = max(x.status, 1+s.Code)
	case *loop.Barrier:
		if s.Scope == loop.BlockScope {
			if len(on) != x.left || x.left != x.c.Func.Grid.Threads {
				x.fail("%d threads come to a barrier, of %d", len(on), x.left)
			}
			return
		}
		x.warps(on)
	case *loop.Shuffle:
		x.shuffle(s, on)
	case *loop.Ballot:
		for _, w := range x.warps(on) {
			votes := int64(0)
			for i, t := range w {
				votes |= int64(x.eval(t, s.Cond).Bits) << i
			}
			for _, t := range w {
				t.vars[s.Var] = *loop.Number(loop.U32, votes)
			}
		}
	case *loop.Atomic:
		for _, t := range on {
			x.atomic(s, t)
		}
	default:
		for _, t := range on {
			if end := t.block([]loop.Stmt{s}); end.kind != through {
				x.fail("%v", end.err)
			}
		}
	}
}

// eval evaluates an expression for a thread.
func (x *gridRunner) eval(t *gridThread, e loop.Expr) loop.Const {
	c := t.expr(e)
	if t.err != nil {
		x.fail("%v", t.err)
	}
	return c
}

// where are the threads for which a condition holds, and that have not failed.
func (x *gridRunner) where(cond loop.Expr, on []*gridThread) []*gridThread {
	var hold []*gridThread
	for _, t := range on {
		if *t.steps++; *t.steps > maxSteps {
			x.fail("more than %d statements were run", maxSteps)
		}
		if !t.ended && x.eval(t, cond).Bits != 0 {
			hold = append(hold, t)
		}
	}
	return hold
}

func (x *gridRunner) forLoop(s *loop.For, on []*gridThread) {
	next, end := map[*gridThread]int64{}, map[*gridThread]int64{}
	for _, t := range on {
		next[t], end[t] = int64(x.eval(t, s.Lo).Bits), int64(x.eval(t, s.Hi).Bits)
	}
	for x.err == nil {
		var turn []*gridThread
		for _, t := range on {
			if i := next[t]; !t.ended && i < end[t] {
				t.vars[s.Var] = *loop.Int(i)
				next[t]++
				turn = append(turn, t)
			}
		}
		if len(turn) == 0 {
			return
		}
		x.block(s.Body, turn)
	}
}

// warps wants the threads to be whole warps, and tells them apart.
func (x *gridRunner) warps(on []*gridThread) [][]*gridThread {
	var all [][]*gridThread
	for i, t := range on {
		if i == 0 || t.warp != on[i-1].warp {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], t)
	}
	for _, w := range all {
		if len(w) != loop.WarpSize {
			x.fail("%d threads of a warp meet", len(w))
			return nil
		}
	}
	return all
}

func (x *gridRunner) shuffle(s *loop.Shuffle, on []*gridThread) {
	for _, w := range x.warps(on) {
		values, from := make([]loop.Const, len(w)), make([]int64, len(w))
		for i, t := range w {
			values[i] = x.eval(t, s.Value)
			from[i] = s.Kind.Source(int64(i), int64(x.eval(t, s.Lane).Bits), s.Width)
		}
		for i, t := range w {
			t.vars[s.Var] = values[from[i]]
		}
	}
}

func (x *gridRunner) atomic(s *loop.Atomic, t *gridThread) {
	index, expected := int64(x.eval(t, s.Index).Bits), loop.Const{}
	if s.Expected != nil {
		expected = x.eval(t, s.Expected)
	}
	value := x.eval(t, s.Value)
	old := t.load(s.Buf, index)
	if t.err == nil {
		t.store(s.Buf, index, s.Op.Apply(old, value, expected))
	}
	if t.err != nil {
		x.fail("%v", t.err)
	}
	if s.Var != loop.NoVar {
		t.vars[s.Var] = old
	}
}
