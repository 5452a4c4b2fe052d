package lower_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/difftest"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestWhatRunsInLanes pins which folds are emitted in lanes, which in blocks, and
// which one by one.
func TestWhatRunsInLanes(t *testing.T) {
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	operands := []struct {
		name   string
		format tensor.Format
		dtype  tensor.DType
	}{
		{"A", tensor.CSR, tensor.Float64}, {"B", tensor.CSR, tensor.Float64}, {"v", tensor.CSF(1), tensor.Float64},
		{"T", tensor.CSF(3), tensor.Float64}, {"L", tensor.COO, tensor.Float64},
		{"M", tensor.Dense(2), tensor.Float64}, {"H", tensor.Dense(2), tensor.Float16},
		{"x", tensor.Dense(1), tensor.Float64}, {"z", tensor.Dense(1), tensor.Float64},
		{"p", tensor.Dense(1), tensor.Int32}, {"c", tensor.Dense(1), tensor.Complex128},
	}
	for _, test := range []struct{ text, want string }{
		{"s = sum_i x(i)*z(i)", "lanes"},
		{"s = prod_i x(i)", "lanes"},
		{"y(i) = max_j M(i,j)", "lanes"},
		{"y(i) = sum_j where(M(i,j) > x(i), M(i,j)^2, abs(x(j)))", "lanes"},
		{"y(i) = sum_j H(i,j) * x(j)", "lanes"},
		{"s = sum_i exp(x(i))", ""}, // the call takes longer than the chain
		{"s = sum_i x(i-1)", ""},    // a branch at the edges
		{"s = sum_i x(p(i))", ""},   // a check of what p has
		{"s = sum_i p(i)", ""},      // integers
		{"s = argmin_i x(i)", ""},
		{"s = logsumexp_i x(i)", ""},
		{"s = sum_i c(i)", ""}, // complex
		{"y(i) = sum_j A(i,j)*x(j)", "lanes"},
		{"y(i) = sum_{j in A} A(i,j)*x(j)", "lanes"},
		{"y(i) = max_{j in A} A(i,j)", "blocks"},
		{"y(i) = sum_j exp(A(i,j))", ""},
		{"y(i) = sum_j A(i,j)*B(i,j)", ""}, // a merge
		{"y(i) = min_j (A(i,j) * x(j))", "blocks"},
		{"y(i) = max_j A(i,j)", "blocks"},
		{"s = max_{i,j} A(i,j)", "blocks"},
		{"s = A(i,j)*x(j)", "one loop"},
		{"s = sum_{i,j} abs(A(i,j))", "one loop"},
		{"s = max_{i,j} M(i,j)", "one loop"},
		{"s = M(i,j)^2", "one loop"},
		{"s = T(i,j,k)*x(k)", "one loop"},
		{"s = L(i,j)*x(j)", "one loop"},
		{"s = A(i,j)*x(i)", "lanes"},             // in one loop nobody knows the row
		{"s = M(i,j)*x(j)", "lanes"},             // nor the column of a dense matrix
		{"s = A(i,j)*B(i,j)", ""},                // a merge
		{"s = sum_{i,j} (A(i,j)-x(j))", "lanes"}, // what is not stored counts too
		{"s = sum_{i,j} exp(A(i,j))", ""},
		{"s = p(i)*A(i,j)*p(j)", "lanes"},
		{"y(i) = min_j (A(i,j) + B(i,j))", ""}, // a merge
		{"y(i) = min_j exp(A(i,j))", ""},
		{"y(i) = argmax_j A(i,j)", ""},
		{"y = max_i v(2*i)", ""}, // entries in between are skipped
	} {
		var opts []lacuna.Option
		for _, operand := range operands {
			if strings.Contains(test.text, operand.name+"(") {
				opts = append(opts, lacuna.Format(operand.name, operand.format, operand.dtype))
			}
		}
		k, err := s.Compile(t.Context(), test.text, opts...)
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		text, err := k.Explain("loops")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		switch {
		case strings.Contains(text, "var lane") && !strings.Contains(text, "n_i"):
			got = "one loop"
		case strings.Contains(text, "var lane"):
			got = "lanes"
		case strings.Contains(text, "let blocks"):
			got = "blocks"
		}
		if got != test.want {
			t.Errorf("%s runs in %q, want %q", test.text, got, test.want)
		}
	}
}

