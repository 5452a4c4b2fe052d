package runtime

import (
	"slices"
	"sync"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// What follows from an array that stays on a device (memoisable.go) is kept from the second run on that has the
// array, beside it: it goes when the array goes, or when memory is short.

// rememberedAs says of what program and which part of it something is remembered.
type rememberedAs struct {
	x    *Executable
	part int
}

// remembered are the temporaries of a part, on given scalars and lengths.
type remembered struct {
	scalars []int64          // by plan.bound
	lengths []int64          // by plan.given
	blocks  []*residentBlock // by memoPart.kept; nil after the first run
}

// matches reports whether a run has the scalars and lengths.
func (r *remembered) matches(s *state) bool {
	for i, id := range s.plan.bound {
		if s.scalars[id] != r.scalars[i] {
			return false
		}
	}
	for i, id := range s.plan.given {
		if s.mem[id].Len != r.lengths[i] {
			return false
		}
	}
	return true
}

// recall finds what is remembered of a part for a run, which then uses the blocks. If it is nil,
// keep says whether the run is to leave it.
func (b *residentBlock) recall(as rememberedAs, s *state) (blocks []*residentBlock, keep bool) {
	b.mu.Lock()
	r := b.remembered[as]
	if r != nil && r.matches(s) {
		for _, each := range r.blocks {
			each.use(nil) // they are freed only after they cannot be found here
		}
		blocks = r.blocks
		b.mu.Unlock()
		return blocks, blocks == nil
	}
	if b.remembered == nil {
		b.remembered = map[rememberedAs]*remembered{}
	}
	now := &remembered{}
	for _, id := range s.plan.bound {
		now.scalars = append(now.scalars, s.scalars[id])
	}
	for _, id := range s.plan.given {
		now.lengths = append(now.lengths, s.mem[id].Len)
	}
	b.remembered[as] = now
	b.mu.Unlock()
	if r != nil {
		r.forget()
	}
	return nil, false
}

// remember keeps blocks that a run leaves, unless another was faster or the array is gone.
func (b *residentBlock) remember(as rememberedAs, s *state, blocks []*residentBlock) {
	b.mu.Lock()
	r := b.remembered[as]
	taken := !b.freed && r != nil && r.blocks == nil && r.matches(s)
	if taken {
		r.blocks = blocks
	}
	b.mu.Unlock()
	if !taken {
		(&remembered{blocks: blocks}).forget()
		return
	}
	remembering.Lock()
	remembering.of[b] = true
	remembering.Unlock()
}

// forget gives the blocks back.
func (r *remembered) forget() {
	for _, b := range r.blocks {
		b.free()
	}
}

// forget gives back what is remembered of the array.
func (b *residentBlock) forget() {
	b.mu.Lock()
	all := b.remembered
	b.remembered = nil
	b.mu.Unlock()
	if all == nil {
		return
	}
	remembering.Lock()
	delete(remembering.of, b)
	remembering.Unlock()
	for _, r := range all {
		r.forget()
	}
}

// remembering are the arrays of which something is remembered.
var remembering = struct {
	sync.Mutex
	of map[*residentBlock]bool
}{of: map[*residentBlock]bool{}}

// forgetAll gives back what is remembered on a device, whose memory is short.
func forgetAll(device accelerator) {
	remembering.Lock()
	var all []*residentBlock
	for b := range remembering.of {
		if b.device == device {
			all = append(all, b)
		}
	}
	remembering.Unlock()
	for _, b := range all {
		b.forget()
	}
}

// mostRemembered is how many times as many bytes as the array has are kept beside it at most, if
// they are more than fewRemembered.
const (
	mostRemembered = 4
	fewRemembered  = 1 << 20
)

// partState says what a run does with a memoised part.
type partState struct {
	known []*residentBlock // of an earlier run
	keep  bool             // leave the temporaries for later ones
}

// recall looks up what is remembered of the inputs.
func (g *gridRun) recall() {
	l := &g.x.grid.memoisable
	g.parts = g.parts[:0]
	for i := range l.parts {
		var p partState
		if r := g.s.mem[l.parts[i].input].On; r != nil && r.device == g.x.grid.device && !r.at.foreign {
			p.known, p.keep = r.at.recall(rememberedAs{g.x, i}, g.s)
			g.held = append(g.held, p.known...)
			g.recording.pin(r.at)
		}
		g.parts = append(g.parts, p)
	}
}

// skips reports whether a stage's work is remembered.
func (g *gridRun) skips(stage int) bool {
	l := &g.x.grid.memoisable
	return len(l.parts) > 0 && l.stage[stage] >= 0 && g.parts[l.stage[stage]].known != nil
}

// recalled gives a temporary the memory that it has from an earlier run, none if no stage reads it.
func (g *gridRun) recalled(id loop.BufferID, n int64) bool {
	l := &g.x.grid.memoisable
	if len(l.parts) == 0 || l.buffer[id] < 0 || g.parts[l.buffer[id]].known == nil {
		return false
	}
	b := gridBuffer{len: n}
	if kept := g.lasting(id); kept != nil {
		b.at = kept.at
	}
	g.bufs[id] = b
	return true
}

// lasting is the block of a buffer that stays as it is after the run, nil of others.
func (g *gridRun) lasting(id loop.BufferID) *residentBlock {
	if r := g.s.mem[id].On; r != nil {
		if r.device == g.x.grid.device && !g.s.plan.written[id] && !r.at.foreign {
			return r.at
		}
		return nil
	}
	l := &g.x.grid.memoisable
	if len(l.parts) == 0 || l.buffer[id] < 0 || g.parts[l.buffer[id]].known == nil {
		return nil
	}
	if i := slices.Index(l.parts[l.buffer[id]].kept, id); i >= 0 {
		return g.parts[l.buffer[id]].known[i]
	}
	return nil
}

// mostElements is how many elements of a block are known at most.
const mostElements = 16

// element is an element that an earlier run has read.
func (b *residentBlock) element(i int64) (v int64, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, known = b.elements[i]
	return v, known
}

// note notes an element that does not change.
func (b *residentBlock) note(i, v int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.elements == nil {
		b.elements = map[int64]int64{}
	}
	if len(b.elements) < mostElements {
		b.elements[i] = v
	}
}

// keeps reports whether the run is to leave a temporary.
func (g *gridRun) keeps(id loop.BufferID) bool {
	l := &g.x.grid.memoisable
	return len(l.parts) > 0 && l.kept[id] && g.parts[l.buffer[id]].keep
}

// leaves reports whether the run leaves temporaries for later ones.
func (g *gridRun) leaves() bool {
	return slices.ContainsFunc(g.parts, func(p partState) bool { return p.keep })
}

// remember leaves the temporaries of a run that has ended well.
func (g *gridRun) remember() {
	l := &g.x.grid.memoisable
	for i := range g.parts {
		if !g.parts[i].keep {
			continue
		}
		part := &l.parts[i]
		r := g.s.mem[part.input].On
		total := int64(0)
		for _, id := range part.kept {
			total += g.bufs[id].bytes
		}
		if total > max(mostRemembered*r.bytes, fewRemembered) {
			continue
		}
		var blocks []*residentBlock
		for _, id := range part.kept {
			b := &g.bufs[id]
			blocks = append(blocks, newResidentBlock(g.x.grid.device, b.at, b.bytes))
			g.inUse -= b.bytes
			*b = gridBuffer{}
		}
		r.at.remember(rememberedAs{g.x, i}, g.s, blocks)
	}
}
