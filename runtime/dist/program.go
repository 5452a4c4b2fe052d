package dist

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Options say how a program runs on ranks.
type Options struct {
	Results map[string]Result
	Strict  bool // arithmetic, as declare.StrictIEEE
	// Chosen is what Propose chose, if operands are placed so: a run then estimates with what that has counted.
	Chosen *Proposal
}

// Result says how a result is stored and placed. What is left out follows from the program.
type Result struct {
	Format    tensor.Format
	HasFormat bool
	DType     tensor.DType
	Shape     []int64
	Fill      *tensor.Scalar
	Layout    *placement.Layout
}

// kernel are the options of the kernels of a rank.
func (o Options) kernel() []declare.Option {
	opts := []declare.Option{declare.AsWritten()}
	if o.Strict {
		opts = append(opts, declare.StrictIEEE())
	}
	return opts
}

// result are the options for a result, of which the extents along some axes are others than those declared.
func (o Options) result(name string, extents map[int]int64) (opts []declare.Option) {
	d, ok := o.Results[name]
	if !ok {
		return nil
	}
	if d.HasFormat {
		opts = append(opts, declare.Result(name, d.Format))
	}
	if d.DType.Valid() {
		opts = append(opts, declare.ResultType(name, d.DType))
	}
	if d.Fill != nil {
		opts = append(opts, declare.Fill(name, *d.Fill))
	}
	if d.Shape != nil {
		shape := append([]int64(nil), d.Shape...)
		for axis, n := range extents {
			if axis < len(shape) {
				shape[axis] = n
			}
		}
		opts = append(opts, declare.Shape(name, shape...))
	}
	return opts
}

// Program is a program that runs on ranks, with what the inspector has found for its statements. Programs run statement by statement, each in the
// order in which it is written.
type Program struct {
	rank  *Rank
	steps []*step
	given map[string]bool // operands of the caller
	o     Options
}

// Compile reads a program, the same on all ranks.
func (r *Rank) Compile(ctx context.Context, text string, args map[string]*Tensor, o Options) (*Program, error) {
	facts := []transport.Fact{{Name: "program", Value: text}}
	for _, name := range sorted(args) {
		t := args[name]
		facts = append(facts, transport.Fact{Name: "operand " + name, Value: fmt.Sprintf("%s[%s] of shape %v with fill %s, %d entries, %s",
			t.Format, t.DType, t.Shape, t.Fill, t.Entries, t.Placement)})
	}
	if err := r.Agree(ctx, facts...); err != nil {
		return nil, err
	}
	file, err := lang.Parse(text)
	if err != nil {
		return nil, err
	}
	p := &Program{rank: r, given: map[string]bool{}, o: o}
	for name := range args {
		p.given[name] = true
	}
	if p.o.Results, err = p.formats(ctx, text, file, args); err != nil {
		return nil, err
	}
	for _, st := range file.Stmts {
		p.steps = append(p.steps, &step{program: p, text: st.String()})
	}
	return p, nil
}

// formats are the results as they are declared, with the formats in which the planner stores them where the program runs as one:
// statement by statement it might choose others.
func (p *Program) formats(ctx context.Context, text string, file *lang.File, args map[string]*Tensor) (map[string]Result, error) {
	opts, seen := p.o.kernel(), map[string]bool{}
	for _, st := range file.Stmts {
		for _, side := range []lang.Node{st.LHS, st.RHS} {
			lang.EachRef(side, func(r *lang.Ref) { seen[r.Name] = true })
		}
	}
	for name, t := range args {
		if seen[name] {
			opts = append(opts, declare.Format(name, t.Format, t.DType), declare.Fill(name, t.Fill))
		}
	}
	results := maps.Clone(p.o.Results)
	if results == nil {
		results = map[string]Result{}
	}
	for name := range results {
		if !seen[name] {
			return nil, fmt.Errorf("the program has no result %s", name)
		}
		opts = append(opts, p.o.result(name, nil)...)
	}
	ahead, err := exec.PlanAhead(ctx, text, false, opts...)
	if err != nil {
		return nil, err
	}
	for t, planned := range ahead.Plan.Results {
		if d := results[t.Name]; !d.HasFormat && !p.given[t.Name] {
			d.Format, d.HasFormat = planned.Format, true
			results[t.Name] = d
		}
	}
	return results, nil
}

// Run runs the program on operands, and returns all results. Operands with the patterns of the run before, and placed as they were,
// are not inspected again.
func (p *Program) Run(ctx context.Context, args map[string]*Tensor) (map[string]*Tensor, error) {
	env := maps.Clone(args)
	out := map[string]*Tensor{}
	for _, st := range p.steps {
		name, t, err := st.run(ctx, env)
		if err != nil {
			return nil, err
		}
		env[name], out[name] = t, t
	}
	return out, nil
}

// Close frees what the program keeps.
func (p *Program) Close() {
	for _, st := range p.steps {
		st.forget()
	}
}

// Eval compiles a program and runs it once.
func (r *Rank) Eval(ctx context.Context, text string, args map[string]*Tensor, o Options) (map[string]*Tensor, error) {
	p, err := r.Compile(ctx, text, args, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Run(ctx, args)
}

func sorted[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Notes tell how each statement was cut in the latest run, and why not where it was not.
func (p *Program) Notes() []string {
	var notes []string
	for _, st := range p.steps {
		if st.how != nil {
			notes = append(notes, st.note())
		}
	}
	return notes
}

// note tells how the statement was cut.
func (st *step) note() string {
	c := st.how
	if len(c.along) == 0 {
		return fmt.Sprintf("%s: computed on rank 0, as it cannot be cut: %s", st.text, c.why)
	}
	g := st.program.rank.grid
	note := fmt.Sprintf("%s: cut along %s", st.text, c.words(g))
	if len(c.summed()) > 0 {
		note += ", and the ranks' results are combined"
	}
	if c.next != nil {
		note += fmt.Sprintf("; all ranks send about %s, and would send %s if it were cut along %s", rounded(c.bytes), rounded(c.next.bytes), c.next.words(g))
		if len(c.next.summed()) > len(c.summed()) {
			note += fmt.Sprintf(", but sums are cut only where %d times as much is sent otherwise", sumsCut)
		}
	}
	return note
}

func rounded(bytes float64) string { return units.FormatBytes(int64(min(bytes, math.MaxInt64))) }

// words tell what is cut over which axis of the grid.
func (c *cutting) words(g *placement.Grid) string {
	var words []string
	for _, a := range c.along {
		words = append(words, a.index.Name+" over "+g.Names[a.over])
	}
	return strings.Join(words, " and ")
}