// inLanes is the order that docs/numerics.md states: eight lanes for blocks of 4,096
// terms, folded in order, then the rest.
func inLanes(x []float64, start float64, step func(x, y float64) float64) float64 {
	acc, rest := start, x
	if len(x) >= 8 {
		lanes := slices.Repeat([]float64{start}, 8)
		for ; len(rest) >= 8; rest = rest[8:] {
			for t := range lanes {
				lanes[t] = step(lanes[t], rest[t])
			}
		}
		for _, l := range lanes {
			acc = step(acc, l)
		}
	}
	for _, v := range rest {
		acc = step(acc, v)
	}
	return acc
}

func add(x, y float64) float64 { return x + y }

// inBlocks is the order of long sums: blocks of 4,096 terms in lanes, their sums added
// with what that rounds off, then what is left after the last eight.
func inBlocks(x []float64) float64 {
	const block = 4096
	eights := x[:len(x)/8*8]
	if len(eights) <= block {
		return inLanes(x, 0, add)
	}
	var total, low float64
	for ; len(eights) > 0; eights = eights[min(block, len(eights)):] {
		v := inLanes(eights[:min(block, len(eights))], 0, add)
		sum := total + v
		part := sum - total
		low += (total - (sum - part)) + (v - part)
		total = sum
	}
	acc := total + low
	for _, v := range x[len(x)/8*8:] {
		acc += v
	}
	return acc
}

// TestOrderOfSums compares sums and products that round differently in every order
// with the order that is documented, to the bit.
func TestOrderOfSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	mul := func(x, y float64) float64 { return x * y }
	for _, s := range engines(t) {
		for _, n := range append(below(50), 63, 64, 65, 71, 4095, 4096, 4103, 4104, 4105, 9000) {
			a, x := make([]float64, 3*n), make([]float64, n)
			for _, v := range [][]float64{a, x} {
				for i := range v {
					v[i] = rng.NormFloat64()
				}
			}
			args := lacuna.Args{"A": denseOf(t, a, 3, n), "x": denseOf(t, x, n)}
			sums := numbers(t, s, "y(i) = sum_j A(i,j)*x(j)", args)
			stored, err := denseOf(t, a, 3, n).Convert(tensor.CSR)
			if err != nil {
				t.Fatal(err)
			}
			sparse := numbers(t, s, "y(i) = sum_j A(i,j)*x(j)", lacuna.Args{"A": stored, "x": args["x"]})
			prods := numbers(t, s, "y(i) = prod_j A(i,j)", lacuna.Args{"A": args["A"]})
			for i := range int64(3) {
				row := a[i*n : (i+1)*n]
				terms := make([]float64, n)
				for j := range terms {
					terms[j] = row[j] * x[j]
				}
				if want := inBlocks(terms); math.Float64bits(sums[i]) != math.Float64bits(want) {
					t.Errorf("%s: sum of %d products is %v, want %v", s.Engine().Name(), n, sums[i], want)
				}
				want := inBlocks(terms)
				if n < 64 {
					want = 0
					for _, v := range terms {
						want += v
					}
				}
				if math.Float64bits(sparse[i]) != math.Float64bits(want) {
					t.Errorf("%s: sum over %d entries is %v, want %v", s.Engine().Name(), n, sparse[i], want)
				}
				if want := inLanes(row, 1, mul); math.Float64bits(prods[i]) != math.Float64bits(want) {
					t.Errorf("%s: product of %d numbers is %v, want %v", s.Engine().Name(), n, prods[i], want)
				}
			}
		}
	}
}

