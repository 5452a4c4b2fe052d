package main

import (
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// summary describes a result without regard to the order of its entries, so
// that results of different sides can be compared. peers/side.h computes the
// same. Entries of value 0, and infinite ones of (min,+), count in nnz only.
type summary struct {
	nnz     int64
	sorted  bool // every row (column, if stored by columns) ascends
	pattern uint64
	// Sums of the values, of the values weighted by their place, and of the
	// magnitudes of the former.
	sum, weighted, absolute float64
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit is a number in [0,1) made from x. Dense operands are made with it.
func unit(x uint64) float64 { return float64(mix(x)>>11) * 0x1p-53 }

func units(first, n int64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = unit(uint64(first) + uint64(i))
	}
	return v
}

func (s *summary) add(i, j uint64, v float64) {
	if v == 0 || math.IsInf(v, 1) {
		return
	}
	at := i<<32 | j
	s.pattern += mix(at)
	s.sum += v
	s.weighted += v * unit(at)
	s.absolute += math.Abs(v)
}

// summarize describes a matrix in CSR or CSC, or a dense tensor of at most two axes.
func summarize(t *tensor.Tensor) (summary, error) {
	s := summary{sorted: true}
	vals := tensor.View[float64](t.Values())
	if truths := tensor.View[bool](t.Values()); truths != nil {
		vals = make([]float64, len(truths))
		for i, v := range truths {
			if v {
				vals[i] = 1
			}
		}
	}
	if vals == nil {
		return s, fmt.Errorf("the result holds %v, not f64 or bool", t.DType())
	}
	if t.Format().IsDense() {
		columns := uint64(1)
		if t.Rank() == 2 {
			columns = uint64(t.Dims()[1])
		}
		for p, v := range vals {
			if !math.IsInf(v, 1) {
				s.nnz++
			}
			s.add(uint64(p)/columns, uint64(p)%columns, v)
		}
		return s, nil
	}
	stored := t.Format().Standard() // rows may be in any order
	byColumns := stored == tensor.CSC
	if !byColumns && stored != tensor.CSR {
		return s, fmt.Errorf("the result is stored as %v", t.Format())
	}
	pos, err1 := wideArray(t.LevelAt(1).Pos)
	crd, err2 := wideArray(t.LevelAt(1).Crd)
	if err1 != nil || err2 != nil {
		return s, fmt.Errorf("the result has odd index arrays: %v, %v", err1, err2)
	}
	s.nnz = t.NNZ()
	for outer := range uint64(t.Dims()[0]) { // inputs are square
		for p := pos(outer); p < pos(outer+1); p++ {
			inner := crd(p)
			if p > pos(outer) && crd(p-1) >= inner {
				s.sorted = false
			}
			if byColumns {
				s.add(inner, outer, vals[p])
			} else {
				s.add(outer, inner, vals[p])
			}
		}
	}
	return s, nil
}

// wideArray reads an index array of 32 or 64 bits.
func wideArray(a tensor.Array) (func(uint64) uint64, error) {
	if narrow := tensor.View[uint32](a); narrow != nil {
		return func(p uint64) uint64 { return uint64(narrow[p]) }, nil
	}
	if wide := tensor.View[uint64](a); wide != nil {
		return func(p uint64) uint64 { return wide[p] }, nil
	}
	return nil, fmt.Errorf("indices of type %v", a.DType())
}

// differs says how a result is not the one wanted, or nothing.
func (s summary) differs(want summary, anyPattern bool) string {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*want.absolute }
	switch {
	case s.nnz != want.nnz && !anyPattern:
		return fmt.Sprintf("%d entries, not %d", s.nnz, want.nnz)
	case s.pattern != want.pattern:
		return "another pattern"
	case !near(s.sum, want.sum) || !near(s.weighted, want.weighted):
		return fmt.Sprintf("other values: sums %g and %g, not %g and %g", s.sum, s.weighted, want.sum, want.weighted)
	}
	return ""
}
