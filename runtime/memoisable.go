package runtime

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Some of what a program for an accelerator computes follows from one input alone, such as where tiles of a
// matrix's entries begin among its rows, or in which order indices come that are scattered to. Symbolic
// stages say so. As long as such an input stays in the device's memory, what they leave for other
// stages may stay beside it, and later runs skip them (memoise.go).

// memoisable is what of a program may stay. The zero value is of a program with nothing of the kind.
type memoisable struct {
	parts  []memoPart
	stage  []int  // by stage: the part that it belongs to, or -1; nil without parts
	buffer []int  // by buffer: the part that computes it, or -1
	kept   []bool // by buffer: other stages read it
}

// memoPart is a part of a program: stages that read one input, and temporaries of their own.
type memoPart struct {
	input loop.BufferID
	kept  []loop.BufferID // the temporaries that other stages read
}

// findMemoisable finds the parts of a plan.
func findMemoisable(p *plan) memoisable {
	l := memoisable{stage: make([]int, len(p.stages)), buffer: make([]int, len(p.elemSize)), kept: make([]bool, len(p.elemSize))}
	for i := range l.stage {
		l.stage[i] = -1
	}
	for i := range l.buffer {
		l.buffer[i] = -1
	}
	touched := make([]touches, len(p.stages))
	for i := range p.stages {
		if fn := p.stages[i].fn; fn != nil {
			touched[i] = touchesOf(fn, p.stages[i].bufs)
		}
	}
	for _, input := range p.given {
		if !p.written[input] {
			l.find(p, touched, input)
		}
	}
	if l.parts == nil {
		return memoisable{}
	}
	return l
}

// touches are the buffers of a program that a stage reads and writes.
type touches struct{ reads, writes map[loop.BufferID]bool }

func touchesOf(f *loop.Func, bufs []loop.BufferID) touches {
	t := touches{map[loop.BufferID]bool{}, map[loop.BufferID]bool{}}
	note := func(set map[loop.BufferID]bool, b loop.BufID) {
		if int(b) < len(bufs) { // others are shared arrays
			set[bufs[b]] = true
		}
	}
	loop.WalkStmts(f.Body, func(s loop.Stmt) {
		switch s := s.(type) {
		case *loop.Store:
			note(t.writes, s.Buf)
		case *loop.Atomic:
			note(t.reads, s.Buf)
			note(t.writes, s.Buf)
		}
	})
	for l := range loop.Loads(f.Body) {
		note(t.reads, l.Buf)
	}
	return t
}

// find adds the part of an input, if there is one.
func (l *memoisable) find(p *plan, touched []touches, input loop.BufferID) {
	inside := map[int]bool{}
	for i := range p.stages {
		inside[i] = p.stages[i].symbolic && p.stages[i].fn != nil && l.stage[i] < 0
	}
	own := map[loop.BufferID]bool{} // temporaries
	for id := range p.elemSize {
		own[loop.BufferID(id)] = p.program.Buffers[id].Role == loop.Temp && l.buffer[id] < 0
	}
	// What reads or writes something else is not part of it, nor is what that writes.
	for changed := true; changed; {
		changed = false
		for i := range p.stages {
			if inside[i] && !touched[i].onlyReads(own, input) {
				inside[i], changed = false, true
			}
			for id := range touched[i].writes {
				if !inside[i] && own[id] {
					own[id], changed = false, true
				}
			}
		}
	}
	var stages []int
	used := false
	for i := range p.stages {
		if inside[i] {
			stages = append(stages, i)
			used = used || touched[i].reads[input]
		}
	}
	for id := range own {
		own[id] = own[id] && slices.ContainsFunc(stages, func(i int) bool { return touched[i].writes[id] })
	}
	if !used || !p.followsFrom(stages, own) {
		return
	}
	part := memoPart{input: input}
	for i := range p.stages {
		st := &p.stages[i]
		if inside[i] {
			continue
		}
		for id := range touched[i].reads {
			l.keep(&part, own, id)
		}
		st.eachLoad(func(id loop.BufferID) { l.keep(&part, own, id) })
	}
	if len(part.kept) == 0 {
		return
	}
	slices.Sort(part.kept)
	for _, i := range stages {
		l.stage[i] = len(l.parts)
	}
	for id := range own {
		if own[id] {
			l.buffer[id] = len(l.parts)
		}
	}
	l.parts = append(l.parts, part)
}

func (l *memoisable) keep(part *memoPart, own map[loop.BufferID]bool, id loop.BufferID) {
	if own[id] && !l.kept[id] {
		l.kept[id] = true
		part.kept = append(part.kept, id)
	}
}

// onlyReads reports whether a stage reads and writes nothing but its own temporaries, and reads an input.
func (t *touches) onlyReads(own map[loop.BufferID]bool, input loop.BufferID) bool {
	for id := range t.reads {
		if id != input && !own[id] {
			return false
		}
	}
	for id := range t.writes {
		if !own[id] {
			return false
		}
	}
	return true
}

// followsFrom reports whether all sizes and parameters of some stages and of their temporaries follow from the
// lengths of what is given and from bound scalars.
func (p *plan) followsFrom(stages []int, own map[loop.BufferID]bool) bool {
	read := map[loop.ScalarID]bool{} // scalars that elements of a buffer decide
	decided := func(c sizeCode) bool {
		for _, step := range c.steps {
			if step.reads() || step.do == pushScalar && read[loop.ScalarID(step.arg)] {
				return true
			}
		}
		return false
	}
	next := 0
	for i := range p.stages {
		st := &p.stages[i]
		for _, z := range []sizesPlan{st.before, st.after} {
			for _, l := range z.lets {
				read[l.scalar] = read[l.scalar] || decided(l.value)
			}
			for _, t := range z.trims {
				if own[t.buffer] {
					return false
				}
			}
			for _, a := range z.allocs {
				if own[a.buffer] && decided(a.length) {
					return false
				}
			}
		}
		if next == len(stages) || stages[next] != i {
			continue
		}
		next++
		if decided(st.blocks) {
			return false
		}
		for _, id := range st.args {
			if read[id] {
				return false
			}
		}
	}
	return true
}

// eachLoad visits the buffers of which sizes read elements.
func (s *stagePlan) eachLoad(visit func(loop.BufferID)) {
	s.eachSize(func(c sizeCode) {
		for _, step := range c.steps {
			if step.reads() {
				visit(loop.BufferID(step.arg))
			}
		}
	})
}