// TestOrderOfAllEntries compares sums of all that a matrix stores with the order that is documented: from the first entry to the last, wherever rows end, in chunks of
// 32,768.
func TestOrderOfAllEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const rows, cols = 2500, 40
	x := make([]float64, cols)
	for j := range x {
		x[j] = rng.NormFloat64()
	}
	for _, n := range []int{0, 1, 7, 8, 9, 100, 4095, 4097, 9001, 70001} {
		var coords [2][]int64
		var vals, terms []float64
		for at := range rows * cols {
			if left := rows*cols - at; rng.IntN(left) < n-len(vals) {
				v := rng.NormFloat64()
				coords[0], coords[1], vals = append(coords[0], int64(at/cols)), append(coords[1], int64(at%cols)), append(vals, v)
				terms = append(terms, v*x[at%cols])
			}
		}
		a, err := tensor.FromCoords([]int64{rows, cols}, tensor.CSR, coords[:], tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range engines(t) {
			for _, f := range []tensor.Format{tensor.CSR, tensor.COO, tensor.CSF(2)} {
				of, err := a.Convert(f)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := numbers(t, s, "s = A(i,j)*x(j)", lacuna.Args{"A": of, "x": denseOf(t, x, cols)}, lacuna.AsWritten())[0], inChunks(terms); math.Float64bits(got) != math.Float64bits(want) {
					t.Errorf("%s: %d products with entries of a matrix in %s add up to %v, want %v", s.Engine().Name(), n, f, got, want)
				}
				if got, want := numbers(t, s, "s = A(i,j)", lacuna.Args{"A": of})[0], inChunks(vals); math.Float64bits(got) != math.Float64bits(want) {
					t.Errorf("%s: %d entries of a matrix in %s add up to %v, want %v", s.Engine().Name(), n, f, got, want)
				}
			}
		}
	}
}

// inChunks are sums of chunks in blocks, added in order with what that rounds off.
func inChunks(terms []float64) float64 {
	total, low := 0.0, 0.0
	for chunk := range slices.Chunk(terms, 1<<15) {
		x := inBlocks(chunk)
		sum := total + x
		part := sum - total
		low += (total - (sum - part)) + (x - part)
		total = sum
	}
	return total + low
}

// below are the numbers from 0 to n-1.
func below(n int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

// TestExtremesOfRows compares the smallest and largest numbers of rows of 0 to 13
// entries with their definition: a NaN wins wherever it stands, and what is not
// stored counts once.
func TestExtremesOfRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
	const rows, cols = 400, 13
	for _, fill := range []float64{0, math.Inf(1), math.Inf(-1), math.NaN()} {
		dense := make([]float64, rows*cols)
		var coords [2][]int64
		var vals []float64
		for i := range rows {
			for j := range cols {
				dense[i*cols+j] = fill
				if rng.IntN(rows) < i { // later rows have more entries
					continue
				}
				v := float64(rng.IntN(9) - 4)
				if rng.IntN(20) == 0 {
					v = special[rng.IntN(len(special))]
				}
				dense[i*cols+j] = v
				coords[0], coords[1], vals = append(coords[0], int64(i)), append(coords[1], int64(j)), append(vals, v)
			}
		}
		a, err := tensor.FromCoords([]int64{rows, cols}, tensor.CSR, coords[:], tensor.ArrayOf(vals), tensor.WithFill(tensor.Float(tensor.Float64, fill)))
		if err != nil {
			t.Fatal(err)
		}
		coo, err := a.Convert(tensor.COO)
		if err != nil {
			t.Fatal(err)
		}
		var first []float64
		for _, s := range engines(t) {
			for _, op := range []string{"min", "max"} {
				got := numbers(t, s, "y(i) = "+op+"_j A(i,j)", lacuna.Args{"A": a})
				listed := numbers(t, s, "y(i) = "+op+"_j A(i,j)", lacuna.Args{"A": coo}, lacuna.Result("y", tensor.Dense(1)))
				of := numbers(t, s, "y(i) = "+op+"_j M(i,j)", lacuna.Args{"M": denseOf(t, dense, rows, cols)})
				for i := range rows {
					want := slices.Min(dense[i*cols : (i+1)*cols])
					if op == "max" {
						want = slices.Max(dense[i*cols : (i+1)*cols])
					}
					if !same(got[i], want) || !same(of[i], want) || !same(listed[i], want) {
						t.Errorf("%s, fill %v: %s of %v is %v, %v of a dense row, %v of coordinates", s.Engine().Name(), fill, op, dense[i*cols:(i+1)*cols], got[i], of[i], listed[i])
					}
				}
				first = append(first, append(got, of...)...)
			}
		}
		// Engines agree in the signs of zeros too.
		for k := 4 * rows; k < len(first); k++ {
			x, y := first[k%(4*rows)], first[k]
			if math.Float64bits(x) != math.Float64bits(y) && x == x {
				t.Errorf("fill %v: row %d differs between engines: %v and %v", fill, k%rows, x, y)
			}
		}
	}
}

