// Package declare holds what is declared of the tensors of a program before it is compiled: by options, or by the operands
// themselves. Package lacuna says what each option means to users.
package declare

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/convert"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Declarations are what the options of one Compile say, by tensor. They are all
// that a look-up of a compiled kernel needs, so making them and their key is
// cheap; what they amount to is worked out when there is none.
type Declarations struct {
	list      []declaration
	strict    bool
	asWritten bool
	some      bool     // not all results are wanted: those of wanted or, if it is nil, the last
	wanted    []string // sorted
	schedule  string
	tuned     bool
	err       error
	few       [8]declaration // memory of list
}

// declaration is what the options say about one tensor.
type declaration struct {
	name   string
	says   lang.Decl // but for Fill
	fill   tensor.Scalar
	result bool // something was said that only results need
	// example is the operand itself, nil if there is none yet.
	example tensor.Operand
	// assumed is what it is expected to store, nil if nothing was said.
	assumed *tensor.Statistics
	// parts are the formats of an operand in parts, nil for one that is not.
	parts []tensor.Format
	// structure is that of a matrix of which one triangle is stored.
	structure tensor.Structure
}

func New() *Declarations {
	d := &Declarations{}
	d.list = d.few[:0]
	return d
}

// ByExample declares operands by themselves.
func ByExample(args map[string]tensor.Operand) *Declarations {
	d := New()
	for name, t := range args {
		d.operand(name, t)
	}
	return d
}

// of returns the declaration of a name, to be filled in.
func (d *Declarations) of(name string) *declaration {
	for i := range d.list {
		if d.list[i].name == name {
			return &d.list[i]
		}
	}
	d.list = append(d.list, declaration{name: name, says: lang.Decl{Rank: lang.AnyRank}})
	return &d.list[len(d.list)-1]
}

// operand declares an operand by example.
func (d *Declarations) operand(name string, t tensor.Operand) {
	if Missing(t) {
		d.fail(fmt.Errorf("operand %s is nil or a zero value: pass a tensor", name))
		return
	}
	d.of(name).example = t
}

// fail keeps the first error.
func (d *Declarations) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// Apply adds what options say.
func (d *Declarations) Apply(opts []Option) error {
	for _, o := range opts {
		if o == nil {
			return errors.New("an option is nil: leave it out")
		}
		o(d)
	}
	return d.err
}

// Canonicalise puts operands given as examples, and formats of operands, in the form in
// which kernels take them.
func (d *Declarations) Canonicalise(ctx context.Context, c *convert.Service) error {
	for i := range d.list {
		r := &d.list[i]
		if r.says.Format.Relaxed() {
			if r.result && slices.ContainsFunc(r.says.Format.Flags(), func(f tensor.LevelFlags) bool { return f&tensor.Duplicates != 0 }) {
				return fmt.Errorf("result %s is declared as %s, but results have one entry per coordinate: declare %s, and convert it",
					r.name, r.says.Format, r.says.Format.Standard())
			}
			if r.result {
				r.says.Relaxed = r.says.Format
			}
			r.says.Format = r.says.Format.Standard()
		}
		if r.example == nil {
			continue
		}
		var err error
		if r.example, err = c.Sorted(ctx, r.example); err != nil {
			return err
		}
	}
	return nil
}

// Decls works out what is declared, for a program: an error if options
// contradict operands.
func (d *Declarations) Decls(file *lang.File) (map[string]lang.Decl, error) {
	assigned := map[string]bool{}
	for _, n := range file.Names() {
		assigned[n.Name] = n.Assigned
	}
	all := make(map[string]lang.Decl, len(d.list))
	for i := range d.list {
		decl, err := d.list[i].decl(assigned[d.list[i].name])
		if err != nil {
			return nil, err
		}
		all[d.list[i].name] = decl
	}
	return all, stored(file, all)
}

