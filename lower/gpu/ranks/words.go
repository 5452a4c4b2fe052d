package ranks

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// wordBits tells something of the entries of an operand: a bit for each of a word, how
// many are set before the word, and in all, in a buffer of one element and as a scalar.
type wordBits struct {
	bits, sums, totals loop.BufferID
	total              loop.ScalarID
}

func (m *Merge) newWordBits(name string) wordBits {
	name = m.name() + "_" + name
	return wordBits{
		bits: m.Buffer(name+"_bits", loop.U32, loop.Temp), sums: m.Buffer(name+"_sums", loop.I64, loop.Temp),
		totals: m.Buffer(name+"_total", loop.I64, loop.Temp), total: m.NewScalar(name, false),
	}
}

// bitsStage emits the stage that sets the bits of an operand's entries: those for which
// holds, called with an entry and its word, says so. Further allocations are for what that stores.
func (m *Merge) bitsStage(name string, operand int, w wordBits, allocs []loop.Alloc, holds func(t *team, word, p loop.Expr) loop.Expr) {
	t := m.team(name)
	b := t.B
	words, n := t.Scalar(m.words[operand]), t.Scalar(m.count[operand])
	bits, sums := t.Write(w.bits), t.Write(w.sums)
	t.Each(words, func(word loop.Expr) {
		p := b.Let("p", b.Add(loop.NewBinary(loop.Shl, word, loop.Int(logWord)), t.Lane()))
		is := b.Var("is", loop.Truth(false))
		b.If(b.Lt(p, n), func() { b.Assign(is, holds(t, word, p)) }, nil)
		all := b.Ballot("all", is)
		b.If(b.Eq(t.Lane(), loop.Int(0)), func() {
			b.Store(bits, word, all)
			b.Store(sums, word, b.Cast(loop.I64, loop.NewUnary(loop.OnesCount, all)))
		}, nil)
	})
	size := loop.SizeScalar(m.words[operand])
	st := t.Launch(name, t.BlocksFor(size))
	st.Allocs = append(allocs, loop.Alloc{Buffer: w.bits, Len: size}, loop.Alloc{Buffer: w.sums, Len: size})
	st.Symbolic = true
	m.AddStage(st)
	m.sumStage(operand, w)
}

// sumStage emits the stage that turns the counts of words into running sums.
func (m *Merge) sumStage(operand int, w wordBits) {
	e := m.NewFunc("before_words")
	b := e.B
	sums := e.Write(w.sums)
	sum := b.Var("sum", loop.Int(0))
	b.For("w", loop.Int(0), e.Scalar(m.words[operand]), func(w loop.Expr) {
		n := b.Let("n", b.Load(sums, w))
		b.Store(sums, w, sum)
		b.Assign(sum, b.Add(sum, n))
	})
	b.Store(e.Write(w.totals), loop.Int(0), sum)
	st := e.Stage("sums")
	st.Prefixes = []loop.Prefix{{Buffer: w.sums, Stride: 1, N: loop.SizeScalar(m.words[operand]), Total: w.totals}}
	st.Allocs = []loop.Alloc{{Buffer: w.totals, Len: loop.SizeConst(1)}}
	st.Symbolic = true
	m.AddStage(st)
}

// let defines the scalar with the number of all bits.
func (w wordBits) let() loop.ScalarLet {
	return loop.ScalarLet{Scalar: w.total, Value: &loop.SizeLoad{Buffer: w.totals, Index: loop.SizeConst(0)}}
}

// before is the number of bits of the entries before p, and whether that of p is set.
func (w wordBits) before(t *team, p loop.Expr) (count, is loop.Expr) {
	b := t.B
	word := b.Let("word", loop.NewBinary(loop.Shr, p, loop.Int(logWord)))
	bits := b.Let("bits", b.Load(t.Read(w.bits), word))
	bit := b.Let("bit", loop.NewBinary(loop.Shl, loop.Number(loop.U32, 1), b.Cast(loop.U32, b.And(p, loop.Int(wordEntries-1)))))
	below := loop.NewUnary(loop.OnesCount, b.And(bits, b.Sub(bit, loop.Number(loop.U32, 1))))
	count = b.Let("count", b.Add(b.Load(t.Read(w.sums), word), b.Cast(loop.I64, below)))
	return count, b.Let("is", b.Ne(b.And(bits, bit), loop.Number(loop.U32, 0)))
}
