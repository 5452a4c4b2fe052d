package gpu

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// mapping is a way to map a stage to threads, which the file that has it registers. It is right wherever it can be taken.
type mapping struct {
	of    stageKind
	place int    // in which it is tried among those of such stages: what costs less, where it can be taken, comes first
	word  string // that schedules have for it
	// take adds what stands in the stage's place, and reports whether it can.
	take func(m *mapper, s *loop.Stage) bool
	// says is what the stages do that it makes, by what their names end in, behind "_by_" or alone.
	says map[string]string
}

// stageKind says how a stage's function is called.
type stageKind uint8

const (
	ofOneCall  stageKind = iota
	ofElements           // for each element; byElement can always be taken
	ofChunks
)

var registered []mapping

// register makes a mapping known.
func register(x mapping) bool {
	maps.Copy(ways, x.says)
	ir.AddMapping(x.word)
	registered = append(registered, x)
	slices.SortFunc(registered, func(x, y mapping) int { return x.place - y.place })
	return true
}

// waysOf are the mappings of some stages, in the order in which they are tried. But for elements, the last can always be taken.
func waysOf(kind stageKind) []mapping {
	return slices.DeleteFunc(slices.Clone(registered), func(x mapping) bool { return x.of != kind })
}

const byElement = "elements"

func init() { ir.AddMapping(byElement) }

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
func (m *mapper) first(s *loop.Stage, kind stageKind, asked string) bool {
	inside := m.inside
	defer func() { m.inside = inside }()
	m.inside = true
	for _, w := range waysOf(kind) {
		if (asked == "" || asked == w.word) && m.attempt(w.take, s) {
			m.inside = inside
			m.chose(s, w.word)
			return true
		}
	}
	return false
}

// attempt takes back what has been added if it was to no avail.
func (m *mapper) attempt(take func(m *mapper, s *loop.Stage) bool, s *loop.Stage) bool {
	before := m.mark()
	took := take(m, s)
	if !took {
		m.back(before)
	}
	return took
}

// mark is how far the program is that is made.
type mark struct{ buffers, scalars, stages, partitions int }

func (m *mapper) mark() mark {
	return mark{len(m.out.Buffers), len(m.out.Scalars), len(m.out.Stages), len(m.from.Partitions)}
}

// back takes back what has been added since.
func (m *mapper) back(to mark) {
	m.out.Buffers, m.out.Scalars = m.out.Buffers[:to.buffers], m.out.Scalars[:to.scalars]
	m.out.Stages, m.from.Partitions = m.out.Stages[:to.stages], m.from.Partitions[:to.partitions]
	m.style, m.cuts = m.style[:to.partitions], m.cuts[:to.partitions]
	maps.DeleteFunc(m.lengths, func(_, id loop.BufferID) bool { return int(id) >= to.buffers })
}

func (m *mapper) chose(s *loop.Stage, word string) {
	if !m.inside {
		m.chosen = append(m.chosen, ir.Mapping{Stage: s.Name, Way: word})
	}
}

// choose maps a stage in the way that is asked for; what cannot be is as if it was not.
func (m *mapper) choose(s *loop.Stage, kind stageKind) {
	if asked := m.asked(s); asked == "" || !m.first(s, kind, asked) {
		m.first(s, kind, "")
	}
}

// single maps a stage whose chunks are single elements.
func (m *mapper) single(s *loop.Stage) {
	asked, side := m.asked(s), m.pairs(s, onlySideBySide)
	if asked != byElement && m.first(side, ofElements, asked) {
		return
	}
	s = m.pairs(s, anywhereAtAll)
	if asked != byElement && (m.first(s, ofElements, asked) || asked != "" && (m.first(side, ofElements, "") || m.first(s, ofElements, ""))) {
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
