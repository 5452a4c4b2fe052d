package grids_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Products with dense matrices, whose columns the lanes of a GPU share, and products
// sampled at the entries of a matrix: rows of all lengths, lines narrower and wider than a warp. The values are small
// integers, so that every order of a sum gives the same bits.
func TestProductsOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	type operand struct {
		name   string
		format tensor.Format
		shape  func(n, k int64) []int64
	}
	matrix := func(name string, f tensor.Format) operand {
		return operand{name, f, func(n, _ int64) []int64 { return []int64{n, n} }}
	}
	tall := func(name string) operand {
		return operand{name, tensor.Dense(2), func(n, k int64) []int64 { return []int64{n, k} }}
	}
	wide := func(name string) operand {
		return operand{name, tensor.Dense(2), func(n, k int64) []int64 { return []int64{k, n} }}
	}
	third := func(f tensor.Format) operand {
		return operand{"T", f, func(n, _ int64) []int64 { return []int64{n, n, 3} }}
	}
	rows, err := tensor.ParseFormat("S-D", 2)
	if err != nil {
		t.Fatal(err)
	}
	small := operand{"E", tensor.Dense(2), func(_, k int64) []int64 { return []int64{3, k} }}
	cases := []struct {
		text    string
		out     tensor.Format
		args    []operand
		mapping string
	}{
		{"C(i,k) = A(i,j)*B(j,k)", tensor.Dense(2), []operand{matrix("A", tensor.CSR), tall("B")}, "by_columns"},
		{"C(i,k) = A(i,j)*B(j,k)", tensor.Dense(2), []operand{matrix("A", tensor.DCSR), tall("B")}, "by_columns"},
		{"C(i,k) = A(i,j)*B(j,k)", tensor.Dense(2), []operand{matrix("A", tensor.Dense(2)), tall("B")}, "by_columns"},
		{"C(i,k) = sum_j A(i,j)*(B(j,k) + D(i,k))", tensor.Dense(2), []operand{matrix("A", tensor.CSR), tall("B"), tall("D")}, "by_columns"},
		{"D(i,j) = A(i,j)*sum_k B(i,k)*G(j,k)", tensor.CSR, []operand{matrix("A", tensor.CSR), tall("B"), tall("G")}, "by_dots"},
		{"D(i,j) = A(i,j)*sum_k B(i,k)*G(j,k)", tensor.CSR, []operand{matrix("A", tensor.DCSR), tall("B"), tall("G")}, "by_dots"},
		{"D(i,j) = A(i,j)*sum_k B(i,k)*H(k,j)", tensor.CSR, []operand{matrix("A", tensor.CSR), tall("B"), wide("H")}, "by_dots"},
		{"D(i,j) = A(i,j)*sum_k (B(i,k)+j)*(G(j,k)-i)", tensor.CSR, []operand{matrix("A", tensor.CSR), tall("B"), tall("G")}, "by_dots"},
		{"D(i,j) = A(i,j)*any_k (B(i,k) != G(j,k))", tensor.CSR, []operand{matrix("A", tensor.CSR), tall("B"), tall("G")}, "by_dots"},
		{"C(i,k) = max_j A(i,j)*B(j,k)", tensor.Dense(2), []operand{matrix("A", tensor.CSR), tall("B")}, "by_columns"},
		{"C(i,k) = D(i,k) - sum_j A(i,j)*B(j,k)", tensor.Dense(2), []operand{matrix("A", tensor.CSR), tall("B"), tall("D")}, "by_pieces_of_columns"},
		{"C(i,k) = sum_j A(i,j)*(B(j,k) + D(i,k))*A(i,j)", tensor.Dense(2), []operand{matrix("A", tensor.DCSR), tall("B"), tall("D")}, "by_columns"},
		{"C(i,k) = max_j (A(i,j)*B(j,k) + 3)", tensor.Dense(2), []operand{matrix("A", tensor.Dense(2)), tall("B")}, "by_columns"},
		{"D(i,j) = -2*A(i,j)", tensor.CSR, []operand{matrix("A", tensor.CSR)}, "by_entries"},
		{"C(i,l) = T(i,j,k)*B(j,l)*E(k,l)", tensor.Dense(2), []operand{third(tensor.CSF(3)), tall("B"), small}, "by_columns"},
		{"C(i,j,l) = T(i,j,k)*E(k,l)", tensor.Dense(3), []operand{third(tensor.CSF(3)), small}, "by_columns"},
		{"C(i,l,k) = T(i,j,k)*B(j,l)", tensor.Dense(3), []operand{third(tensor.Dense(3)), tall("B")}, "by_columns"},
		{"C(i,l) = T(i,j,k)*B(j,l)*E(k,l)", rows, []operand{third(tensor.CSF(3)), tall("B"), small}, "move_by_line_elements"},
		{"C(i,k) = A(i,j)*B(j,k)", rows, []operand{matrix("A", tensor.DCSR), tall("B")}, "move_by_line_elements"},
	}
	for i, c := range cases {
		for d, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16, tensor.Int32, tensor.Complex64} {
			if d > 0 && testengine.Thin(4, i, d) || dt == tensor.Complex64 && strings.Contains(c.text, "max") {
				continue
			}
			t.Run(strings.ReplaceAll(c.text, " ", "")+"/"+dt.String(), func(t *testing.T) {
				grids := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Simulated())))
				serial := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
				opts := []lacuna.Option{lacuna.Format(c.text[:1], c.out, dt)}
				for _, a := range c.args {
					opts = append(opts, lacuna.Format(a.name, a.format, dt))
				}
				if wide := dt == tensor.Float16 || dt == tensor.Int32; !wide || c.out.Rank() < 3 { // sums in wider types have loops inside of those over columns
					wantMapping(t, grids, c.text, c.mapping, append(opts, lacuna.AsWritten())...) // in one step
				}
				sizes := [][2]int64{{31, 33}, {40, 7}, {9, 129}}
				if dt == tensor.Float64 {
					sizes = append(sizes, [][2]int64{{0, 3}, {3, 0}, {1, 1}, {5, 2}, {33, 31}, {32, 32}, {40, 64}, {200, 16}, {4, 300}}...)
				}
				for s, size := range sizes {
					if d == 0 && testengine.Thin(2, i, s) {
						continue
					}
					n, k := size[0], size[1]
					args := lacuna.Args{}
					for i, a := range c.args {
						args[a.name] = sparseIntegers(t, a.shape(n, k), a.format, dt, uint64(i))
					}
					got, err := grids.Eval(context.Background(), c.text, args, opts[:1]...)
					if err != nil {
						t.Fatal(size, err)
					}
					want, err := serial.Eval(context.Background(), c.text, args, opts[:1]...)
					if err != nil {
						t.Fatal(size, err)
					}
					if !tensor.Equal(got, want) {
						t.Errorf("%d rows, %d columns: got %v, want %v", n, k, got, want)
					}
				}
			})
		}
	}
}