func same(x, y float64) bool { return x == y || x != x && y != y }

func denseOf(t *testing.T, v []float64, shape ...int64) *tensor.Tensor {
	t.Helper()
	x, err := tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(v))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// numbers are the values of a dense result.
func numbers(t *testing.T, s *lacuna.Session, src string, args lacuna.Args, opts ...lacuna.Option) []float64 {
	t.Helper()
	y, err := s.Eval(context.Background(), src, args, opts...)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	list := make([]float64, y.Values().Len())
	for i := range list {
		list[i] = y.Values().Scalar(i).Float64()
	}
	return list
}

// TestFoldsAgainstOracle compares folds of long rows, on their own and inside other
// loops, with the oracle.
func TestFoldsAgainstOracle(t *testing.T) {
	sessions := engines(t)
	programs := []string{
		"R(i) = sum_j M(i,j)",
		"R(i) = sum_j M(i,j) * u(j)",
		"R(i) = max_j (M(i,j) + u(j))",
		"R(i) = min_j where(M(i,j) > u(j), M(i,j), u(j) - 1)",
		"R(i) = sum_{j,k} A(i,j) * N(j,k)",
		"R = sum_{i,j} M(i,j) * M(i,j)",
		"R = max_{i,j} A(i,j)",
		"R = max_{i,j} (A(i,j) * u(j))",
		"R(i) = mean_j M(i,j)",
		"R(i) = var_j M(i,j)",
		"R(i) = sum_j j * M(i,j)",
		"R(i,j) = A(i,j) * sum_k M(i,k) * N(j,k)",
		"R(i) = min_j (A(i,j) + u(j))",
		"R(i) = max_j A(i,j)",
		"R(i) = max_j (A(i,j) * u(j)) + min_j A(i,j)",
		"R(i) = min_j (A(i,j) * sum_k N(j,k))",
		"R(i) = min_j A(i,j+1)",
		"R(i) = max_j abs(A(i,j) - u(j))",
	}
	rapid.Check(t, func(r *rapid.T) {
		draw := func(label string, lo, hi int) int64 { return int64(rapid.IntRange(lo, hi).Draw(r, label)) }
		i, j, k := draw("n_i", 0, 5), draw("n_j", 1, 30), draw("n_k", 0, 30)
		text := rapid.SampledFrom(programs).Draw(r, "program")
		c := &difftest.Case{Text: text, Operands: map[string]*tensor.Tensor{}}
		result := difftest.Result{Shape: []int64{}}
		lhs, rhs, _ := strings.Cut(text, "=")
		for _, v := range []struct {
			name string
			n    int64
		}{{"i", i}, {"j", j}} {
			if strings.Contains(lhs, v.name) {
				result.Shape = append(result.Shape, v.n)
			}
		}
		columns := j
		if strings.Contains(rhs, "j+1") {
			columns++
		}
		inner := j
		if strings.Contains(rhs, "M(i,k)") {
			inner = k
		}
		for _, operand := range []struct {
			name  string
			shape []int64
		}{{"A", []int64{i, columns}}, {"M", []int64{i, inner}}, {"N", []int64{j, k}}, {"u", []int64{j}}} {
			if !strings.Contains(rhs, operand.name+"(") {
				continue
			}
			if operand.name == "A" {
				if i == 0 {
					r.Skip("no place for entries")
				}
				c.Operands["A"] = drawStored(r, "A", operand.shape)
				continue
			}
			n := int64(1)
			for _, d := range operand.shape {
				n *= d
			}
			v := make([]float64, n)
			for p := range v {
				v[p] = float64(rapid.IntRange(-3, 3).Draw(r, "value"))
			}
			c.Operands[operand.name] = denseOf(t, v, operand.shape...)
		}
		c.Results = map[string]difftest.Result{"R": result}
		if _, err := c.Compare(context.Background(), sessions...); err != nil {
			r.Fatal(err)
		}
	})
}
