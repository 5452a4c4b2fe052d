package results_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestSkewedOperands: loops over operands of very different sizes, which gallop through the longer, give what
// loops over dense ones do. Values are integers, so sums are exact in any order.
func TestSkewedOperands(t *testing.T) {
	const n = 3000
	programs := []string{
		"y = sum_i a(i)*b(i)",
		"y = sum_i a(i)*b(i)*c(i)",
		"y = sum_i a(i)*(b(i) + c(i))",
		"y = sum_i (a(i) + b(i))*c(i)",
		"y = sum_i a(i)*(1 + b(i))",
		"y = sum_i a(i)*b(2*i)",
		"y = sum_i a(2*i)*b(i)",
		"y = sum_i a(i+7)*b(i)*c(3*i+1)",
		"y = max_i (a(i)*b(i) - 1)",
		"y = argmin_i a(i)*b(i)",
		"y = count_i a(i)*b(i)",
		"y(i) = a(i)*b(i)",
		"y(i) = a(i)*b(i) + c(i)",
		"y(i) = sum_j A(i,j)*B(i,j)",
		"y(j) = sum_i A(i,j)*b(j)*B(i,j)",
		"Y(i,j) = A(i,j)*B(i,j)",
		"y(i) = sum_j A(i,j)*b(j)*(1 + B(i,j))", // b in a table, B keeps up
		"y(j) = sum_i (A(i,j)*B(i,j) + A(i,j)*a(j)*b(j))",
		"Y(i,j) = A(i,j)*(2 + B(i,j))",
		"y(i) = sum_j A(i,j)*b(j)",
		"y(i) = max_j (A(i,j)*b(j)*c(j) - 2)",
	}
	ctx := context.Background()
	engines := []*lacuna.Session{lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(2))}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, lacuna.NewSession(lacuna.WithEngine(cpu), lacuna.WithThreads(3)))
	}
	vector, err := tensor.ParseFormat("S", 1)
	if err != nil {
		t.Fatal(err)
	}
	repeats, err := vector.Flag(0, tensor.Duplicates)
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := tensor.COO.Flag(1, tensor.Duplicates)
	if err != nil {
		t.Fatal(err)
	}
	matrices := []tensor.Format{tensor.CSR, tensor.DCSR, tensor.COO, pairs}
	counts := [][]int{{3, 2000, 100}, {2000, 3, 2}, {2000, 60, 1000}, {1, 1, 2500}, {0, 100, 100}, {2000, 2000, 2000}}
	for seed, src := range programs {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		for round, count := range counts {
			sparse, dense := lacuna.Args{}, lacuna.Args{}
			add := func(name string, entries int, shape []int64, f tensor.Format) {
				sparse[name] = scattered(t, r, shape, entries, f)
				d, err := sparse[name].(*tensor.Tensor).ToDense()
				if err != nil {
					t.Fatal(err)
				}
				if dense[name], err = tensor.FromDense(shape, tensor.Dense(len(shape)), d); err != nil {
					t.Fatal(err)
				}
			}
			for k, name := range []string{"a", "b", "c"} {
				add(name, count[k], []int64{n}, []tensor.Format{vector, repeats}[(round+k)/2%2])
			}
			for k, name := range []string{"A", "B"} {
				add(name, count[k], []int64{4, n}, matrices[r.IntN(len(matrices))])
			}
			sparse, dense = used(src, sparse), used(src, dense)
			want, err := engines[0].Eval(ctx, src, dense)
			if err != nil {
				t.Fatalf("%s: %v", src, err)
			}
			for _, s := range engines {
				if _, err := s.Eval(ctx, src, sparse); err != nil { // tables are made from the second run on
					t.Fatalf("%s: %v", src, err)
				}
				got, err := s.Eval(ctx, src, sparse)
				if err != nil {
					t.Fatalf("%s: %v", src, err)
				}
				g, err := got.ToDense()
				if err != nil {
					t.Fatal(err)
				}
				w, err := want.ToDense()
				if err != nil {
					t.Fatal(err)
				}
				if g, err = g.Convert(tensor.Float64); err != nil {
					t.Fatal(err)
				}
				if w, err = w.Convert(tensor.Float64); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(tensor.View[float64](g), tensor.View[float64](w)) {
					t.Errorf("%s with %v entries, %v: the result differs from that of dense operands", src, count, sparse)
				}
			}
		}
	}
}

// used are the arguments that a program names.
func used(src string, args lacuna.Args) lacuna.Args {
	out := lacuna.Args{}
	for name, a := range args {
		for k := range src {
			if k+1 < len(src) && src[k:k+1] == name && src[k+1] == '(' && (k == 0 || src[k-1] < 'a' || src[k-1] > 'z') {
				out[name] = a
			}
		}
	}
	return out
}

// scattered is a tensor with small integers at random coordinates, of which a format with duplicates has some twice.
func scattered(t *testing.T, r *rand.Rand, shape []int64, entries int, f tensor.Format) *tensor.Tensor {
	t.Helper()
	var list [][]int64
	for range entries {
		at := make([]int64, len(shape))
		for k, n := range shape {
			at[k] = r.Int64N(n)
		}
		list = append(list, at)
	}
	slices.SortFunc(list, slices.Compare)
	if !f.Relaxed() {
		list = slices.CompactFunc(list, slices.Equal)
	}
	coords, values := make([][]int64, len(shape)), make([]float64, len(list))
	for k := range coords {
		coords[k] = make([]int64, len(list))
		for p, at := range list {
			coords[k][p] = at[k]
		}
	}
	for p := range values {
		values[p] = float64(r.IntN(9) - 4)
	}
	a, err := tensor.FromCoords(shape, f, coords, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return a
}
