package explorer

import (
	"context"
	"errors"
	"github.com/lacuna-sparse/lacuna/internal/suggest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Check is what is wrong with a program, or may be.
type Check struct {
	Names
	Spans       []Span       `json:"spans"` // of the program
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Diagnostic is an error or a warning about a part of the program.
type Diagnostic struct {
	Severity string `json:"severity"` // error or warning
	Code     string `json:"code"`
	From     int    `json:"from"`
	To       int    `json:"to"` // behind the part; From if the place is not known
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Fixes    []Fix  `json:"fixes,omitempty"`
}

// Fix is a text to put in the place of a part of the program.
type Fix struct {
	Means string `json:"means"`
	From  int    `json:"from"`
	To    int    `json:"to"`
	Text  string `json:"text"`
}

func (s *Service) check(ctx context.Context, r *Request) (any, error) {
	c := &Check{Names: namesOf(r.Program), Diagnostics: []Diagnostic{}}
	c.Spans = spansOf(r.Program, c.Names)
	args, opts, err := s.operands(ctx, r)
	if err != nil { // the operands have their own place to say so
		args, opts = nil, nil
	}
	for _, n := range c.Operands {
		if args[n.Name] == nil {
			opts = append(opts, lacuna.Format(n.Name, tensor.Dense(n.Rank), tensor.Float64))
		}
	}
	warnings, err := lacuna.Check(r.Program, opts...)
	if err != nil {
		f := failure(r.Program, err)
		if len(f.Diagnostics) == 0 {
			return nil, err
		}
		c.Diagnostics = f.Diagnostics
	}
	c.Diagnostics = append(c.Diagnostics, warningsAt(r.Program, warnings)...)
	c.Diagnostics = append(c.Diagnostics, misspelt(r, c.Operands)...)
	return c, nil
}

// misspelt warns of operands that have nothing but what the page made up, and are spelt nearly as a function: to a compiler sqrtt(x(i)) is a
// tensor like any other.
func misspelt(r *Request, operands []Named) []Diagnostic {
	var functions []string
	for name := range lang.Functions {
		if unicode.IsLetter(rune(name[0])) {
			functions = append(functions, name)
		}
	}
	meant := map[string]string{} // by operand
	for _, n := range operands {
		own := slices.ContainsFunc(r.Operands, func(o Operand) bool { return o.Name == n.Name && o.given() && o.Random == nil })
		if hint := suggest.DidYouMean(n.Name, functions); hint != "" && n.Rank > 0 && len(n.Name) > 2 && !own {
			meant[n.Name] = hint
		}
	}
	var list []Diagnostic
	if p := checked(r.Program); p != nil && len(meant) > 0 {
		for _, st := range p.Stmts {
			for _, a := range lang.Accesses(st.RHS) {
				if hint := meant[a.Tensor.Name]; hint != "" {
					d := errorAt(r.Program, &lang.Error{Pos: a.Pos, Msg: a.Tensor.Name + " is an operand: there is no such function", Hint: hint})
					d.Severity = "warning"
					list = append(list, d)
				}
			}
		}
	}
	return list
}

// meant matches the hint for a word that is near another (suggest.DidYouMean).
var meant = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`did you mean (\S+)\?$`) })

// spelling replaces the word that an error is about, the last one at its place or before it that is near the one that its hint has.
func spelling(program string, e *lang.Error) []Fix {
	m := meant().FindStringSubmatch(e.Hint)
	if m == nil {
		return nil
	}
	for at := e.Pos.Offset; at >= 0; at-- {
		if before, _ := utf8.DecodeLastRuneInString(program[:at]); isWord(before) {
			continue // within a word
		}
		word := program[at:wordEnd(program, at)]
		if strings.TrimFunc(word, isWord) == "" && suggest.DidYouMean(word, []string{m[1]}) == m[0] {
			return []Fix{{"write " + m[1], units(program, at), units(program, at+len(word)), m[1]}}
		}
	}
	return nil
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func errorAt(program string, e *lang.Error) Diagnostic {
	d := Diagnostic{Severity: "error", Code: string(e.Code), Message: e.Msg, Hint: e.Hint}
	if e.Pos.IsKnown() {
		d.From, d.To = units(program, e.Pos.Offset), units(program, wordEnd(program, e.Pos.Offset))
		d.Fixes = spelling(program, e)
	}
	return d
}

func warningsAt(program string, list []*lang.Warning) []Diagnostic {
	var out []Diagnostic
	for _, w := range list {
		d := Diagnostic{Severity: "warning", Code: string(w.Code), Message: w.Msg, Hint: w.Hint}
		if w.Pos.IsKnown() {
			end := w.End.Offset
			if !w.End.IsKnown() {
				end = wordEnd(program, w.Pos.Offset)
			}
			d.From, d.To = units(program, w.Pos.Offset), units(program, end)
		}
		for _, f := range w.Fixes {
			d.Fixes = append(d.Fixes, Fix{f.Means, units(program, f.Pos.Offset), units(program, f.End.Offset), f.Text})
		}
		out = append(out, d)
	}
	return out
}

// wordEnd is where the word, or else the character, at a place ends.
func wordEnd(text string, at int) int {
	if at < 0 || at >= len(text) {
		return len(text)
	}
	for i, r := range text[at:] {
		if !isWord(r) {
			if i == 0 {
				i = len(string(r))
			}
			return min(at+i, len(text))
		}
	}
	return len(text)
}

// words are what an editor completes.
func words() []Word {
	var list []Word
	for name := range lang.Functions {
		if unicode.IsLetter(rune(name[0])) {
			list = append(list, Word{name, "function"})
		}
	}
	for r := lang.Sum; r <= lang.NanQuantile; r++ {
		list = append(list, Word{r.String() + "_", "reduction"})
	}
	for o := lang.CumSum; o <= lang.ArgSort; o++ {
		list = append(list, Word{o.String() + "_", "scan"})
	}
	for t := tensor.DType(0); t < 64; t++ {
		if t.Valid() {
			list = append(list, Word{t.String(), "type"})
		}
	}
	for _, w := range []string{"true", "false", "inf", "nan"} {
		list = append(list, Word{w, "constant"})
	}
	slices.SortFunc(list, func(a, b Word) int { return strings.Compare(a.Word, b.Word) })
	return list
}

var errNoProgram = errors.New("there is no program: write one, such as y(i) = A(i,j)*x(j)")
