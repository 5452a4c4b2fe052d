package logic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/lang"
)

// This file keeps what the optimiser has weighed, for people: the orders of each product, with what each of their steps is estimated to cost.

// Weighed are the alternatives for a product, the chosen one first, the others by cost.
type Weighed struct {
	// Of is the statement that it stands in.
	Of           string
	Alternatives []Alternative
}

// Alternative is one order of computing.
type Alternative struct {
	What  string
	Steps []Estimate
	Time  float64 // of all steps, in built-in nanoseconds
	Why   string  // it lost; "" of the one that was chosen
}

// mostAlternatives is how many orders of one product are kept.
const mostAlternatives = 6

// split is a way to cut the factors of a term in two, which was tried last in the exhaustive search.
type split struct {
	parts [2]*node
	cost  float64
}

// weigh keeps the alternatives of a query that was planned as written and, if expanded is not nil, multiplied out. The chosen plan is one of these; one that is not
// better is not taken.
func (s *statement) weigh(written, expanded, chosen *plan, hoist, better bool) {
	if !s.Record {
		return
	}
	w := Weighed{Of: s.stmt.String()}
	add := func(what string, p *plan, roots []*node) {
		a := Alternative{What: what}
		names := 0
		for i, root := range roots {
			a.Steps = append(a.Steps, p.finds[i].described(root, p.query.terms[i], &names)...)
			a.Time += p.finds[i].cost(root)
		}
		w.Alternatives = append(w.Alternatives, a)
	}
	for _, p := range []*plan{chosen, written, expanded} {
		if p == nil {
			continue
		}
		what := "one nest"
		switch {
		case p == expanded:
			what = "multiplied out"
		case p.split:
			what = "in this order"
		}
		if p == chosen && hoist {
			what += ", before the loops"
		}
		add(what, p, p.roots)
	}
	nests := make([]*node, len(written.finds))
	for i, f := range written.finds {
		nests[i] = f.together()
	}
	add("one nest", written, nests)
	if p := chosen; len(p.finds) == 1 {
		f := p.finds[0]
		slices.SortStableFunc(f.tried, func(x, y split) int { return cmp.Compare(x.cost, y.cost) })
		for _, x := range f.tried[:min(len(f.tried), mostAlternatives)] {
			add("in this order", p, []*node{f.made(x.parts[:], join(x.parts[0].rel, x.parts[1].rel), f.free)})
		}
	}
	s.keepWeighed(w, better || hoist)
}

// keepWeighed sorts the alternatives, drops those that are the same, and says why they lost.
func (s *statement) keepWeighed(w Weighed, better bool) {
	first := w.Alternatives[0]
	if !better { // it stays as it is written
		i := slices.IndexFunc(w.Alternatives, func(a Alternative) bool { return a.What == "one nest" })
		first = w.Alternatives[max(i, 0)]
	}
	seen := map[string]bool{first.key(): true}
	list := []Alternative{first}
	slices.SortStableFunc(w.Alternatives, func(x, y Alternative) int { return cmp.Compare(x.Time, y.Time) })
	for _, a := range w.Alternatives {
		if seen[a.key()] || len(list) == mostAlternatives {
			continue
		}
		seen[a.key()] = true
		a.Why = a.why(first)
		list = append(list, a)
	}
	w.Alternatives = list
	s.weighed = append(s.weighed, w)
}

// key is what an alternative does.
func (a *Alternative) key() string {
	var lines []string
	for _, e := range a.Steps {
		lines = append(lines, e.Text)
	}
	return strings.Join(lines, "\n")
}

// why says why an alternative lost.
func (a *Alternative) why(chosen Alternative) string {
	ratio := a.Time / max(chosen.Time, 1)
	switch {
	case ratio < 1: // the written order is left only for one that is clearly better
		return fmt.Sprintf("takes more than %.0f %% of the time of the written order", 100*cost.Worthwhile)
	case ratio < 1.05:
		return "takes as long"
	}
	worst := slices.MaxFunc(a.Steps, func(x, y Estimate) int { return cmp.Compare(x.Time, y.Time) })
	return fmt.Sprintf("takes %s times as long, most of it for %s", units.Rounded(ratio), worst.Result)
}

// described lists the steps of a node, what it reads first; intermediates are numbered by names.
func (s *search) described(root *node, t *term, names *int) []Estimate {
	var steps []Estimate
	var visit func(n *node, root bool) string
	visit = func(n *node, root bool) string {
		if n.factor != nil {
			return lang.FormatNode(lang.NodeOf(n.factor.expr, s.names, nil))
		}
		var parts []string
		e := Estimate{Iterations: n.raw.n, Entries: project(n.raw, n.out).n, Time: s.loops(n.kids)}
		kids := slices.Clone(n.kids)
		slices.SortStableFunc(kids, func(a, b *node) int { return a.first - b.first })
		for _, k := range kids {
			if text := visit(k, false); k.factor != nil && k.factor.mask {
				parts = append(parts, "stored("+text+")")
			} else {
				parts = append(parts, text)
			}
			e.Bytes += k.rel.bytes()
		}
		var free, bound []string
		for v, x := range s.vars {
			switch {
			case n.out.has(v):
				free = append(free, s.names[x])
			case n.raw.vars.has(v):
				bound = append(bound, s.names[x])
			}
		}
		e.Bytes += n.rel.bytes()
		if root {
			e.Result = s.stmt.LHS.Tensor.Name
			e.Time += s.finishing(n.kids, n.raw)
			if times := t.times; times != 1 {
				parts = append([]string{fmt.Sprint(times)}, parts...)
			}
		} else {
			*names++
			e.Result = fmt.Sprint("t", *names)
			e.Time += s.making(n)
		}
		name := e.Result
		if len(free) > 0 {
			name += "(" + strings.Join(free, ",") + ")"
		}
		e.Text = name + " = "
		if body := strings.Join(parts, " "+s.law.product+" "); len(bound) > 0 {
			e.Text += fmt.Sprintf("%s_{%s} %s", s.law.fold, strings.Join(bound, ","), body)
		} else {
			e.Text += body
		}
		steps = append(steps, e)
		return name
	}
	visit(root, true)
	return steps
}

// bytes are those of what a relation stores.
func (r *relation) bytes() float64 {
	if r.order == nil {
		return 8 * r.n
	}
	return 12 * r.n
}
