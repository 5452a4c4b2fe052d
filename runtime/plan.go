package runtime

import (
	"errors"
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// plan is a program made ready to run: ids resolved, size expressions
// compiled, the life of each temporary known. Running it looks nothing up.
type plan struct {
	program *loop.Program
	bound   []loop.ScalarID // scalars the caller gives
	given   []loop.BufferID // buffers the caller gives
	results []loop.BufferID // buffers the caller gets
	stages  []stagePlan

	elemSize []int64 // by buffer
	written  []bool  // by buffer: is InOut
	aligned  []uintptr

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
	kernel   int        // index of the compiled function
	domain   int        // partition, or -1 for a single call
	bufs     []loop.BufferID
	args     []loop.ScalarID
	ordered  bool
	lastUses []loop.BufferID // temporaries that no later stage uses
}

// sizesPlan is a list of scalars to compute and then buffers to allocate.
type sizesPlan struct {
	lets   []letPlan
	allocs []allocPlan
}

type letPlan struct {
	scalar loop.ScalarID
	value  sizeCode
}

type allocPlan struct {
	buffer loop.BufferID
	length sizeCode
	fill   fillMode
}

type cutPlan struct {
	partition int
	n         sizeCode
	weights   loop.BufferID // -1: none
	grain     int64
	chunks    loop.ScalarID
}

// planner builds a plan and knows what exists at the point it has reached.
// A program that uses something before it exists is refused: run as it stands,
// it would read memory that is not there.
type planner struct {
	p       *loop.Program
	plan    *plan
	scalars []bool // by scalar: has a value
	buffers []bool // by buffer: has memory
	cuts    []bool // by partition: has been cut
}

// newPlan checks p and makes its plan.
func newPlan(p *loop.Program) (*plan, error) {
	b := planner{
		p:       p,
		plan:    &plan{program: p},
		scalars: make([]bool, len(p.Scalars)),
		buffers: make([]bool, len(p.Buffers)),
		cuts:    make([]bool, len(p.Partitions)),
	}
	for i, s := range p.Scalars {
		if s.Bound {
			b.plan.bound = append(b.plan.bound, loop.ScalarID(i))
			b.scalars[i] = true
		}
	}
	for i := range p.Buffers {
		if err := b.buffer(loop.BufferID(i)); err != nil {
			return nil, &ProgramError{p.Name, "buffer " + p.Buffers[i].Name, err}
		}
	}
	for i := range p.Stages {
		s, err := b.stage(&p.Stages[i])
		if err != nil {
			return nil, &ProgramError{p.Name, "stage " + p.Stages[i].Name, err}
		}
		b.plan.stages = append(b.plan.stages, s)
	}
	for _, id := range b.plan.results {
		if !b.buffers[id] {
			return nil, &ProgramError{p.Name, "buffer " + p.Buffers[id].Name, errors.New("no stage allocates this output")}
		}
	}
	b.findLastUses()
	return b.plan, nil
}

func (b *planner) buffer(id loop.BufferID) error {
	buf := &b.p.Buffers[id]
	if loop.TypeByName(buf.Elem.String()) == loop.Invalid {
		return errors.New("has no element type")
	}
	pl := b.plan
	pl.elemSize = append(pl.elemSize, int64(buf.Elem.Size()))
	pl.aligned = append(pl.aligned, alignOf(buf.Elem))
	pl.written = append(pl.written, buf.Role == loop.InOut)
	switch buf.Role {
	case loop.Input, loop.InOut:
		pl.given = append(pl.given, id)
		b.buffers[id] = true
	case loop.Output:
		pl.results = append(pl.results, id)
	case loop.Temp:
	default:
		return fmt.Errorf("has the unknown role %d", buf.Role)
	}
	return nil
}

func (b *planner) stage(s *loop.Stage) (stagePlan, error) {
	out := stagePlan{name: s.Name, fn: s.Func, domain: s.Partition, bufs: s.Bufs, args: s.Args, ordered: s.Ordered}
	var err error
	if out.before, err = b.sizes(s.Lets, s.Allocs); err != nil {
		return out, err
	}
	switch {
	case s.Partition < -1 || s.Partition >= len(b.p.Partitions):
		return out, fmt.Errorf("there is no partition %d", s.Partition)
	case s.Partition == -1 && len(s.PartitionLets)+len(s.PartitionAllocs) > 0:
		return out, errors.New("lets or allocations after a partition, but no partition")
	case s.Partition >= 0 && !b.cuts[s.Partition]:
		if out.cut, err = b.partition(s.Partition); err != nil {
			return out, fmt.Errorf("partition %s: %w", b.p.Partitions[s.Partition].Name, err)
		}
	}
	if out.after, err = b.sizes(s.PartitionLets, s.PartitionAllocs); err != nil {
		return out, err
	}
	if s.Func != nil {
		err = b.call(s)
	}
	return out, err
}

func (b *planner) sizes(lets []loop.ScalarLet, allocs []loop.Alloc) (out sizesPlan, err error) {
	for _, l := range lets {
		value, err := b.size(l.Value)
		if err != nil {
			return out, err
		}
		if err := b.define(l.Scalar); err != nil {
			return out, err
		}
		out.lets = append(out.lets, letPlan{l.Scalar, value})
	}
	for _, a := range allocs {
		length, err := b.size(a.Len)
		if err != nil {
			return out, err
		}
		if a.Buffer < 0 || int(a.Buffer) >= len(b.buffers) {
			return out, fmt.Errorf("there is no buffer %d to allocate", a.Buffer)
		}
		buf := &b.p.Buffers[a.Buffer]
		if buf.Role != loop.Output && buf.Role != loop.Temp {
			return out, fmt.Errorf("buffer %s is the caller's and cannot be allocated", buf.Name)
		}
		if b.buffers[a.Buffer] {
			return out, fmt.Errorf("buffer %s is allocated twice", buf.Name)
		}
		b.buffers[a.Buffer] = true
		plan := allocPlan{buffer: a.Buffer, length: length}
		if a.Zero {
			plan.fill = zeroed
		}
		out.allocs = append(out.allocs, plan)
	}
	return out, nil
}

// size compiles a size expression at the point reached.
func (b *planner) size(e loop.SizeExpr) (sizeCode, error) {
	code, err := compileSize(e, b.scalarReadable, func(id loop.BufferID) error {
		if err := b.bufferUsable(id); err != nil {
			return err
		}
		if buf := &b.p.Buffers[id]; !buf.Elem.IsInt() {
			return fmt.Errorf("a size reads buffer %s of %s, want integers", buf.Name, buf.Elem)
		}
		return nil
	})
	b.plan.stack = max(b.plan.stack, code.depth)
	return code, err
}

func (b *planner) scalarReadable(id loop.ScalarID) error {
	if id < 0 || int(id) >= len(b.scalars) {
		return fmt.Errorf("there is no scalar %d", id)
	}
	if !b.scalars[id] {
		return fmt.Errorf("scalar %s is used before it is defined", b.p.Scalars[id].Name)
	}
	return nil
}

func (b *planner) bufferUsable(id loop.BufferID) error {
	if id < 0 || int(id) >= len(b.buffers) {
		return fmt.Errorf("there is no buffer %d", id)
	}
	if !b.buffers[id] {
		return fmt.Errorf("buffer %s is used before it is allocated", b.p.Buffers[id].Name)
	}
	return nil
}

// define gives a scalar its value. There is one definition of each.
func (b *planner) define(id loop.ScalarID) error {
	if id < 0 || int(id) >= len(b.scalars) {
		return fmt.Errorf("there is no scalar %d to define", id)
	}
	if b.scalars[id] {
		return fmt.Errorf("scalar %s is defined twice", b.p.Scalars[id].Name)
	}
	b.scalars[id] = true
	return nil
}

func (b *planner) partition(i int) (*cutPlan, error) {
	part := &b.p.Partitions[i]
	n, err := b.size(part.N)
	if err != nil {
		return nil, err
	}
	if part.Grain < 1 {
		return nil, fmt.Errorf("the grain is %d, want at least 1", part.Grain)
	}
	if part.Weights != -1 {
		if err := b.bufferUsable(part.Weights); err != nil {
			return nil, err
		}
		if w := &b.p.Buffers[part.Weights]; !w.Elem.IsInt() {
			return nil, fmt.Errorf("the weights %s are of %s, want integers", w.Name, w.Elem)
		}
	}
	if err := b.define(part.Chunks); err != nil {
		return nil, err
	}
	b.cuts[i] = true
	return &cutPlan{partition: i, n: n, weights: part.Weights, grain: part.Grain, chunks: part.Chunks}, nil
}

// call checks that a stage gives its function what it asks for.
func (b *planner) call(s *loop.Stage) error {
	f := s.Func
	if len(s.Bufs) != len(f.Bufs) || len(s.Args) != len(f.Args) {
		return fmt.Errorf("function %s takes %d buffers and %d scalars, the stage gives %d and %d",
			f.Name, len(f.Bufs), len(f.Args), len(s.Bufs), len(s.Args))
	}
	for i, id := range s.Bufs {
		if err := b.bufferUsable(id); err != nil {
			return err
		}
		buf, param := &b.p.Buffers[id], &f.Bufs[i]
		if buf.Elem != param.Elem {
			return fmt.Errorf("buffer %s of %s is given for parameter %s of %s", buf.Name, buf.Elem, param.Name, param.Elem)
		}
		if buf.Role == loop.Input && !param.ReadOnly {
			return fmt.Errorf("function %s may write parameter %s, but buffer %s is an input", f.Name, param.Name, buf.Name)
		}
		for j, other := range s.Bufs[:i] {
			if other == id && !(param.ReadOnly && f.Bufs[j].ReadOnly) {
				return fmt.Errorf("buffer %s is given for parameters %s and %s, one of which is written", buf.Name, f.Bufs[j].Name, param.Name)
			}
		}
	}
	for _, id := range s.Args {
		if err := b.scalarReadable(id); err != nil {
			return err
		}
	}
	b.plan.maxBufs = max(b.plan.maxBufs, len(s.Bufs))
	b.plan.maxArgs = max(b.plan.maxArgs, len(s.Args))
	return nil
}

// findLastUses notes for each temporary the last stage that touches it, where
// its memory is given back.
func (b *planner) findLastUses() {
	last := make([]int, len(b.p.Buffers))
	for i := range b.plan.stages {
		use := func(id loop.BufferID) { last[id] = i }
		b.plan.stages[i].eachBuffer(use)
	}
	for id, buf := range b.p.Buffers {
		if buf.Role == loop.Temp && b.buffers[id] {
			s := &b.plan.stages[last[id]]
			s.lastUses = append(s.lastUses, loop.BufferID(id))
		}
	}
}

// eachBuffer visits every buffer that the stage allocates, reads or writes.
func (s *stagePlan) eachBuffer(visit func(loop.BufferID)) {
	code := func(c sizeCode) {
		for _, step := range c.steps {
			if step.do == load {
				visit(loop.BufferID(step.arg))
			}
		}
	}
	for _, z := range []sizesPlan{s.before, s.after} {
		for _, l := range z.lets {
			code(l.value)
		}
		for _, a := range z.allocs {
			visit(a.buffer)
			code(a.length)
		}
	}
	if s.cut != nil {
		code(s.cut.n)
		if s.cut.weights != -1 {
			visit(s.cut.weights)
		}
	}
	for _, id := range s.bufs {
		visit(id)
	}
}
