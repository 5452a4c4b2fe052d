package loop

import (
	"errors"
	"fmt"
	"slices"
)

// Verify checks that prog is well formed: its functions are (see Func.Verify);
// scalars are bound by the caller or defined once, and buffers bound or
// allocated once, before they are used; only outputs and temporaries are
// allocated, and every output is; what a stage passes to its function fits the
// function's parameters in number and type; an input is passed as a read-only
// buffer and nothing that is written is passed twice; partitions exist. The
// error is a *VerifyError.
func (prog *Program) Verify(resolve Resolver) error {
	v := programVerifier{
		prog:    prog,
		resolve: resolve,
		defined: make([]bool, len(prog.Scalars)),
		present: make([]bool, len(prog.Buffers)),
		cut:     make([]bool, len(prog.Partitions)),
		scratch: map[BufferID]int{},
	}
	v.tables()
	for i := range prog.Stages {
		s := &prog.Stages[i]
		v.where = "stage " + s.Name
		v.stage(s)
	}
	v.where = ""
	for i, b := range prog.Buffers {
		if b.Role == Output && !v.present[i] {
			v.problem("the output %s is never allocated", b.Name)
		}
	}
	if len(v.problems) == 0 {
		return nil
	}
	return &VerifyError{What: "program " + CleanName(prog.Name), Problems: v.problems}
}

// maxLists is more lists than a stage joins: one for each level of a tensor at most.
const maxLists = 1 << 10

type programVerifier struct {
	prog     *Program
	resolve  Resolver
	defined  []bool           // by ScalarID
	present  []bool           // by BufferID: bound or allocated
	cut      []bool           // by partition: a stage has used it
	scratch  map[BufferID]int // the partition that it is allocated for
	where    string
	problems []Problem
}

func (v *programVerifier) problem(format string, args ...any) {
	if len(v.problems) < maxProblems {
		v.problems = append(v.problems, Problem{Where: v.where, Msg: fmt.Sprintf(format, args...)})
	}
}

// tables checks the declarations and marks what the caller provides.
func (v *programVerifier) tables() {
	if !isEntity(v.prog.Name) {
		v.problem("%q cannot name a program", v.prog.Name)
	}
	for i, s := range v.prog.Scalars {
		if !isName(s.Name) {
			v.problem("%q cannot name a scalar", s.Name)
		}
		v.defined[i] = s.Bound
	}
	for i, b := range v.prog.Buffers {
		if !isName(b.Name) {
			v.problem("%q cannot name a buffer", b.Name)
		}
		if b.Elem == Invalid || int(b.Elem) >= len(types) {
			v.problem("the buffer %s has no element type", b.Name)
		}
		if b.Role > Scratch {
			v.problem("the buffer %s has no role", b.Name)
		}
		v.present[i] = b.Role == Input || b.Role == InOut
	}
	for i := range v.prog.Partitions {
		p := &v.prog.Partitions[i]
		v.where = "partition " + p.Name
		if !isName(p.Name) {
			v.problem("%q cannot name a partition", p.Name)
		}
		if p.Grain < 1 {
			v.problem("the grain %d is less than 1", p.Grain)
		}
		if p.Weights < -1 {
			v.problem("uses buffer %d as weights", p.Weights)
		}
	}
	v.where = ""
}

func (v *programVerifier) stage(s *Stage) {
	if !isEntity(s.Name) {
		v.problem("%q cannot name a stage", s.Name)
	}
	v.sizing(s.Lets, nil)
	for _, t := range s.Trims {
		v.size(t.Len)
		if v.hasBuffer(t.Buffer) && v.prog.Buffers[t.Buffer].Role != Output {
			v.problem("trims %s, which is not an output", v.prog.Buffers[t.Buffer].Name)
		}
	}
	v.sizing(nil, s.Allocs)
	switch {
	case s.Partition >= len(v.prog.Partitions) || s.Partition < -1:
		v.problem("uses partition %d; there are %d", s.Partition, len(v.prog.Partitions))
	case s.Partition >= 0:
		v.partition(s.Partition)
	case len(s.PartitionLets)+len(s.PartitionAllocs) > 0:
		v.problem("sizes things after a partition but has none")
	}
	v.sizing(s.PartitionLets, s.PartitionAllocs)
	for _, a := range s.PartitionAllocs {
		v.scratch[a.Buffer] = s.Partition
	}
	for i := range s.Prefixes {
		v.prefix(&s.Prefixes[i])
	}
	v.join(s)
	v.grid(s)
	v.run(s)
	v.copies(s)
}

