package llvm

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// Stmts emits a block of statements. What follows a Fail or Return is never
// reached and is left out.
func (f *Function) Stmts(body []loop.Stmt) {
	outer := f.extrema
	f.extrema = extremaIn(body)
	defer func() { f.extrema = outer }()
	for _, s := range body {
		if f.Block == nil {
			return
		}
		f.stmt(s)
	}
}

// stmt emits one statement.
func (f *Function) stmt(s loop.Stmt) {
	switch s := s.(type) {
	case *loop.Let:
		f.let(s)
	case *loop.Assign:
		f.Assign(s.Var, f.folded(s.Value))
	case *loop.Store:
		f.store(s)
	case *loop.For:
		f.Target.For(s)
	case *loop.While:
		f.Target.While(s)
	case *loop.If:
		f.ifElse(s)
	case *loop.Return:
		f.ret(f.Expr(s.Value))
	case *loop.Comment:
	default:
		f.Target.Stmt(s)
	}
}

// let introduces a variable: a name for a value, or a place when it is mutable.
func (f *Function) let(s *loop.Let) {
	v := f.Expr(s.Value)
	variable := f.vars[s.Var]
	if s.Mutable {
		f.slots[s.Var] = f.newSlot(variable)
		f.Assign(s.Var, v)
		return
	}
	for i, part := range v.Parts() {
		if named, ok := part.(value.Named); ok && named.Name() == "" {
			named.SetName(f.Unique(variable.Name + partNames(variable.Type)[i]))
		}
	}
	f.vals[s.Var] = v
}

// ifElse emits a choice between two blocks.
func (f *Function) ifElse(s *loop.If) {
	then, end := f.NewBlock("if.then"), f.NewBlock("if.end")
	otherwise := end
	if len(s.Else) > 0 {
		otherwise = f.NewBlock("if.else")
	}
	branch := f.Block.NewCondBr(f.Expr(s.Cond).Re, then, otherwise)
	if s.Seldom {
		branch.Metadata = f.Module.seldom()
	}

	reached := otherwise == end
	f.Enter(then)
	f.Stmts(s.Then)
	if f.Block != nil {
		f.Block.NewBr(end)
		reached = true
	}
	if otherwise != end {
		f.Enter(otherwise)
		f.Stmts(s.Else)
		if f.Block != nil {
			f.Block.NewBr(end)
			reached = true
		}
	}
	f.Block = nil
	if reached {
		f.Enter(end)
	}
}

// While emits a loop with its condition at the top; LLVM rotates it.
func (f *Function) While(s *loop.While) { f.EmitWhile(s, func(cond *ir.Block) { f.Block.NewBr(cond) }) }

// EmitWhile emits a while. After its body, if the end of that is reached, again leads
// back to the condition.
func (f *Function) EmitWhile(s *loop.While, again func(cond *ir.Block)) {
	cond, body, end := f.NewBlock("while.cond"), f.NewBlock("while.body"), f.NewBlock("while.end")
	f.Block.NewBr(cond)
	f.Enter(cond)
	f.Block.NewCondBr(f.Expr(s.Cond).Re, body, end)
	f.Enter(body)
	f.Stmts(s.Body)
	if f.Block != nil {
		again(cond)
	}
	f.Enter(end)
}

// For emits a counting loop in the form that LLVM's loop passes want: a guard, then a
// body that tests at its end.
func (f *Function) For(s *loop.For) {
	l := f.StartFor(s)
	f.Block.NewCondBr(l.Some, l.Body, l.End)
	f.Iterations(l, l.Lo, l.Hi, l.End)
	f.Enter(l.End)
}

// A ForLoop is a counting loop under construction.
type ForLoop struct {
	*loop.For
	Name      string      // of its variable
	Lo, Hi    value.Value // its bounds
	Some      value.Value // whether it has an iteration
	Body, End *ir.Block
	// Bound, unless it is nil, is asked for the bound that an iteration compares with at its
	// end, given the one to expect.
	Bound func(hi value.Value) value.Value
	// Begin, unless it is nil, emits what each iteration begins with.
	Begin func(i value.Value)
}

// StartFor computes the bounds of a loop and names its blocks.
func (f *Function) StartFor(s *loop.For) *ForLoop {
	l := &ForLoop{For: s, Name: f.vars[s.Var].Name}
	l.Lo, l.Hi = f.Expr(s.Lo).Re, f.Expr(s.Hi).Re
	l.Body, l.End = f.NewBlock("for."+l.Name), f.NewBlock("for."+l.Name+".end")
	l.Some = f.Block.NewICmp(enum.IPredSLT, l.Lo, l.Hi)
	return l
}

