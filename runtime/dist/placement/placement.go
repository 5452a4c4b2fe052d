// Package placement says which rank has which part of a tensor. A Layout is what people write, such as
//
//	over (r)                the first axis is cut into blocks, one for each rank of the grid's axis r
//	over (*, r by cyclic)   the second axis is dealt out, one coordinate after the other
//	over (r by entries)     blocks with about the same number of entries
//	over (r by p)           as the vector p says: coordinate i belongs to rank p(i)
//	over (r, c)             blocks of rows and columns, over a grid of ranks
//	replicated              every rank has all
//
// and a Placement what it means for one tensor and one group of ranks.
package placement

import (
	"fmt"
	"slices"
	"strings"
)

// Cut says which part of an axis each coordinate belongs to.
type Cut struct {
	Extent int64
	Parts  int
	bounds []int64 // of blocks, Parts+1 of them; nil: another way
	block  int64   // of coordinates that are dealt out; 0: another way
	owner  []int32 // by coordinate
}

// Blocks cuts an axis into blocks whose lengths differ by no more than one.
func Blocks(extent int64, parts int) *Cut {
	bounds := make([]int64, parts+1)
	for p := range bounds {
		q, r := extent/int64(parts), extent%int64(parts)
		bounds[p] = q*int64(p) + min(r, int64(p))
	}
	return &Cut{Extent: extent, Parts: parts, bounds: bounds}
}

// Single gives all of an axis to one part.
func Single(extent int64, parts, part int) *Cut {
	bounds := make([]int64, parts+1)
	for p := part + 1; p <= parts; p++ {
		bounds[p] = extent
	}
	return &Cut{Extent: extent, Parts: parts, bounds: bounds}
}

// Cyclic deals out blocks of coordinates, one after the other.
func Cyclic(extent int64, parts int, block int64) *Cut {
	return &Cut{Extent: extent, Parts: parts, block: block}
}

// Weighted cuts an axis into blocks of about the same weight. Weights are given by coordinate; equal ones give the blocks of Blocks.
func Weighted(weights []int64, parts int) *Cut {
	var total int64
	for _, w := range weights {
		total += w
	}
	if total == 0 {
		return Blocks(int64(len(weights)), parts)
	}
	bounds := make([]int64, parts+1)
	p, sum := 1, int64(0)
	for i, w := range weights {
		// The coordinate goes to the part in which its middle is.
		for p < parts && sum+w/2 >= share(total, p, parts) {
			bounds[p] = int64(i)
			p++
		}
		sum += w
	}
	for ; p <= parts; p++ {
		bounds[p] = int64(len(weights))
	}
	return &Cut{Extent: int64(len(weights)), Parts: parts, bounds: bounds}
}

// share is what the first p of some parts have of a total.
func share(total int64, p, parts int) int64 {
	n := int64(parts)
	return total/n*int64(p) + total%n*int64(p)/n
}

// Given cuts an axis as a list says: coordinate i belongs to part owner[i].
func Given(owner []int64, parts int) (*Cut, error) {
	c := &Cut{Extent: int64(len(owner)), Parts: parts, owner: make([]int32, len(owner))}
	for i, p := range owner {
		if p < 0 || p >= int64(parts) {
			return nil, fmt.Errorf("coordinate %d is given to part %d, but there are %d, counted from 0", i, p, parts)
		}
		c.owner[i] = int32(p)
	}
	return c, nil
}

// Owner is the part that a coordinate belongs to.
func (c *Cut) Owner(x int64) int {
	switch {
	case c.owner != nil:
		return int(c.owner[x])
	case c.block > 0:
		return int(x / c.block % int64(c.Parts))
	}
	// The last bound that is not after x: empty parts before it have the same.
	p, found := slices.BinarySearch(c.bounds, x)
	if !found {
		return p - 1
	}
	for c.bounds[p+1] == x {
		p++
	}
	return p
}

// Contiguous reports whether parts are blocks, one after the other.
func (c *Cut) Contiguous() bool { return c.bounds != nil }

// Coords are those of a part.
func (c *Cut) Coords(part int) Set {
	switch {
	case c.owner != nil:
		var list []int64
		for x, p := range c.owner {
			if int(p) == part {
				list = append(list, int64(x))
			}
		}
		return List(list)
	case c.block > 0:
		var list []int64
		for lo := int64(part) * c.block; lo < c.Extent; lo += c.block * int64(c.Parts) {
			for x := lo; x < min(lo+c.block, c.Extent); x++ {
				list = append(list, x)
			}
		}
		return List(list)
	}
	return Range(c.bounds[part], c.bounds[part+1])
}

// Equal reports whether two cuts give every coordinate to the same part.
func (c *Cut) Equal(d *Cut) bool {
	if c == nil || d == nil {
		return c == d
	}
	if c.Extent != d.Extent || c.Parts != d.Parts {
		return false
	}
	for p := range c.Parts {
		if !c.Coords(p).Equal(d.Coords(p)) {
			return false
		}
	}
	return true
}

