package explorer

import (
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
)

// Place is a part of the program that lines of stages come from: an index variable, wherever its statement has it, an access, or
// an operator.
type Place struct {
	Symbol int      `json:"symbol"` // what it is about; -1 if that has no name
	Spans  [][2]int `json:"spans"`  // of the program
}

// Origin says that a line of a text, from 1, comes from a place.
type Origin struct {
	Line  int `json:"line"`
	Place int `json:"place"` // its number
}

// places are those of a program that something comes from.
type places struct {
	program string
	parts   map[int]Place // what begins at each byte
	numbers map[int]int   // of those in list, by byte
	list    []Place
}

func newPlaces(program string, names Names) *places {
	p := &places{program: program, parts: map[int]Place{}, numbers: map[int]int{}, list: []Place{}}
	checked := checked(program)
	if checked == nil {
		return p
	}
	number := map[Symbol]int{}
	for i, s := range names.Symbols {
		number[s] = i
	}
	all := spansOf(program, names)
	for k, st := range checked.Stmts {
		from, to := units(program, st.Pos.Offset), units(program, len(program))
		if k+1 < len(checked.Stmts) {
			to = units(program, checked.Stmts[k+1].Pos.Offset)
		}
		for _, x := range st.Indices {
			if symbol, ok := number[Symbol{x.Name, "index"}]; ok && x.Pos.IsKnown() {
				place := Place{Symbol: symbol}
				for _, s := range all {
					if s.Symbol == symbol && s.From >= from && s.To <= to {
						place.Spans = append(place.Spans, [2]int{s.From, s.To})
					}
				}
				p.parts[x.Pos.Offset] = place
			}
		}
		for _, a := range append(lang.Accesses(st.RHS), append(lang.Accesses(st.LHS), st.LHS)...) {
			symbol, ok := number[Symbol{a.Tensor.Name, "tensor"}]
			if !ok {
				symbol = -1
			}
			p.parts[a.Pos.Offset] = Place{symbol, [][2]int{{units(program, a.Pos.Offset), units(program, accessEnd(program, a.Pos.Offset))}}}
		}
	}
	return p
}

// accessEnd is where an access ends that begins at a byte: behind its parentheses, if it has some.
func accessEnd(text string, at int) int {
	end := wordEnd(text, at)
	rest := text[end:]
	if open := len(rest) - len(strings.TrimLeft(rest, " \t")); !strings.HasPrefix(rest[open:], "(") {
		return end
	}
	depth := 0
	for i, r := range rest {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return end + i + 1
			}
		}
	}
	return end
}

// at is the number of the place that begins at a byte.
func (p *places) at(offset int) int {
	if n, ok := p.numbers[offset]; ok {
		return n
	}
	place, ok := p.parts[offset]
	if !ok {
		place = Place{-1, [][2]int{{units(p.program, offset), units(p.program, wordEnd(p.program, offset))}}}
	}
	p.numbers[offset] = len(p.list)
	p.list = append(p.list, place)
	return len(p.list) - 1
}

// origins are those of a stage.
func (p *places) origins(k *lacuna.Kernel, stage string) ([]Origin, error) {
	list := []Origin{}
	lines, err := k.SourceMap(stage)
	for _, l := range lines {
		list = append(list, Origin{l.Line, p.at(l.Offset)})
	}
	return list, err
}
