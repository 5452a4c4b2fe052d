package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/lang"
)

// program is a parsed program and what it does with each name.
type program struct {
	source string
	file   *lang.File
	uses   map[string]*use
	order  []string // names by first appearance
	last   string   // the tensor that the last statement assigns
}

// use is what a program does with a name.
type use struct {
	rank     int
	assigned bool
	// needed says that the name is read, or updated, before a statement assigns
	// it: it must be an operand.
	needed bool
	// certain is false for a name that stands alone, without parentheses, and
	// so may be an index.
	certain bool
}

// parseProgram parses a program and collects its names.
func parseProgram(source string) (*program, error) {
	f, err := lang.Parse(source)
	if err != nil {
		return nil, err
	}
	p := &program{source: source, file: f, uses: map[string]*use{}}
	for _, s := range f.Stmts {
		lang.Inspect(s.RHS, func(n lang.Node) {
			switch n := n.(type) {
			case *lang.Ref:
				p.read(n)
			case *lang.Fold:
				for _, v := range n.Vars {
					if v.In != "" { // read by the body, or lang says that it should be
						p.read(&lang.Ref{Pos: v.InPos, Name: v.In})
					}
				}
			}
		})
		if s.Op != lang.Set {
			p.read(s.LHS)
		}
		s.LHS.EachGather(p.read)
		u := p.use(s.LHS)
		u.assigned, u.certain = true, true
		p.last = s.LHS.Name
	}
	return p, nil
}

// use returns the entry of a name.
func (p *program) use(r *lang.Ref) *use {
	u := p.uses[r.Name]
	if u == nil {
		u = &use{rank: len(r.Indices)}
		p.uses[r.Name] = u
		p.order = append(p.order, r.Name)
	}
	if r.Parens && !u.certain { // a reduction that runs over what A stores names it before A(i,j) does
		u.rank, u.certain = len(r.Indices), true
	}
	return u
}

// addOperand adds an operand that the program does not mention and may be given.
func (p *program) addOperand(name string, rank int) {
	if p.uses[name] == nil {
		p.uses[name] = &use{rank: rank, needed: true}
		p.order = append(p.order, name)
	}
}

// read records that a reference is read.
func (p *program) read(r *lang.Ref) {
	u := p.use(r)
	u.needed = u.needed || !u.assigned
}

// results lists the tensors that the program assigns, in order.
func (p *program) results() []string {
	return slices.DeleteFunc(slices.Clone(p.order), func(name string) bool { return !p.uses[name].assigned })
}

// checkNames says what is wrong with the names of the operands given.
func (p *program) checkNames(operands []operand.Operand) error {
	given := map[string]bool{}
	for _, o := range operands {
		given[o.Name] = true
	}
	if err := p.file.UnknownReduction(func(name string) bool { return given[name] }); err != nil {
		return err
	}
	lists := operand.PlacedBy(operands)
	for _, o := range operands {
		if lists[o.Name] {
			continue
		}
		if err := p.check(o.Name); err != nil {
			return err
		}
	}
	return nil
}

// check says what is wrong with a name that an argument gives.
func (p *program) check(name string) error {
	if p.uses[name] != nil {
		return nil
	}
	if err := p.file.MisusedTensor(name); err != nil {
		return err
	}
	return fmt.Errorf("the program has no tensor %s%s (it has %s)", name, cli.DidYouMean(name, p.order), strings.Join(p.order, ", "))
}

// checkResult says what is wrong with the name of a result.
func (p *program) checkResult(name string) error {
	if err := p.check(name); err != nil {
		return err
	}
	if !p.uses[name].assigned {
		return fmt.Errorf("the program does not assign %s: its results are %s", name, strings.Join(p.results(), ", "))
	}
	return nil
}