// stored adds what schedules say of how results are stored.
func stored(file *lang.File, all map[string]lang.Decl) error {
	for _, s := range file.Stmts {
		for _, c := range s.Schedule {
			if c.Name != lang.StoreCommand && c.Name != lang.TemporaryCommand {
				continue
			}
			if len(c.Args) == 0 && c.Name == lang.TemporaryCommand {
				continue
			}
			decl, err := storedAs(all[s.LHS.Name], s.LHS, c)
			if err != nil {
				if err.Source == "" {
					err.Source = file.Source
				}
				return err
			}
			all[s.LHS.Name] = decl
		}
	}
	return nil
}

// storedAs is a declaration of a result with the format of a command.
func storedAs(decl lang.Decl, result *lang.Ref, c *lang.Command) (lang.Decl, *lang.Error) {
	if len(c.Args) != 1 {
		return decl, c.Fail(c.Pos, "write "+c.Name+"(CSR)", "%s takes one format", c.Name)
	}
	f, err := tensor.ParseFormat(c.Args[0].Word, len(result.Indices))
	switch {
	case err != nil:
		return decl, c.Fail(c.Args[0].Pos, "", "%s: %v", c.Name, err)
	case decl.HasFormat && decl.Format != f:
		return decl, c.Fail(c.Args[0].Pos, "", "%s: %s is declared as %s", c.Name, result.Name, decl.Format)
	}
	decl.Rank, decl.Format, decl.HasFormat, decl.Result = f.Rank(), f, true, true
	return decl, nil
}

// decl is the declaration as package lang takes it. assigned says that the
// program assigns the tensor.
func (r *declaration) decl(assigned bool) (lang.Decl, error) {
	decl := r.says
	if r.fill.DType().Valid() {
		decl.Fill = &r.fill
	}
	t := r.example
	if t == nil {
		// A fill alone does not tell results from operands, the program does.
		fillAlone := decl.Fill != nil && !decl.HasFormat && !decl.HasDType
		decl.Result = r.result || assigned && fillAlone
		return decl, nil
	}
	stored := formatOf(t)
	f, dt := stored, t.DType()
	if decl.HasFormat {
		f = decl.Format
	}
	if decl.HasDType {
		dt = decl.DType
	}
	if f != stored || dt != t.DType() {
		return decl, fmt.Errorf("%s is declared as %s %s, but the operand of that name is stored as %s %s: convert it, or give the result another name",
			r.name, f, dt, stored, t.DType())
	}
	fill := t.Fill()
	if decl.Fill != nil && !decl.Fill.Convert(dt).Same(fill) {
		// What a dense tensor is outside its extents is the reader's specialisation.
		if assigned || !stored.IsDense() {
			return decl, fmt.Errorf("%s is declared with the fill %s, but the operand of that name has the fill %s: leave the declaration out, or make the operand with tensor.WithFill",
				r.name, decl.Fill, fill)
		}
		fill = *decl.Fill
	}
	decl.Rank, decl.Format, decl.HasFormat = t.Rank(), stored, true
	decl.DType, decl.HasDType, decl.Fill = t.DType(), true, &fill
	return decl, nil
}

// Strict reports whether products with an implicit zero are honest.
func (d *Declarations) Strict() bool { return d.strict }

// AsWritten reports whether the program runs in the order in which it is written.
func (d *Declarations) AsWritten() bool { return d.asWritten }

// Tuned reports whether the program that tuning has kept is to run.
func (d *Declarations) Tuned() bool { return d.tuned }

// ForProgram is what is declared without what is said of how the program runs: for another program that computes the same.
func (d *Declarations) ForProgram() *Declarations {
	c := d.WithoutExamples()
	c.schedule, c.tuned, c.asWritten = "", false, false
	return c
}

// OnlyLast is Only without names.
func (d *Declarations) OnlyLast() { d.some = true }

// Wanted names the results of a program that are asked for; nil if those are all.
func (d *Declarations) Wanted(p *lang.Program) ([]string, error) {
	if !d.some {
		return nil, nil
	}
	results := map[string]bool{}
	for _, t := range p.Tensors {
		results[t.Name] = t.Result
	}
	wanted := d.wanted
	if wanted == nil {
		wanted = []string{p.Stmts[len(p.Stmts)-1].LHS.Tensor.Name}
	}
	all := true
	for _, name := range wanted {
		if !results[name] {
			return nil, fmt.Errorf("%s is wanted, but the program has no result of that name", name)
		}
	}
	for name, is := range results {
		all = all && (!is || slices.Contains(wanted, name))
	}
	if all {
		return nil, nil
	}
	return wanted, nil
}

