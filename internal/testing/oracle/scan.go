package oracle

import "github.com/lacuna-sparse/lacuna/lang"

// scanFolds gives the reduction whose running values a scan has.
var scanFolds = map[lang.ScanOp]lang.Reduction{
	lang.CumSum: lang.Sum, lang.CumProd: lang.Prod, lang.CumMin: lang.Min, lang.CumMax: lang.Max,
	lang.LogCumSumExp: lang.LogSumExp,
}

// scan folds the values from the first coordinate, in row-major order over the
// scan's indices, to the one that its indices have. Over stored coordinates, an
// element that is not stored has the fold's identity.
func (e *evaluator) scan(x *lang.Scan) Value {
	var vars []*lang.Index
	var in []*lang.Access
	for _, v := range x.Vars {
		vars = append(vars, v.Var)
		if v.In != nil {
			in = append(in, v.InAccess)
		}
	}
	stored := func() bool {
		for _, a := range in {
			if !e.stores(a) {
				return false
			}
		}
		return true
	}
	at := make([]int64, len(vars))
	here := int64(0)
	for i, v := range vars {
		at[i] = e.env[v.ID]
		here = here*e.extents[v.ID] + at[i]
	}
	f := folding{op: scanFolds[x.Op], in: x.Body.DType(), out: x.Typ, stored: true}
	k := int64(-1)
	if stored() {
		e.each(vars, func() {
			k++
			before, same := k < here, k == here
			if x.Reverse() {
				before = k > here
			}
			if (before || same && !x.Exclusive()) && stored() {
				f.list = append(f.list, e.expr(x.Body))
			}
		})
	}
	for i, v := range vars {
		e.env[v.ID] = at[i]
	}
	if e.err != nil {
		return Value{}
	}
	v, err := f.value()
	if err != nil {
		e.fail(err)
	}
	v.State = Stored
	if !stored() {
		v.State = Gap
	}
	return v
}