// join checks what allows the chunks of an ordered stage to run at the same time.
func (v *programVerifier) join(s *Stage) {
	j := s.Join
	if j == nil {
		return
	}
	if s.Partition < 0 || !s.Ordered || s.Func == nil {
		v.problem("joins chunks, but is no ordered stage with a partition and a function")
	}
	for _, id := range []ScalarID{j.Chunk, j.Lo, j.Hi} {
		v.define(id)
		if slices.Contains(s.Args, id) {
			v.problem("passes scalar %d of a join to its function", id)
		}
	}
	v.size(j.Room)
	if v.hasBuffer(j.Ends) && (v.prog.Buffers[j.Ends].Elem != I64 || v.prog.Buffers[j.Ends].Role != Temp) {
		v.problem("joins lists by the ends in %s, which is no temporary of I64", v.prog.Buffers[j.Ends].Name)
	}
	joined := []BufferID{j.Ends}
	for _, m := range j.Moves {
		if m.List < 0 || m.List > maxLists || m.First < 0 || m.First > 1 {
			v.problem("moves list %d from element %d on", m.List, m.First)
		}
		joined = append(joined, m.Buffer)
	}
	if j.Shift >= 0 {
		joined = append(joined, j.Shift)
		if v.hasBuffer(j.Shift) && v.prog.Buffers[j.Shift].Elem != U64 {
			v.problem("shifts %s, which is not of U64", v.prog.Buffers[j.Shift].Name)
		}
	}
	if j.Rows >= 0 && (!v.hasBuffer(j.Rows) || v.prog.Buffers[j.Rows].Elem != I64 || j.Shift < 0) {
		v.problem("shifts by buffer %d, which is not of I64, or shifts nothing", j.Rows)
	}
	for i, id := range joined {
		if !v.hasBuffer(id) {
			continue
		}
		name := v.prog.Buffers[id].Name
		if i > 0 && v.prog.Buffers[id].Role != Output {
			v.problem("joins parts of %s, which is not an output", name)
		}
		if slices.Contains(joined[:i], id) {
			v.problem("joins parts of %s twice", name)
		}
		if !slices.Contains(s.Bufs, id) {
			v.problem("joins parts of %s, which its function does not get", name)
		}
	}
}

// copies checks what allows threads to have copies of buffers. Count and the copies are
// there behind the stage.
func (v *programVerifier) copies(s *Stage) {
	c := s.Copies
	if c == nil {
		return
	}
	if s.Partition < 0 || !s.Ordered || s.Func == nil || s.Join != nil {
		v.problem("copies buffers, but is no ordered stage with a partition and a function and without a join")
	}
	v.size(c.Chunks)
	v.define(c.Count)
	for i, x := range c.List {
		if !v.hasBuffer(x.Buffer) {
			continue
		}
		b := v.prog.Buffers[x.Buffer]
		if b.Role != Output && b.Role != Temp {
			v.problem("copies %s, which is no output and no temporary", b.Name)
		}
		if slices.ContainsFunc(c.List[:i], func(y Copy) bool { return y.Buffer == x.Buffer }) {
			v.problem("copies %s twice", b.Name)
		}
		if !slices.Contains(s.Bufs, x.Buffer) {
			v.problem("copies %s, which its function does not get", b.Name)
		}
		if x.Start == nil || x.Start.Typ != b.Elem || !x.Start.isCanonical() {
			v.problem("has no start of %s for copies of %s", b.Elem, b.Name)
		}
		v.sizing(nil, []Alloc{{Buffer: x.All, Len: SizeConst(0)}})
		if x.All >= 0 && int(x.All) < len(v.prog.Buffers) {
			if all := v.prog.Buffers[x.All]; all.Role != Temp || all.Elem != b.Elem {
				v.problem("keeps copies of %s in %s, which is no temporary of %s", b.Name, all.Name, b.Elem)
			}
		}
	}
}

