package convert

import (
	"fmt"
	"math/bits"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/prim"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A list of coordinates in no order is sorted by many bits. Passes over all of it
// would go through the memory for every ten of them. One pass by the uppermost bits
// cuts it into groups that stay in the cache, and each group is sorted by the other
// bits there, by passes of its own.
//
// A list that becomes the rows of a matrix (or its columns) needs no sort of all
// bits. Passes over digits of the column bring it into the order of the columns, and a
// last one deals it out to the rows, which then are in order: the counters of that pass are
// the positions of the result. Groups are of consecutive rows then.

// sortPacked emits the stages that sort a list, and look for entries at the same
// coordinates. The result is words, values and one byte, not 0 if there are such
// entries.
func (c *converter) sortPacked() {
	s := c.sorter()
	steps := s.digits()
	s.packed, s.results = true, len(steps)%2
	if s.how.Path.Group > 0 {
		s.starts = c.Buffer("groups", c.count, loop.Temp)
		s.pass(0, digit{word: wordGroup}, false)
		if len(steps) > 0 {
			s.groupStage(steps, nil)
		}
	} else {
		s.results = (len(steps) + 1) % 2 // the set that the last pass writes
		s.passes()
	}
	c.Result.Values = s.payload[s.results]
	for w := range s.words {
		c.Result.Words = append(c.Result.Words, s.words[w].bufs[s.results])
	}
	c.Result.Found = s.repeatsStage()
}

var _ = register(shortcut{
	place: 1,
	path: func(from, to tensor.Format, d *Data) (p Path, ok bool) {
		if d.Grids || !hasRows(to) {
			return p, false
		}
		axes, carried := sortedAxes(from, to, d.Order, d.Map)
		switch {
		case d.Order == Unordered && canSumMoved(d.DType):
			return rowPath(axes, *d)
		case d.Order == Stored && d.fewBuckets(axes) && d.far(axes):
			return rowPath([]int{axes[0], carried[0]}, *d)
		}
		return p, false
	},
	takes: func(c *converter) bool { return c.how.Path.Rows },
	emit:  (*converter).sortRows,
})

// hasRows reports whether a format is a matrix of rows or columns with all
// positions: CSR or CSC.
func hasRows(f tensor.Format) bool {
	levels := f.Physical()
	return len(levels) == 2 && levels[0].Full() && levels[1].Ranges()
}

// sortRows emits the stages that make a matrix of a list.
func (c *converter) sortRows() {
	s := c.sorter()
	if s.how.Path.Group > 0 {
		s.packed, s.results = true, -1
		s.starts = c.Buffer("groups", c.count, loop.Temp)
		s.pass(0, digit{word: bucketGroup}, false)
		r := &rowTarget{sorter: s, pos: c.Buffer(fmt.Sprintf("%s1_pos", c.to.Name), c.count, loop.Output),
			crd: c.crdBuffer(1), vals: c.Buffer(c.to.Name+"_vals", c.elem, loop.Output)}
		steps := s.digits()
		s.groupStage(steps[:len(steps)-1], r)
		c.Result.Levels = []emit.ResultLevel{{Pos: -1, Crd: -1}, {Pos: r.pos, Crd: r.crd}}
		c.Result.Values = r.vals
	} else {
		s.targets()
		s.passes()
	}
	if c.how.Entries != Unordered {
		return // there are no repeats
	}
	levels := c.Result.Levels[1]
	c.mergeRows(c.repeatedRows(levels.Pos, levels.Crd))
}

// Limits of the path for rows.
const (
	// Counters of a pass over digits of the column take 32 KiB, and less time
	// than the entries of a group.
	rowDigitBits = 13
	// With more rows an entry most of the time would go into empty rows.
	rowsPerEntry = 4
)

// rowPath is the path of a list that becomes a matrix. It is not ok if rows are
// so many that most are empty, or more than keys have bits for.
func rowPath(axes []int, d Data) (p Path, ok bool) {
	const keyLimit = 1 << 32
	rows, columns := d.Shape[axes[0]], d.Shape[axes[1]]
	if rows > min(max(fewBuckets, rowsPerEntry*d.Entries), keyLimit) || columns > keyLimit || d.Entries >= keyLimit {
		return p, false
	}
	p = Path{Axes: 2, Rows: true}
	p.share(&d, d.aloneInGroups())
	rowBits, columnBits := bits.Len64(uint64(rows-1)), bits.Len64(uint64(columns-1))
	group := func(entries int64, most int) int {
		return max(min(bits.Len64(uint64(d.Entries/entries)), most, rowBits), 1)
	}
	switch {
	case d.Order != Unordered: // by the columns entries are in order
		p.Axes, p.Group = 1, group(groupEntries, groupBits)
	case d.Entries > d.nearEntries() || !p.Alone:
		p.Group = group(d.rowGroupEntries(), maxGroupBits)
	}
	w := Word{Axes: 2, Wide: rowBits-p.Group+columnBits > 32}
	if d.Order == Unordered {
		w.Passes = (columnBits + rowDigitBits - 1) / rowDigitBits
	}
	if w.Passes > 0 {
		w.Bits = (columnBits + w.Passes - 1) / w.Passes
	}
	p.Words = []Word{w}
	return p, true
}

// groupStage sorts every group by digits, from the least significant one: from the
// first set of buffers to the second and back, and at last, if there are rows, to these. All
// digits are counted at once.
func (s *sorter) groupStage(steps []digit, rows *rowTarget) {
	name := "sort_groups"
	if rows != nil {
		name = "sort_rows"
	}
	e := s.NewFunc(name)
	b := e.B
	begins := make([]int64, len(steps)+1) // of the counters of each digit
	for k, d := range steps {
		begins[k+1] = begins[k] + 1<<s.words[d.word].Bits
	}
	var counters loop.BufferID
	var counts loop.BufID
	if len(steps) > 0 {
		s.moved(1)
		counters = s.Buffer("counters", s.count, loop.Scratch)
		counts = e.Write(counters)
	}
	// load gives the words of an entry in a set of buffers.
	load := func(set int, p loop.Expr) func(w int) loop.Expr {
		loaded := map[int]loop.Expr{}
		return func(w int) loop.Expr {
			if loaded[w] == nil {
				loaded[w] = b.Let("word", b.Cast(loop.U64, b.Load(e.Write(s.words[w].bufs[set]), p)))
			}
			return loaded[w]
		}
	}
	bucket := func(k int, word func(int) loop.Expr) loop.Expr {
		return b.Let("bucket", b.Add(s.digitOf(b, steps[k], word(steps[k].word)), loop.Int(begins[k])))
	}
	if rows != nil {
		rows.begin(e)
	}
	starts := e.Read(s.starts)
	b.For("group", b.Lo(), b.Hi(), func(g loop.Expr) {
		begin := b.Let("begin", b.LoadIndex(starts, g))
		end := b.Let("end", b.LoadIndex(starts, b.Add(g, loop.Int(1))))
		if rows != nil {
			rows.open(g)
		}
		b.If(b.Lt(begin, end), func() {
			if len(steps) > 0 {
				prim.ClearCounters(b, counts, loop.Int(0), loop.Int(begins[len(steps)]))
			}
			b.For("p", begin, end, func(p loop.Expr) {
				word := load(0, p)
				if rows != nil {
					prim.Count(b, rows.starts, rows.slot(word(0)))
				}
				for k := range steps {
					prim.Count(b, counts, bucket(k, word))
				}
			})
		}, nil)
		if rows != nil { // those of no entries too
			prim.Starts(b, rows.starts, rows.first, rows.last, begin, nil)
		}
		b.If(b.Lt(begin, end), func() {
			for k := range steps {
				from, to := k%2, (k+1)%2
				prim.Starts(b, counts, loop.Int(begins[k]), loop.Int(begins[k+1]), begin, nil)
				b.For("p", begin, end, func(p loop.Expr) {
					word := load(from, p)
					at := prim.Take(b, counts, bucket(k, word))
					for w := range s.words {
						out := e.Write(s.words[w].bufs[to])
						b.Store(out, at, b.Cast(b.Elem(out), word(w)))
					}
					b.Store(e.Write(s.payload[to]), at, b.Load(e.Write(s.payload[from]), p))
				})
			}
			if from := len(steps) % 2; rows != nil {
				b.For("p", begin, end, func(p loop.Expr) { rows.put(load(from, p)(0), b.Load(e.Write(s.payload[from]), p)) })
			}
		}, nil)
	})
	st := e.Stage(name)
	entries := loop.SizeScalar(s.kept)
	if rows != nil {
		st.Allocs = rows.allocs()
	}
	if len(steps) > 0 {
		for w := range s.words {
			st.Allocs = append(st.Allocs, loop.Alloc{Buffer: s.words[w].bufs[1], Len: entries})
		}
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: s.payload[1], Len: entries})
		st.PartitionAllocs = []loop.Alloc{{Buffer: counters, Len: loop.SizeConst(begins[len(steps)])}}
	}
	st.Partition = s.Partition(loop.SizeConst(1<<s.how.Path.Group), s.starts, s.how.Grain)
	s.AddStage(st)
}

