package convert

import "github.com/lacuna-sparse/lacuna/ir/loop"

// A list of coordinates in no order is sorted by many bits. Passes over all of it
// would go through the memory for every ten of them. One pass by the uppermost bits
// cuts it into groups that stay in the cache, and each group is sorted by the other
// bits there, by passes of its own.

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
			s.groupStage(steps)
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

// groupStage sorts every group by digits, from the least significant one: from the
// first set of buffers to the second and back. All digits are counted at once.
func (s *sorter) groupStage(steps []digit) {
	e := s.NewFunc("sort_groups")
	b := e.B
	s.moved(1)
	var begins []int64 // of the counters of each digit
	size := int64(0)
	for _, d := range steps {
		begins = append(begins, size)
		size += 1 << s.words[d.word].Bits
	}
	counters := s.Buffer("counters", s.count, loop.Scratch)
	counts := e.Write(counters)
	one := loop.Number(s.count, 1)
	bucket := func(k int, set int, p loop.Expr) loop.Expr {
		d := steps[k]
		word := b.Cast(loop.U64, b.Load(e.Write(s.words[d.word].bufs[set]), p))
		x := loop.NewBinary(loop.Shr, word, loop.Number(loop.U64, int64(d.shift)))
		mask := loop.Number(loop.U64, 1<<s.words[d.word].Bits-1)
		return b.Let("bucket", b.Add(b.Cast(loop.I64, b.And(x, mask)), loop.Int(begins[k])))
	}
	starts := e.Read(s.starts)
	b.For("group", b.Lo(), b.Hi(), func(g loop.Expr) {
		begin := b.Let("begin", b.LoadIndex(starts, g))
		end := b.Let("end", b.LoadIndex(starts, b.Add(g, loop.Int(1))))
		b.If(b.Lt(begin, end), func() {
			b.ForIndependent("bucket", loop.Int(0), loop.Int(size), func(i loop.Expr) { b.Store(counts, i, loop.Number(s.count, 0)) })
			b.For("p", begin, end, func(p loop.Expr) {
				for k := range steps {
					at := bucket(k, 0, p)
					b.Store(counts, at, b.Add(b.Load(counts, at), one))
				}
			})
			for k := range steps {
				from, to := k%2, (k+1)%2
				sum := b.Var("sum", b.Cast(s.count, begin))
				b.For("bucket", loop.Int(begins[k]), loop.Int(begins[k]+1<<s.words[steps[k].word].Bits), func(i loop.Expr) {
					n := b.Let("n", b.Load(counts, i))
					b.Store(counts, i, sum)
					b.Assign(sum, b.Add(sum, n))
				})
				b.For("p", begin, end, func(p loop.Expr) {
					slot := bucket(k, from, p)
					at := b.Let("to", b.LoadIndex(counts, slot))
					b.Store(counts, slot, b.Cast(s.count, b.Add(at, loop.Int(1))))
					for w := range s.words {
						b.Store(e.Write(s.words[w].bufs[to]), at, b.Load(e.Write(s.words[w].bufs[from]), p))
					}
					b.Store(e.Write(s.payload[to]), at, b.Load(e.Write(s.payload[from]), p))
				})
			}
		}, nil)
	})
	st := e.Stage("sort_groups")
	st.PartitionAllocs = []loop.Alloc{{Buffer: counters, Len: loop.SizeConst(size)}}
	st.Allocs = []loop.Alloc{{Buffer: s.payload[1], Len: loop.SizeScalar(s.entries)}}
	for w := range s.words {
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: s.words[w].bufs[1], Len: loop.SizeScalar(s.entries)})
	}
	st.Partition = s.Partition(loop.SizeConst(1<<s.how.Path.Group), s.starts, s.how.Grain)
	s.AddStage(st)
}