// WithoutExamples is what is declared without the operands themselves, which would be kept.
func (d *Declarations) WithoutExamples() *Declarations {
	c := &Declarations{strict: d.strict, asWritten: d.asWritten, schedule: d.schedule, tuned: d.tuned, some: d.some, wanted: d.wanted, list: slices.Clone(d.list)}
	for i := range c.list {
		c.list[i].example = nil
	}
	return c
}

// Names lists what something was said of.
func (d *Declarations) Names() []string {
	var names []string
	for i := range d.list {
		names = append(names, d.list[i].name)
	}
	return names
}

// Statistics are those of the operand that is declared by example, or else those that are assumed of it; false if there are none.
func (d *Declarations) Statistics(name string) (*tensor.Statistics, bool) {
	if t, ok := d.Example(name).(*tensor.Tensor); ok && t != nil {
		return t.Statistics()
	}
	for i := range d.list {
		if d.list[i].name == name && d.list[i].assumed != nil {
			return d.list[i].assumed, true
		}
	}
	return nil, false
}

// Assumed names the operands of which something is assumed.
func (d *Declarations) Assumed() []string {
	var names []string
	for i := range d.list {
		if d.list[i].assumed != nil {
			names = append(names, d.list[i].name)
		}
	}
	return names
}

// Declared reports whether something was said of a name.
func (d *Declarations) Declared(name string) bool {
	return slices.ContainsFunc(d.list, func(r declaration) bool { return r.name == name })
}

// Drop forgets what was said of a name.
func (d *Declarations) Drop(name string) {
	d.list = slices.DeleteFunc(d.list, func(r declaration) bool { return r.name == name })
}

// Example is the operand of a name, or nil.
func (d *Declarations) Example(name string) tensor.Operand {
	for i := range d.list {
		if d.list[i].name == name {
			return d.list[i].example
		}
	}
	return nil
}

// Forms are the operands that are not stored as one tensor of all their elements.
func (d *Declarations) Forms() map[string]ir.Form {
	var all map[string]ir.Form
	for i := range d.list {
		if form, ok := d.list[i].form(); ok {
			if all == nil {
				all = map[string]ir.Form{}
			}
			all[d.list[i].name] = form
		}
	}
	return all
}

func (r *declaration) form() (ir.Form, bool) {
	formats, structure := r.parts, r.structure
	switch t := r.example.(type) {
	case *tensor.Tensor:
		structure = t.Structure()
		formats = []tensor.Format{t.Format()}
	case *tensor.Parts:
		formats = formatsOf(t.Parts())
	case nil:
		if structure != tensor.General {
			formats = []tensor.Format{r.says.Format}
		}
	}
	if structure == tensor.General && len(formats) < 2 {
		return ir.Form{}, false
	}
	if f := formats[0]; structure != tensor.General && !f.IsDense() && f.HasBlocks() {
		return ir.Form{}, false // its rows reach beyond the triangle, and mirrored make whole rows of others
	}
	form := ir.Form{}
	for _, f := range formats {
		form.Pieces = append(form.Pieces, ir.Piece{Format: f, Mirror: mirrors[structure]})
	}
	return form, true
}

// TypesOf gives examples of the tensors that an operand is stored as, for the types of their
// index arrays; nil where there is none. They store nothing: who keeps them keeps no operand.
func (d *Declarations) TypesOf(t *lang.Tensor, form ir.Form) []*tensor.Tensor {
	example := d.Example(t.Name)
	if of := t.StoredOf; of != nil {
		// The index arrays are the same, unless it is stored in parts.
		if example = d.Example(of.Name); d.Forms()[of.Name].Pieces != nil {
			example = EmptyExample(of.Format, of.DType)
		}
	}
	types := make([]*tensor.Tensor, max(1, len(form.Pieces)))
	for i, part := range PartsOf(example) {
		types[i] = emptied(part)
	}
	return types
}