// rowTarget is the matrix to whose rows groups are dealt out. Row i counts in element i+1 of its
// positions, which becomes where the row begins and then where it ends.
type rowTarget struct {
	*sorter
	pos, crd, vals loop.BufferID

	e              *emit.Func
	starts         loop.BufID // pos
	pack           packing
	shift, inGroup loop.Expr
	first, last    loop.Expr // counters of the group at hand
}

// begin comes first in the function.
func (r *rowTarget) begin(e *emit.Func) {
	b := e.B
	r.e, r.starts, r.pack, r.shift = e, e.Write(r.pos), r.packing(e, r.words, allAxes(2)), r.groupShift(e)
	r.inGroup = b.Let("rows", b.Sub(loop.NewBinary(loop.Shl, loop.Int(1), r.shift), loop.Int(1)))
	b.If(b.Eq(b.Lo(), loop.Int(0)), func() { b.Store(r.starts, loop.Int(0), loop.Number(r.count, 0)) }, nil)
}

// open clears the counters of a group.
func (r *rowTarget) open(g loop.Expr) {
	b, one, n := r.e.B, loop.Int(1), r.e.Scalar(r.extentOf(r.axes[0]))
	r.first = b.Let("first", b.Add(b.Min(n, loop.NewBinary(loop.Shl, g, r.shift)), one))
	r.last = b.Let("last", b.Add(b.Min(n, loop.NewBinary(loop.Shl, b.Add(g, one), r.shift)), one))
	prim.ClearCounters(b, r.starts, r.first, r.last)
}

// slot is the counter of an entry's row. Its word need not hold the bits that tell the group.
func (r *rowTarget) slot(word loop.Expr) loop.Expr {
	b := r.e.B
	return b.Let("slot", b.Add(b.And(r.pack.coordinate(b, word, r.axes[0]), r.inGroup), r.first))
}

// put puts an entry into its row.
func (r *rowTarget) put(word, value loop.Expr) {
	b, crd := r.e.B, r.e.Write(r.crd)
	at := prim.Take(b, r.starts, r.slot(word))
	b.Store(crd, at, b.Cast(b.Elem(crd), r.pack.coordinate(b, word, r.axes[1])))
	b.Store(r.e.Write(r.vals), at, value)
}

// allocs allocates the matrix.
func (r *rowTarget) allocs() []loop.Alloc {
	entries := loop.SizeScalar(r.kept)
	return []loop.Alloc{
		{Buffer: r.pos, Len: &loop.SizeOp{Op: loop.Add, X: loop.SizeScalar(r.extentOf(r.axes[0])), Y: loop.SizeConst(1)}},
		{Buffer: r.crd, Len: entries}, {Buffer: r.vals, Len: entries},
	}
}
