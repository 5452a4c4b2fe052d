package tensor

import (
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"sync"
)

// Statistics describe what a tensor stores, for estimates of what a program costs.
type Statistics struct {
	// Entries is the number of stored values.
	Entries float64
	Axes    []AxisStatistics
	// Finite says that no stored value is nan or infinite; integers and truth values are finite.
	Finite bool
	// Exponent is the least number, 0 or more, for which every finite stored value is below 2^Exponent in size.
	Exponent int
	// NonNegative says that no stored value is below 0, nan or complex.
	NonNegative bool
	// Band is, of a square matrix that stores single entries, how wide a band around the diagonal is that has such entries as these: the width of a full
	// band that has their mean square distance from the diagonal. 0: not known.
	Band float64

	class string // of what Rounded returns
}

// AxisStatistics describe how entries spread over the coordinates of one axis.
type AxisStatistics struct {
	Extent float64
	// NonEmpty is the number of coordinates that have entries, Longest the most entries that one has,
	// and Squares the sum of the squares of the numbers of entries: the size of the join of the tensor
	// with itself along the axis, and by Cauchy and Schwarz, with that of another tensor, a bound of the size of a
	// join with that (Abo Khamis, Nakos, Olteanu and Suciu, Join Size Bounds using Lp-Norms on Degree Sequences,
	// PODS 2024).
	NonEmpty, Longest, Squares float64
}

// Statistics returns those of a tensor. They are computed once, in one pass over its arrays, or of those of the tensor that
// it is an [Update] of. There are none of tensors that are not plain, were released, or are on a device only and were not described there: see
// [Tensor.StatisticsBy].
func (t *Tensor) Statistics() (*Statistics, bool) { return t.informed(false) }

// Outline returns the statistics of a tensor as they would be with other values, all from 0 to 1: where only these are not known, they take less time than
// [Tensor.Statistics], for dense tensors nearly none.
func (t *Tensor) Outline() (*Statistics, bool) { return t.informed(true) }

// informed is Statistics, or Outline.
func (t *Tensor) informed(outline bool) (*Statistics, bool) {
	if !t.IsCanonical() || t.pin() != nil {
		return nil, false
	}
	defer t.Unpin()
	known := &t.statistics
	known.Lock()
	defer known.Unlock()
	if outline && known.outline != nil {
		return known.outline, true
	}
	if known.of == nil {
		known.of = t.overlay.statistics()
	}
	list, ok := t, true
	if known.of == nil {
		if list, ok = t.described(); !ok {
			return nil, false
		}
	}
	if outline {
		return t.outlined(list), true
	}
	if known.of == nil {
		s := *t.outlined(list)
		s.Finite, s.Exponent, s.NonNegative = magnitude(list.values)
		known.of = s.named()
	}
	return known.of, true
}

// described is the list of entries that statistics are taken of; false if there are none.
func (t *Tensor) described() (list *Tensor, ok bool) {
	if !t.allHere() || t.overlay.merge() != nil {
		return nil, false
	}
	list, err := t.Listed()
	return list, err == nil
}

// outlined is the outline, from the statistics, if there are some, or else from a list of entries. Others wait.
func (t *Tensor) outlined(list *Tensor) *Statistics {
	if t.statistics.outline == nil {
		var s Statistics
		if of := t.statistics.of; of != nil {
			s = *of
		} else {
			s = list.describe()
		}
		s.Finite, s.Exponent, s.NonNegative = true, 0, true
		t.statistics.outline = s.named()
	}
	return t.statistics.outline
}

// StatisticsBy returns the statistics of a tensor, where only a device has it what there finds out about it: but for their class, which follows. That is asked
// once, and again only if it failed. What it returns without an error is kept; nil says that there will be none.
func (t *Tensor) StatisticsBy(there func() (*Statistics, error)) (*Statistics, bool) {
	if s, ok := t.Statistics(); ok || !t.undescribed() {
		return s, ok
	}
	if t.pin() != nil {
		return nil, false
	}
	defer t.Unpin()
	s, err := there()
	if err != nil {
		return nil, false
	}
	t.statistics.Lock()
	defer t.statistics.Unlock()
	if t.statistics.of == nil && s != nil {
		kept := *s
		t.statistics.of = kept.named()
	}
	t.statistics.asked = true
	return t.statistics.of, t.statistics.of != nil
}

