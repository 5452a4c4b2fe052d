package cpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// A kernel looks at the stop word so that no more than some ten milliseconds pass
// between two looks, and so that the loops that matter are not slower for it:
//
//   - A while looks after each iteration, unless it is inside another loop and
//     appends an element to a buffer each time, is a sweep like those below, or finds the
//     end of a run: that runs in strips (whilestrips.go), or is left whole if its
//     condition is no bound. So does a for that holds loops none of
//     which surely looks: it puts the sign of the stop word into its bound, and
//     finds out behind the loop why that ended. One branch more for each row costs
//     up to half of SpMV's speed, where it spoils the prediction of the row's end;
//     two plain instructions cost nothing.
//   - An innermost for runs in strips and looks between them. Its code is what
//     it would be without.
//   - Finding the end of a strip costs as much as an entry of a short row. So a
//     loop inside another whose iterations are cheap and work on consecutive
//     elements of a buffer, as those over the entries of a row do, for or while,
//     is left whole.
//     Memory bounds it: 2^27 elements are a tenth of a second. One that stores here
//     and there takes longer: inLongStrips.
//   - A loop of few iterations, known here, is no loop.

// stripLength is how many iterations make a strip: some ten microseconds of cheap
// ones, milliseconds of costly ones.
const stripLength = 1 << 16

// shortLoop is the number of iterations that count as straight code.
const shortLoop = 64

// looks decides whether a for looks at the stop word after each iteration: it
// holds loops, and none that is reached in every iteration and looks itself. That
// one finds out behind it, also when it has no iteration.
func (k *kernel) looks(s *loop.For) bool {
	return holdsLoop(s.Body) && !slices.ContainsFunc(s.Body, func(s loop.Stmt) bool {
		inner, ok := s.(*loop.For)
		return ok && k.looks(inner)
	})
}

// unlessStopped is the bound hi of a loop, or a negative number if the stop word is
// set.
func (k *kernel) unlessStopped(hi value.Value) value.Value {
	return k.Block.NewOr(hi, k.Block.NewSExt(k.loadStop(), types.I64))
}

// loadStop loads the stop word.
func (k *kernel) loadStop() value.Value {
	word := k.Block.NewLoad(types.I32, k.stop)
	word.Volatile = true // another thread sets it
	word.Align = 4
	return word
}

// inStrips decides whether a for runs in strips.
func (k *kernel) inStrips(s *loop.For) bool {
	if holdsLoop(s.Body) || s.IsShort() {
		return false
	}
	return k.depth == 0 || !isSweep(s)
}

// inLongStrips decides whether a for inside another, which is too short for strips most
// often, runs in strips where it is long: one that stores here and there, as a transpose
// does with the entries of a row. An entry may take a hundred nanoseconds then. A branch
// more for each row is lost in that where it is the only loop of the row; beside others
// it cost masked products of matrices a tenth.
func (k *kernel) inLongStrips(s *loop.For) bool {
	return k.depth == 1 && k.alone && !holdsLoop(s.Body) && !s.IsShort() && isSweep(s) && loop.StoresAtLoaded(s.Body)
}

// isSweep reports whether every iteration of an innermost loop is cheap and loads
// or stores an element of a buffer that is its own: element i, or 8*i, or such and
// a term that is added.
func isSweep(s *loop.For) bool { return sweeps(s.Body, map[loop.VarID]bool{s.Var: true}) }

// isSweepingWhile reports the same of a while: its body steps a variable forward, as
// a loop over a run of equal coordinates does.
func isSweepingWhile(s *loop.While) bool {
	assigned := map[loop.VarID]int{}
	loop.WalkStmts(s.Body, func(s loop.Stmt) {
		if a, ok := s.(*loop.Assign); ok {
			assigned[a.Var]++
		}
	})
	moving := map[loop.VarID]bool{}
	for _, s := range s.Body {
		if a, ok := s.(*loop.Assign); ok && assigned[a.Var] == 1 && isStep(a) {
			moving[a.Var] = true
		}
	}
	return !countsUp(s, moving) && !holdsLoop(s.Body) && sweeps(s.Body, moving)
}

// countsUp reports whether a while counts a variable up to a bound. If it did not look,
// LLVM would take it for a for and make vector code and calls of memcpy of it, for which
// what a merge leaves of a row is too short, and keep registers for them that the merge needs.
func countsUp(s *loop.While, grows map[loop.VarID]bool) bool {
	cond, ok := s.Cond.(*loop.Binary)
	if !ok {
		return false
	}
	n, ok := cond.X.(*loop.Ref)
	return ok && grows[n.Var]
}

