package exec

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Code reads index arrays as the types that they have, where operands are known.
func TestIndexTypesOfOperands(t *testing.T) {
	a, err := tensor.New([]int64{2, 3}, tensor.CSR, []tensor.Level{{}, {Pos: tensor.ArrayOf([]uint16{0, 1, 2}), Crd: tensor.ArrayOf([]uint8{2, 0})}}, tensor.ArrayOf([]float64{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	types := declaredTypes{a}
	for kind, want := range map[emit.ArrayKind]tensor.DType{emit.Positions: tensor.Uint16, emit.Coordinates: tensor.Uint8} {
		if got := types.IndexType(&ir.Tensor{ID: 0}, 1, kind); got != want {
			t.Errorf("array %d has type %v, want %v", kind, got, want)
		}
	}
}