// prefix checks a prefix.
func (v *programVerifier) prefix(x *Prefix) {
	v.size(x.N)
	buffers := []BufferID{x.Buffer}
	if x.Total >= 0 {
		buffers = append(buffers, x.Total)
	}
	for _, id := range buffers {
		if !v.hasBuffer(id) {
			continue
		}
		if b := v.prog.Buffers[id]; !b.Elem.IsInt() || b.Elem.Size() != 8 && b.Elem != U32 {
			v.problem("sums %s of %s, not of 64-bit integers or U32", b.Name, b.Elem)
		}
	}
	if x.First < 0 || x.Stride < 1 || x.At < 0 || x.Limit < 0 {
		v.problem("a prefix with first %d, stride %d, total at %d, limit %d", x.First, x.Stride, x.At, x.Limit)
	}
}

// grid checks that grid functions, and no others, come with a number of blocks.
func (v *programVerifier) grid(s *Stage) {
	grid := s.Func != nil && s.Func.Grid != nil
	switch {
	case s.Blocks != nil:
		v.size(s.Blocks)
		if !grid {
			v.problem("has a number of blocks but no grid function")
		}
	case grid:
		v.problem("has a grid function but no number of blocks")
	}
	if grid && (s.Partition >= 0 || s.Ordered) {
		v.problem("has a grid function and a partition")
	}
	if len(s.Prefixes) > 0 && s.Func == nil {
		v.problem("has prefixes but no function")
	}
}

// partition evaluates a partition where it is used first.
func (v *programVerifier) partition(i int) {
	if v.cut[i] {
		return
	}
	v.cut[i] = true
	p := &v.prog.Partitions[i]
	v.size(p.N)
	if p.Weights >= 0 && v.hasBuffer(p.Weights) {
		switch b := v.prog.Buffers[p.Weights]; {
		case b.Role == Scratch:
			v.problem("the weights %s differ between threads", b.Name)
		case !b.Elem.IsInt():
			v.problem("the weights %s are not integers", b.Name)
		}
	}
	v.define(p.Chunks)
}

func (v *programVerifier) sizing(lets []ScalarLet, allocs []Alloc) {
	for _, l := range lets {
		v.size(l.Value)
		v.define(l.Scalar)
	}
	for _, a := range allocs {
		v.size(a.Len)
		if a.Buffer < 0 || int(a.Buffer) >= len(v.prog.Buffers) {
			v.problem("allocates buffer %d; there are %d", a.Buffer, len(v.prog.Buffers))
			continue
		}
		b := v.prog.Buffers[a.Buffer]
		switch {
		case b.Role != Temp && b.Role != Output && b.Role != Scratch:
			v.problem("allocates %s, which the caller provides", b.Name)
		case v.present[a.Buffer]:
			v.problem("allocates %s again", b.Name)
		}
		v.present[a.Buffer] = true
	}
}

func (v *programVerifier) define(id ScalarID) {
	switch {
	case id < 0 || int(id) >= len(v.prog.Scalars):
		v.problem("defines scalar %d; there are %d", id, len(v.prog.Scalars))
	case v.prog.Scalars[id].Bound:
		v.problem("defines %s, which the caller binds", v.prog.Scalars[id].Name)
	case v.defined[id]:
		v.problem("defines %s again", v.prog.Scalars[id].Name)
	default:
		v.defined[id] = true
	}
}

func (v *programVerifier) hasScalar(id ScalarID) {
	switch {
	case id < 0 || int(id) >= len(v.prog.Scalars):
		v.problem("uses scalar %d; there are %d", id, len(v.prog.Scalars))
	case !v.defined[id]:
		v.problem("uses the scalar %s before it is defined", v.prog.Scalars[id].Name)
	}
}

// hasBuffer checks that a buffer is there; it reports whether its number is
// valid.
func (v *programVerifier) hasBuffer(id BufferID) bool {
	if id < 0 || int(id) >= len(v.prog.Buffers) {
		v.problem("uses buffer %d; there are %d", id, len(v.prog.Buffers))
		return false
	}
	if !v.present[id] {
		v.problem("uses the buffer %s before it is allocated", v.prog.Buffers[id].Name)
	}
	return true
}

