// Package logic is the logical optimiser: from a program it makes another one that computes the same in the order of least cost.
//
//	y(i) = A(i,j)*B(j,k)*x(k)
//	t1(j) = sum_k (B(j,k)*x(k)); y(i) = sum_j (A(i,j)*t1(j))
//
// A statement is read as aggregates over products of factors with bound indices (query.go). Where the operators
// distribute (law.go), a product may be joined in any order and a sum taken as soon as all factors with its index are
// there (associate.go), sparse vectors spread (spread.go), products of sums may be multiplied out (distribute.go), nested sums lifted out of loops that they do not depend
// on (hoist.go) or made by themselves (columns.go, calls.go), what is masked computed where it is needed (masked.go), and what is computed twice is made once (common.go). Costs (internal/cost) follow from statistics of the operands
// (facts.go) by estimates of the sizes of joins (estimate.go), never from extents alone. What pays becomes a statement of its own
// with a tensor that the optimiser chooses the format of; the rest stays in one nest of loops. How a statement is run, in which order its loops stand and what is
// parallel, is decided below, in package ir: Deeds, Ahrens and Amarasinghe (Galley, arXiv 2408.14706) divide the work alike.
//
// What cannot be proved to mean the same stays as it is written: strict arithmetic, data that is not finite or could
// overflow (magnitude.go), `in`, scans, gathers, slices and the values of indices.
package logic

