// Package directives does to the loops of a program what a schedule asks for: those that were made for its indices are marked,
// split and tiled.
package directives

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Apply does to the loops of a program what the directives of its step say.
func Apply(p *loop.Program, c *ir.Compute) error {
	d := &c.Directives
	for _, name := range slices.Sorted(maps.Keys(d.Unroll)) {
		found := markLoops(p, c, name, func(f *loop.For) bool {
			f.Unroll = d.Unroll[name]
			return true
		})
		if found == 0 {
			return d.Fail("unroll", uncounted(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Vectorize)) {
		marked := markLoops(p, c, name, func(f *loop.For) bool {
			if f.Independent {
				f.Lanes = d.Vectorize[name]
			}
			return f.Independent
		})
		if marked == 0 {
			return d.Fail("vectorize", "an iteration of the loop over "+name+" may wait for the one before, as a sum does")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Split)) {
		steps := stepsOf(c, ir.Block{Index: name, Steps: d.Split[name]})
		if !replace(p, func(f *loop.Func) *loop.Func { return loop.Split(f, steps) }) {
			return d.Fail("split", uncounted(name))
		}
	}
	if len(d.Tile) == 0 {
		return nil
	}
	why := ""
	steps := stepsOf(c, d.Tile...)
	if !replace(p, func(f *loop.Func) *loop.Func {
		out, problem := loop.Block(f, len(d.Tile), steps)
		if problem != "" {
			why = problem
		}
		return out
	}) {
		if why == "" {
			var names []string
			for _, b := range d.Tile {
				names = append(names, b.Index)
			}
			why = uncounted(strings.Join(names, " and "))
		}
		return d.Fail("tile", why)
	}
	return nil
}

// uncounted says that no loop was made for an index that counts.
func uncounted(name string) string {
	return fmt.Sprintf("no counting loop runs over %s: it is merged, or one with another", name)
}

// markLoops does something to each loop that was made for an index, and counts for how many it says true.
func markLoops(p *loop.Program, c *ir.Compute, name string, do func(*loop.For) bool) (done int) {
	steps := stepsOf(c, ir.Block{Index: name, Steps: 1})
	for i := range p.Stages {
		if p.Stages[i].Func == nil {
			continue
		}
		loop.WalkStmts(p.Stages[i].Func.Body, func(s loop.Stmt) {
			if f, ok := s.(*loop.For); ok && steps(f) > 0 && do(f) {
				done++
			}
		})
	}
	return done
}

// replace replaces the functions of stages, and reports whether it did.
func replace(p *loop.Program, by func(*loop.Func) *loop.Func) (any bool) {
	for i := range p.Stages {
		if f := p.Stages[i].Func; f != nil {
			p.Stages[i].Func = by(f)
			any = any || p.Stages[i].Func != f
		}
	}
	return any
}

// stepsOf tells loops that were made for some indices: it gives the steps of a block of each, and 0 for others.
func stepsOf(c *ir.Compute, blocks ...ir.Block) func(*loop.For) int64 {
	steps := map[loop.Origin]int64{}
	for _, v := range c.Indices {
		for _, b := range blocks {
			if origin := emit.Origin(v.Pos); v.Name == b.Index && origin != 0 {
				steps[origin] = b.Steps
			}
		}
	}
	return func(f *loop.For) int64 { return steps[f.Origin] }
}
