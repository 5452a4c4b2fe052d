package exec

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A kernel that stores an operand again without the zeros of its dense blocks says so when
// other values change what it sees.
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
	_, err = p.Run(ctx, Args{"A": A(0, 4)})
	if !errors.Is(err, runtime.ErrPattern) || !strings.Contains(err.Error(), "stores A, which is C-S-D[1,0,2]") {
		t.Errorf("zeros elsewhere: got %v, want %v and why", err, runtime.ErrPattern)
	}
	_, err = p.Run(ctx, Args{"A": A(4, 4)})
	if !errors.Is(err, runtime.ErrPattern) {
		t.Errorf("a zero less: got %v, want %v", err, runtime.ErrPattern)
	}
}
