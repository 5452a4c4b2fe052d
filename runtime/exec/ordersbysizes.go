package exec

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/logic"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Loops by the sizes of operands: which programs have a choice there, and what is known of sizes when they are planned.

// ordersBySizes reports whether the best order of loops depends on how much operands store: several matrices are sparse, and they do not all lie in
// one order, or are more than two.
func ordersBySizes(program *lang.Program) bool {
	return slices.ContainsFunc(program.Stmts, func(s *lang.Stmt) bool {
		var list []*lang.Access
		for _, a := range lang.Accesses(s.RHS) {
			if t := a.Tensor; t.Rank > 1 && t.StoredOf == nil && t.HasFormat && !t.Format.IsDense() {
				list = append(list, a)
			}
		}
		return len(list) > 2 || len(list) == 2 && list[0].Tensor.Format != list[1].Tensor.Format
	})
}

// ordersByExtents reports whether the best order of loops depends on extents: of a product of several dense matrices.
func ordersByExtents(program *lang.Program) bool {
	return sumsOfProducts(program) && slices.ContainsFunc(program.Stmts, func(s *lang.Stmt) bool {
		var first *lang.Access
		products, sparse := false, false
		for _, a := range lang.Accesses(s.RHS) {
			t := a.Tensor
			sparse = sparse || t.StoredOf != nil || t.Operand && !t.Format.IsDense()
			if t.Rank < 2 {
				continue
			}
			products = products || first != nil && !slices.EqualFunc(a.Indices, first.Indices, func(x, y lang.IndexExpr) bool { return x.Plain() == y.Plain() })
			if first == nil {
				first = a
			}
		}
		return products && !sparse && hasReduction(s.RHS)
	})
}

// hasReduction reports whether an expression folds.
func hasReduction(e lang.Expr) bool {
	found := false
	lang.Walk(e, func(x lang.Expr) bool {
		_, is := x.(*lang.Reduce)
		found = found || is
		return !found
	})
	return found
}

// sized are the options by which a program is planned for operands with such statistics, and the text of the loops; "" without any.
// Statistics are of whole operands, and estimates hold for sums of products: of other programs, and where an operand is stored in pieces, loops
// are chosen as for usual data.
func (s *Session) sized(ctx context.Context, program *lang.Program, statistics map[string]*tensor.Statistics, d *declare.Declarations) (opts ir.Options, loops string, err error) {
	if opts, err = s.env.planOptions(program, d); err != nil {
		return opts, "", err
	}
	if err := addSizes(ctx, &opts, program, statistics); err != nil || opts.Sizes == nil {
		return opts, "", err
	}
	sized, err := plan.New(ctx, program, opts, scalar.Eval)
	if err != nil {
		return opts, "", err
	}
	return opts, loopsText(sized), nil
}

// addSizes adds the sizes that follow from statistics to the options that a program is planned by, if any do.
func addSizes(ctx context.Context, opts *ir.Options, program *lang.Program, statistics map[string]*tensor.Statistics) error {
	if len(statistics) == 0 || len(opts.Forms) > 0 || !sumsOfProducts(program) {
		return nil
	}
	usual, err := plan.New(ctx, program, *opts, scalar.Eval)
	if err == nil {
		opts.Sizes = logic.Expected(program, logic.Options{Statistics: statistics, Stores: storesOf(usual)})
	}
	return err
}

// sumsOfProducts reports whether a program has nothing else than sums over products, and conditions on what is stored, of elements at plain indices: the
// extent of each loop then follows from operands.
func sumsOfProducts(program *lang.Program) bool {
	return !slices.ContainsFunc(program.Stmts, func(s *lang.Stmt) bool {
		other := false
		lang.Walk(s.RHS, func(e lang.Expr) bool {
			switch e := e.(type) {
			case *lang.Access:
				other = other || slices.ContainsFunc(e.Indices, func(x lang.IndexExpr) bool { return x.Plain() == nil })
			case *lang.Reduce:
				other = other || e.Op != lang.Sum || slices.ContainsFunc(e.Vars, func(v lang.ReduceVar) bool { return v.In != nil })
			case *lang.Call:
				other = other || !slices.Contains([]string{"*", "+", "-", "neg"}, e.Fn)
			case *lang.Literal, *lang.Cast, *lang.Select:
			default:
				other = true
			}
			return !other
		})
		return other
	})
}

// addsAlike reports whether a program only adds tensors, element by element. No index joins operands then, so how entries spread over
// coordinates decides nothing: not to look costs a sum of many matrices less than half of its time.
func addsAlike(program *lang.Program) bool {
	return !slices.ContainsFunc(program.Stmts, func(s *lang.Stmt) bool {
		other := false
		lang.Walk(s.RHS, func(e lang.Expr) bool {
			switch e := e.(type) {
			case *lang.Access:
				has := func(v *lang.Index) bool {
					return slices.ContainsFunc(e.Indices, func(x lang.IndexExpr) bool { return x.Plain() == v })
				}
				other = other || len(e.Indices) != len(s.LHS.Indices) ||
					slices.ContainsFunc(s.LHS.Indices, func(x lang.IndexExpr) bool { return x.Plain() == nil || !has(x.Plain()) })
			case *lang.Call:
				other = other || !slices.Contains([]string{"+", "-", "neg"}, e.Fn)
			case *lang.Literal, *lang.Cast:
			default:
				other = true
			}
			return !other
		})
		return other
	})
}

// sizeOf are statistics of an operand that is one tensor, as far as they follow from its extents and the number of its entries: nothing
// of it need be read. Both are rounded, as by [tensor.Statistics.Rounded].
func sizeOf(o tensor.Operand) (*tensor.Statistics, bool) {
	t, ok := o.(*tensor.Tensor)
	if !ok || t == nil || !t.IsCanonical() {
		return nil, false
	}
	s := &tensor.Statistics{Entries: sizeClass(t.NNZ())}
	for _, n := range t.Dims() {
		a := tensor.AxisStatistics{Extent: sizeClass(n)}
		if s.Entries > 0 {
			a.NonEmpty = min(a.Extent, s.Entries)
			each := s.Entries / a.NonEmpty
			a.Longest, a.Squares = each, each*s.Entries
		}
		s.Axes = append(s.Axes, a)
	}
	return s, true
}

// sizeClass is the power of two that is nearest to n.
func sizeClass(n int64) float64 {
	if n == 0 {
		return 0
	}
	return math.Exp2(math.Round(math.Log2(float64(n))))
}

// sizedLike reports whether sizeOf gives an operand such statistics.
func sizedLike(o tensor.Operand, s *tensor.Statistics) bool {
	t, ok := o.(*tensor.Tensor)
	if !ok || t == nil || s == nil || !t.IsCanonical() || t.Rank() != len(s.Axes) || sizeClass(t.NNZ()) != s.Entries {
		return false
	}
	for axis, n := range t.Dims() {
		if sizeClass(n) != s.Axes[axis].Extent {
			return false
		}
	}
	return true
}

// loopsText is the text of a plan without what is estimated of it.
func loopsText(p *ir.Plan) string {
	lines := strings.Split(p.String(), "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "#") }), "\n")
}
