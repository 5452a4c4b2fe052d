package exec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
)

// SourceLine says that a line of a stage, counted from 1, comes from what begins at a byte of the program: an index
// variable, an access, an operator or a statement.
type SourceLine struct{ Line, Offset int }

// SourceMap says where the lines of a stage, as [Kernel.Explain] prints them, come from: the compiler keeps positions through all stages
// up to the loops. A line may come from several places or, as one that says how memory is allocated, from none. The
// stages of LLVM and below have no map, and nothing is known of a kernel that was made for another text, with other numbers in it.
func (k *Kernel) SourceMap(stage string) ([]SourceLine, error) {
	if err := k.compiled(); err != nil {
		return nil, err
	}
	if k.plan.Source.Source != k.file.Source {
		return nil, nil
	}
	m := &sourceMap{}
	var err error
	switch stage {
	case "syntax":
		for _, s := range k.file.Stmts {
			m.line(s.Pos)
		}
		m.line()
		for _, s := range k.asWritten().Stmts {
			m.line(s.Pos)
		}
	case "logic", "schedule": // each statement is a line
		for _, s := range k.checked.Stmts {
			m.line(s.Pos)
		}
	case "plan":
		_, lines := k.plan.Listing()
		for _, l := range lines {
			m.lines = append(m.lines, SourceLine{l.Number, l.Pos.Offset})
		}
	case "lattice":
		_, err = k.eachStep(func(st *step, v *version) (string, error) { m.notes(st, k.latticeOf(st, v)); return "", nil })
	case "loops":
		_, err = k.eachVersion(func(v *version) (string, error) { m.program(v.Lower.Program, 0); return "", nil })
	case "grids":
		_, err = k.onGPU(func(p *loop.Program) (string, error) {
			m.program(p, strings.Count(strings.TrimSuffix(gpu.Text(p), p.String()), "\n"))
			return "", nil
		})
	}
	slices.SortFunc(m.lines, func(a, b SourceLine) int { return cmp.Or(a.Line-b.Line, a.Offset-b.Offset) })
	return slices.Compact(m.lines), err
}

// sourceMap is a map under construction.
type sourceMap struct {
	lines []SourceLine
	at    int // lines so far
}

// line is one more, which comes from some places.
func (m *sourceMap) line(places ...ir.Pos) {
	m.at++
	for _, p := range places {
		if p.IsKnown() {
			m.lines = append(m.lines, SourceLine{m.at, p.Offset})
		}
	}
}

// notes are lines about the loops of a step, each of which begins with the index variable that it is about, and an empty line.
func (m *sourceMap) notes(st *step, notes []string) {
	c, _ := st.plan.(*ir.Compute)
	if len(notes) == 0 {
		m.line()
	}
	for _, note := range notes {
		name, _, _ := strings.Cut(note, ":")
		var at ir.Pos
		if c != nil {
			if i := slices.IndexFunc(c.Indices, func(x *ir.Index) bool { return x.Name == name }); i >= 0 {
				at = c.Indices[i].Pos
			}
		}
		m.line(at)
	}
	m.line()
}

// program is the text of a program of loops, behind some lines, and an empty line.
func (m *sourceMap) program(p *loop.Program, before int) {
	text, lines := p.Listing()
	for s, line := range lines {
		if offset, known := loop.OriginOf(s).Offset(); known {
			m.lines = append(m.lines, SourceLine{m.at + before + line, offset})
		}
	}
	m.at += before + strings.Count(text, "\n") + 1
}
