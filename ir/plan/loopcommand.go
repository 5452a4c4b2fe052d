package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/suggest"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
)

// parallel reads parallel(i) and parallel(i: 4096): the loop that threads share, and the work of one chunk of it.
func (w *wishes) parallel(nf *normalForm, c *lang.Command) error {
	if len(c.Args) != 1 || c.Args[0].Inner {
		return c.Fail(c.Pos, "write parallel(i), or parallel(i: 4096) for chunks of so many steps", "parallel takes the loop that threads share")
	}
	a := c.Args[0]
	if err := nf.index(c, a); err != nil {
		return err
	}
	if a.Value != "" {
		n, ok := a.Number()
		if !ok {
			return c.Fail(a.Pos, "write parallel(i: 4096)", "the work of a chunk is a number from 1 on, not %s", a.Value)
		}
		w.Grain = n
	}
	w.need(c, func(s *scheduler, x *candidate) bool {
		f := outermost(x.body)
		return f != nil && s.indices[f.Index.ID].Name == a.Word && shared(s.lhs, s.lhs.Tensor, f, x.accumulate, x.fold)
	})
	return nil
}

// serial reads serial: one thread does it all.
func (w *wishes) serial(nf *normalForm, c *lang.Command) error {
	if len(c.Args) > 0 {
		return c.Fail(c.Pos, "write serial", "serial takes nothing")
	}
	if slices.ContainsFunc(w.list, func(x *wish) bool { return x.command.Name == "parallel" }) {
		return c.Fail(c.Pos, "", "a loop cannot be both parallel and serial")
	}
	w.Serial = true
	return nil
}

// unroll reads unroll(i: 4): so many iterations of the loop over i are written out at a time.
func (w *wishes) unroll(nf *normalForm, c *lang.Command) error {
	return numbered(nf, c, mostUnrolled, func(name string, n int64) { put(&w.Unroll, name, n) })
}

// split reads split(i: 64): the loop over i, of coordinates or of positions, runs in blocks of so many steps.
func (w *wishes) split(nf *normalForm, c *lang.Command) error {
	return numbered(nf, c, mostSteps, func(name string, n int64) { put(&w.Split, name, n) })
}

// vectorize reads vectorize(i: 8): so many iterations of the loop over i are one vector's.
func (w *wishes) vectorize(nf *normalForm, c *lang.Command) error {
	var odd int64
	err := numbered(nf, c, mostUnrolled, func(name string, n int64) {
		if put(&w.Vectorize, name, n); n&(n-1) != 0 {
			odd = n
		}
	})
	if err == nil && odd != 0 {
		return c.Fail(c.Pos, "write 2, 4, 8 or another power of two", "no vector has %d elements", odd)
	}
	return err
}

// gpu reads gpu(rows) and gpu(compute: rows): how a stage of the statement, or those that can, are mapped to the threads of a GPU. Processors have none.
func (w *wishes) gpu(_ *normalForm, c *lang.Command) error {
	if len(c.Args) == 0 {
		return c.Fail(c.Pos, "write gpu(rows), or gpu(compute: rows) for one stage", "gpu takes ways to map loops to threads")
	}
	for _, a := range c.Args {
		m := ir.Mapping{Way: a.Word}
		if a.Value != "" {
			m = ir.Mapping{Stage: a.Word, Way: a.Value}
		}
		if a.Inner || !slices.Contains(ir.Mappings, m.Way) {
			return c.Fail(a.Pos, suggest.DidYouMean(m.Way, ir.Mappings), "gpu: there is no way %s to map loops to threads: there are %s", m.Way, strings.Join(ir.Mappings, ", "))
		}
		if a.Value == "" && len(c.Args) > 1 {
			return c.Fail(a.Pos, "write gpu(compute: rows)", "gpu takes one way for all stages, or one for each stage that it names")
		}
		w.Mapping = append(w.Mapping, m)
	}
	return nil
}

// tile reads tile(i: 32, j: 64): loops that stand directly in each other run block by block.
func (w *wishes) tile(nf *normalForm, c *lang.Command) error {
	if len(c.Args) == 1 {
		return c.Fail(c.Pos, "write split(i: 64) for one loop", "tile takes two loops or more")
	}
	return numbered(nf, c, mostSteps, func(name string, n int64) { w.Tile = append(w.Tile, ir.Block{Index: name, Steps: n}) })
}

// put puts a number into a map that may not be there yet.
func put(m *map[string]int64, name string, n int64) {
	if *m == nil {
		*m = map[string]int64{}
	}
	(*m)[name] = n
}

// numbered reads a command that takes loops with numbers, each loop once.
func numbered(nf *normalForm, c *lang.Command, most int64, add func(name string, n int64)) error {
	hint := fmt.Sprintf("write %s(i: 4)", c.Name)
	if len(c.Args) == 0 {
		return c.Fail(c.Pos, hint, "%s takes loops with numbers", c.Name)
	}
	for k, a := range c.Args {
		n, ok := a.Number()
		if a.Inner || a.Value == "" || !ok || n > most {
			return c.Fail(a.Pos, hint, "%s takes loops with numbers from 1 to %d", c.Name, most)
		}
		if slices.ContainsFunc(c.Args[:k], func(b *lang.Argument) bool { return b.Word == a.Word }) {
			return c.Fail(a.Pos, "", "%s has the loop over %s twice", c.Name, a.Word)
		}
		if err := nf.index(c, a); err != nil {
			return err
		}
		add(a.Word, n)
	}
	return nil
}

// positions reads positions(i: A): the loop over i runs over the positions of A, and nothing else.
func (w *wishes) positions(nf *normalForm, c *lang.Command) error {
	for _, a := range c.Args {
		if a.Inner || a.Value == "" {
			return c.Fail(a.Pos, "write positions(i: A)", "positions takes loops with operands")
		}
		if err := nf.index(c, a); err != nil {
			return err
		}
		found := false
		nf.eachAccess(func(x *ir.Access) { found = found || x.Tensor.Name == a.Value })
		if !found {
			return c.Fail(a.Pos, "", "positions: the statement reads no tensor %s", a.Value)
		}
		w.need(c, func(s *scheduler, x *candidate) bool {
			loops := loopsOver(s.indices, x.body, a.Word)
			return len(loops) > 0 && !slices.ContainsFunc(loops, func(f *ir.Forall) bool {
				z := &sizes{}
				atom, ok := s.alg.StmtSet(f.Body, dryLeaves{s.alg, f.Index, x.at, x.at.convert(x.convert), z}).IsAtom()
				return !ok || z.fibres[atom].access.Tensor.Name != a.Value
			})
		})
	}
	if len(c.Args) == 0 {
		return c.Fail(c.Pos, "write positions(i: A)", "positions takes loops with operands")
	}
	return nil
}

// loopsOver lists the loops of a nest over the index of a name.
func loopsOver(indices []*ir.Index, st ir.Stmt, name string) []*ir.Forall {
	var list []*ir.Forall
	ir.EachStmt(st, func(st ir.Stmt) {
		if f, ok := st.(*ir.Forall); ok && indices[f.Index.ID].Name == name {
			list = append(list, f)
		}
	})
	return list
}