// wantMapping checks that a stage of the program for grids is mapped in a way.
func wantMapping(t *testing.T, s *lacuna.Session, text, mapping string, opts ...lacuna.Option) {
	t.Helper()
	k, err := s.Compile(t.Context(), text, opts...)
	if err != nil {
		t.Fatal(err)
	}
	loops, err := k.Explain("loops")
	if err != nil {
		t.Fatal(err)
	}
	p, err := loop.ParseProgram(loops)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range gpu.Map(p, gpu.Options{}).Stages {
		if strings.HasSuffix(st.Name, mapping) {
			return
		}
	}
	t.Errorf("no stage is mapped %s:\n%s", mapping, loops)
}

// sparseIntegers is a tensor in which a first row is full, another empty, and the others
// have a few entries, from -2 to 2.
func sparseIntegers(t *testing.T, shape []int64, format tensor.Format, dt tensor.DType, seed uint64) *tensor.Tensor {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	coords := make([][]int64, len(shape))
	var values []float64
	at := make([]int64, len(shape))
	var fill func(level int)
	fill = func(level int) {
		if level < len(shape) {
			for x := range shape[level] {
				at[level] = x
				fill(level + 1)
			}
			return
		}
		if at[0] == 1 || at[0] != 0 && rng.IntN(4) > 0 {
			return
		}
		for d, x := range at {
			coords[d] = append(coords[d], x)
		}
		values = append(values, float64(rng.IntN(5)-2))
	}
	fill(0)
	array, err := tensor.ArrayOf(values).Convert(dt)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tensor.FromCoords(shape, format, coords, array)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
