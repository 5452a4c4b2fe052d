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
//     appends an element to a buffer each time: memory bounds it as well as the
//     sweeps below. So does a for that holds loops none of
//     which surely looks: it puts the sign of the stop word into its bound, and
//     finds out behind the loop why that ended. One branch more for each row costs
//     up to half of SpMV's speed, where it spoils the prediction of the row's end;
//     two plain instructions cost nothing.
//   - An innermost for runs in strips and looks between them. Its code is what
//     it would be without.
//   - Finding the end of a strip costs as much as an entry of a short row. So a
//     loop inside another whose iterations are cheap and work on consecutive
//     elements of a buffer, as those over the entries of a row do, is left whole.
//     Memory bounds it: 2^27 elements are a tenth of a second.
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

// isSweep reports whether every iteration of an innermost loop is cheap and loads
// or stores an element of a buffer that is its own: element i, or 8*i, or such and
// a term that is added.
func isSweep(s *loop.For) bool {
	own := false
	moving := map[loop.VarID]bool{s.Var: true} // variables that grow with the loop's
	for _, s := range s.Body {
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
	return own && isCheap(s.Body)
}

// isAppending reports whether every iteration of an innermost while stores an
// element behind that of the one before: at n, where it adds a constant to n. One
// that counts up to a bound is none: if it did not look, LLVM would take it for a
// for and make vector code and calls of memcpy of it, for which what a merge leaves
// of a row is too short, and keep registers for them that the merge needs.
func isAppending(s *loop.While) bool {
	grows := map[loop.VarID]bool{}
	for _, s := range s.Body {
		if a, ok := s.(*loop.Assign); ok {
			if sum, ok := a.Value.(*loop.Binary); ok && sum.Op == loop.Add {
				x, isVar := sum.X.(*loop.Ref)
				c, isConst := sum.Y.(*loop.Const)
				grows[a.Var] = isVar && x.Var == a.Var && isConst && 0 < c.Bits && c.Bits <= shortLoop
			}
		}
	}
	if cond, ok := s.Cond.(*loop.Binary); ok {
		if n, ok := cond.X.(*loop.Ref); ok && grows[n.Var] {
			return false
		}
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
	return stores && !holdsLoop(s.Body) && isCheap(s.Body)
}

// isCheap reports whether no function is called.
func isCheap(body []loop.Stmt) bool {
	cheap := true
	loop.WalkStmts(body, func(s loop.Stmt) {
		for _, e := range loop.Exprs(s) {
			loop.WalkExpr(e, func(e loop.Expr) {
				_, call := e.(*loop.Call)
				cheap = cheap && !call
			})
		}
	})
	return cheap
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

// likely is the metadata of a branch that nearly always goes to its first target.
func (m *Module) likely() ir.Metadata {
	if m.likelyNode == nil {
		m.likelyNode = m.newNode(&metadata.Tuple{Fields: []metadata.Field{
			&metadata.String{Value: "branch_weights"}, intConst(loop.I32, 1<<20), intConst(loop.I32, 1),
		}})
	}
	return ir.Metadata{{Name: "prof", Node: m.likelyNode}}
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

// isShort reports whether a loop plainly has few iterations.
func isShort(s *loop.For) bool {
	lo, ok1 := s.Lo.(*loop.Const)
	hi, ok2 := s.Hi.(*loop.Const)
	return ok1 && ok2 && hi.Bits-lo.Bits <= shortLoop
}
