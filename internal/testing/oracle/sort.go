package oracle

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// sort is 0 behind the first elements, if only those are asked for; else it is the element of the sorted line at the place that the indices name, or where
// that element came from.
func (e *evaluator) sort(x *lang.Scan) Value {
	var vars []*lang.Index
	here := int64(0)
	for _, v := range x.Vars {
		vars = append(vars, v.Var)
		here = here*e.extents[v.Var.ID] + e.env[v.Var.ID]
	}
	saved := slices.Clone(e.env)
	var list []Value
	var order []int
	e.each(vars, func() {
		order = append(order, len(list))
		list = append(list, e.expr(x.Body))
	})
	copy(e.env, saved)
	if e.err != nil {
		return Value{}
	}
	in := x.Body.DType()
	slices.SortStableFunc(order, func(i, j int) int {
		c := compareKeys(in, list[i], list[j])
		if x.Descending() {
			return -c
		}
		return c
	})
	if x.First > 0 && here >= x.First {
		return Value{State: Unknown}
	}
	z := list[order[here]]
	err := 0.0
	state := Stored
	if x.First > 0 {
		state = Unknown // the first elements of a line may be gaps
	}
	for _, v := range list {
		err = math.Max(err, v.Err)
		z.Disputed = z.Disputed || v.Disputed
	}
	z.Err, z.State = err, state
	if x.Op == lang.ArgSort {
		z = Value{I: int64(order[here]), State: state, Disputed: z.Disputed}
		if err > 0 {
			z.Err = math.Inf(1)
		}
	}
	return z
}

// compareKeys orders values; NaN is greater than every number.
func compareKeys(dt tensor.DType, x, y Value) int {
	less := func(x, y Value) bool {
		return call("<", dt, tensor.Bool, []Value{x, y}).B || !isNaN(x.C) && isNaN(y.C)
	}
	switch {
	case less(x, y):
		return -1
	case less(y, x):
		return 1
	}
	return 0
}
