package distribute_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/distribute"
	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// matrix has n entries; if skewed most are in few columns.
func matrix(t *testing.T, format tensor.Format, rows, cols int64, n int, dt tensor.DType, skewed bool) *tensor.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(3, uint64(n)))
	coords := [][]int64{make([]int64, n), make([]int64, n)}
	values, err := tensor.MakeArray(dt, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		coords[0][i], coords[1][i] = r.Int64N(rows), r.Int64N(cols)
		if skewed && i%10 > 0 {
			coords[1][i] = coords[1][i] % 3 * (cols - 1) / 2
		}
		values.SetScalar(i, tensor.Int(tensor.Int64, int64(i%100)).Convert(dt))
	}
	x, err := tensor.FromCoords([]int64{rows, cols}, format, coords, values)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// What comes of a few buckets or of hundreds is what comes of one conversion in memory, array by array.
func TestTurn(t *testing.T) {
	files, err := spill.New(t.TempDir(), 1<<20)
	if err != nil {
		t.Skip(err)
	}
	defer files.Close()
	for _, c := range []struct {
		from, to   tensor.Format
		rows, cols int64
		n          int
		dtype      tensor.DType
		skewed     bool
	}{
		{tensor.CSR, tensor.CSC, 500, 3000, 20000, tensor.Float64, false},
		{tensor.CSC, tensor.CSR, 500, 3000, 20000, tensor.Float32, false},
		{tensor.CSR, tensor.CSC, 5000, 300, 20000, tensor.Complex128, true},
		{tensor.CSR, tensor.CSC, 5000, 1, 2000, tensor.Bool, false},
		{tensor.CSR, tensor.CSC, 1, 5000, 2000, tensor.Int16, false},
		{tensor.CSR, tensor.CSC, 40, 50, 0, tensor.Float64, false},
		{tensor.CSR, tensor.CSC, 70, 9, 1, tensor.Float64, false},
	} {
		for _, memory := range []int64{1, 64 << 10, 1 << 20} {
			t.Run(fmt.Sprint(c.from, c.rows, c.cols, c.n, c.dtype, memory), func(t *testing.T) {
				x := matrix(t, c.from, c.rows, c.cols, c.n, c.dtype, c.skewed)
				if !distribute.Turns(x, c.to) || distribute.Turns(x, c.from) || distribute.Turns(x, tensor.COO) {
					t.Fatal("what is turned is another thing")
				}
				want, err := x.Convert(c.to)
				if err != nil {
					t.Fatal(err)
				}
				got, err := distribute.Turn(context.Background(), files, x, c.to, memory)
				if err != nil {
					t.Fatal(err)
				}
				defer got.Release()
				a, b := want.LevelAt(1), got.LevelAt(1)
				if got.Format() != c.to || !slices.Equal(got.Shape(), want.Shape()) || a.Pos.DType() != b.Pos.DType() || a.Crd.DType() != b.Crd.DType() ||
					!bytes.Equal(a.Pos.Raw(), b.Pos.Raw()) || !bytes.Equal(a.Crd.Raw(), b.Crd.Raw()) || !bytes.Equal(want.Values().Raw(), got.Values().Raw()) {
					t.Error("the matrices differ")
				}
			})
		}
	}
}

// It ends when it is told to, and leaves no file.
func TestTurnFails(t *testing.T) {
	dir := t.TempDir()
	files, err := spill.New(dir, 1<<20)
	if err != nil {
		t.Skip(err)
	}
	defer files.Close()
	x := matrix(t, tensor.CSR, 500, 3000, 20000, tensor.Float64, false)
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := distribute.Turn(ctx, files, x, tensor.CSC, 1<<16); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("files are left: %v, %v", list, err)
	}
}
