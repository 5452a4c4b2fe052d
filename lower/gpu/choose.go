package gpu

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// way is a mapping of a stage, by the word that schedules have for it. It adds what stands in the stage's place, and reports whether it can.
type way struct {
	word string
	take func(m *mapper, s *loop.Stage) bool
}

// The ways of a stage, in the order in which they are tried: each is right where it can be taken. The last ones always can.
func callWays() []way { // of one call
	return []way{
		{"iterations", (*mapper).independent},
		{"atomics", func(m *mapper, s *loop.Stage) bool { return m.atomics(flattened(s)) }},
		{"extremes", func(m *mapper, s *loop.Stage) bool { return m.extremes(flattened(s)) }},
		{"block", (*mapper).block},
		{"sorted", (*mapper).scatters},
		{"owners", (*mapper).owners},
		{"thread", always((*mapper).serial)},
	}
}

func elementWays() []way { // whose chunks are single elements; "elements" can always be taken
	return []way{
		{"positions", (*mapper).positions},
		{"rows", (*mapper).rows},
		{"columns", (*mapper).columns},
		{"entries", (*mapper).entries},
		{"lines", (*mapper).lineStores},
		{"updates", (*mapper).updates},
	}
}

func chunkWays() []way {
	return []way{
		{"blocks", (*mapper).blocks},
		{"chunks", always((*mapper).chunks)},
	}
}

const byElement = "elements"

func always(take func(m *mapper, s *loop.Stage)) func(m *mapper, s *loop.Stage) bool {
	return func(m *mapper, s *loop.Stage) bool { take(m, s); return true }
}

// Chosen says by which words the stages of p that have several ways are mapped.
func Chosen(p *loop.Program, o Options) []ir.Mapping { return mapped(p, o).chosen }

// asked is the way that a schedule asks for, "" if it leaves that open: it does for stages that others are made of.
func (m *mapper) asked(s *loop.Stage) string {
	if m.inside {
		return ""
	}
	for _, x := range m.opts.Mapping {
		if x.Stage == s.Name || x.Stage == "" {
			return x.Way
		}
	}
	return ""
}

// first maps a stage in the way that is asked for, or else in the first that can be taken; false if none can.
func (m *mapper) first(s *loop.Stage, ways []way, asked string) bool {
	inside := m.inside
	defer func() { m.inside = inside }()
	m.inside = true
	for _, w := range ways {
		if (asked == "" || asked == w.word) && w.take(m, s) {
			m.inside = inside
			m.chose(s, w.word)
			return true
		}
	}
	return false
}

func (m *mapper) chose(s *loop.Stage, word string) {
	if !m.inside {
		m.chosen = append(m.chosen, ir.Mapping{Stage: s.Name, Way: word})
	}
}

// choose maps a stage in the way that is asked for; what cannot be is as if it was not.
func (m *mapper) choose(s *loop.Stage, ways []way) {
	if asked := m.asked(s); asked == "" || !m.first(s, ways, asked) {
		m.first(s, ways, "")
	}
}

// single maps a stage whose chunks are single elements.
func (m *mapper) single(s *loop.Stage) {
	asked, side := m.asked(s), m.pairs(s, onlySideBySide)
	if asked != byElement && m.first(side, elementWays(), asked) {
		return
	}
	s = m.pairs(s, anywhereAtAll)
	if asked != byElement && (m.first(s, elementWays(), asked) || asked != "" && (m.first(side, elementWays(), "") || m.first(s, elementWays(), ""))) {
		return
	}
	m.elements(s)
	m.chose(s, byElement)
}

// unmet is the error that something was asked for which does not hold, nil if all does: of what speaks of no stage, that some stage has it.
func (m *mapper) unmet() error {
	for _, x := range m.opts.Mapping {
		if !slices.ContainsFunc(m.chosen, func(c ir.Mapping) bool { return c.Way == x.Way && (x.Stage == "" || c.Stage == x.Stage) }) {
			return &MappingError{Asked: x, Have: m.chosen}
		}
	}
	return nil
}

// MappingError says that no stage of a program can be mapped as it was asked for.
type MappingError struct {
	Asked ir.Mapping
	Have  []ir.Mapping // without that
}

// Error implements error.
func (e *MappingError) Error() string {
	text := ""
	for i, x := range e.Have {
		if i > 0 {
			text += ", "
		}
		text += x.String()
	}
	if text == "" {
		text = "no stage with several ways"
	}
	return fmt.Sprintf("there is %s, and no %s", text, e.Asked)
}
