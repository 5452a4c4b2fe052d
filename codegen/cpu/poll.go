package cpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
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
func (f *function) looks(s *loop.For) bool {
	return f.stop != nil && holdsLoop(s.Body) && !slices.ContainsFunc(s.Body, func(s loop.Stmt) bool {
		inner, ok := s.(*loop.For)
		return ok && f.looks(inner)
	})
}

// unlessStopped is the bound hi of a loop, or a negative number if the stop word is
// set.
func (f *function) unlessStopped(hi value.Value) value.Value {
	return f.block.NewOr(hi, f.block.NewSExt(f.loadStop(), types.I64))
}

// loadStop loads the stop word.
func (f *function) loadStop() value.Value {
	word := f.block.NewLoad(types.I32, f.stop)
	word.Volatile = true // another thread sets it
	word.Align = 4
	return word
}

// inStrips decides whether a for runs in strips.
func (f *function) inStrips(s *loop.For) bool {
	if f.stop == nil || holdsLoop(s.Body) || isShort(s) {
		return false
	}
	return f.depth == 0 || !isSweep(s)
}

// inLongStrips decides whether a for inside another, which is too short for strips most
// often, runs in strips where it is long: one that stores here and there, as a transpose
// does with the entries of a row. An entry may take a hundred nanoseconds then. A branch
// more for each row is lost in that where it is the only loop of the row; beside others
// it cost masked products of matrices a tenth.
func (f *function) inLongStrips(s *loop.For) bool {
	return f.stop != nil && f.depth == 1 && f.alone && !holdsLoop(s.Body) && !isShort(s) && isSweep(s) && scatters(s.Body)
}

// scatters reports whether the body of a loop stores elements whose places it loads.
func scatters(body []loop.Stmt) (found bool) {
	loaded := map[loop.VarID]bool{}
	isLoaded := func(e loop.Expr) (yes bool) {
		loop.WalkExpr(e, func(e loop.Expr) {
			_, load := e.(*loop.Load)
			v, ref := e.(*loop.Ref)
			yes = yes || load || ref && loaded[v.Var]
		})
		return yes
	}
	loop.WalkStmts(body, func(s loop.Stmt) {
		switch s := s.(type) {
		case *loop.Let:
			loaded[s.Var] = isLoaded(s.Value)
		case *loop.Store:
			found = found || isLoaded(s.Index)
		}
	})
	return found
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
			loop.WalkExpr(e, func(e loop.Expr) {
				if load, ok := e.(*loop.Load); ok && moves(load.Index, moving) {
					own = true
				}
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
func (f *function) poll(next *ir.Block) {
	if f.stop == nil { // a scalar function, whose loops are short
		f.block.NewBr(next)
		return
	}
	if f.stopped == nil {
		f.stopped = f.newBlock("stopped")
		f.stopped.NewRet(intConst(loop.I64, loop.StatusStopped))
	}
	on := f.block.NewICmp(enum.IPredEQ, f.loadStop(), intConst(loop.I32, 0))
	f.block.NewCondBr(on, next, f.stopped).Metadata = f.m.likely()
}

// strips emits a loop over strips of lo … hi, of which there is at least one:
// inner emits a strip, from … to, and goes to done after it. The current block
// ends in a branch to head.
func (f *function) strips(name string, head *ir.Block, lo, hi value.Value, end *ir.Block,
	inner func(from, to value.Value, done *ir.Block)) {
	before := f.block
	f.enter(head)
	from := f.block.NewPhi(ir.NewIncoming(lo, before))
	from.SetName(f.unique(name + ".from"))
	strip := intConst(loop.I64, stripLength)
	whole := f.block.NewICmp(enum.IPredULE, f.block.NewSub(hi, from), strip)
	to := f.block.NewSelect(whole, hi, f.block.NewAdd(from, strip))
	to.SetName(f.unique(name + ".to"))

	done, more := f.newBlock("for."+name+".strip.end"), f.newBlock("for."+name+".strip.next")
	inner(from, to, done)
	f.enter(done)
	f.block.NewCondBr(f.block.NewICmp(enum.IPredEQ, to, hi), end, more).Metadata = f.m.likely()
	f.enter(more)
	from.Incs = append(from.Incs, ir.NewIncoming(to, f.block))
	f.poll(head)
}

// longStrips is strips for a loop that is most often shorter than one: then the end of
// the strip is the loop's, which a branch finds that goes one way.
func (f *function) longStrips(name string, head *ir.Block, lo, hi value.Value, end *ir.Block,
	inner func(from, to value.Value, done *ir.Block)) {
	before := f.block
	f.enter(head)
	from := f.block.NewPhi(ir.NewIncoming(lo, before))
	from.SetName(f.unique(name + ".from"))
	long, start := f.newBlock("for."+name+".strip.long"), f.newBlock("for."+name+".strip.start")
	isLong := f.block.NewICmp(enum.IPredSGT, f.block.NewSub(hi, from), intConst(loop.I64, stripLength))
	f.block.NewCondBr(isLong, long, start).Metadata = f.m.unlikely()
	f.enter(long)
	far := f.block.NewAdd(from, intConst(loop.I64, stripLength))
	f.block.NewBr(start)
	f.enter(start)
	to := f.block.NewPhi(ir.NewIncoming(hi, head), ir.NewIncoming(far, long))
	to.SetName(f.unique(name + ".to"))

	done, more := f.newBlock("for."+name+".strip.end"), f.newBlock("for."+name+".strip.next")
	inner(from, to, done)
	f.enter(done)
	f.block.NewCondBr(f.block.NewICmp(enum.IPredSLT, to, hi), more, end).Metadata = f.m.unlikely()
	f.enter(more)
	from.Incs = append(from.Incs, ir.NewIncoming(to, f.block))
	f.poll(head)
}

// likely is the metadata of a branch that nearly always goes to its first target.
func (m *Module) likely() ir.Metadata { return m.weights(&m.likelyNode, 1<<20, 1) }

// unlikely is that of one that nearly never does.
func (m *Module) unlikely() ir.Metadata { return m.weights(&m.unlikelyNode, 1, 1<<20) }

// weights is the metadata of how often a branch goes to its first and its second target.
// The module has it once.
func (m *Module) weights(node **metadata.Tuple, first, second int64) ir.Metadata {
	if *node == nil {
		*node = m.newNode(&metadata.Tuple{Fields: []metadata.Field{
			&metadata.String{Value: "branch_weights"}, intConst(loop.I32, first), intConst(loop.I32, second),
		}})
	}
	return ir.Metadata{{Name: "prof", Node: *node}}
}

// holdsLoop reports whether a block has a loop in it, of more than a few
// iterations.
func holdsLoop(body []loop.Stmt) bool {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.For:
			if !isShort(s) || holdsLoop(s.Body) {
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

// isShort reports whether a loop plainly has few iterations.
func isShort(s *loop.For) bool {
	lo, ok1 := s.Lo.(*loop.Const)
	hi, ok2 := s.Hi.(*loop.Const)
	return ok1 && ok2 && hi.Bits-lo.Bits <= shortLoop
}
