package convert

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/prim"
)

// How entries are moved to their places.

// moveAllocs allocates what the pass moves entries to: packed, with all words, or to the
// arrays of the result, for which it needs the word of the digit.
func (p *countingPass) moveAllocs(to int) (list []loop.Alloc, words []int, pack bool) {
	kept := loop.SizeScalar(p.kept)
	if pack = !p.last || p.packed; pack {
		p.moved(to)
		for w := range p.words {
			words = append(words, w)
			list = p.allocate(list, p.words[w].bufs[to], kept)
		}
		return p.allocate(list, p.payload[to], kept), words, pack
	}
	if p.digit.word >= 0 {
		words = []int{p.digit.word}
	}
	for _, axis := range p.axes {
		if id, ok := p.out[axis]; ok {
			list = append(list, loop.Alloc{Buffer: id, Len: kept})
		}
	}
	return append(list, loop.Alloc{Buffer: p.values, Len: emit.Times(kept, p.sizeOf(p.blockAxes()))}), words, pack
}

// blockAxes are the axes of the dense blocks that are moved.
func (s *sorter) blockAxes() []int {
	if !s.blocks {
		return nil
	}
	return s.to.Format.Order()[s.to.Format.SparseRank():]
}

// moveStage moves every entry to its place.
func (p *countingPass) moveStage() {
	e := p.NewFunc("move")
	b := e.B
	counts := e.Write(p.counts)
	row := p.row(e)
	to := p.number % 2
	allocs, words, pack := p.moveAllocs(to)
	var size loop.Expr
	if p.last && p.blocks {
		size = p.extentsIn(e, p.blockAxes())
	}
	p.eachItem(e, words, !pack, func(it item) {
		at := prim.Take(b, counts, p.counter(e, "slot", row, p.bucket(e, it)))
		if pack {
			for w := range p.words {
				buf := e.Write(p.words[w].bufs[to])
				b.Store(buf, at, b.Cast(b.Elem(buf), it.word(w)))
			}
			b.Store(e.Write(p.payload[to]), at, it.value())
			return
		}
		for _, axis := range p.axes {
			if id, ok := p.out[axis]; ok {
				buf := e.Write(id)
				b.Store(buf, at, b.Cast(b.Elem(buf), it.coord(axis)))
			}
		}
		if !p.blocks {
			b.Store(e.Write(p.values), at, it.value())
			return
		}
		p.copyBlock(e, at, it.value(), size)
	})
	st := e.Stage("move")
	st.Allocs = allocs
	st.Partition = p.part
	p.AddStage(st)
}

// copyBlock copies the block of an entry of the source, of so many values, to place at.
func (s *sorter) copyBlock(e *emit.Func, at, entry, size loop.Expr) {
	b := e.B
	values, in := e.Write(s.values), e.Read(s.vals)
	from := b.Let("from", b.Mul(b.Cast(loop.I64, entry), size))
	dest := b.Let("dest", b.Mul(at, size))
	b.ForIndependent("k", loop.Int(0), size, func(k loop.Expr) {
		b.Store(values, b.Add(dest, k), b.Load(in, b.Add(from, k)))
	})
}

// moved makes a set of buffers of words and payload, if it is not there.
func (s *sorter) moved(set int) {
	if s.payload[set] >= 0 {
		return
	}
	role := loop.Temp
	if s.packed && set == s.results {
		role = loop.Output
	}
	for i := range s.words {
		w := &s.words[i]
		w.bufs[set] = s.Buffer(fmt.Sprintf("word%d_%d", i, set), w.elem(), role)
	}
	s.payload[set] = s.Buffer(fmt.Sprintf("moved%d", set), s.payloadType(), role)
}

// payloadType is the type of what is moved with the coordinates.
func (s *sorter) payloadType() loop.Type {
	if s.blocks {
		return s.count
	}
	return s.elem
}

// allocate adds the allocation of a buffer, unless an earlier pass has made it.
func (s *sorter) allocate(list []loop.Alloc, id loop.BufferID, n loop.SizeExpr) []loop.Alloc {
	for _, stage := range s.Program.Stages {
		for _, a := range stage.Allocs {
			if a.Buffer == id {
				return list
			}
		}
	}
	return append(list, loop.Alloc{Buffer: id, Len: n})
}