import (
	"slices"
	"strconv"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Options are what an optimisation depends on beside the program.
type Options struct {
	// Statistics are those of the operands, by name. What has none is guessed: the plan is then one for
	// finite data of a usual size.
	Statistics map[string]*tensor.Statistics
	// Stores tells how the results of the program as written are stored where they are not declared: they are stored
	// the same in the optimised one. false: that is not known.
	Stores func() (map[*lang.Tensor]Stored, bool)
	// Check resolves an optimised program, with more declarations.
	Check func(*lang.File, map[string]lang.Decl) (*lang.Program, error)
	// Wanted names the results that are asked for; nil: all. Others may become part of what reads them.
	Wanted []string
	// Grids says that the program runs on an engine of many threads, which take loops with branches badly.
	Grids bool
	// Eager, for tests, takes every chance to reorder, however small the data.
	Eager bool
	// Forbidden, if not nil, is called where values of operands forbid to look for another order.
	Forbidden func()
	// Record keeps the alternatives that were weighed, in the result.
	Record bool
}

// Stored is how a result is stored.
type Stored struct {
	Format tensor.Format
	Fill   tensor.Scalar
}

// Result is an optimised program.
type Result struct {
	File    *lang.File
	Program *lang.Program
	// Intermediates names the tensors that the program as written does not have.
	Intermediates []string
	// Notes tell what was done and why, and what was not.
	Notes []string
	// Limited is the note that tells of a limit of the search, "" if none was met.
	Limited string
	// Weighed are the alternatives, if they were asked for.
	Weighed []Weighed
}

// optimiser is the state of one optimisation.
type optimiser struct {
	Options
	prog    *lang.Program
	taken   map[string]bool // names of tensors and indices
	facts   map[*lang.Tensor]facts
	stored  map[*lang.Tensor]Stored
	asked   bool
	out     []*lang.Assign
	decls   map[string]lang.Decl
	made    []intermediate
	notes   []string
	limited string
	weighed []Weighed
	changed bool
	// predicts: nothing is optimised, and how results are stored is known.
	predicts bool
	// inner are the results that nobody asks for, as long as nothing has changed that they are computed from.
	inner map[*lang.Tensor]*inner
}

// Optimise optimises a checked program. A nil result says that it stays as it is written.
func Optimise(file *lang.File, prog *lang.Program, opts Options) *Result {
	o := newOptimiser(prog, opts)
	for i, s := range prog.Stmts {
		st := o.inlined(s)
		o.out = append(o.out, st.optimised(file.Stmts[i]))
		o.assigned(st)
		o.enter(st)
	}
	if !o.changed {
		if o.Record || len(o.notes) > 0 {
			return &Result{Notes: o.notes, Limited: o.limited, Weighed: o.weighed}
		}
		return nil
	}
	for t, how := range o.stored {
		if !t.HasFormat && t.Result && !t.Operand && !o.gone(t) {
			d := lang.Decl{Rank: t.Rank, Format: how.Format, HasFormat: true, Fill: &how.Fill, Result: true, Shape: t.Shape}
			o.decls[t.Name] = d
		}
	}
	r := &Result{File: &lang.File{Source: file.Source, Stmts: o.out}, Notes: o.notes, Limited: o.limited, Weighed: o.weighed}
	err := o.check(r)
	if err == nil && o.dropped(r) {
		err = o.check(r)
	}
	if err != nil {
		return &Result{Notes: []string{"the program runs as written: " + err.Error()}, Weighed: o.weighed}
	}
	for _, m := range o.made {
		r.Intermediates = append(r.Intermediates, m.name)
	}
	if !o.sameTypes(r.Program) {
		return &Result{Notes: []string{"the program runs as written: another order has other types"}, Weighed: o.weighed}
	}
	return r
}

// newOptimiser knows the names of a program, and what its operands store.
func newOptimiser(prog *lang.Program, opts Options) *optimiser {
	o := &optimiser{Options: opts, prog: prog, taken: map[string]bool{}, facts: map[*lang.Tensor]facts{}, decls: map[string]lang.Decl{}, inner: map[*lang.Tensor]*inner{}}
	for _, t := range prog.Tensors {
		o.taken[t.Name] = true
	}
	for _, s := range prog.Stmts {
		for _, x := range s.Indices {
			o.taken[x.Name] = true
		}
	}
	for _, t := range prog.Tensors {
		if t.Operand {
			o.facts[t] = o.operand(t)
		}
	}
	o.fit()
	return o
}

func (o *optimiser) check(r *Result) (err error) {
	r.Program, err = o.Check(r.File, o.decls)
	return err
}

// dropped drops the intermediates of statements that are not made any more.
func (o *optimiser) dropped(r *Result) bool {
	if o.Wanted == nil {
		return false
	}
	needed := r.Program.Needed(o.Wanted)
	dead := func(m intermediate) bool {
		return !slices.ContainsFunc(r.Program.Stmts, func(s *lang.Stmt) bool {
			return s.LHS.Tensor.Name == m.name && needed[slices.Index(r.Program.Stmts, s)]
		})
	}
	before := len(r.File.Stmts)
	for _, m := range o.made {
		if dead(m) {
			delete(o.decls, m.name)
			r.File.Stmts = slices.DeleteFunc(r.File.Stmts, func(a *lang.Assign) bool { return a.LHS.Name == m.name })
		}
	}
	o.made = slices.DeleteFunc(o.made, dead)
	return len(r.File.Stmts) < before
}

// sameTypes reports whether the tensors of the program have the same types and ranks in another one.
func (o *optimiser) sameTypes(q *lang.Program) bool {
	return !slices.ContainsFunc(o.prog.Tensors, func(t *lang.Tensor) bool {
		return t.Result && !o.gone(t) && !slices.ContainsFunc(q.Tensors, func(u *lang.Tensor) bool {
			return u.Name == t.Name && u.DType == t.DType && u.Rank == t.Rank && u.Operand == t.Operand
		})
	})
}

// Choices reports whether a program has anything to choose: a plain product of a matrix and a vector does not, and pays nothing for
// the optimiser.
func Choices(prog *lang.Program, wanted []string, grids bool) bool {
	return wanted != nil && slices.ContainsFunc(prog.Stmts, func(s *lang.Stmt) bool {
		return !slices.Contains(wanted, s.LHS.Tensor.Name) && hasLaw(s.RHS)
	}) || slices.ContainsFunc(prog.Stmts, func(s *lang.Stmt) bool {
		factors, nested, found := 0, 0, false
		lang.Walk(s.RHS, func(e lang.Expr) bool {
			switch e := e.(type) {
			case *lang.Access:
				if len(e.Indices) > 0 {
					factors++
				}
			case *lang.Reduce:
				nested++
				found = found || lawOf(e) != nil
			}
			return true
		})
		return found && (!grids && callsFold(s.RHS) || factors > 2 || nested > 1 || factors == 2 && (privateIndex(s.RHS) || probes(lang.Accesses(s.RHS), grids) || columned(s.RHS)))
	})
}

// privateIndex reports whether an index is bound that one of several accesses has alone, beside others.
func privateIndex(e lang.Expr) bool {
	uses := map[*lang.Index]int{}
	accesses := lang.Accesses(e)
	for _, a := range accesses {
		for _, x := range a.Indices {
			if v := x.Plain(); v != nil && !v.Free {
				uses[v]++
			}
		}
	}
	return slices.ContainsFunc(accesses, func(a *lang.Access) bool {
		return len(a.Indices) > 1 && slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool {
			v := x.Plain()
			return v != nil && uses[v] == 1
		})
	})
}

// fresh is a name that nothing has yet.
func (o *optimiser) fresh(base string) string { return fresh(base, o.taken) }

// fresh is a name that none of some sets has; it is added to the first.
func fresh(base string, used ...map[string]bool) string {
	for n := 1; ; n++ {
		name := base + strconv.Itoa(n)
		if !slices.ContainsFunc(used, func(set map[string]bool) bool { return set[name] }) && !lang.Reserved(name) {
			used[0][name] = true
			return name
		}
	}
}

// storedAs is how a result is stored; false if that is not known.
func (o *optimiser) storedAs(t *lang.Tensor) (Stored, bool) {
	if t.HasFormat && t.FillKnown || t.Operand {
		return Stored{t.Format, t.Fill}, true
	}
	if t.Rank == 0 {
		return Stored{tensor.Dense(0), tensor.Zero(t.DType)}, true
	}
	if !o.asked {
		o.asked = true
		o.stored, _ = o.Stores()
	}
	how, ok := o.stored[t]
	return how, ok
}