// Iterations emits those from lo to hi, of which there is one at least, and goes to end
// behind them. The current block ends in a branch to the loop's body.
func (f *Function) Iterations(l *ForLoop, lo, hi value.Value, end *ir.Block) {
	before := f.Block
	f.Enter(l.Body)
	i := f.Block.NewPhi(ir.NewIncoming(lo, before))
	i.SetName(f.Unique(l.Name))
	f.vals[l.Var] = Val{Re: i}
	fields := []metadata.Field{f.Module.property("llvm.loop.mustprogress")} // counting loops end
	if n := l.Lanes; n > 0 {
		fields = append(fields, f.Module.number("llvm.loop.vectorize.width", types.I32, n), f.Module.number("llvm.loop.vectorize.enable", types.I1, 1))
	}
	if n := l.Unroll; n > 0 {
		fields = append(fields, f.Module.number("llvm.loop.unroll.count", types.I32, n))
	} else if !l.Independent {
		// Iterations wait for each other, as in the sum of a row, and rows are
		// short: eight copies of the body gain nothing on long rows, cost a tenth
		// on rows of five and a third of the compile time.
		fields = append(fields, f.Module.property("llvm.loop.unroll.runtime.disable"))
	}
	if l.Independent {
		group := f.Module.NewNode(&metadata.Tuple{Distinct: true})
		f.groups = append(f.groups, group)
		fields = append(fields, &metadata.Tuple{
			MetadataID: -1,
			Fields:     []metadata.Field{&metadata.String{Value: "llvm.loop.parallel_accesses"}, group},
		})
	}
	if l.Begin != nil {
		l.Begin(i)
	}
	f.Stmts(l.For.Body)
	if l.Independent {
		f.groups = f.groups[:len(f.groups)-1]
	}
	if f.Block == nil {
		return
	}
	if l.Bound != nil {
		hi = l.Bound(hi)
	}
	next := f.Block.NewAdd(i, IntConst(loop.I64, 1)) // cannot overflow: i < hi
	next.OverflowFlags = []enum.OverflowFlag{enum.OverflowFlagNSW}
	if isNonNegative(l.For.Lo) {
		next.OverflowFlags = []enum.OverflowFlag{enum.OverflowFlagNUW, enum.OverflowFlagNSW}
	}
	next.SetName(f.Unique(l.Name + ".next"))
	i.Incs = append(i.Incs, ir.NewIncoming(next, f.Block))
	again := f.Block.NewCondBr(f.Block.NewICmp(enum.IPredSLT, next, hi), l.Body, end)
	again.Metadata = ir.Metadata{{Name: "llvm.loop", Node: f.Module.loopNode(fields)}}
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
func (f *Function) accessGroup() ir.Metadata {
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

// NewNode adds a node to the module's metadata.
func (m *Module) NewNode(node *metadata.Tuple) *metadata.Tuple {
	node.MetadataID = -1 // numbered when printed
	m.IR.MetadataDefs = append(m.IR.MetadataDefs, node)
	return node
}

// loopNode makes the metadata of a loop, whose first field is itself.
func (m *Module) loopNode(fields []metadata.Field) *metadata.Tuple {
	node := m.NewNode(&metadata.Tuple{Distinct: true})
	node.Fields = append([]metadata.Field{node}, fields...)
	return node
}

// number is a property of a loop with a number.
func (m *Module) number(name string, typ *types.IntType, n int64) *metadata.Tuple {
	return m.NewNode(&metadata.Tuple{Fields: []metadata.Field{&metadata.String{Value: name}, constant.NewInt(typ, n)}})
}

// property is the node of a loop property that is a mere name.
func (m *Module) property(name string) *metadata.Tuple {
	node, ok := m.properties[name]
	if !ok {
		node = m.NewNode(&metadata.Tuple{Fields: []metadata.Field{&metadata.String{Value: name}}})
		m.properties[name] = node
	}
	return node
}

// Likely is the metadata of a branch that nearly always goes to its first target.
func (m *Module) Likely() ir.Metadata { return m.weights(&m.likelyNode, 1<<20, 1) }

// Unlikely is that of one that nearly never does.
func (m *Module) Unlikely() ir.Metadata { return m.weights(&m.unlikelyNode, 1, 1<<20) }

// seldom is that of a branch that goes to its first target now and then: code there is out of the way, but not compiled as if it never ran.
func (m *Module) seldom() ir.Metadata { return m.weights(&m.seldomNode, 1, 16) }

// weights is the metadata of how often a branch goes to its first and its second target.
// The module has it once.
func (m *Module) weights(node **metadata.Tuple, first, second int64) ir.Metadata {
	if *node == nil {
		*node = m.NewNode(&metadata.Tuple{Fields: []metadata.Field{
			&metadata.String{Value: "branch_weights"}, IntConst(loop.I32, first), IntConst(loop.I32, second),
		}})
	}
	return ir.Metadata{{Name: "prof", Node: *node}}
}

// unguessed says of a choice that it is not to become a branch, as no processor can guess it.
func (m *Module) unguessed() ir.Metadata {
	if m.unguessedNode == nil {
		m.unguessedNode = m.NewNode(&metadata.Tuple{})
	}
	return ir.Metadata{&metadata.Attachment{Name: "unpredictable", Node: m.unguessedNode}}
}