// size checks a size expression.
func (v *programVerifier) size(e SizeExpr) {
	budget := maxNodes
	v.sizeNode(e, 0, &budget)
}

func (v *programVerifier) sizeNode(e SizeExpr, depth int, budget *int) {
	if *budget--; *budget <= 0 || depth >= maxDepth {
		if *budget >= 0 {
			v.problem("the size expression is too big")
		}
		*budget = -1
		return
	}
	switch e := e.(type) {
	case SizeConst:
	case SizeScalar:
		v.hasScalar(ScalarID(e))
	case SizeLen:
		if v.hasBuffer(e.Buffer) && v.prog.Buffers[e.Buffer].Role == Scratch {
			v.problem("takes the length of %s, of which every thread has its own", v.prog.Buffers[e.Buffer].Name)
		}
	case *SizeLoad:
		if e == nil {
			v.problem("a size expression is missing (nil)")
			return
		}
		v.sizeNode(e.Index, depth+1, budget)
		v.sizeElement(e.Buffer)
	case *SizeHint:
		if e == nil {
			v.problem("a size expression is missing (nil)")
			return
		}
		v.sizeNode(e.Index, depth+1, budget)
		v.sizeNode(e.Else, depth+1, budget)
		v.sizeElement(e.Buffer)
	case *SizeOp:
		if e == nil {
			v.problem("a size expression is missing (nil)")
			return
		}
		if !slices.Contains(sizeOperators[:], e.Op) {
			v.problem("%s does not occur in sizes", opName(binaryOps[:], int(e.Op)))
		}
		v.sizeNode(e.X, depth+1, budget)
		v.sizeNode(e.Y, depth+1, budget)
	default:
		v.problem("a size expression is missing (nil)")
	}
}

// sizeElement checks a buffer of which a size reads an element.
func (v *programVerifier) sizeElement(id BufferID) {
	switch {
	case !v.hasBuffer(id):
	case v.prog.Buffers[id].Role == Scratch:
		v.problem("reads a size from %s, of which every thread has its own", v.prog.Buffers[id].Name)
	case !v.prog.Buffers[id].Elem.IsInt():
		v.problem("reads a size from %s, which does not hold integers", v.prog.Buffers[id].Name)
	}
}

// run checks the function of a stage and what is passed to it.
func (v *programVerifier) run(s *Stage) {
	f := s.Func
	if f == nil {
		if len(s.Bufs)+len(s.Args) > 0 {
			v.problem("passes buffers or scalars, but has no function")
		}
		return
	}
	var nested *VerifyError
	if errors.As(f.Verify(v.resolve), &nested) {
		for _, p := range nested.Problems {
			v.problem("%s: %s: %s", nested.What, p.Msg, p.Where)
		}
	}
	if len(s.Bufs) != len(f.Bufs) || len(s.Args) != len(f.Args) {
		v.problem("passes %d buffers and %d scalars; %s takes %d and %d", len(s.Bufs), len(s.Args), f.Name, len(f.Bufs), len(f.Args))
		return
	}
	for _, id := range s.Args {
		v.hasScalar(id)
	}
	written := map[BufferID]bool{} // of those passed before: is it written?
	for i, id := range s.Bufs {
		if !v.hasBuffer(id) {
			continue
		}
		b, param := v.prog.Buffers[id], f.Bufs[i]
		if cut, ok := v.scratch[id]; b.Role == Scratch && s.Partition >= 0 && (!s.Ordered || s.Join != nil || s.Copies != nil) && (!ok || cut != s.Partition) {
			v.problem("passes %s to several threads, but it is not allocated for the chunks of %s", b.Name, v.prog.Partitions[s.Partition].Name)
		}
		if b.Elem != param.Elem {
			v.problem("passes %s of %s as %s of %s", b.Name, b.Elem, param.Name, param.Elem)
		}
		if b.Role == Input && !param.ReadOnly {
			v.problem("passes the input %s as %s, which is not read-only", b.Name, param.Name)
		}
		before, again := written[id]
		if again && (before || !param.ReadOnly) {
			v.problem("passes %s twice though it is written; buffers must not overlap", b.Name)
		}
		written[id] = before || !param.ReadOnly
	}
}
