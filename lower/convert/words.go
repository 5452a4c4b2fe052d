package convert

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// word is a Word of a path with its axes and buffers.
type word struct {
	Word
	axes []int
	bufs [2]loop.BufferID // -1 until they are needed
}

// wordsOf deals axes out to the words of a path.
func wordsOf(p Path, axes []int) []word {
	var words []word
	for _, w := range p.Words {
		words = append(words, word{Word: w, axes: axes[:w.Axes], bufs: [2]loop.BufferID{-1, -1}})
		axes = axes[w.Axes:]
	}
	return words
}

// wordWith is the word that holds an axis.
func wordWith(words []word, axis int) int {
	for w := range words {
		for _, a := range words[w].axes {
			if a == axis {
				return w
			}
		}
	}
	panic("BUG: no word has the axis")
}

// elem is the type of a word.
func (w *word) elem() loop.Type {
	if w.Wide {
		return loop.U64
	}
	return loop.U32
}

// digitOf is a digit of a word, as a number.
func (s *sorter) digitOf(b *loop.Builder, d digit, word loop.Expr) loop.Expr {
	elem := word.Type()
	down := loop.NewBinary(loop.Shr, word, loop.Number(elem, int64(d.shift)))
	return b.Cast(loop.I64, b.And(down, loop.Number(elem, 1<<s.words[d.word].Bits-1)))
}

// packing says where the axes stand in their words: how far from the lowest bit,
// and how wide. Both follow from the extents.
type packing struct {
	shift, width map[int]loop.Expr // by axis, U64
}

// packing computes where the axes of words stand, for those words that have a
// wanted one.
func (c *converter) packing(e *emit.Func, words []word, want axisSet) packing {
	pk := packing{map[int]loop.Expr{}, map[int]loop.Expr{}}
	b := e.B
	for _, w := range words {
		if axesOf(w.axes)&want == 0 {
			continue
		}
		var shift loop.Expr = loop.Number(loop.U64, 0)
		for k := len(w.axes) - 1; k >= 0; k-- {
			axis := w.axes[k]
			width := b.Var("width", loop.Number(loop.U64, 0))
			top := b.Var("top", b.Sub(e.Scalar(c.extentOf(axis)), loop.Int(1)))
			b.While(b.Gt(top, loop.Int(0)), func() {
				b.Assign(top, loop.NewBinary(loop.Shr, top, loop.Int(1)))
				b.Assign(width, b.Add(width, loop.Number(loop.U64, 1)))
			})
			pk.width[axis] = b.Let("width", width)
			pk.shift[axis] = shift
			shift = b.Let("shift", b.Add(shift, pk.width[axis]))
		}
	}
	return pk
}

// word packs the coordinates of an entry.
func (pk packing) word(b *loop.Builder, axes []int, en entry) loop.Expr {
	var word loop.Expr
	for _, axis := range axes {
		part := b.Cast(loop.U64, en.coords[axis])
		// A shift by all 64 bits occurs only of zeros, and leaves them.
		part = loop.NewBinary(loop.Shl, part, pk.shift[axis])
		if word != nil {
			part = b.Or(word, part)
		}
		word = part
	}
	return b.Let("word", word)
}

// coordinate unpacks a coordinate.
func (pk packing) coordinate(b *loop.Builder, word loop.Expr, axis int) loop.Expr {
	one := loop.Number(loop.U64, 1)
	mask := b.Sub(loop.NewBinary(loop.Shl, one, pk.width[axis]), one)
	return b.Cast(loop.I64, b.And(loop.NewBinary(loop.Shr, word, pk.shift[axis]), mask))
}

// packedEntries are entries that an earlier program has sorted, their coordinates
// in words.
type packedEntries struct {
	c     *converter
	words []word
	pos   loop.BufferID // the positions of level 0: 0 and the number of entries
	packs map[*emit.Func]packing
}

func newPackedEntries(c *converter) *packedEntries {
	s := &packedEntries{c: c, words: wordsOf(c.how.Path, c.from.Format.Order()), packs: map[*emit.Func]packing{}}
	s.pos = c.Input(c.from, 0, emit.Positions)
	for w := range s.words {
		s.words[w].bufs[0] = c.wordInput(w, s.words[w].elem())
	}
	return s
}

// wordInput is the input of a word of all entries.
func (c *converter) wordInput(w int, elem loop.Type) loop.BufferID {
	id := c.Buffer(fmt.Sprintf("%s_word%d", c.from.Name, w), elem, loop.Input)
	c.Inputs = append(c.Inputs, emit.Input{Buffer: id, Tensor: c.from, Level: w, Kind: emit.Words})
	return id
}

func (s *packedEntries) open(e *emit.Func) {
	s.packs[e] = s.c.packing(e, s.words, allAxes(s.c.from.Rank))
}

func (s *packedEntries) total() loop.SizeExpr {
	return &loop.SizeLoad{Buffer: s.pos, Index: loop.SizeConst(1)}
}

func (s *packedEntries) column(int) loop.BufferID { return -1 }

func (s *packedEntries) at(e *emit.Func, p loop.Expr, want axisSet) entry {
	en := entry{pos: p, coords: map[int]loop.Expr{}}
	loaded := map[int]loop.Expr{}
	for axis := range tensor.MaxRank {
		if !want.has(axis) {
			continue
		}
		w := wordWith(s.words, axis)
		if loaded[w] == nil {
			loaded[w] = e.B.Let("word", e.B.Cast(loop.U64, e.B.Load(e.Read(s.words[w].bufs[0]), p)))
		}
		en.coords[axis] = e.B.Let("i", s.packs[e].coordinate(e.B, loaded[w], axis))
	}
	return en
}

func (s *packedEntries) each(e *emit.Func, lo, hi loop.Expr, want axisSet, body func(entry)) {
	e.B.For("p", lo, hi, func(p loop.Expr) { body(s.at(e, p, want)) })
}

// flags ends a function that has found something in a chunk or not, and adds a
// stage which joins what all chunks have found: a byte for each flag.
func (c *converter) flags(e *emit.Func, part int, found []*loop.Ref) loop.BufferID {
	n := loop.Int(int64(len(found)))
	b := e.B
	chunks := c.Buffer("flags", loop.U8, loop.Temp)
	out := e.Write(chunks)
	row := b.Let("row", b.Mul(b.Chunk(), n))
	for i, f := range found {
		b.Store(out, b.Add(row, loop.Int(int64(i))), b.Cast(loop.U8, f))
	}
	st := e.Stage(e.B.Func().Name)
	st.Partition = part
	st.PartitionAllocs = []loop.Alloc{{Buffer: chunks, Len: emit.Times(c.Chunks(part), loop.SizeConst(len(found)))}}
	c.AddStage(st)

	all := c.Buffer("found", loop.U8, loop.Output)
	e = c.NewFunc("gather")
	b = e.B
	result := e.Write(all)
	for i := range found {
		some := b.Var("some", loop.Truth(false))
		b.For("c", loop.Int(0), e.Scalar(c.Program.Partitions[part].Chunks), func(chunk loop.Expr) {
			at := b.Let("at", b.Add(b.Mul(chunk, n), loop.Int(int64(i))))
			b.Assign(some, b.Or(some, b.Ne(b.Load(e.Read(chunks), at), loop.Number(loop.U8, 0))))
		})
		b.Store(result, loop.Int(int64(i)), b.Cast(loop.U8, some))
	}
	st = e.Stage("gather")
	st.Allocs = []loop.Alloc{{Buffer: all, Len: loop.SizeConst(len(found))}}
	c.AddStage(st)
	return all
}