// Grid is how ranks are numbered along axes that have names: the last one's number changes fastest.
type Grid struct {
	Names []string
	Sizes []int
}

// Line is the grid of one axis.
func Line(name string, ranks int) *Grid { return &Grid{[]string{name}, []int{ranks}} }

// Ranks is how many ranks there are.
func (g *Grid) Ranks() int {
	n := 1
	for _, s := range g.Sizes {
		n *= s
	}
	return n
}

// At is a rank's number along each axis.
func (g *Grid) At(rank int) []int {
	at := make([]int, len(g.Sizes))
	for k, n := range slices.Backward(g.Sizes) {
		at[k] = rank % n
		rank /= n
	}
	return at
}

// Rank is the rank at some place.
func (g *Grid) Rank(at []int) int {
	rank := 0
	for k, n := range g.Sizes {
		rank = rank*n + at[k]
	}
	return rank
}

// String prints the grid as ParseGrid reads it.
func (g *Grid) String() string {
	var parts []string
	for k, name := range g.Names {
		parts = append(parts, fmt.Sprintf("%s=%d", name, g.Sizes[k]))
	}
	return strings.Join(parts, ",")
}

// Placement is who has what of one tensor.
type Placement struct {
	Grid *Grid
	Cuts []*Cut // by axis of the tensor; nil: it is not cut
	Over []int  // by axis of the tensor: the grid's axis that it is cut over
}

// Replicated places a tensor of some rank on every rank.
func Replicated(g *Grid, rank int) *Placement {
	return &Placement{g, make([]*Cut, rank), make([]int, rank)}
}

// OneAxis cuts one axis of a tensor over one axis of the grid.
func OneAxis(g *Grid, rank, axis int, c *Cut, over int) *Placement {
	p := Replicated(g, rank)
	p.Cuts[axis], p.Over[axis] = c, over
	return p
}

// IsReplicated reports whether every rank has all.
func (p *Placement) IsReplicated() bool {
	return !slices.ContainsFunc(p.Cuts, func(c *Cut) bool { return c != nil })
}

// Part is what a rank has of a tensor of the given shape, by axis.
func (p *Placement) Part(rank int, shape []int64) []Set {
	at := p.Grid.At(rank)
	sets := make([]Set, len(shape))
	for k, n := range shape {
		sets[k] = Range(0, n)
		if c := p.Cuts[k]; c != nil {
			sets[k] = c.Coords(at[p.Over[k]])
		}
	}
	return sets
}

// Providers are the ranks of which a rank gets what it has not: for each part of the tensor one, which of those that have it
// is at the rank's own place along the axes of the grid that the tensor is not cut over.
func (p *Placement) Providers(rank int) []int {
	list := [][]int{p.Grid.At(rank)}
	for k, c := range p.Cuts {
		if c == nil {
			continue
		}
		var next [][]int
		for _, at := range list {
			for part := range c.Parts {
				at := slices.Clone(at)
				at[p.Over[k]] = part
				next = append(next, at)
			}
		}
		list = next
	}
	ranks := make([]int, len(list))
	for i, at := range list {
		ranks[i] = p.Grid.Rank(at)
	}
	return ranks
}

// First reports whether a rank is the first of those that have the same part.
func (p *Placement) First(rank int) bool {
	for axis, at := range p.Grid.At(rank) {
		cut := false
		for k, c := range p.Cuts {
			cut = cut || c != nil && p.Over[k] == axis
		}
		if !cut && at != 0 {
			return false
		}
	}
	return true
}

// Equal reports whether two placements of tensors of one shape give every rank the same.
func (p *Placement) Equal(q *Placement) bool {
	if !slices.Equal(p.Grid.Sizes, q.Grid.Sizes) || len(p.Cuts) != len(q.Cuts) {
		return false
	}
	for k, c := range p.Cuts {
		if !c.Equal(q.Cuts[k]) || c != nil && p.Over[k] != q.Over[k] {
			return false
		}
	}
	return true
}

// String tells how the axes are cut, in the language of layouts where that has a word for it.
func (p *Placement) String() string {
	if p.IsReplicated() {
		return "replicated"
	}
	var items []string
	for k, c := range p.Cuts {
		switch {
		case c == nil:
			items = append(items, "*")
		default:
			items = append(items, p.Grid.Names[p.Over[k]]+c.how())
		}
	}
	for items[len(items)-1] == "*" {
		items = items[:len(items)-1]
	}
	return "over (" + strings.Join(items, ", ") + ")"
}

// how is how an axis is cut, in words.
func (c *Cut) how() string {
	switch {
	case c.owner != nil:
		return " by a list"
	case c.block == 1:
		return " by cyclic"
	case c.block > 0:
		return fmt.Sprintf(" by cyclic(%d)", c.block)
	case slices.Equal(c.bounds, Blocks(c.Extent, c.Parts).bounds):
		return ""
	}
	whole := 0
	for p := range c.Parts {
		if c.bounds[p] < c.bounds[p+1] {
			whole++
		}
	}
	if whole == 1 {
		return fmt.Sprintf(" all at %d", c.Owner(0))
	}
	return " by entries"
}
