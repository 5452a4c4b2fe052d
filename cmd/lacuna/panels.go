package main

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/internal/distribute"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// panels makes a stream of the factor of which a row makes a row of a product, or a column a column, if the program is one product of two matrices, and that may take more than
// --memory says: then rows are computed together that fit, and what they make is appended to a file. Otherwise the stream is nil.
func (e *evaluation) panels() *stream {
	if e.spill == nil || e.stream != nil || len(e.program.file.Stmts) != 1 || e.wishes.given() || e.tuned || e.profile {
		return nil
	}
	p, err := parseProgram(e.program.source) // which is changed below
	if err != nil {
		return nil
	}
	st := p.file.Stmts[0]
	var factors []*lang.Ref
	lang.EachRef(st.RHS, func(r *lang.Ref) { factors = append(factors, r) })
	if len(factors) != 2 || st.Op != lang.Set || p.uses[st.LHS.Name].needed {
		return nil
	}
	width := e.foldType(st).Size()
	for _, o := range e.operands {
		if o.Name == st.LHS.Name && o.Qual.DType.Valid() {
			width = max(width, o.Qual.DType.Size())
		}
	}
	for k, r := range factors {
		other := factors[1-k]
		t, _ := e.args[r.Name].(*tensor.Tensor)
		u, _ := e.args[other.Name].(*tensor.Tensor)
		if t == nil || u == nil || !follows(st.LHS, r, other, t.Format()) || e.format(st.LHS.Name) != t.Format() {
			continue
		}
		rows, ok := distribute.NewPanels(e.spill.Files, t, u, width)
		const entry = 12 // bytes, of most results
		if !ok || rows.Terms()*entry < float64(e.spill.Limit) {
			continue
		}
		if other.Name == r.Name { // the whole and a panel of it are two operands
			for p.uses[other.Name] != nil {
				other.Name += "_"
			}
			e.args[other.Name] = u
			if p, err = parseProgram(st.String()); err != nil {
				return nil
			}
			e.program = p
		}
		s := &stream{r.Name, rows, t.DType()}
		if _, err := s.plan(st, st.String()); err != nil {
			return nil // it is computed whole
		}
		return s
	}
	return nil
}

// follows reports whether rows of a result follow from rows of a factor t and from all of another, if all are stored by rows, or columns if they are by columns:
// C(i,k) = A(i,j)*B(j,k), whichever is A.
func follows(result, t, other *lang.Ref, format tensor.Format) bool {
	names := func(r *lang.Ref) []string {
		var list []string
		for _, axis := range format.Order() {
			if len(r.Indices) != format.Rank() || plainIndex(r.Indices[axis]) == "" {
				return nil
			}
			list = append(list, plainIndex(r.Indices[axis]))
		}
		return list
	}
	a, b, c := names(t), names(other), names(result)
	return len(a) == 2 && len(b) == 2 && len(c) == 2 && a[0] == c[0] && a[1] == b[0] && b[1] == c[1] && a[0] != a[1] && b[0] != b[1] && a[0] != b[1]
}

// format is how a result is declared to be stored, CSR if it is not.
func (e *evaluation) format(name string) tensor.Format {
	k := slices.IndexFunc(e.operands, func(o operand.Operand) bool { return o.Name == name && o.Source == nil })
	if k < 0 || e.operands[k].Qual.Format == "" {
		return tensor.CSR
	}
	f, err := tensor.ParseFormat(e.operands[k].Qual.Format, 2)
	if err != nil {
		return tensor.Format{}
	}
	return f
}
