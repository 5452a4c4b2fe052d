package grids_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// away is a tensor that only the device of a session has.
func away(t *testing.T, s *lacuna.Session, A *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	there, err := s.ToDevice(context.Background(), A)
	if err != nil {
		t.Fatal(err)
	}
	out, err := there.MapArrays(func(a tensor.Array) (tensor.Array, error) {
		if a.Remote() == nil {
			return a, nil
		}
		return tensor.RemoteArray(a.DType(), a.Len(), a.Remote()), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// stayedAway fails if an array of a tensor was brought here.
func stayedAway(t *testing.T, A *tensor.Tensor) {
	t.Helper()
	check := func(what string, a tensor.Array) {
		if a.Remote() != nil && a.Fetched() {
			t.Errorf("%s of %v were brought here", what, A)
		}
	}
	for k, l := range A.Levels() {
		check(fmt.Sprintf("positions of level %d", k), l.Pos)
		check(fmt.Sprintf("coordinates of level %d", k), l.Crd)
	}
	check("values", A.Values())
}

// strewn is a tensor with n values at random places, some of them 0.
func strewn(t *testing.T, r *rand.Rand, n int, format tensor.Format, shape ...int64) *tensor.Tensor {
	t.Helper()
	coords := make([][]int64, len(shape))
	values := make([]float64, n)
	for i := range values {
		for axis, size := range shape {
			coords[axis] = append(coords[axis], r.Int64N(size))
		}
		values[i] = float64(r.IntN(7) - 1)
	}
	A, err := tensor.FromCoords(shape, format, coords, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return A
}

// Operands that are unsorted, in parts, in blocks or a triangle are made plain where they are.
func TestPlainOnDevice(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 31, 33, 200} {
		s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Simulated())), lacuna.WithResidentResults())
		if !runtime.OnGrids(s.Engine()) {
			t.Skipf("engine %s has no memory of its own", s.Engine().Name())
		}
		here := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
		compare := func(what, program string, there, local tensor.Operand, parts ...*tensor.Tensor) {
			t.Helper()
			declare := []lacuna.Option{lacuna.Result("R", tensor.CSR)}
			want, err := here.Eval(ctx, program, lacuna.Args{"A": local}, declare...)
			if err != nil {
				t.Fatalf("%s of %d: %v", what, n, err)
			}
			got, err := s.Eval(ctx, program, lacuna.Args{"A": there}, declare...)
			if err != nil {
				t.Fatalf("%s of %d: %v", what, n, err)
			}
			for _, p := range parts {
				stayedAway(t, p)
			}
			if !tensor.Equal(got, want) {
				t.Errorf("%s of %d: %v, want %v", what, n, got, want)
			}
		}
		copied := "R(i,j) = A(i,j)"

		rows := strewn(t, r, n, tensor.CSR, 9, 14)
		unsorted, err := tensor.CSR.Flag(1, tensor.Unsorted)
		if err != nil {
			t.Fatal(err)
		}
		mixed := shuffledRows(t, r, rows, unsorted)
		there := away(t, s, mixed)
		compare("unsorted rows", copied, there, mixed, there)

		square := strewn(t, r, n, tensor.CSR, 11, 11)
		for _, structure := range []tensor.Structure{tensor.SymmetricLower, tensor.SkewSymmetricLower} {
			half, err := here.Eval(ctx, "R(i,j) = where(j < i, A(i,j), 0)", lacuna.Args{"A": square}, lacuna.Result("R", tensor.CSR))
			if err != nil {
				t.Fatal(err)
			}
			triangle, err := half.WithStructure(structure)
			if err != nil {
				t.Fatal(err)
			}
			there := away(t, s, triangle)
			compare(fmt.Sprint(structure), "R(i,j) = A(i,j) * A(j,i)", there, triangle, there)
		}

		blocks, err := square.Blocked([]int64{2, 3}, tensor.CSF(4))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := tensor.NewBlocks(blocks, []int64{11, 11})
		if err != nil {
			t.Fatal(err)
		}
		there = away(t, s, blocks)
		thereWhole, err := tensor.NewBlocks(there, []int64{11, 11})
		if err != nil {
			t.Fatal(err)
		}
		compare("blocks", copied, thereWhole, whole, there)

		halves := make([]*tensor.Tensor, 2)
		for k, cond := range []string{"j < i", "i <= j"} {
			if halves[k], err = here.Eval(ctx, "R(i,j) = where("+cond+", A(i,j), 0)", lacuna.Args{"A": square}, lacuna.Result("R", []tensor.Format{tensor.CSR, tensor.COO}[k])); err != nil {
				t.Fatal(err)
			}
		}
		a, b := away(t, s, halves[0]), away(t, s, halves[1])
		compare("parts", "R(i,j) = A(i,j) * A(j,i)", tensor.NewTrustedParts(a, b), tensor.NewTrustedParts(halves...), a, b)
	}
}