// undescribed reports whether a tensor that is plain and not released has no statistics, and nobody was asked for them.
func (t *Tensor) undescribed() bool {
	if !t.IsCanonical() || t.Released() {
		return false
	}
	t.statistics.Lock()
	defer t.statistics.Unlock()
	return !t.statistics.asked
}

// allHere reports whether all arrays are in the memory of the host.
func (t *Tensor) allHere() bool {
	here := func(a Array) bool {
		_, waiting := a.Remote().(*waitingArray)
		return a.Fetched() || waiting
	}
	all := here(t.values)
	for _, l := range t.levels {
		all = all && here(l.Pos) && here(l.Crd)
	}
	return all
}

// Class names all statistics that round alike: plans are made for a class, so that tensors that differ little
// share one.
func (s *Statistics) Class() string { return s.class }

// Rounded returns the statistics with every number rounded to a power of two.
func (s *Statistics) Rounded() *Statistics {
	r := &Statistics{Entries: powerOfTwo(s.Entries), Finite: s.Finite, Exponent: int(math.Ceil(aboveTwo(float64(s.Exponent)))), NonNegative: s.NonNegative, Band: powerOfTwo(s.Band), class: s.class}
	for _, a := range s.Axes {
		r.Axes = append(r.Axes, AxisStatistics{powerOfTwo(a.Extent), powerOfTwo(a.NonEmpty), powerOfTwo(a.Longest), powerOfTwo(a.Squares)})
	}
	return r
}

// powerOfTwo is the power of two that is nearest to x, in its logarithm; 0 for 0.
func powerOfTwo(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return math.Exp2(math.Round(math.Log2(x)))
}

// aboveTwo is the least power of two that is not below x; 0 for 0.
func aboveTwo(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return math.Exp2(math.Ceil(math.Log2(x)))
}

// describe computes what does not depend on values.
func (t *Tensor) describe() Statistics {
	if t.values.n <= math.MaxUint32 {
		return describeBy[uint32](t)
	}
	return describeBy[uint64](t)
}

// describeBy counts in a type that has the number of values.
func describeBy[N uint32 | uint64](t *Tensor) Statistics {
	s := Statistics{Entries: float64(t.values.n), Axes: make([]AxisStatistics, len(t.shape))}
	order := t.format.order
	sparse := t.format.SparseRank()
	// under[p] is how many blocks of values stand under position p of the level; nil: each times one.
	var under []N
	each, many := N(1), float64(t.block())
	for k := len(t.levels) - 1; k >= 0; k-- {
		l, axis := t.levels[k], int(order[k])
		s.Axes[axis].Extent = float64(t.shape[axis])
		if k >= sparse {
			s.Axes[axis].spread(s.Entries)
			continue
		}
		count(&s.Axes[axis], l, int(t.positions(k)), under, each, many)
		if k == 0 {
			break
		}
		under, each = parents(t.levels[k], int(t.positions(k-1)), under, each)
	}
	s.Band = t.band()
	return s
}

// named sets the class.
func (s *Statistics) named() *Statistics {
	s.class = string(s.Rounded().appendClass(nil))
	return s
}

// bandSample is about how many entries tell how wide the band is, bandRows how many rows are looked at side by side: memory is
// read by lines of the cache.
const (
	bandSample = 1 << 15
	bandRows   = 64
)

