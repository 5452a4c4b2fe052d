package ir

import "github.com/lacuna-sparse/lacuna/tensor"

// naturalFormat is the format of a result that the user did not choose: dense
// when the result has a value of its own at every coordinate, else the levels
// that its operands' levels suggest, in the axis order that suits most of them.
func (nf *normalForm) naturalFormat(alg Algebra, background Expr) tensor.Format {
	rank := nf.lhs.Tensor.Rank
	dense := tensor.Dense(rank)
	if _, ok := ConstValue(background); !ok || rank == 0 {
		return dense
	}
	vars := make([]*Index, rank)
	for axis, x := range nf.lhs.Indices {
		v := x.Plain()
		if v == nil || contains(vars, v) {
			return dense
		}
		vars[axis] = v
	}
	order := nf.naturalOrder(vars)
	at := depths{}
	for d, axis := range order {
		at[vars[axis]] = d
	}
	for _, r := range nf.reduces {
		for k, v := range r.Vars {
			at[v] = rank + k
		}
	}
	var converted []*Access
	nf.eachAccess(func(a *Access) {
		if !at.concordant(a) {
			converted = append(converted, a)
		}
	})
	levels := make([]tensor.LevelKind, rank)
	sparse := -1 // innermost level that is cut short
	for l, axis := range order {
		s := alg.Of(nf.value, dryLeaves{alg, vars[axis], at, converted})
		if s.Set.IsAll() || s.Background == nil {
			levels[l] = tensor.C
		} else {
			levels[l] = tensor.DC
			sparse = l
		}
	}
	if sparse < 0 {
		return dense
	}
	levels[sparse] = tensor.S
	for l := sparse + 1; l < rank; l++ {
		levels[l] = tensor.D
	}
	if sparse == rank-1 && nf.allCoordinates() {
		for l := range levels {
			if levels[l] == tensor.C {
				break
			}
			levels[l] = tensor.S
		}
	}
	f, err := tensor.FormatOf(levels, order)
	if err != nil {
		panic("BUG: natural format: " + err.Error())
	}
	return f
}

// naturalOrder is the axis order, as written or as some operand is stored,
// that leaves the fewest operands out of order.
func (nf *normalForm) naturalOrder(vars []*Index) []int {
	count := func(order []int) int {
		at, n := depths{}, 0
		for d, axis := range order {
			at[vars[axis]] = d
		}
		for _, r := range nf.reduces {
			for k, v := range r.Vars {
				at[v] = len(vars) + k
			}
		}
		nf.eachAccess(func(a *Access) {
			if !at.concordant(a) {
				n++
			}
		})
		return n
	}
	best := make([]int, len(vars))
	for axis := range best {
		best[axis] = axis
	}
	fewest := count(best)
	nf.eachAccess(func(a *Access) {
		var order []int
		for _, v := range storageOrder(a, vars) {
			for axis, w := range vars {
				if v == w {
					order = append(order, axis)
				}
			}
		}
		if n := count(order); n < fewest {
			best, fewest = order, n
		}
	})
	return best
}

// allCoordinates reports whether every sparse operand is a coordinate list.
func (nf *normalForm) allCoordinates() bool {
	lists, others := 0, 0
	nf.eachAccess(func(a *Access) {
		levels := a.Tensor.Format.Levels()
		switch {
		case a.Tensor.Format.IsDense():
		case len(levels) > 1 && levels[0] == tensor.S:
			lists++
		case len(levels) > 1:
			others++
		}
	})
	return lists > 0 && others == 0
}

func (nf *normalForm) eachAccess(f func(*Access)) {
	seen := map[*Access]bool{}
	visit := func(e Expr) {
		Walk(e, func(x Expr) {
			if a, ok := x.(*Access); ok && !seen[a] {
				seen[a] = true
				f(a)
			}
		})
	}
	visit(nf.value)
	for _, r := range nf.reduces {
		visit(r.Body)
		if r.In != nil {
			visit(r.In)
		}
	}
}