// isStep reports whether a statement adds a small positive number to a variable.
func isStep(a *loop.Assign) bool {
	sum, ok := a.Value.(*loop.Binary)
	if !ok || sum.Op != loop.Add || sum.Typ != loop.I64 {
		return false
	}
	v, ok1 := sum.X.(*loop.Ref)
	c, ok2 := sum.Y.(*loop.Const)
	return ok1 && ok2 && v.Var == a.Var && 0 < c.Bits && c.Bits <= shortLoop
}

// sweeps reports whether the body of a loop is cheap and loads or stores, each time, at
// an index made of a variable that moves on with the loop.
func sweeps(body []loop.Stmt, moving map[loop.VarID]bool) bool {
	own := false
	for _, s := range body {
		for _, e := range loop.Exprs(s) {
			own = own || loop.HasExpr(e, func(e loop.Expr) bool {
				load, ok := e.(*loop.Load)
				return ok && moves(load.Index, moving)
			})
		}
		switch s := s.(type) {
		case *loop.Let:
			moving[s.Var] = !s.Mutable && moves(s.Value, moving)
		case *loop.Store:
			own = own || moves(s.Index, moving)
		}
	}
	return own && !callsScalars(body)
}

// isAppending reports whether every iteration of an innermost while, not one that only
// counts up, stores an element behind that of the one before: at n, where it adds a
// constant to n.
func isAppending(s *loop.While) bool {
	grows := map[loop.VarID]bool{}
	for _, s := range s.Body {
		if a, ok := s.(*loop.Assign); ok {
			grows[a.Var] = isStep(a)
		}
	}
	if countsUp(s, grows) {
		return false
	}
	stores := false
	for _, s := range s.Body {
		store, ok := s.(*loop.Store)
		if !ok {
			continue
		}
		n, ok := store.Index.(*loop.Ref)
		stores = stores || ok && grows[n.Var]
	}
	return stores && !holdsLoop(s.Body) && !callsScalars(s.Body)
}

// moves reports whether e is a variable that moves, a small multiple of one, or the
// sum of such and a term.
func moves(e loop.Expr, moving map[loop.VarID]bool) bool {
	switch e := e.(type) {
	case *loop.Ref:
		return moving[e.Var]
	case *loop.Binary:
		switch e.Op {
		case loop.Add:
			return moves(e.X, moving) || moves(e.Y, moving)
		case loop.Mul:
			c, ok := e.Y.(*loop.Const)
			return ok && 0 < c.Bits && c.Bits <= shortLoop && moves(e.X, moving)
		}
	}
	return false
}

// poll ends the current block: code goes on at next unless the stop word is set.
func (k *kernel) poll(next *ir.Block) {
	if k.stopped == nil {
		k.stopped = k.NewBlock("stopped")
		k.stopped.NewRet(llvm.IntConst(loop.I64, loop.StatusStopped))
	}
	on := k.Block.NewICmp(enum.IPredEQ, k.loadStop(), llvm.IntConst(loop.I32, 0))
	k.Block.NewCondBr(on, next, k.stopped).Metadata = k.Module.Likely()
}

// For emits a counting loop.
func (k *kernel) For(s *loop.For) { k.instrumented(s, func() { k.forLoop(s) }) }

// While emits a while.
func (k *kernel) While(s *loop.While) { k.instrumented(s, func() { k.whileLoop(s) }) }

// forLoop emits a counting loop: whole or in strips.
func (k *kernel) forLoop(s *loop.For) {
	begin := k.ask(k.fetches(s))
	if begin == nil {
		begin = k.askToWrite(k.takes(s))
	}
	l := k.StartFor(s)
	l.Begin = begin
	outside, parts := k.around, k.parts
	k.around, k.parts = append(slices.Clip(outside), s), nil
	defer func() { k.around, k.parts = outside, parts }()
	looks, long, short := k.looks(s), k.inLongStrips(s), k.inStrips(s)
	if looks {
		l.Bound = k.unlessStopped
	}
	outer, scattered, merges := k.alone, k.Scatters, k.Merges
	k.depth++
	k.alone, k.Scatters, k.Merges = holdsOneLoop(s.Body), loop.StoresAtLoaded(s.Body), false
	if long || short {
		strip := k.NewBlock("for." + l.Name + ".strip")
		k.Block.NewCondBr(l.Some, strip, l.End)
		if long {
			k.longStrips(l, strip)
		} else {
			k.strips(l, strip)
		}
	} else {
		k.Block.NewCondBr(l.Some, l.Body, l.End)
		k.Iterations(l, l.Lo, l.Hi, l.End)
	}
	k.depth--
	k.alone, k.Scatters, k.Merges = outer, scattered, merges
	k.Enter(l.End)
	if looks {
		on := k.NewBlock("for." + l.Name + ".done")
		k.poll(on)
		k.Enter(on)
	}
}