// shuffledRows is a matrix with the entries of each row in another order.
func shuffledRows(t *testing.T, r *rand.Rand, A *tensor.Tensor, format tensor.Format) *tensor.Tensor {
	t.Helper()
	pos, crd := tensor.View[uint32](A.LevelAt(1).Pos), append([]uint32(nil), tensor.View[uint32](A.LevelAt(1).Crd)...)
	values := append([]float64(nil), tensor.View[float64](A.Values())...)
	for i := range len(pos) - 1 {
		lo, n := int(pos[i]), int(pos[i+1]-pos[i])
		r.Shuffle(n, func(a, b int) {
			crd[lo+a], crd[lo+b] = crd[lo+b], crd[lo+a]
			values[lo+a], values[lo+b] = values[lo+b], values[lo+a]
		})
	}
	out, err := tensor.New(A.Shape(), format, []tensor.Level{{}, {Pos: tensor.ArrayOf(pos), Crd: tensor.ArrayOf(crd)}}, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What the device cannot do with a tensor that only it has is refused, or done here and said.
func TestNothingComesBackSilently(t *testing.T) {
	ctx := context.Background()
	blocked, err := tensor.FormatOf([]tensor.LevelKind{tensor.C, tensor.S, tensor.D}, nil)
	if err != nil {
		t.Skip(err)
	}
	A := strewn(t, rand.New(rand.NewPCG(5, 6)), 20, blocked, 4, 6, 2)
	strict := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()))
	there := away(t, strict, A)
	var host *lacuna.HostError
	if _, err := strict.Prune(ctx, there); !errors.As(err, &host) {
		t.Fatalf("error %v, want a HostError", err)
	}
	if host.Bytes == 0 || !strings.Contains(host.Error(), "WithNotice") || !strings.Contains(host.Error(), "dense blocks") {
		t.Errorf("the error does not tell what to do: %v", host)
	}
	stayedAway(t, there)
	want, err := A.Prune()
	if err != nil {
		t.Fatal(err)
	}

	var notes []string
	open := lacuna.NewSession(lacuna.WithEngine(runtime.Simulated()), lacuna.WithNotice(func(note string) { notes = append(notes, note) }))
	there = away(t, open, A)
	got, err := open.Prune(ctx, there)
	if err != nil {
		t.Fatal(err)
	}
	if !tensor.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "bytes came from the device") {
		t.Errorf("notes %q", notes)
	}

	if err := there.Fetch(); err != nil {
		t.Fatal(err)
	}
	there = away(t, strict, A)
	if err := there.Fetch(); err != nil {
		t.Fatal(err)
	}
	if _, err := strict.Prune(ctx, there); err != nil {
		t.Errorf("after the tensor was fetched: %v", err)
	}
	plain := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	if got, err := plain.Prune(ctx, A); err != nil || !tensor.Equal(got, want) {
		t.Errorf("without a device: %v, %v", got, err)
	}
}

// The gradient of an operand that is not sorted is stored in its order, where it is.
func TestGradientOfUnsortedOnDevice(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(9, 10))
	unsorted, err := tensor.CSR.Flag(1, tensor.Unsorted)
	if err != nil {
		t.Fatal(err)
	}
	A := shuffledRows(t, r, strewn(t, r, 40, tensor.CSR, 9, 14), unsorted)
	want, err := lacuna.NewSession(lacuna.WithEngine(runtime.Interp())).EvalGrad(ctx, "y = sum_{i,j} A(i,j)^2", "A", lacuna.Args{"A": A})
	if err != nil {
		t.Fatal(err)
	}
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Simulated())), lacuna.WithResidentResults())
	if !runtime.OnGrids(s.Engine()) {
		t.Skipf("engine %s has no memory of its own", s.Engine().Name())
	}
	there := away(t, s, A)
	got, err := s.EvalGrad(ctx, "y = sum_{i,j} A(i,j)^2", "A", lacuna.Args{"A": there})
	if err != nil {
		t.Fatal(err)
	}
	stayedAway(t, there)
	if d := tensor.Diff(got, want); d != "" {
		t.Error(d)
	}
}

// What is pruned is what the bits say, on a device too; lists in no order are sorted there, however short they are.
func TestPruneAndSortOnDevice(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Simulated())), lacuna.WithResidentResults())
	if !runtime.OnGrids(s.Engine()) {
		t.Skipf("engine %s has no memory of its own", s.Engine().Name())
	}
	values := []float64{0, math.Copysign(0, -1), 1, math.NaN(), 0, 2}
	coords := [][]int64{{0, 0, 1, 2, 3, 3}, {0, 2, 1, 0, 1, 2}}
	for _, fill := range []float64{0, math.Copysign(0, -1), math.NaN(), 2} {
		A, err := tensor.FromCoords([]int64{4, 3}, tensor.CSR, coords, tensor.ArrayOf(values), tensor.WithFill(tensor.Float(tensor.Float64, fill)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := A.Prune()
		if err != nil {
			t.Fatal(err)
		}
		there := away(t, s, A)
		got, err := s.Prune(ctx, there)
		if err != nil {
			t.Fatal(err)
		}
		stayedAway(t, there)
		if d := tensor.Diff(got, want); d != "" {
			t.Errorf("fill %v: %s", fill, d)
		}
	}

	unsorted, err := tensor.COO.Flag(0, tensor.Unsorted)
	if err != nil {
		t.Fatal(err)
	}
	A, err := tensor.New([]int64{4, 3}, unsorted, []tensor.Level{{Crd: tensor.ArrayOf([]uint32{3, 0, 3, 1})}, {Crd: tensor.ArrayOf([]uint32{0, 1, 2, 1})}},
		tensor.ArrayOf([]float64{1, 2, 3, 4}))
	if err != nil {
		t.Fatal(err)
	}
	want, err := A.Convert(tensor.CSR)
	if err != nil {
		t.Fatal(err)
	}
	there := away(t, s, A)
	got, err := s.Convert(ctx, there, tensor.CSR)
	if err != nil {
		t.Fatal(err)
	}
	stayedAway(t, there)
	if d := tensor.Diff(got, want); d != "" {
		t.Error(d)
	}
}
