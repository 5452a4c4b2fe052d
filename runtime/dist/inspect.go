package dist

import (
	"context"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// inspect finds out what the rank needs of the operands.
func (st *step) inspect(ctx context.Context) error {
	r, s, c := st.program.rank, st.st, st.how
	st.narrowed, st.tables = map[*lang.Index]bool{}, map[int]tensor.Array{}
	if len(c.along) == 0 {
		for _, u := range s.uses {
			if !slices.ContainsFunc(st.gets, func(g *get) bool { return g.name == u.name }) {
				need := all(u.tensor.Shape)
				if !r.first() {
					need = make([]placement.Set, len(need)) // nothing
				}
				f, err := r.inspect(ctx, u.tensor, need)
				if err != nil {
					return r.abort(err)
				}
				st.gets = append(st.gets, &get{name: u.name, use: u, fetch: f})
			}
		}
		st.local = st.text
		return nil
	}
	resolved := map[*lang.Index]placement.Set{}
	for _, a := range c.along {
		resolved[a.index] = a.cut.Coords(r.grid.At(r.Rank())[a.over])
	}
	early, err := st.follow(ctx, resolved)
	if err != nil {
		return r.abort(err)
	}
	for _, u := range s.uses {
		if err := st.get(ctx, u, resolved, early[u]); err != nil {
			return r.abort(err)
		}
	}
	lang.Inspect(s.file.Stmts[0].RHS, func(n lang.Node) {
		if f, ok := n.(*lang.Fold); ok {
			for k, v := range f.Vars {
				if v.In != "" {
					v.In = s.in[folded{f.Pos, k}].ref.Name
				}
			}
		}
	})
	st.touched = resolved
	st.local = s.file.Stmts[0].String()
	return nil
}

// follow goes from the entries at the rank's coordinates of the index that is cut to the coordinates of other indices that they
// touch, and on from there.
func (st *step) follow(ctx context.Context, resolved map[*lang.Index]placement.Set) (map[*use]*get, error) {
	s := st.st
	drivers, early := s.drivers(), map[*use]*get{}
	format := st.format()
	st.some = map[*lang.Index]placement.Set{}
	keeps := map[*lang.Index]bool{} // indices of the result that keep their coordinates
	for _, v := range s.Indices {
		pays := slices.ContainsFunc(s.uses, func(u *use) bool {
			return axis(u.Access, v) >= 0 && slices.ContainsFunc(u.tensor.Placement.Cuts, func(c *placement.Cut) bool { return !uncut(c) }) && !st.how.owns(u) &&
				slices.ContainsFunc(drivers[v], func(d *use) bool { return d != u }) // its own entries tell nothing that saves any of them
		})
		if !pays {
			delete(drivers, v)
		}
		if v.Free && drivers[v] != nil {
			switch fixed := st.program.o.Results[s.LHS.Tensor.Name].Shape != nil || st.filled(); {
			case !fixed && listed(format, axis(s.LHS, v)):
			case !fixed && aboveListed(format, axis(s.LHS, v)) && st.program.rank.direct == nil: // on devices, to leave values out takes longer than to send them
				keeps[v] = true
			default: // the kernel may go over all coordinates
				delete(drivers, v)
			}
		}
	}
	done := func(v *lang.Index) bool {
		if _, known := st.some[v]; known {
			return true
		}
		_, known := resolved[v]
		return known && (st.how.of(v) == nil || st.narrowed[v]) // of a block of coordinates, too, those that are touched are enough
	}
	for more := true; more; {
		more = false
		for _, v := range s.Indices {
			if done(v) {
				continue
			}
			k := slices.IndexFunc(drivers[v], func(u *use) bool {
				return slices.ContainsFunc(u.Indices, func(x lang.IndexExpr) bool { _, known := resolved[x.Plain()]; return known })
			})
			if k < 0 {
				continue
			}
			u := drivers[v][k]
			g, err := st.inspectUse(ctx, u, resolved)
			if err != nil {
				return nil, err
			}
			early[u], more = g, true
			found := map[*lang.Index]placement.Set{}
			for _, x := range u.Indices {
				if w := x.Plain(); w != nil && !done(w) && slices.Contains(drivers[w], u) {
					found[w] = g.coords(u.tensor, axis(u.Access, w))
					g.drove = append(g.drove, w)
				}
			}
			for w, set := range found {
				may, cut := resolved[w]
				if !cut {
					may = placement.Range(0, s.extents[w.ID])
				}
				if set.Len() == 0 && may.Len() > 0 {
					set = placement.Range(may.At(0), may.At(0)+1) // extremes of no coordinate at all are mistakes
				}
				if set = st.nearlyAll(w, set).And(may); keeps[w] {
					st.some[w] = set
					continue
				}
				resolved[w], st.narrowed[w] = set, cut
			}
		}
	}
	return early, nil
}

// nearlyAll are coordinates of an index with the few that they lack of parts that other ranks have: where 19 of 20 are needed, all of a part
// are sent as they lie, instead of being picked, and a rank's coordinates keep their distances. From GPU to GPU one of four is enough: to pick
// takes longer than to send. More coordinates than entries touch do no harm.
func (st *step) nearlyAll(v *lang.Index, set placement.Set) placement.Set {
	enough := int64(19) // of 20
	if st.program.rank.direct != nil {
		enough = 5
	}
	for _, u := range st.st.uses {
		k := axis(u.Access, v)
		if k < 0 || u.tensor.Placement.Cuts[k] == nil || st.how.owns(u) {
			continue
		}
		for part, cut := 0, u.tensor.Placement.Cuts[k]; part < cut.Parts; part++ {
			block := cut.Coords(part)
			if lo, hi, ok := block.Bounds(); ok && 20*set.And(block).Len() >= enough*block.Len() {
				set = set.With(lo, hi)
			}
		}
		break
	}
	return set
}

// filled reports whether the result has a fill other than 0, so that what no entry touches must be stored.
func (st *step) filled() bool {
	name := st.st.LHS.Tensor.Name
	fill := st.program.o.Results[name].Fill
	if t := st.st.env[name]; t != nil && st.program.given[name] {
		fill = &t.Fill
	}
	return fill != nil && !fill.IsZero()
}

// format is how the result is stored.
func (st *step) format() tensor.Format {
	name := st.st.LHS.Tensor.Name
	if t := st.st.env[name]; t != nil && st.program.given[name] {
		return t.Format
	}
	return st.program.o.Results[name].Format
}

// needs are the coordinates of an operand, by axis, that go with those of indices that are resolved, and those of them at which values are wanted.
func (st *step) needs(u *use, resolved map[*lang.Index]placement.Set) (need, want []placement.Set, along, some []*lang.Index) {
	need, along, some = all(u.tensor.Shape), make([]*lang.Index, len(u.Indices)), make([]*lang.Index, len(u.Indices))
	want = slices.Clone(need)
	for k, x := range u.Indices {
		if v := x.Plain(); v != nil {
			if set, known := resolved[v]; known {
				need[k], want[k], along[k] = set, set, v
			}
			if set, known := st.some[v]; known {
				want[k], some[k] = set, v
			}
		}
	}
	if !st.computes(st.program.rank.Rank()) {
		want = make([]placement.Set, len(want))
	}
	return need, want, along, some
}

// uncut reports whether every rank has all of an axis.
func uncut(c *placement.Cut) bool { return c == nil || c.Parts == 1 }

// inspectUse is how the rank gets an operand at the coordinates of indices that are resolved.
func (st *step) inspectUse(ctx context.Context, u *use, resolved map[*lang.Index]placement.Set) (*get, error) {
	need, want, along, _ := st.needs(u, resolved)
	own := true // whatever rank it is
	for k, v := range along {
		switch a := st.how.of(v); {
		case v == nil || a != nil && uncut(a.cut):
			own = own && uncut(u.tensor.Placement.Cuts[k])
		default:
			own = own && a != nil && a.has(u.tensor.Placement, k)
		}
		own = own && !st.narrowed[v]
	}
	g := &get{use: u, along: along}
	if own {
		g.fetch = st.program.rank.owned(u.tensor)
		return g, nil
	}
	var err error
	g.fetch, err = st.program.rank.inspectSome(ctx, u.tensor, need, want)
	return g, err
}

// get adds how the rank gets an operand, and gives the reference its name there. early is how the operand was got when fewer indices were
// resolved.
func (st *step) get(ctx context.Context, u *use, resolved map[*lang.Index]placement.Set, early *get) error {
	need, _, along, some := st.needs(u, resolved)
	for _, g := range st.gets {
		if g.use.name == u.name && slices.Equal(g.along, along) && slices.Equal(g.some, some) {
			u.ref.Name = g.name
			return nil
		}
	}
	g := early
	if g != nil {
		good := true
		for k, v := range along {
			// What was got then may have entries at coordinates that have been left out since, but not where it was it that told which.
			good = good && (need[k].Equal(g.need[k]) || slices.Contains(g.drove, v))
		}
		all, err := st.program.rank.allSay(ctx, good) // which coordinates are left out, each rank knows for itself
		if err != nil {
			return err
		}
		if !all {
			g = nil
		}
	}
	switch {
	case g == nil:
		var err error
		if g, err = st.inspectUse(ctx, u, resolved); err != nil {
			return err
		}
	case !equalSets(need, g.need):
		if err := g.renumber(ctx, u.tensor, need); err != nil {
			return err
		}
	}
	g.along, g.some = along, some
	g.name = st.unusedName(u.name)
	u.ref.Name = g.name
	st.gets = append(st.gets, g)
	return nil
}