// band is Statistics.Band, of rows evenly spread.
func (t *Tensor) band() float64 {
	if len(t.shape) != 2 || t.shape[0] != t.shape[1] || t.format.SparseRank() != 2 || t.levels[1].Full() {
		return 0
	}
	outer, inner := &t.levels[0], &t.levels[1]
	narrow, isNarrow, all, single := View[uint32](inner.Crd), inner.Crd.dt == Uint32, outer.Full(), inner.Branchless()
	pos, shortPos := View[uint32](inner.Pos), inner.Pos.dt == Uint32
	squares, n := 0.0, 0
	rows, step := int(t.positions(0)), bandRows*(1+t.values.n/bandSample)
	for first := 0; first < rows; first += step {
		for p := first; p < min(first+bandRows, rows); p++ {
			i, from, to := int64(p), int64(p), int64(p)+1
			if !all {
				i = outer.Crd.At64(p)
			}
			switch {
			case single:
			case shortPos:
				from, to = int64(pos[p]), int64(pos[p+1])
			default:
				from, to = inner.Pos.At64(p), inner.Pos.At64(p+1)
			}
			n += int(to - from)
			if isNarrow {
				squares += distances(narrow[from:to], i)
				continue
			}
			for q := from; q < to; q++ {
				d := float64(inner.Crd.At64(int(q)) - i)
				squares += d * d
			}
		}
	}
	if n == 0 {
		return 0
	}
	return 1 + 2*math.Sqrt(3*squares/float64(n))
}

// distances is the sum of the squares of how far coordinates are from i. Two sums, so that not every addition waits for the one before.
func distances(crd []uint32, i int64) float64 {
	even, odd := 0.0, 0.0
	for ; len(crd) >= 2; crd = crd[2:] {
		d, e := float64(int64(crd[0])-i), float64(int64(crd[1])-i)
		even, odd = even+d*d, odd+e*e
	}
	for _, c := range crd {
		d := float64(int64(c) - i)
		even += d * d
	}
	return even + odd
}

// appendClass writes the exponents of rounded statistics.
func (s *Statistics) appendClass(b []byte) []byte {
	b = append(b, byte(s.Exponent), byte(s.Exponent>>8))
	if s.Finite {
		b = append(b, 'f')
	}
	if s.NonNegative {
		b = append(b, 'n')
	}
	if s.Band > 0 {
		b = append(b, 'b', byte(math.Ilogb(s.Band)))
	}
	for _, x := range append([]AxisStatistics{{Extent: s.Entries}}, s.Axes...) {
		for _, v := range []float64{x.Extent, x.NonEmpty, x.Longest, x.Squares} {
			b = binary.AppendVarint(append(b, ' '), int64(math.Ilogb(v)))
		}
	}
	return b
}

// spread describes an axis whose coordinates have equally many of n entries.
func (a *AxisStatistics) spread(n float64) {
	if a.Extent == 0 || n == 0 {
		return
	}
	a.NonEmpty = a.Extent
	a.Longest = n / a.Extent
	a.Squares = a.Longest * a.Longest * a.Extent
}

// mostCounters is up to how many times as many coordinates as positions are counted one by one, mostSpare how many are anyway.
const (
	mostCounters = 4
	mostSpare    = 1 << 20
)

// tally describes an axis by how many blocks of so many entries its coordinates have.
func tally[N uint32 | uint64](a *AxisStatistics, counts []N, many float64) {
	var filled int
	var longest N
	squares := 0.0
	for _, n := range counts {
		if n > 0 {
			filled++
		}
		longest = max(longest, n)
		squares += float64(n) * float64(n)
	}
	a.NonEmpty, a.Longest, a.Squares = float64(filled), float64(longest)*many, squares*many*many
}

// count describes the axis of a level with n positions.
func count[N uint32 | uint64](a *AxisStatistics, l Level, n int, under []N, each N, many float64) {
	if l.Full() && n == int(l.Size) && under != nil { // the outermost
		tally(a, under, many)
		return
	}
	all := float64(each) * many
	if l.Full() && under == nil || n == 0 {
		a.spread(float64(n) * all)
		return
	}
	if l.Size > int64(n)*mostCounters+mostSpare { // nearly every coordinate has one
		a.NonEmpty, a.Longest, a.Squares = float64(n), 1, float64(n)*max(all, 1)
		return
	}
	counters := make([]N, l.Size)
	switch {
	case l.Full():
		for p, u := range under {
			counters[p%int(l.Size)] += u
		}
	case under == nil && l.Crd.dt == Uint32:
		for _, c := range View[uint32](l.Crd) {
			counters[c] += each
		}
	default:
		for p := range n {
			u := each
			if under != nil {
				u = under[p]
			}
			counters[l.Crd.At64(p)] += u
		}
	}
	tally(a, counters, many)
}

