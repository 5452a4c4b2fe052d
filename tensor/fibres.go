package tensor

import (
	"math"
)

// FibreStats describes how many positions of a level stand under each position
// of the level before it: for level 1 of CSR, the lengths of the rows.
type FibreStats struct {
	Fibres   int64   // parent positions
	Empty    int64   // of them, without any position
	Min, Max int64   // shortest and longest
	Mean     float64 // NaN without fibres
	CV       float64 // coefficient of variation: standard deviation / mean; 0 if the mean is 0
}

// FibreLengths describes the fibres of a physical level, in storage order. The
// fibres of a dense level all have its size, those of a singleton length 1. A
// level that does not exist is an error.
func (t *Tensor) FibreLengths(level int) (FibreStats, error) {
	if err := t.Pin(); err != nil {
		return FibreStats{}, err
	}
	defer t.Unpin()
	if level < 0 || level >= len(t.levels) {
		return FibreStats{}, named(tensorError("there is no level %d: format %v has %d levels", level, t.format, len(t.levels)), t.name)
	}
	t, err := t.Listed()
	if err != nil {
		return FibreStats{}, err
	}
	l := t.levels[level]
	switch {
	case l.Full():
		return constantFibres(t.positions(level-1), l.Size), nil
	case l.Branchless():
		return constantFibres(int64(l.Crd.n), 1), nil
	}
	s := FibreStats{Fibres: int64(l.Pos.n) - 1, Min: math.MaxInt64}
	previous := l.Pos.At64(0)
	var mean, squares float64 // Welford's running mean and sum of squared deviations
	for p := 1; p < l.Pos.n; p++ {
		end := l.Pos.At64(p)
		length := end - previous
		previous = end
		s.Min, s.Max = min(s.Min, length), max(s.Max, length)
		if length == 0 {
			s.Empty++
		}
		d := float64(length) - mean
		mean += d / float64(p)
		squares += d * (float64(length) - mean)
	}
	if s.Fibres == 0 {
		return constantFibres(0, 0), nil
	}
	s.Mean = float64(l.Crd.n) / float64(s.Fibres)
	if s.Mean > 0 {
		s.CV = math.Sqrt(squares/float64(s.Fibres)) / s.Mean
	}
	return s, nil
}

// constantFibres describes n fibres of one length.
func constantFibres(n, length int64) FibreStats {
	if n == 0 {
		return FibreStats{Mean: math.NaN()}
	}
	s := FibreStats{Fibres: n, Min: length, Max: length, Mean: float64(length)}
	if length == 0 {
		s.Empty = n
	}
	return s
}

// positions is the number of positions of a level; 1 for the root, level -1.
func (t *Tensor) positions(level int) int64 {
	n := int64(1)
	for k := range t.levels[:level+1] {
		n, _ = t.levels[k].schema().Positions(&t.levels[k], n)
	}
	return n
}

// Nodes draws a level as a part of a tree: the coordinate of each of its positions, and the position above it. It is false
// if there are more than most, no such level, or no arrays any more.
func (t *Tensor) Nodes(level int, most int64) (coords, parents []int64, ok bool) {
	if t.Pin() != nil {
		return nil, nil, false
	}
	defer t.Unpin()
	if level < 0 || level >= len(t.levels) {
		return nil, nil, false
	}
	n := t.positions(level)
	if n > most {
		return nil, nil, false
	}
	coords, parents = make([]int64, n), make([]int64, n)
	for i := range parents {
		parents[i] = int64(i)
	}
	if n > 0 {
		t.levels[level].schema().Ascend(&t.levels[level], parents, coords)
	}
	return coords, parents, true
}