// whileLoop emits a while: in strips, looking after each iteration, or left whole.
func (k *kernel) whileLoop(s *loop.While) {
	scattered, merges, around, parts := k.Scatters, k.Merges, k.around, k.parts
	k.Scatters, k.Merges, k.around, k.parts = loop.StoresAtLoaded(s.Body), true, nil, s
	defer func() { k.Scatters, k.Merges, k.around, k.parts = scattered, merges, around, parts }()
	again := k.poll
	if k.depth > 0 && (isAppending(s) || isSweepingWhile(s) || isRun(s)) {
		if how, ok := k.stripesOf(s); ok {
			k.whileStrips(s, how)
			return
		}
		again = func(cond *ir.Block) { k.Block.NewBr(cond) }
	}
	k.depth++
	k.EmitWhile(s, func(cond *ir.Block) {
		k.iterated(s)
		again(cond)
	})
	k.depth--
}

// strips emits a loop over strips of one that has an iteration. The current block ends in
// a branch to head.
func (k *kernel) strips(l *llvm.ForLoop, head *ir.Block) {
	from := k.startStrips(l, head)
	strip := llvm.IntConst(loop.I64, stripLength)
	whole := k.Block.NewICmp(enum.IPredULE, k.Block.NewSub(l.Hi, from), strip)
	to := k.Block.NewSelect(whole, l.Hi, k.Block.NewAdd(from, strip))
	to.SetName(k.Unique(l.Name + ".to"))
	more := k.strip(l, from, to)
	k.Block.NewCondBr(k.Block.NewICmp(enum.IPredEQ, to, l.Hi), l.End, more).Metadata = k.Module.Likely()
	k.nextStrip(head, more, from, to)
}

// longStrips is strips for a loop that is most often shorter than one: then the end of
// the strip is the loop's, which a branch finds that goes one way.
func (k *kernel) longStrips(l *llvm.ForLoop, head *ir.Block) {
	from := k.startStrips(l, head)
	long, start := k.NewBlock("for."+l.Name+".strip.long"), k.NewBlock("for."+l.Name+".strip.start")
	isLong := k.Block.NewICmp(enum.IPredSGT, k.Block.NewSub(l.Hi, from), llvm.IntConst(loop.I64, stripLength))
	k.Block.NewCondBr(isLong, long, start).Metadata = k.Module.Unlikely()
	k.Enter(long)
	far := k.Block.NewAdd(from, llvm.IntConst(loop.I64, stripLength))
	k.Block.NewBr(start)
	k.Enter(start)
	to := k.Block.NewPhi(ir.NewIncoming(l.Hi, head), ir.NewIncoming(far, long))
	to.SetName(k.Unique(l.Name + ".to"))
	more := k.strip(l, from, to)
	k.Block.NewCondBr(k.Block.NewICmp(enum.IPredSLT, to, l.Hi), more, l.End).Metadata = k.Module.Unlikely()
	k.nextStrip(head, more, from, to)
}

// startStrips enters the head of the loop over strips, and returns where a strip starts.
func (k *kernel) startStrips(l *llvm.ForLoop, head *ir.Block) *ir.InstPhi {
	before := k.Block
	k.Enter(head)
	from := k.Block.NewPhi(ir.NewIncoming(l.Lo, before))
	from.SetName(k.Unique(l.Name + ".from"))
	return from
}

// strip emits a strip. It returns the block that goes on with another behind it.
func (k *kernel) strip(l *llvm.ForLoop, from, to value.Value) (more *ir.Block) {
	done := k.NewBlock("for." + l.Name + ".strip.end")
	more = k.NewBlock("for." + l.Name + ".strip.next")
	k.Block.NewBr(l.Body)
	k.Iterations(l, from, to, done)
	k.Enter(done)
	return more
}

// nextStrip goes on with the strip from where the last one ended, unless the stop word is set.
func (k *kernel) nextStrip(head, more *ir.Block, from *ir.InstPhi, to value.Value) {
	k.Enter(more)
	from.Incs = append(from.Incs, ir.NewIncoming(to, k.Block))
	k.poll(head)
}

// holdsLoop reports whether a block has a loop in it, of more than a few
// iterations.
func holdsLoop(body []loop.Stmt) bool {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.For:
			if !s.IsShort() || holdsLoop(s.Body) {
				return true
			}
		case *loop.While:
			return true
		case *loop.If:
			if holdsLoop(s.Then) || holdsLoop(s.Else) {
				return true
			}
		}
	}
	return false
}

// holdsOneLoop reports whether one statement of a block is a loop, or holds loops.
func holdsOneLoop(body []loop.Stmt) bool {
	n := 0
	for i := range body {
		if holdsLoop(body[i : i+1]) {
			n++
		}
	}
	return n == 1
}
