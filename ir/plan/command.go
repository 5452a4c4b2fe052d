package plan

import (
	"cmp"
	"fmt"
	"github.com/lacuna-sparse/lacuna/internal/suggest"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file reads the schedule that a statement is given (lang.Command). What it says of the loops is a condition on
// candidates: those that the scheduler weighs all mean the same, so a schedule can choose among them but make none that is
// wrong. What it leaves open is chosen by cost, as without it. What it says of how the loops are lowered is passed on in
// Directives.

// wish is a command as a condition on candidates.
type wish struct {
	command *lang.Command
	holds   func(s *scheduler, c *candidate) bool
	met     bool // by some candidate
}

// wishes are what a statement's schedule asks for.
type wishes struct {
	list []*wish
	ir.Directives
	// rank is the place of each index in the order that was asked for.
	rank map[string]int
	// converts are the operands to be stored again, by name.
	converts []conversion
	// seen are loops that were weighed, to say what would have been possible.
	seen []string
}

// conversion is an operand that is to be stored again.
type conversion struct {
	command *lang.Command
	pos     lang.Pos
	name    string
	format  tensor.Format
	wish    *wish
}

// commands tells how to read each command.
var commands = map[string]func(w *wishes, nf *normalForm, c *lang.Command) error{
	"order":     (*wishes).order,
	"workspace": (*wishes).workspace,
	"convert":   (*wishes).convert,
	"intersect": (*wishes).intersect,
	"assemble":  (*wishes).assemble,
	"parallel":  (*wishes).parallel,
	"serial":    (*wishes).serial,
	"unroll":    (*wishes).unroll,
	"positions": (*wishes).positions,
	"split":     (*wishes).split,
	"tile":      (*wishes).tile,
	"vectorize": (*wishes).vectorize,
	"gpu":       (*wishes).gpu,
	// Those about the tensor that the statement assigns are read where it is declared.
	lang.StoreCommand:     (*wishes).elsewhere,
	lang.TemporaryCommand: (*wishes).elsewhere,
}

// Commands lists the words of commands.
func Commands() []string {
	var list []string
	for name := range commands {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// readSchedule reads the schedule of a statement; nil if it has none.
func readSchedule(nf *normalForm, list []*lang.Command) (*wishes, error) {
	if len(list) == 0 {
		return nil, nil
	}
	w := &wishes{Directives: ir.Directives{Commands: list}}
	for i, c := range list {
		read, ok := commands[c.Name]
		if !ok {
			return nil, c.Fail(c.Pos, suggest.DidYouMean(c.Name, Commands()), "a schedule has no command %s: there are %s", c.Name, strings.Join(Commands(), ", "))
		}
		if c.Name != "convert" && slices.ContainsFunc(list[:i], func(d *lang.Command) bool { return d.Name == c.Name }) {
			return nil, c.Fail(c.Pos, "", "%s is said twice", c.Name)
		}
		if err := read(w, nf, c); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// need adds a condition.
func (w *wishes) need(c *lang.Command, holds func(s *scheduler, c *candidate) bool) *wish {
	x := &wish{command: c, holds: holds}
	w.list = append(w.list, x)
	return x
}

// index checks that a name is that of an index variable of the statement.
func (nf *normalForm) index(c *lang.Command, a *lang.Argument) error {
	var names []string
	for _, v := range nf.indices {
		if v.Name == a.Word {
			return nil
		}
		names = append(names, v.Name)
	}
	hint := "its loops run over " + strings.Join(names, ", ")
	if len(names) == 0 {
		hint = "it has no loops"
	}
	return c.Fail(a.Pos, hint, "%s: the statement has no loop over %s", c.Name, a.Word)
}

// order reads order(i, j), loops from the outermost in; and order(i, {k, j}, j), which has the loops of temporaries and
// workspaces in braces, so that nothing of the nest is open.
func (w *wishes) order(nf *normalForm, c *lang.Command) error {
	w.rank = map[string]int{}
	exact := false
	var visit func(list []*lang.Argument) error
	visit = func(list []*lang.Argument) error {
		for _, a := range list {
			if a.Inner {
				exact = true
				if err := visit(a.Nest); err != nil {
					return err
				}
				continue
			}
			if a.Value != "" {
				return c.Fail(a.Pos, "write order(i, j)", "order takes the names of loops")
			}
			if err := nf.index(c, a); err != nil {
				return err
			}
			if _, twice := w.rank[a.Word]; twice {
				if !exact {
					return c.Fail(a.Pos, "", "order has the loop over %s twice", a.Word)
				}
				continue
			}
			w.rank[a.Word] = len(w.rank)
		}
		return nil
	}
	if err := visit(c.Args); err != nil {
		return err
	}
	if exact {
		want := lang.FormatArguments(c.Args)
		w.need(c, func(s *scheduler, x *candidate) bool { return nestText(s.indices, x.body) == want })
		return nil
	}
	w.need(c, func(s *scheduler, x *candidate) bool { return w.follows(s.indices, x.body, -1) })
	return nil
}

// follows reports whether loops that stand inside others have the order that was asked for.
func (w *wishes) follows(indices []*ir.Index, st ir.Stmt, outer int) bool {
	if f, ok := st.(*ir.Forall); ok {
		if at, listed := w.rank[indices[f.Index.ID].Name]; listed {
			if at < outer {
				return false
			}
			outer = at
		}
	}
	for _, x := range ir.Parts(st) {
		if !w.follows(indices, x, outer) {
			return false
		}
	}
	return true
}

// asked is vars in the order that was asked for; nil if none was.
func (w *wishes) asked(vars []*ir.Index) []*ir.Index {
	if w == nil || w.rank == nil {
		return nil
	}
	place := func(v *ir.Index) int {
		for name, at := range w.rank {
			if name == v.Name {
				return at
			}
		}
		return len(w.rank)
	}
	order := append([]*ir.Index{}, vars...)
	slices.SortStableFunc(order, func(x, y *ir.Index) int { return place(x) - place(y) })
	return order
}

// workspace reads workspace(j), workspace(i, j: hash) and workspace(none): over which of the result's indices there is one,
// and how it stores its entries.
func (w *wishes) workspace(nf *normalForm, c *lang.Command) error {
	kinds := []string{"dense", "hash", "sort"}
	var names []string
	for _, a := range c.Args {
		switch {
		case a.Inner:
			return c.Fail(a.Pos, "write workspace(j) or workspace(j: hash)", "workspace takes the names of loops")
		case a.Word == "none" && len(c.Args) == 1:
			w.need(c, func(_ *scheduler, x *candidate) bool { return len(workspacesOf(x.body)) == 0 })
			return nil
		}
		if err := nf.index(c, a); err != nil {
			return err
		}
		names = append(names, a.Word)
		if a.Value == "" {
			continue
		}
		if !slices.Contains(kinds, a.Value) {
			return c.Fail(a.Pos, "kinds are "+strings.Join(kinds, ", "), "there is no kind %s of workspace", a.Value)
		}
		w.Workspace = a.Value
	}
	if len(names) == 0 {
		return c.Fail(c.Pos, "write workspace(j), workspace(j: hash) or workspace(none)", "workspace takes the loops that it is over")
	}
	w.need(c, func(s *scheduler, x *candidate) bool {
		list := workspacesOf(x.body)
		for _, ws := range list {
			if ws.Mask != nil && w.Workspace != "" {
				return false // it has a place for each entry of the mask
			}
			if !slices.Equal(workspaceNames(s.indices, ws), names) {
				return false
			}
		}
		return len(list) > 0
	})
	return nil
}

// convert reads convert(A: CSC), an operand that is stored again, and convert(none).
func (w *wishes) convert(nf *normalForm, c *lang.Command) error {
	if len(c.Args) == 1 && c.Args[0].Word == "none" && c.Args[0].Value == "" {
		w.need(c, func(_ *scheduler, x *candidate) bool { return len(x.convert) == 0 })
		return nil
	}
	for _, a := range c.Args {
		if a.Inner || a.Value == "" {
			return c.Fail(a.Pos, "write convert(A: CSC) or convert(none)", "convert takes operands with formats")
		}
		var names []string
		rank := -1
		nf.eachAccess(func(x *ir.Access) {
			names = append(names, x.Tensor.Name)
			if x.Tensor.Name == a.Word {
				rank = x.Tensor.Rank
			}
		})
		if rank < 0 {
			return c.Fail(a.Pos, suggest.DidYouMean(a.Word, names), "convert: the statement reads no tensor %s", a.Word)
		}
		f, err := tensor.ParseFormat(a.Value, rank)
		if err != nil {
			return c.Fail(a.Pos, "", "convert: %v", err)
		}
		wish := w.need(c, func(s *scheduler, x *candidate) bool {
			return slices.ContainsFunc(x.convert, func(y *ir.Access) bool {
				return y.Tensor.Name == a.Word && s.storedAs(x, y, s.opts) == f
			})
		})
		w.converts = append(w.converts, conversion{c, a.Pos, a.Word, f, wish})
	}
	return nil
}

// intersect reads intersect(table) and intersect(merge).
func (w *wishes) intersect(_ *normalForm, c *lang.Command) error {
	w.need(c, func(_ *scheduler, x *candidate) bool { return w.Intersect == "merge" || len(x.tables) > 0 })
	return oneOf(c, &w.Intersect, "table", "merge")
}

// assemble reads assemble(counted), assemble(appended) and assemble(joined).
func (w *wishes) assemble(nf *normalForm, c *lang.Command) error {
	if nf.lhs.Tensor.Format.IsDense() {
		return c.Fail(c.Pos, "leave it out", "the result is dense: there are no entries to assemble")
	}
	return oneOf(c, &w.Assemble, "counted", "appended", "joined")
}

// oneOf reads the only argument of a command, which is one of some words.
func oneOf(c *lang.Command, to *string, words ...string) error {
	if len(c.Args) != 1 || !slices.Contains(words, c.Args[0].Word) {
		return c.Fail(c.Pos, fmt.Sprintf("write %s(%s)", c.Name, words[0]), "%s takes one of the words %s", c.Name, strings.Join(words, ", "))
	}
	*to = c.Args[0].Word
	return nil
}

// mostUnrolled bounds what code may grow by, mostSteps the size of a block.
const (
	mostUnrolled = 64
	mostSteps    = 1 << 30
)

// elsewhere is for commands that do not say how the statement runs.
func (w *wishes) elsewhere(*normalForm, *lang.Command) error { return nil }

// admit reports whether a candidate is as it was asked for.
func (w *wishes) admit(s *scheduler, c *candidate) bool {
	if text := nestText(s.indices, c.body); len(w.seen) < 4 && !slices.Contains(w.seen, text) {
		w.seen = append(w.seen, text)
	}
	all := true
	for _, w := range w.list {
		holds := w.holds(s, c)
		w.met = w.met || holds
		all = all && holds
	}
	return all
}

// refusal says which command no loops fulfil, or that they do not go together.
func (w *wishes) refusal() error {
	var seen []string
	for _, text := range w.seen {
		seen = append(seen, "order("+text+")")
	}
	hint := "among the loops that compute it are " + strings.Join(seen, " and ")
	for _, x := range w.list {
		if !x.met {
			return x.command.Fail(x.command.Pos, hint, "no loops that compute the statement have %s", x.command)
		}
	}
	last := w.list[len(w.list)-1].command
	return last.Fail(last.Pos, hint, "each command can hold, but no loops have all of them")
}

// scheduled picks the loops of the step that computes a statement's right side, as its schedule says. Temporaries of scans and
// order statistics have none. An operand that no loops need stored as the schedule asks is stored so before them.
func (p *planner) scheduled(nf *normalForm, s *lang.Stmt, step *ir.Compute) (*candidate, error) {
	if !step.Main {
		return nf.schedule(p.alg, p.Options, nil)
	}
	w, err := readSchedule(nf, s.Schedule)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return nf.schedule(p.alg, p.Options, nil)
	}
	step.Directives = w.Directives
	best, err := nf.schedule(p.alg, p.Options, w)
	if err == nil {
		return best, nil
	}
	forced, unmet := p.force(nf, w, step)
	if unmet != nil || !forced {
		return nil, cmp.Or(unmet, err)
	}
	return nf.schedule(p.alg, p.Options, w)
}

// force stores the operands again before the loops of which no loops need it as the schedule asks. It reports whether there
// are any.
func (p *planner) force(nf *normalForm, w *wishes, step *ir.Compute) (bool, error) {
	any := false
	for _, c := range w.converts {
		if c.wish.met {
			continue
		}
		any = true
		var from, to *ir.Tensor
		var err error
		nf.eachAccess(func(a *ir.Access) {
			if a.Tensor.Name != c.name || err != nil {
				return
			}
			if from == nil {
				if from, err = a.Tensor, p.forced(c, a.Tensor); err != nil {
					return
				}
				to = p.tensor(&ir.Tensor{Name: p.temporary(from), Rank: from.Rank, DType: from.DType,
					Format: c.format, Fill: from.Fill, FillKnown: from.FillKnown, StoredOf: from.StoredOf, Whole: from.Whole})
				made := &ir.Convert{From: from, To: to, Stored: nf.runsOver(a), Why: "the schedule asks for it"}
				p.Steps, step.Converts = append(p.Steps, made), append(step.Converts, made)
			}
			a.Tensor = to
		})
		if err != nil {
			return any, err
		}
		w.list = slices.DeleteFunc(w.list, func(x *wish) bool { return x == c.wish })
	}
	w.converts = nil
	return any, nil
}

// forced says why an operand cannot be stored in another format, if it cannot: all that is stored must stay so, and nothing
// else become so.
func (p *planner) forced(c conversion, from *ir.Tensor) error {
	switch {
	case from.Format == c.format:
		return c.command.Fail(c.pos, "", "%s is stored as %s already", c.name, c.format)
	case p.forms[from.Source] != nil:
		return c.command.Fail(c.pos, "", "%s is stored in parts, or as a triangle: it is made one tensor where the loops need it", c.name)
	case !onlyEntries(from.Format) || !onlyEntries(c.format):
		return c.command.Fail(c.pos, "", "convert cannot store %s, which is %s, as %s: only formats that store single entries hold the same ones", c.name, from.Format, c.format)
	}
	return nil
}

// physical is the first command about loops, nil if there is none.
func physical(list []*lang.Command) *lang.Command {
	for _, c := range list {
		if c.Name != lang.StoreCommand && c.Name != lang.TemporaryCommand {
			return c
		}
	}
	return nil
}
