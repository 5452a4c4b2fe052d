package lang

import (
	"cmp"
	"fmt"
	"github.com/lacuna-sparse/lacuna/internal/suggest"
	"maps"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// checker checks one file. Errors are collected; a construct that is wrong
// yields no checked form, and what depends on it is skipped in silence.
type checker struct {
	file    *File
	decls   map[string]Decl
	prog    *Program
	tensors map[string]*Tensor
	state   map[*Tensor]*tensorState
	indexed map[string]bool // names that some use indexes or assigns
	errs    Errors
}

// maxErrors is how many mistakes are reported: past it they are mostly consequences,
// and each costs a search for similar names.
const maxErrors = 20

// tensorState is what only the checker needs to know of a tensor.
type tensorState struct {
	decl     Decl
	declared bool
	assigned bool // by a statement before
	unknown  bool // an error was reported; uses are skipped
	typedBy  Pos  // the statement that gave the dtype, when not declared
}

func (c *checker) fail(code Code, pos Pos, hint, format string, args ...any) *Error {
	e := &Error{Code: code, Pos: pos, Msg: fmt.Sprintf(format, args...), Hint: hint}
	if !c.full() {
		c.errs = append(c.errs, e)
	}
	return e
}

func (c *checker) full() bool { return len(c.errs) >= maxErrors }

// use is an appearance of a tensor that tells its rank.
type use struct {
	ref  *Ref
	left bool
}

// resolve makes the table of tensors: every name that is assigned, indexed, or
// declared with rank 0 and used bare, in the order of first appearance.
func (c *checker) resolve() {
	assigned := make(map[string]bool)
	c.indexed = make(map[string]bool)
	var refs []use
	for _, s := range c.file.Stmts {
		assigned[s.LHS.Name], c.indexed[s.LHS.Name] = true, true
		refs = append(refs, use{s.LHS, true})
		right := func(r *Ref) {
			refs = append(refs, use{r, false})
			if r.Parens {
				c.indexed[r.Name] = true
			}
		}
		s.LHS.EachGather(right)
		EachRef(s.RHS, right)
	}
	for _, u := range refs {
		c.resolveUse(u, assigned[u.ref.Name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.decls)) {
		if word := reservedAs(name); word != "" {
			c.fail(ErrDeclaration, Pos{}, "give the tensor another name", "%s is %s and cannot name a tensor", name, word)
		}
	}
}

// resolveUse enters the tensor of a use into the table, if it is one.
func (c *checker) resolveUse(u use, assigned bool) {
	name, rank := u.ref.Name, len(u.ref.Indices)
	if c.tensors[name] != nil {
		return
	}
	decl, declared := c.decls[name]
	bare := !u.ref.Parens && !u.left
	if bare && (!declared || decl.Rank > 0) {
		return // an index, or a result whose left side comes later; see bareIsTensor
	}
	if !declared && !assigned {
		c.unknownTensor(u.ref)
	}
	if bare && decl.Rank == AnyRank && c.indexed[name] {
		return
	}
	if declared && decl.Rank >= 0 {
		rank = decl.Rank
	}
	if rank > tensor.MaxRank && rank != decl.Rank {
		c.fail(ErrRank, u.ref.Pos, "", "%s has %d indices; a tensor has at most %d dimensions", name, rank, tensor.MaxRank)
	}
	t := &Tensor{ID: len(c.prog.Tensors), Name: name, Rank: rank, Pos: u.ref.Pos}
	st := &tensorState{decl: decl, declared: declared, unknown: !declared && !assigned || rank > tensor.MaxRank}
	c.tensors[name] = t
	c.state[t] = st
	c.prog.Tensors = append(c.prog.Tensors, t)
	if declared {
		c.applyDecl(t, decl)
	}
}

// applyDecl copies a declaration to its tensor, checking that it is possible.
func (c *checker) applyDecl(t *Tensor, d Decl) {
	if d.Rank < AnyRank || d.Rank > tensor.MaxRank {
		c.fail(ErrDeclaration, t.Pos, "", "%s is declared with rank %d; ranks are 0 to %d", t.Name, d.Rank, tensor.MaxRank)
		c.state[t].unknown = true
		return
	}
	switch {
	case d.DType.Valid():
		t.DType = d.DType
	case d.HasDType:
		c.fail(ErrDeclaration, t.Pos, "", "%s is declared with an invalid element type", t.Name)
		c.state[t].unknown = true
	case !d.Result:
		t.DType = tensor.Float64
	}
	if d.HasFormat {
		t.Format, t.HasFormat, t.Relaxed = d.Format, true, d.Relaxed
		if d.Format.Rank() != t.Rank {
			c.fail(ErrDeclaration, t.Pos, fmt.Sprintf("choose a format with %d levels", t.Rank),
				"the format %s of %s has %d levels, but %s has %d dimensions", d.Format, t.Name, d.Format.Rank(), t.Name, t.Rank)
		}
	}
	if d.Shape != nil {
		t.Shape = slices.Clone(d.Shape)
		if len(d.Shape) != t.Rank {
			c.fail(ErrDeclaration, t.Pos, "", "the shape of %s is declared with %d extents, but %s has %d dimensions", t.Name, len(d.Shape), t.Name, t.Rank)
		}
		if low := slices.IndexFunc(d.Shape, func(n int64) bool { return n < -1 }); low >= 0 {
			c.fail(ErrDeclaration, t.Pos, "an extent is 0 or more, or -1 to leave it open", "extent %d of %s is declared as %d", low, t.Name, d.Shape[low])
		}
	}
}

// finishTensors fills in what is known only after all statements were checked.
func (c *checker) finishTensors() {
	for _, t := range c.prog.Tensors {
		st := c.state[t]
		if t.StoredOf != nil { // which stands before
			t.Format, t.HasFormat, t.Shape = t.StoredOf.Format, true, t.StoredOf.Shape
		}
		if t.Operand && !t.HasFormat {
			t.Format, t.HasFormat = tensor.Dense(t.Rank), true
		}
		if !t.DType.Valid() {
			continue
		}
		switch {
		case st.decl.Fill != nil:
			t.Fill, t.FillKnown = st.decl.Fill.Convert(t.DType), true
		case t.Operand:
			t.Fill, t.FillKnown = tensor.Zero(t.DType), true
		}
	}
}

// unknownTensor reports a name that nothing declares.
func (c *checker) unknownTensor(r *Ref) {
	if c.full() {
		return
	}
	if hint := reductionHint(r); hint != "" {
		c.fail(ErrUnknownName, r.Pos, hint, "unknown tensor %s", r.Name)
		return
	}
	if hint := elsewhere[r.Name]; hint != "" && r.Parens {
		c.fail(ErrUnknownName, r.Pos, hint, "unknown tensor %s", r.Name)
		return
	}
	names := slices.Collect(maps.Keys(c.decls))
	for _, s := range c.file.Stmts {
		names = append(names, s.LHS.Name)
	}
	if r.Parens {
		names = append(names, callables()...)
	}
	c.fail(ErrUnknownName, r.Pos, "", "unknown tensor %s", r.Name).adviseUnknown(r.Name, names, "pass it as an operand, or declare it", "t")
}

// adviseUnknown adds the name that may be meant, or else how a name gets a value.
func (e *Error) adviseUnknown(name string, names []string, otherwise, example string) {
	if e.Hint = suggest.DidYouMean(name, names); e.Hint == "" {
		e.Hint = otherwise
		e.InGo = fmt.Sprintf("lacuna.Args{%q: %s}; to compile, lacuna.Operand(%[1]q, %[2]s) or lacuna.Format(%[1]q, …)", name, example)
	}
}

// bareIsTensor says whether a name without parentheses is a rank-0 tensor.
func (c *checker) bareIsTensor(name string) bool {
	t := c.tensors[name]
	return t != nil && t.Rank == 0
}

// lookup returns the tensor of a reference with parentheses or on the left. It
// reports a wrong number of indices; then, and for an unknown tensor, it returns nil.
func (c *checker) lookup(r *Ref) *Tensor {
	t := c.tensors[r.Name]
	if t == nil || c.state[t].unknown {
		return nil
	}
	if len(r.Indices) == t.Rank {
		return t
	}
	e := c.fail(ErrRank, r.Pos, "", "%s has %s here, but %s", r.Name, plural(len(r.Indices), "index", "indices"), plural(t.Rank, "dimension", "dimensions"))
	if c.state[t].declared && c.state[t].decl.Rank >= 0 {
		e.Hint = fmt.Sprintf("%s is declared with %s", r.Name, plural(t.Rank, "dimension", "dimensions"))
	} else if t.Pos != r.Pos {
		e.Related = []Note{{t.Pos, fmt.Sprintf("%s has %s here", r.Name, plural(t.Rank, "index", "indices"))}}
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// read notes that the value of t is needed at pos before the running statement
// assigns it. It returns false, with an error, when there is none.
func (c *checker) read(t *Tensor, pos Pos) bool {
	st := c.state[t]
	switch {
	case st.unknown:
		return false
	case st.assigned:
		return t.DType.Valid() // else its statement was wrong
	case st.declared && !st.decl.Result:
		t.Operand = true
		return true
	}
	st.unknown = true
	c.fail(ErrNoValue, pos, fmt.Sprintf("pass %s as an operand, or assign it with = before, such as %s, with its shape declared", t.Name, zeros(t)),
		"%s has no value yet: it is a result, and no statement before assigns it", t.Name).InGo = fmt.Sprintf("lacuna.Args{%q: t}, or %s", t.Name, shapeInGo(t))
	return false
}

// shapeInGo is how the shape of a tensor is declared in Go.
func shapeInGo(t *Tensor) string {
	return fmt.Sprintf("lacuna.Shape(%q%s)", t.Name, strings.Repeat(", n", t.Rank))
}

// zeros is the assignment that makes a tensor of zeros: indices that occur on its left only run as far as its
// declared shape says.
func zeros(t *Tensor) string {
	if t.Rank == 0 {
		return t.Name + " = 0.0"
	}
	vars := make([]string, t.Rank)
	for k := range vars {
		vars[k] = fmt.Sprintf("i%d", k)
	}
	return fmt.Sprintf("%s(%s) = 0.0", t.Name, strings.Join(vars, ","))
}

// Name is a tensor that a file mentions, for tools that must know ranks before
// they can declare.
type Name struct {
	Name     string
	Rank     int
	Assigned bool
}

// Names lists the tensors of the file, in order of first appearance. A name
// without parentheses on a right side may be an index and is not listed unless it
// is assigned.
func (f *File) Names() []Name {
	var list []Name
	at := make(map[string]int)
	add := func(r *Ref, left bool) {
		i, seen := at[r.Name]
		if !seen && !r.Parens && !left {
			return
		}
		if !seen {
			i = len(list)
			at[r.Name] = i
			list = append(list, Name{Name: r.Name, Rank: len(r.Indices)})
		}
		list[i].Assigned = list[i].Assigned || left
	}
	for _, s := range f.Stmts {
		add(s.LHS, true)
		s.LHS.EachGather(func(r *Ref) { add(r, false) })
		EachRef(s.RHS, func(r *Ref) { add(r, false) })
	}
	return list
}

// sortedByPos returns the keys of m ordered by their positions.
func sortedByPos(m map[string]Pos) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[a].Offset, m[b].Offset), cmp.Compare(a, b))
	})
}
