package exec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/prim"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// What kernels find wrong in data they report without the data: here the message gets a
// place in the program, a code, and the value that is wrong.

// failedWith reports whether a kernel failed with a message.
func failedWith(err error, message string) bool {
	var failed *runtime.KernelError
	return errors.As(err, &failed) && failed.Message == message
}

// explainedError is the error of a step as one about the program and its operands.
func (k *Kernel) explainedError(st *step, err error, b *binding, vals values) error {
	switch p := st.plan.(type) {
	case *ir.Compute:
		err = k.badIndex(p, err, b, vals)
	case *ir.Statistic:
		err = k.badOrder(p, err)
	}
	return k.whyOtherPattern(err)
}

// badOrder gives the error of a quantile whose order is out of range a place and a code.
func (k *Kernel) badOrder(s *ir.Statistic, err error) error {
	if !failedWith(err, prim.BadOrder) {
		return err
	}
	e := &lang.Error{Code: lang.ErrRange, Pos: s.Pos, Msg: "an order of " + s.Name + " lies outside 0 to 1, or is NaN",
		Hint: "orders count from 0, the smallest value, to 1, the largest"}
	return e.WithSource(k.source)
}

// badIndex gives the error of a gather or scatter out of range, in step c, a place and names the value.
func (k *Kernel) badIndex(c *ir.Compute, err error, b *binding, vals values) error {
	if !outsideAxis(err) {
		return err
	}
	value := func(t *lang.Tensor) *tensor.Tensor {
		for _, made := range k.plan.Tensors {
			if made.Source != nil && made.Source.ID == t.ID && vals[made.ID] != nil {
				return vals[made.ID]
			}
		}
		return nil
	}
	if e := findOutside(k.checked.Stmts[slices.Index(k.program.Stmts, c.Stmt)], value, b.extents.Shapes); e != nil {
		e.Err = err
		return e.WithSource(k.source)
	}
	return err
}

// outsideAxis reports whether a kernel failed because a gathered index was out of range.
func outsideAxis(err error) bool {
	var failed *runtime.KernelError
	return errors.As(err, &failed) && strings.HasSuffix(failed.Message, lower.OutsideAxis)
}

// findOutside looks through the tensors that give a statement indices for the first value that is no coordinate
// where it is used, nil if it finds none: then the kernel has computed the indices otherwise.
func findOutside(s *lang.Stmt, value func(*lang.Tensor) *tensor.Tensor, shapes map[string][]int64) *lang.Error {
	for _, a := range append([]*lang.Access{s.LHS}, lang.Accesses(s.RHS)...) {
		for axis, x := range a.Indices {
			shape := shapes[a.Tensor.Name]
			if x.Gather == nil || axis >= len(shape) {
				continue
			}
			p := value(x.Gather.Tensor)
			if p == nil {
				continue
			}
			where, v, found := firstOutside(p, shape[axis])
			if !found {
				continue
			}
			e := &lang.Error{Code: lang.ErrOutOfRange, Pos: x.Gather.Pos,
				Msg: fmt.Sprintf("%s is %s, and %s has the coordinates 0 to %d in dimension %d", x.Gather.Tensor.Name+where, v, a.Tensor.Name, shape[axis]-1, axis)}
			if shape[axis] == 0 {
				e.Msg = fmt.Sprintf("%s is %s, and %s has no coordinates in dimension %d", x.Gather.Tensor.Name+where, v, a.Tensor.Name, axis)
			}
			return e
		}
	}
	return nil
}

// firstOutside is the first value of p that is not from 0 to n-1, and where it is.
func firstOutside(p *tensor.Tensor, n int64) (where string, v tensor.Scalar, found bool) {
	outside := func(v tensor.Scalar) bool {
		c := v.Int64()
		return c < 0 || c >= n
	}
	for i := range p.Values().Len() {
		if v := p.Values().Scalar(i); outside(v) {
			coords, _, err := p.ToCoords()
			if err != nil {
				return "", v, true
			}
			var at []string
			for _, list := range coords {
				at = append(at, fmt.Sprint(list[i]))
			}
			if len(at) > 0 {
				where = "(" + strings.Join(at, ",") + ")"
			}
			return where, v, true
		}
	}
	if v := p.Fill(); !p.Format().IsDense() && outside(v) {
		return " where it stores nothing", v, true
	}
	return "", tensor.Scalar{}, false
}

// checkFibres refuses fibres of more than 2^63 elements, which have no positions and no ranks.
func (k *Kernel) checkFibres(f fibres, vals values) error {
	if f.stored {
		return nil
	}
	dims := vals[f.from.ID].Dims()
	var along []int64
	for _, axis := range f.axes {
		along = append(along, dims[axis])
	}
	if _, fits := product(along); fits {
		return nil
	}
	e := &lang.Error{Code: lang.ErrOutOfRange, Pos: f.pos, Msg: fmt.Sprintf("%s runs over 2^63 or more coordinates, and its ranks do not fit i64", f.op),
		Hint: "run over fewer indices, or with in over what is stored"}
	return e.WithSource(k.source)
}

// keysError says that no plan has workspaces with few enough keys: several
// dimensions into which values are scattered must be gathered at once.
func keysError(c *ir.Compute) *lang.Error {
	e := lang.Unsupported("scattering into dimensions whose extents multiply to 2^63 or more", c.Stmt.LHS.Pos)
	e.Hint = fmt.Sprintf("store %s so that its outermost levels are indexed plainly, or use smaller extents", c.Result.Name)
	return e
}

// countError says that the reduction of s that r stands for counts too much.
func countError(s *lang.Stmt, r *ir.Reduce) *lang.Error {
	e := &lang.Error{
		Code: lang.ErrOutOfRange, Pos: s.LHS.Pos,
		Msg:  "a count of coordinates may not fit 63 bits",
		Hint: "sum where(…, 1.0, 0.0) for an approximate count, or count over fewer indices",
	}
	lang.Walk(s.RHS, func(x lang.Expr) bool {
		fold, ok := x.(*lang.Reduce)
		if ok && sameIndices(fold, r) {
			e.Pos, e.Msg = fold.Pos, fmt.Sprintf("what %s counts over its indices may not fit 63 bits", fold.Op)
		}
		return true
	})
	return e
}

// sameIndices reports whether two reductions bind the same indices.
func sameIndices(fold *lang.Reduce, r *ir.Reduce) bool {
	return len(fold.Vars) == len(r.Vars) && !slices.ContainsFunc(fold.Vars, func(v lang.ReduceVar) bool {
		return !slices.ContainsFunc(r.Vars, func(x *ir.Index) bool { return x.ID == v.Var.ID })
	})
}

// whyOtherPattern adds to runtime.ErrPattern what dense operands are stored again without their
// zeros: then values decide the pattern that the kernel sees.
func (k *Kernel) whyOtherPattern(err error) error {
	if !errors.Is(err, runtime.ErrPattern) {
		return err
	}
	for _, st := range k.steps {
		c, ok := st.plan.(*ir.Convert)
		if !ok || c.Keeps() || !c.From.Format.IsDense() || c.To.Format.IsDense() {
			continue
		}
		err = fmt.Errorf("%w; this kernel stores %s, which is %s, again as %s without the elements that equal its fill, so values decide that pattern",
			err, c.From.Name, c.From.Format, c.To.Format)
		if c.From.Source != nil {
			err = fmt.Errorf("%w: pass it without D levels", err)
		}
	}
	return err
}
