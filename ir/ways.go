package ir

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Way is a kind of plan for a statement: with or without workspaces, and with or without
// operands that are stored again.
type Way struct{ Workspaces, Conversions bool }

// String says what a plan of this kind has.
func (w Way) String() string {
	switch {
	case w.Workspaces && w.Conversions:
		return "with a workspace and a conversion"
	case w.Workspaces:
		return "with a workspace"
	case w.Conversions:
		return "with a conversion"
	}
	return "with neither"
}

// WayCost is the cost of the cheapest plan of a kind that was tried, in iterations of its loops, by an estimate
// that takes 1000 for an extent and 8 for the entries of a line.
type WayCost struct {
	Way        Way
	Iterations float64
}

// Nest is a nest of loops that was weighed: its order, as arguments of the command, and what it costs in iterations by the estimate
// of WayCost.
type Nest struct {
	Order      string
	Iterations float64
}

// way is the kind of a candidate.
func (c *candidate) way() Way { return Way{c.split != nil, len(c.convert) > 0} }

// compare notes what a candidate costs.
func (s *scheduler) compare(c *candidate) {
	for i := range s.ways {
		if w := &s.ways[i]; w.Way == c.way() {
			w.Iterations = min(w.Iterations, c.cost)
			return
		}
	}
	s.ways = append(s.ways, WayCost{c.way(), c.cost})
}

// compared lists the ways with that of the best candidate first, then by cost; none if the best
// candidate needs nothing that has to be explained.
func (s *scheduler) compared() []WayCost {
	best := s.best.way()
	if best == (Way{}) {
		return nil
	}
	for i := range s.ways {
		if s.ways[i].Way == best {
			s.ways[i].Iterations = s.best.cost
		}
	}
	slices.SortStableFunc(s.ways, func(x, y WayCost) int {
		switch best {
		case x.Way:
			return -1
		case y.Way:
			return 1
		}
		return cmp.Compare(x.Iterations, y.Iterations)
	})
	return s.ways
}

// FormatWays writes the comparison as a line of a plan.
func FormatWays(list []WayCost) string {
	var parts []string
	for i, w := range list {
		text := fmt.Sprintf("%s %s", Rounded(w.Iterations), w.Way)
		if i == 0 {
			text += " (chosen)"
		}
		parts = append(parts, text)
	}
	if len(list) == 1 {
		parts = append(parts, "nothing else does")
	}
	return "# estimated iterations: " + strings.Join(parts, ", ")
}

// Rounded writes a number of iterations, entries or bytes with two digits.
func Rounded(x float64) string {
	if x >= 10 {
		scale := math.Pow(10, math.Floor(math.Log10(x))-1)
		x = math.Round(x/scale) * scale
	}
	unit := ""
	switch {
	case x >= 1e15:
		return fmt.Sprintf("%.0e", x)
	case x >= 1e9:
		x, unit = x/1e9, " billion"
	case x >= 1e6:
		x, unit = x/1e6, " million"
	case x >= 1e3:
		x, unit = x/1e3, " thousand"
	}
	if x < 10 {
		return fmt.Sprintf("%.2g%s", x, unit)
	}
	return fmt.Sprintf("%.0f%s", x, unit)
}
