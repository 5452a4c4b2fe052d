package exec

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// A kernel that stores an operand with dense blocks again keeps their zeros, so that other values
// change nothing.
func TestPreparedForDenseBlocks(t *testing.T) {
	f, err := tensor.ParseFormat("C-S-D[1,0,2]", 3)
	if err != nil {
		t.Fatal(err)
	}
	A := func(values ...float64) *tensor.Tensor {
		// One block, at 0 and 0 of axes 0 and 1.
		levels := []tensor.Level{{}, {Pos: tensor.ArrayOf([]uint64{0, 1, 1}), Crd: tensor.ArrayOf([]uint32{0})}, {}}
		out, err := tensor.New([]int64{2, 2, 2}, f, levels, tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	ctx := context.Background()
	args := Args{"A": A(1, 0)}
	k, err := Compile(t.Context(), "R(i,j,k) = A(i,k,i)", Operand("A", args["A"]), Result("R", tensor.CSF(3)), Shape("R", 2, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Prepare(ctx, args)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(ctx, Args{"A": A(4, 0)}); err != nil {
		t.Errorf("other values: %v", err)
	}
	// What is stored does not depend on values: zeros may be elsewhere.
	for _, values := range [][]float64{{0, 4}, {4, 4}} {
		a := A(values...)
		got, err := p.Run(ctx, Args{"A": a})
		if err != nil {
			t.Fatalf("%v: %v", values, err)
		}
		want, err := k.Run(ctx, Args{"A": a})
		if err != nil {
			t.Fatal(err)
		}
		if diff := tensor.Diff(got, want); diff != "" {
			t.Errorf("%v: %s", values, diff)
		}
	}
}
