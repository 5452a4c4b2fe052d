package cpu

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/value"
)

// stmts emits a block of statements. What follows a Fail or Return is never
// reached and is left out.
func (f *function) stmts(body []loop.Stmt) {
	outer := f.extrema
	f.extrema = extremaIn(body)
	defer func() { f.extrema = outer }()
	for _, s := range body {
		if f.block == nil {
			return
		}
		f.stmt(s)
	}
}

// stmt emits one statement.
func (f *function) stmt(s loop.Stmt) {
	switch s := s.(type) {
	case *loop.Let:
		f.let(s)
	case *loop.Assign:
		f.assign(f.slots[s.Var], f.folded(s.Value))
	case *loop.Store:
		f.store(s)
	case *loop.For:
		f.forLoop(s)
	case *loop.While:
		f.whileLoop(s)
	case *loop.If:
		f.ifElse(s)
	case *loop.Fail:
		if f.status != nil {
			f.failGrid(s.Code)
			return
		}
		f.block.NewRet(intConst(loop.I64, 1+int64(s.Code)))
		f.block = nil
	case *loop.Return:
		f.ret(f.expr(s.Value))
	case *loop.Barrier:
		f.barrier(s)
	case *loop.Shuffle:
		f.shuffle(s)
	case *loop.Ballot:
		f.ballot(s)
	case *loop.Atomic:
		f.atomic(s)
	case *loop.Comment:
	default:
		panic(fmt.Sprintf("BUG: statement %T", s))
	}
}

// let introduces a variable: a name for a value, or a place when it is mutable.
func (f *function) let(s *loop.Let) {
	v := f.expr(s.Value)
	variable := f.vars[s.Var]
	if s.Mutable {
		f.slots[s.Var] = f.newSlot(variable)
		f.assign(f.slots[s.Var], v)
		return
	}
	for i, part := range v.parts() {
		if named, ok := part.(value.Named); ok && named.Name() == "" {
			named.SetName(f.unique(variable.Name + partNames(variable.Type)[i]))
		}
	}
	f.vals[s.Var] = v
}

// ifElse emits a choice between two blocks.
func (f *function) ifElse(s *loop.If) {
	then, end := f.newBlock("if.then"), f.newBlock("if.end")
	otherwise := end
	if len(s.Else) > 0 {
		otherwise = f.newBlock("if.else")
	}
	f.block.NewCondBr(f.expr(s.Cond).re, then, otherwise)

	reached := otherwise == end
	f.enter(then)
	f.stmts(s.Then)
	if f.block != nil {
		f.block.NewBr(end)
		reached = true
	}
	if otherwise != end {
		f.enter(otherwise)
		f.stmts(s.Else)
		if f.block != nil {
			f.block.NewBr(end)
			reached = true
		}
	}
	f.block = nil
	if reached {
		f.enter(end)
	}
}

// whileLoop emits a loop with its condition at the top; LLVM rotates it.
func (f *function) whileLoop(s *loop.While) {
	outer := f.scatters
	f.scatters = scatters(s.Body)
	defer func() { f.scatters = outer }()
	bounded := f.depth > 0 && f.stop != nil && (isAppending(s) || isSweepingWhile(s) || isRun(s))
	if bounded {
		if how, ok := f.stripesOf(s); ok {
			f.whileStrips(s, how)
			return
		}
	}
	cond, body, end := f.newBlock("while.cond"), f.newBlock("while.body"), f.newBlock("while.end")
	f.block.NewBr(cond)
	f.enter(cond)
	f.block.NewCondBr(f.expr(s.Cond).re, body, end)
	f.enter(body)
	f.depth++
	f.stmts(s.Body)
	f.depth--
	switch {
	case f.block == nil:
	case bounded:
		f.block.NewBr(cond)
	default:
		f.poll(cond)
	}
	f.enter(end)
}

// forLoop emits a counting loop in the form that LLVM's loop passes want: a
// guard, then a body that tests at its end. Where it looks at the stop word is
// told in poll.go.
func (f *function) forLoop(s *loop.For) {
	name := f.vars[s.Var].Name
	lo, hi := f.expr(s.Lo).re, f.expr(s.Hi).re
	body, end := f.newBlock("for."+name), f.newBlock("for."+name+".end")
	some := f.block.NewICmp(enum.IPredSLT, lo, hi)
	inner := func(from, to value.Value, done *ir.Block) {
		f.block.NewBr(body)
		f.iterations(s, name, body, from, to, done)
	}
	long := f.inLongStrips(s)
	if !long && !f.inStrips(s) {
		f.block.NewCondBr(some, body, end)
		f.iterations(s, name, body, lo, hi, end)
	} else {
		strip := f.newBlock("for." + name + ".strip")
		f.block.NewCondBr(some, strip, end)
		if long {
			f.longStrips(name, strip, lo, hi, end, inner)
		} else {
			f.strips(name, strip, lo, hi, end, inner)
		}
	}
	f.enter(end)
	if f.looks(s) {
		on := f.newBlock("for." + name + ".done")
		f.poll(on)
		f.enter(on)
	}
}