// parents counts what stands under the n positions of the level before l.
func parents[N uint32 | uint64](l Level, n int, under []N, each N) ([]N, N) {
	switch {
	case l.Branchless():
		return under, each
	case l.Full() && under == nil:
		return nil, each * N(l.Size)
	}
	sums := make([]N, n)
	if l.Full() {
		for p, u := range under {
			sums[p/int(l.Size)] += u
		}
		return sums, 0
	}
	if narrow := View[uint32](l.Pos); under == nil && l.Pos.dt == Uint32 {
		for p := range sums {
			sums[p] = N(narrow[p+1]-narrow[p]) * each
		}
		return sums, 0
	}
	from := l.Pos.At64(0)
	for p := range sums {
		to := l.Pos.At64(p + 1)
		if under == nil {
			sums[p] = N(to-from) * each
		} else {
			for q := from; q < to; q++ {
				sums[p] += under[q]
			}
		}
		from = to
	}
	return sums, 0
}

// magnitude finds out whether all values are finite, a bound of their exponents, and whether none is negative.
func magnitude(a Array) (finite bool, exponent int, nonNegative bool) {
	switch a.dt {
	case Float64:
		all, signs := largest(View[uint64](a))
		e := int(all >> 52)
		return e < 2047, max(e-1022, 0), signs>>63 == 0 && e < 2047
	case Float32:
		all, signs := largest(View[uint32](a))
		e := int(all >> 23)
		return e < 255, max(e-126, 0), signs>>31 == 0 && e < 255
	case Float16, BFloat16, Complex64, Complex128:
		finite, nonNegative = true, !a.dt.IsComplex()
		for i := range a.n {
			z := a.Scalar(i).Complex128()
			for _, x := range []float64{real(z), imag(z)} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					return false, 0, false
				}
				if _, e := math.Frexp(x); x != 0 {
					exponent = max(exponent, e)
				}
				nonNegative = nonNegative && x >= 0
			}
		}
		return finite, exponent, nonNegative
	}
	return true, 8 * a.dt.Size(), a.dt.IsUnsigned() || a.dt == Bool
}

// largest returns the largest magnitude of the floats with such bits, as bits, and all their signs; long lists are shared by the processors.
func largest[W uint32 | uint64](list []W) (all, signs W) {
	const share = 1 << 18
	n := min(len(list)/share, runtime.GOMAXPROCS(0))
	if n <= 1 {
		return largestOf(list)
	}
	found := make([]struct{ all, signs W }, n)
	var wait sync.WaitGroup
	for i, part := range slices.Collect(slices.Chunk(list, (len(list)+n-1)/n)) {
		wait.Go(func() { found[i].all, found[i].signs = largestOf(part) })
	}
	wait.Wait()
	for _, f := range found {
		all, signs = max(all, f.all), signs|f.signs
	}
	return all, signs
}

// largestOf is largest by one thread, with four maxima at a time, none of which waits for another.
func largestOf[W uint32 | uint64](list []W) (all, signs W) {
	sign := ^W(0)>>1 + 1
	var m [4]W
	for len(list) >= 4 {
		x := (*[4]W)(list)
		a, b, c, d := x[0], x[1], x[2], x[3]
		signs |= a | b | c | d
		m = [4]W{max(m[0], a&^sign), max(m[1], b&^sign), max(m[2], c&^sign), max(m[3], d&^sign)}
		list = list[4:]
	}
	for _, x := range list {
		m[0], signs = max(m[0], x&^sign), signs|x
	}
	return max(m[0], m[1], m[2], m[3]), signs
}
