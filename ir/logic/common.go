package logic

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The rule of this file: intermediates that are computed alike are made once.

// intermediate is a tensor that the optimiser has made, with what it is computed from.
type intermediate struct {
	name  string
	key   string // what it is, with indices by number; "" once something that it reads has another value
	reads []*lang.Tensor
}

// define is the name of an intermediate: of an old one, if there is one that is computed alike, or of a new one.
func (o *optimiser) define(key string, reads []*lang.Tensor, decl lang.Decl, statement func(name string) *lang.Assign) string {
	for _, m := range o.made {
		if m.key == key {
			return m.name
		}
	}
	m := intermediate{o.fresh("t"), key, reads}
	o.made = append(o.made, m)
	o.out = append(o.out, statement(m.name))
	o.decls[m.name] = decl
	return m.name
}

// forget is for intermediates whose operands change.
func (o *optimiser) forget(t *lang.Tensor) {
	for i, m := range o.made {
		if slices.Contains(m.reads, t) {
			o.made[i].key = ""
		}
	}
}

// sparseFormat stores what is stored and nothing else.
func sparseFormat(rank int, rows bool) tensor.Format {
	switch {
	case rank == 2 && rows:
		return tensor.CSR
	case rank == 2:
		return tensor.DCSR
	}
	levels, order := make([]tensor.LevelKind, rank), make([]int, rank)
	for k := range levels {
		levels[k], order[k] = tensor.DC, k
	}
	levels[rank-1] = tensor.S
	f, err := tensor.FormatOf(levels, order)
	if err != nil {
		panic("BUG: a sparse format: " + err.Error())
	}
	return f
}
