package exec

import (
	"cmp"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lang/derive"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// groupFormats says how a derived program stores its result and the tensors that run over some axes of
// the operand, so that time and memory are those of the operand's entries: one number for each of a million rows, of which few
// store anything, is more than the operand.
//
// A group whose axes are the first levels has these levels, and loops go through both side by side. For others
// the levels of the result are put in another order, which the planner converts the operand to. If no order does for
// all groups it is left alone, and so is an operand with dense blocks. The groups of one with levels that are C, as the
// rows of CSR, are stored densely; but if the adjoint is sparse and its axes are not the first, every row
// would go through all of it, and the operand is converted too.
//
// dense tells of groups that are stored densely, and can be read in any order; upstream is the adjoint.
func groupFormats(operand tensor.Format, groups []derive.Group, upstream string, dense func(name string) bool) (tensor.Format, map[string]tensor.Format) {
	groups = slices.DeleteFunc(slices.Clone(groups), func(g derive.Group) bool { return dense(g.Name) })
	order := operand.Order()
	if len(groups) == 0 || operand.Relaxed() || operand.HasBlocks() {
		return operand, nil
	}
	levels := operand
	if slices.ContainsFunc(operand.Physical(), tensor.LevelType.Full) {
		across := func(g derive.Group) bool {
			return g.Name == upstream && slices.ContainsFunc(order[:len(g.Axes)], func(axis int) bool { return !slices.Contains(g.Axes, axis) })
		}
		if !slices.ContainsFunc(groups, across) {
			return operand, nil
		}
		levels = tensor.CSF(operand.Rank())
	}
	slices.SortStableFunc(groups, func(a, b derive.Group) int { return cmp.Compare(len(a.Axes), len(b.Axes)) })
	var front []int
	for _, g := range groups {
		for _, axis := range front {
			if !slices.Contains(g.Axes, axis) {
				return operand, nil // no order begins with both
			}
		}
		for _, axis := range order {
			if slices.Contains(g.Axes, axis) && !slices.Contains(front, axis) {
				front = append(front, axis)
			}
		}
	}
	for _, axis := range order {
		if !slices.Contains(front, axis) {
			front = append(front, axis)
		}
	}
	result, err := levels.WithOrder(front)
	if err != nil {
		return operand, nil
	}
	formats := map[string]tensor.Format{}
	for _, g := range groups {
		axes := make([]int, len(g.Axes))
		for l, axis := range front[:len(axes)] {
			axes[l] = slices.Index(g.Axes, axis)
		}
		f, err := levels.Outer(len(axes)).WithOrder(axes)
		if err != nil {
			return operand, nil
		}
		formats[g.Name] = f
	}
	return result, formats
}

// denseUpstream reports whether an adjoint is stored densely.
func denseUpstream(says map[string]lang.Decl, name string) bool {
	d, ok := says[name]
	return !ok || !d.HasFormat || d.Format.IsDense()
}
