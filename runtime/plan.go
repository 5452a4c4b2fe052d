package runtime

import (
	"reflect"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// plan is a program made ready to run: ids resolved, size expressions
// compiled, the life of each temporary known. Running it looks nothing up.
type plan struct {
	program *loop.Program
	bound   []loop.ScalarID // scalars the caller gives
	given   []loop.BufferID // buffers the caller gives
	stages  []stagePlan
	funcs   []*loop.Func // of the stages that have one

	// By buffer:
	elemSize []int64
	aligned  []uintptr // to how many bytes its memory must be
	written  []bool    // is InOut

	stack            int // words that size code needs
	maxBufs, maxArgs int // of any kernel
}

// stagePlan is one stage. The steps run in the order of the fields.
type stagePlan struct {
	name     string
	before   sizesPlan
	cut      *cutPlan // set if this stage is the first to use the partition
	after    sizesPlan
	fn       *loop.Func // nil if there is nothing to call
	kernel   int        // its index in plan.funcs
	domain   int        // partition, or -1 for a single call
	bufs     []loop.BufferID
	args     []loop.ScalarID
	scratch  []int    // which of bufs every thread has a copy of
	elemSize []int64  // by buffer of the stage, where there is scratch
	blocks   sizeCode // of a grid function
	ordered  bool
	join     *joinPlan // how an ordered stage's chunks may run at the same time
	copies   *copiesPlan
	symbolic bool
	// divisible: loop.Divisible
	divisible bool
	lastUses  []loop.BufferID // temporaries that no later stage uses
	tallies   []tallyPlan     // what its chunks count
}

// sizesPlan is a list of scalars to compute and then buffers to allocate.
type sizesPlan struct {
	lets   []letPlan
	trims  []trimPlan
	allocs []allocPlan
}

type letPlan struct {
	scalar loop.ScalarID
	value  sizeCode
}

type trimPlan struct {
	buffer loop.BufferID
	length sizeCode
}

type allocPlan struct {
	buffer loop.BufferID
	length sizeCode
	fill   alloc.Fill
}

type cutPlan struct {
	partition int
	n         sizeCode
	weights   loop.BufferID // -1: none
	grain     int64
	chunks    loop.ScalarID
}

// newPlan makes the plan of a program that has passed loop's verifier: every id
// is in range, and nothing is used before it exists.
func newPlan(program *loop.Program) *plan {
	p := &plan{program: program}
	for i, s := range program.Scalars {
		if s.Bound {
			p.bound = append(p.bound, loop.ScalarID(i))
		}
	}
	for i := range program.Buffers {
		buf := &program.Buffers[i]
		p.elemSize = append(p.elemSize, int64(buf.Elem.Size()))
		p.aligned = append(p.aligned, alignOf(buf.Elem))
		p.written = append(p.written, buf.Role == loop.InOut)
		if buf.Role == loop.Input || buf.Role == loop.InOut {
			p.given = append(p.given, loop.BufferID(i))
		}
	}
	cuts := make([]bool, len(program.Partitions)) // by partition: has been cut
	for i := range program.Stages {
		s := &program.Stages[i]
		out := stagePlan{
			name: s.Name, fn: s.Func, domain: s.Partition, bufs: s.Bufs, args: s.Args, ordered: s.Ordered, symbolic: s.Symbolic,
			before: p.sizes(s.Lets, s.Allocs), after: p.sizes(s.PartitionLets, s.PartitionAllocs),
		}
		for _, t := range s.Trims {
			out.before.trims = append(out.before.trims, trimPlan{t.Buffer, p.size(t.Len)})
		}
		if d := s.Partition; d >= 0 && !cuts[d] {
			cuts[d] = true
			part := &program.Partitions[d]
			out.cut = &cutPlan{partition: d, n: p.size(part.N), weights: part.Weights, grain: part.Grain, chunks: part.Chunks}
		}
		if s.Blocks != nil {
			out.blocks = p.size(s.Blocks)
		}
		if s.Func != nil {
			out.kernel = p.kernelOf(s.Func)
			p.maxBufs = max(p.maxBufs, len(s.Bufs))
			p.maxArgs = max(p.maxArgs, len(s.Args))
			p.findScratch(&out)
			out.join, out.copies = p.join(s), p.copies(s)
			out.divisible = loop.Divisible(s.Func)
		}
		p.stages = append(p.stages, out)
	}
	p.findLastUses()
	p.findTallies()
	return p
}

// kernelOf is the index in funcs of a function. Those that are alike but for the names of what they
// use, such as the passes of a sort, are one: to compile takes longer than to compare.
func (p *plan) kernelOf(f *loop.Func) int {
	bare := withoutNames(f)
	for i, other := range p.funcs {
		if f == other || f.Name == other.Name && reflect.DeepEqual(bare, withoutNames(other)) {
			return i
		}
	}
	p.funcs = append(p.funcs, f)
	return len(p.funcs) - 1
}

// withoutNames is a function whose buffers and variables have no names.
func withoutNames(f *loop.Func) *loop.Func {
	bare := *f
	bare.Bufs, bare.Vars = slices.Clone(f.Bufs), slices.Clone(f.Vars)
	for i := range bare.Bufs {
		bare.Bufs[i].Name = ""
	}
	for i := range bare.Vars {
		bare.Vars[i].Name = ""
	}
	if f.Quick != nil {
		bare.Quick = withoutNames(f.Quick)
	}
	return &bare
}

// findScratch notes which of a stage's buffers every thread has a copy of.
func (p *plan) findScratch(s *stagePlan) {
	for i, id := range s.bufs {
		if p.program.Buffers[id].Role == loop.Scratch {
			s.scratch = append(s.scratch, i)
		}
	}
	if s.scratch == nil {
		return
	}
	for _, id := range s.bufs {
		s.elemSize = append(s.elemSize, p.elemSize[id])
	}
}

func (p *plan) sizes(lets []loop.ScalarLet, allocs []loop.Alloc) (out sizesPlan) {
	for _, l := range lets {
		out.lets = append(out.lets, letPlan{l.Scalar, p.size(l.Value)})
	}
	for _, a := range allocs {
		plan := allocPlan{buffer: a.Buffer, length: p.size(a.Len)}
		if a.Zero {
			plan.fill = alloc.Zeroed
		}
		out.allocs = append(out.allocs, plan)
	}
	return out
}

func (p *plan) size(e loop.SizeExpr) sizeCode {
	code := compileSize(e)
	p.stack = max(p.stack, code.depth)
	return code
}

// findLastUses notes for each temporary the last stage that touches it, where
// its memory is given back.
func (p *plan) findLastUses() {
	const never = -1
	last := make([]int, len(p.program.Buffers))
	for id := range last {
		last[id] = never
	}
	for i := range p.stages {
		p.stages[i].eachBuffer(func(id loop.BufferID) { last[id] = i })
	}
	for id, stage := range last {
		if role := p.program.Buffers[id].Role; (role == loop.Temp || role == loop.Scratch) && stage != never {
			s := &p.stages[stage]
			s.lastUses = append(s.lastUses, loop.BufferID(id))
		}
	}
}

// eachSize visits what the stage computes before and after its partition is cut, and how many blocks there are.
func (s *stagePlan) eachSize(visit func(sizeCode)) {
	for _, z := range []sizesPlan{s.before, s.after} {
		for _, l := range z.lets {
			visit(l.value)
		}
		for _, t := range z.trims {
			visit(t.length)
		}
		for _, a := range z.allocs {
			visit(a.length)
		}
	}
	visit(s.blocks)
}

// eachBuffer visits every buffer that the stage allocates, reads or writes.
func (s *stagePlan) eachBuffer(visit func(loop.BufferID)) {
	code := func(c sizeCode) {
		for _, step := range c.steps {
			if step.reads() || step.do == pushLen {
				visit(loop.BufferID(step.arg))
			}
		}
	}
	s.eachSize(code)
	for _, z := range []sizesPlan{s.before, s.after} {
		for _, t := range z.trims {
			visit(t.buffer)
		}
		for _, a := range z.allocs {
			visit(a.buffer)
		}
	}
	if s.cut != nil {
		code(s.cut.n)
		if s.cut.weights != -1 {
			visit(s.cut.weights)
		}
	}
	if s.join != nil {
		code(s.join.room)
		if s.join.rows >= 0 {
			visit(s.join.rows)
		}
	}
	if s.copies != nil {
		code(s.copies.chunks)
		for i := range s.copies.list {
			visit(s.copies.list[i].all)
		}
	}
	for _, id := range s.bufs {
		visit(id)
	}
}