// iterations emits a loop that is known to have an iteration: the current block
// ends in a branch to body.
func (f *function) iterations(s *loop.For, name string, body *ir.Block, lo, hi value.Value, end *ir.Block) {
	before := f.block
	f.enter(body)
	i := f.block.NewPhi(ir.NewIncoming(lo, before))
	i.SetName(f.unique(name))
	f.vals[s.Var] = val{re: i}
	fields := []metadata.Field{f.m.property("llvm.loop.mustprogress")} // counting loops end
	if !s.Independent {
		// Iterations wait for each other, as in the sum of a row, and rows are
		// short: eight copies of the body gain nothing on long rows, cost a tenth
		// on rows of five and a third of the compile time.
		fields = append(fields, f.m.property("llvm.loop.unroll.runtime.disable"))
	} else {
		group := f.m.newNode(&metadata.Tuple{Distinct: true})
		f.groups = append(f.groups, group)
		fields = append(fields, &metadata.Tuple{
			MetadataID: -1,
			Fields:     []metadata.Field{&metadata.String{Value: "llvm.loop.parallel_accesses"}, group},
		})
	}
	beside, outer := f.alone, f.scatters
	f.depth++
	f.alone, f.scatters = holdsOneLoop(s.Body), scatters(s.Body)
	f.stmts(s.Body)
	f.depth--
	f.alone, f.scatters = beside, outer
	if s.Independent {
		f.groups = f.groups[:len(f.groups)-1]
	}
	if f.block != nil {
		if f.looks(s) {
			hi = f.unlessStopped(hi)
		}
		next := f.block.NewAdd(i, intConst(loop.I64, 1)) // cannot overflow: i < hi
		next.OverflowFlags = []enum.OverflowFlag{enum.OverflowFlagNSW}
		if isNonNegative(s.Lo) {
			next.OverflowFlags = []enum.OverflowFlag{enum.OverflowFlagNUW, enum.OverflowFlagNSW}
		}
		next.SetName(f.unique(name + ".next"))
		i.Incs = append(i.Incs, ir.NewIncoming(next, f.block))
		again := f.block.NewCondBr(f.block.NewICmp(enum.IPredSLT, next, hi), body, end)
		again.Metadata = ir.Metadata{{Name: "llvm.loop", Node: f.m.loopNode(fields)}}
	}
}

// isNonNegative reports whether an I64 expression is plainly at least 0: a
// literal, or a narrower unsigned number.
func isNonNegative(e loop.Expr) bool {
	switch e := e.(type) {
	case *loop.Const:
		return int64(e.Bits) >= 0
	case *loop.Cast:
		from := e.X.Type()
		return from == loop.Bool || from.IsInt() && !from.IsSigned() && from.Size() < e.Typ.Size()
	}
	return false
}

// accessGroup is the metadata of a load or store: the independent loops around
// it, in which accesses of different iterations never meet.
func (f *function) accessGroup() ir.Metadata {
	switch len(f.groups) {
	case 0:
		return nil
	case 1:
		return ir.Metadata{{Name: "llvm.access.group", Node: f.groups[0]}}
	}
	all := &metadata.Tuple{MetadataID: -1}
	for _, g := range f.groups {
		all.Fields = append(all.Fields, g)
	}
	return ir.Metadata{{Name: "llvm.access.group", Node: all}}
}

// newNode adds a node to the module's metadata.
func (m *Module) newNode(node *metadata.Tuple) *metadata.Tuple {
	node.MetadataID = -1 // numbered when printed
	m.ir.MetadataDefs = append(m.ir.MetadataDefs, node)
	return node
}

// loopNode makes the metadata of a loop, whose first field is itself.
func (m *Module) loopNode(fields []metadata.Field) *metadata.Tuple {
	node := m.newNode(&metadata.Tuple{Distinct: true})
	node.Fields = append([]metadata.Field{node}, fields...)
	return node
}

// property is the node of a loop property that is a mere name.
func (m *Module) property(name string) *metadata.Tuple {
	node, ok := m.properties[name]
	if !ok {
		node = m.newNode(&metadata.Tuple{Fields: []metadata.Field{&metadata.String{Value: name}}})
		m.properties[name] = node
	}
	return node
}
