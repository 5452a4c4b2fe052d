package exec

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestWorkspaceShapes runs products through every kind of workspace into results
// that are not one list of entries for each use.
func TestWorkspaceShapes(t *testing.T) {
	const n = 40
	dense := func(rank int, f func(c int) float64) []float64 {
		size := 1
		for range rank {
			size *= n
		}
		vals := make([]float64, size)
		for c := range vals {
			vals[c] = f(c)
		}
		return vals
	}
	sparse := func(rank int, f tensor.Format, vals []float64) *tensor.Tensor {
		x, err := tensor.FromDense([]int64{n, n}[:rank], f, tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	a := dense(2, func(c int) float64 { return float64(c*7%5) * float64(c%3) })
	b := dense(2, func(c int) float64 { return float64(c*3%7) * float64(c%2) })
	args := Args{"A": sparse(2, tensor.CSR, a), "B": sparse(2, tensor.CSR, b)}
	product := func(i, j int) float64 {
		sum := 0.0
		for k := range n {
			sum += a[i*n+k] * b[k*n+j]
		}
		return sum
	}
	diagonal, two := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		diagonal[i*n+i] = product(i, i)
		for j := range n {
			rows := 0.0
			for k := range n {
				rows += b[k*n+j] * a[k*n+i]
			}
			two[i*n+j] = product(i, j) + rows
		}
	}
	for _, kind := range []string{"dense", "hash", "sort"} {
		debug.Workspace = kind
		s := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
		debug.Workspace = ""
		for text, want := range map[string][]float64{
			"R(i,i) = A(i,k)*B(k,i)":                 diagonal,
			"R(i,j) = A(i,k)*B(k,j) + B(l,j)*A(l,i)": two,
		} {
			for _, f := range []tensor.Format{tensor.CSR, tensor.DCSR, tensor.COO} {
				got, err := s.Eval(context.Background(), text, args, Shape("R", n, n), Result("R", f))
				if err != nil {
					t.Errorf("%s into %s by %s workspaces: %v", text, f, kind, err)
					continue
				}
				if have := floats(t, got); !equal(have, want) {
					t.Errorf("%s into %s by %s workspaces gives a wrong result", text, f, kind)
				}
			}
		}
	}
}

// TestWorkspaceRepeated reads one entry of a workspace for many of the result.
func TestWorkspaceRepeated(t *testing.T) {
	x, err := tensor.FromCoords([]int64{3}, tensor.CSF(1), [][]int64{{0, 1, 2}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	for _, f := range []tensor.Format{tensor.CSR, tensor.COO, tensor.DCSC} {
		got, err := s.Eval(context.Background(), "R(i,j) = sum_k (x(k)*y(i))", Args{"x": x, "y": vector(t, 1, 10)},
			Shape("R", 2, 4), Result("R", f))
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		if have := floats(t, got); !equal(have, []float64{6, 6, 6, 6, 60, 60, 60, 60}) {
			t.Errorf("%s: got %v", f, have)
		}
	}
}

// TestDiagonalIsNoMask multiplies a product into a diagonal, whose entries are
// not those of one row.
func TestDiagonalIsNoMask(t *testing.T) {
	A := matrix(t, tensor.CSC, [2]int64{3, 3}, [3]float64{0, 0, 2}, [3]float64{0, 1, 9}, [3]float64{2, 2, 3})
	B := matrix(t, tensor.CSC, [2]int64{3, 3}, [3]float64{0, 1, 5}, [3]float64{1, 1, 6}, [3]float64{2, 0, 7})
	x, err := tensor.FromCoords([]int64{3}, tensor.CSF(1), [][]int64{{0, 1}}, tensor.ArrayOf([]float64{10, 100}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range both(t) {
		got, err := s.Eval(context.Background(), "R(i) = A(i,i) * (sum_p (x(p)*B(i,p)))", Args{"A": A, "B": B, "x": x}, Result("R", tensor.CSF(1)))
		if err != nil {
			t.Fatal(err)
		}
		if have := floats(t, got); !equal(have, []float64{1000, 0, 210}) {
			t.Errorf("got %v, want [1000 0 210]", have)
		}
	}
}

// TestMinimumOfMany takes the minimum of four operands that share no row.
func TestMinimumOfMany(t *testing.T) {
	inf := tensor.Float(tensor.Float64, math.Inf(1))
	args := Args{}
	for i, name := range []string{"A", "B", "C", "D"} {
		f := tensor.DCSR
		if i == 0 {
			f = tensor.CSR // so that a workspace is cheaper than a merge of rows
		}
		x, err := tensor.FromCoords([]int64{4, 1}, f, [][]int64{{int64(i)}, {0}}, tensor.ArrayOf([]float64{float64(i + 1)}), tensor.WithFill(inf))
		if err != nil {
			t.Fatal(err)
		}
		args[name] = x
	}
	s := NewSession(WithEngine(runtime.Interp()))
	got, err := s.Eval(context.Background(), "R(i,j) = min(A(i,j), B(i,j), C(i,j), D(i,j))", args, Result("R", tensor.DCSR))
	if err != nil {
		t.Fatal(err)
	}
	if have := floats(t, got); !equal(have, []float64{1, 2, 3, 4}) {
		t.Errorf("got %v, want [1 2 3 4]", have) // all inf
	}
}

// TestBlocksWithAnotherFill sums into dense blocks of a result whose fill is not
// the sum of nothing.
func TestBlocksWithAnotherFill(t *testing.T) {
	A := matrix(t, tensor.CSR, [2]int64{3, 2}, [3]float64{0, 0, 2})
	B := matrix(t, tensor.CSR, [2]int64{2, 2}, [3]float64{0, 1, 3})
	f, err := tensor.ParseFormat("S-D", 2)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSession(WithEngine(runtime.Interp()))
	got, err := s.Eval(context.Background(), "R(i,j) = A(i,k)*B(k,j)", Args{"A": A, "B": B}, Result("R", f), Fill("R", tensor.Float(tensor.Float64, 5)))
	if err != nil {
		t.Fatal(err)
	}
	if have := floats(t, got); !equal(have, []float64{0, 6, 0, 0, 0, 0}) {
		t.Errorf("got %v, want [0 6 0 0 0 0]", have) // 5 in rows 1 and 2
	}
}

// TestNestedSumsPlanAsOne plans a sum of sums as the sum over both indices is.
func TestNestedSumsPlanAsOne(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()))
	plan := func(text string) string {
		k, err := s.Compile(t.Context(), text, Format("A", tensor.CSR, tensor.Float64), Format("T", tensor.CSF(3), tensor.Float64), Result("R", tensor.CSR))
		if err != nil {
			t.Fatal(err)
		}
		p, err := k.Explain("plan")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	one := plan("R(i,l) = sum_{j,k} (A(i,j)*T(j,k,l))")
	if nested := plan("R(i,l) = sum_j (sum_k (A(i,j)*T(j,k,l)))"); nested != one || !strings.Contains(one, "workspace") {
		t.Errorf("the nested form is planned as\n%s\nthe other as\n%s", nested, one)
	}
}

// TestTablesAndMerges intersects rows by tables and by merges, which must give the
// same bits, also where a gap is folded, rows are empty, and on several threads.
func TestTablesAndMerges(t *testing.T) {
	const n = 70
	rng := rand.New(rand.NewPCG(5, 5))
	random := func(density float64, f tensor.Format) *tensor.Tensor {
		vals := make([]float64, n*n)
		for p := range vals {
			if rng.Float64() < density && p/n%7 != 3 {
				vals[p] = rng.Float64() - 0.5
			}
		}
		x, err := tensor.FromDense([]int64{n, n}, f, tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	infinite := matrix(t, tensor.CSR, [2]int64{n, n}, [3]float64{0, 0, math.Inf(1)}, [3]float64{1, 0, math.NaN()})
	entries := func(step int64) *tensor.Tensor { // every so many elements of a vector
		var at []int64
		var v []float64
		for i := int64(0); step > 0 && i < n; i += step {
			at, v = append(at, i), append(v, rng.Float64()-0.5)
		}
		f, err := tensor.FormatOf([]tensor.LevelKind{tensor.S}, []int{0})
		if err != nil {
			t.Fatal(err)
		}
		x, err := tensor.FromCoords([]int64{n}, f, [][]int64{at}, tensor.ArrayOf(v))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for text, tabled := range map[string]bool{
		"y = sum_{i,j,k} L(i,j)*L(j,k)*L(i,k)":               true,
		"y = sum_{i,j} (L(i,j)*(sum_k L(i,k)*M(j,k)))":       true,
		"y(i) = sum_{j,k} L(i,j)*M(j,k)*L(i,k)":              true,
		"y(i,j) = M(i,j)*(sum_k L(i,k)*M(j,k))":              true,
		"y(i,j) = M(i,j)*(max_k (L(i,k)*M(j,k)))":            true,
		"y(i,j) = M(i,j)*(argmin_k (L(i,k)*M(j,k)) + 1)":     true,
		"y(i) = max_j (L(i,j)*(prod_k (1 + L(i,k)*M(j,k))))": true,
		"y = sum_{i,j,k} L(i,j)*I(j,k)*L(i,k)":               true,
		"y(i) = sum_j I(i,j)*v(j)":                           true, // without a branch
		"y(i) = max_j (M(i,j)*v(j))":                         true,
		"y = sum_{i,j} L(i,j)*v(j)*L(i,j)":                   true,
		"y(i) = L(i,j)*e(j)":                                 true,
		"y(i) = sum_k (L(i,k) + M(i,k))":                     false,
	} {
		args := Args{"L": random(0.2, tensor.CSR), "M": random(0.1, tensor.DCSR), "I": infinite, "v": entries(2), "e": entries(0)}
		for name := range args {
			if !strings.Contains(text, name+"(") {
				delete(args, name)
			}
		}
		var want *tensor.Tensor
		for _, kind := range []string{"hash", "dense"} {
			for _, threads := range []int{1, 3} {
				debug.Workspace, debug.ChunkGrain = kind, 5
				list := both(t, WithThreads(threads))
				debug.Workspace, debug.ChunkGrain = "", 0
				for _, s := range list {
					got, err := s.Eval(context.Background(), text, args, AsWritten()) // as prepared kernels run
					if err != nil {
						t.Fatalf("%s: %v", text, err)
					}
					if want == nil {
						want = got
					}
					if !bytes.Equal(want.Values().Raw(), got.Values().Raw()) {
						t.Errorf("%s, %s, %d threads: the results differ", text, kind, threads)
					}
				}
			}
		}
		opts := []Option{AsWritten()}
		for name, x := range args {
			opts = append(opts, Operand(name, x))
		}
		debug.ChunkGrain = 5
		cut := NewSession(WithEngine(runtime.Interp()))
		debug.ChunkGrain = 0
		k, err := cut.Compile(t.Context(), text, opts...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := k.Prepare(context.Background(), args)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Run(context.Background(), args); err != nil || !bytes.Equal(want.Values().Raw(), got.Values().Raw()) {
			t.Errorf("%s, prepared: another result (%v)", text, err)
		}
		if lattice, err := k.Explain("lattice"); err != nil || strings.Contains(lattice, "and table") != tabled {
			t.Errorf("%s: a table: %t, want %t (%v)\n%s", text, !tabled, tabled, err, lattice)
		}
	}
}

// TestTablesNeedRoom intersects rows with more columns than a table should have
// places for.
func TestTablesNeedRoom(t *testing.T) {
	const n = 1 << 50
	rows := func(vals ...float64) *tensor.Tensor {
		x, err := tensor.FromCoords([]int64{3, n}, tensor.CSR, [][]int64{{0, 0, 2}, {1, n - 1, n - 1}}, tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for _, s := range both(t) {
		got, err := s.Eval(context.Background(), "y = sum_{i,j} (C(i,j)*(sum_k A(i,k)*B(j,k)))", Args{
			"A": rows(1, 2, 3), "B": rows(10, 20, 30),
			"C": matrix(t, tensor.CSR, [2]int64{3, 3}, [3]float64{0, 0, 1}, [3]float64{0, 2, 100})})
		if err != nil {
			t.Fatal(err)
		}
		if have := floats(t, got); !equal(have, []float64{1*10 + 2*20 + 100*2*30}) {
			t.Errorf("got %v, want 6050", have)
		}
	}
}

// TestKeysBeyond63Bits multiplies matrices stored so that the whole result would be
// one workspace, whose keys do not fit: another plan runs.
func TestKeysBeyond63Bits(t *testing.T) {
	const n = 1 << 40
	sparse := func(f tensor.Format, rows, cols []int64, vals ...float64) *tensor.Tensor {
		x, err := tensor.FromCoords([]int64{n, n}, f, [][]int64{rows, cols}, tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	a := func(f tensor.Format) *tensor.Tensor {
		return sparse(f, []int64{0, 0, 7, n - 1}, []int64{5, n - 2, 5, 0}, 1, 2, 3, 4)
	}
	b := func(f tensor.Format) *tensor.Tensor {
		return sparse(f, []int64{0, 7, 7, n - 1}, []int64{9, 9, n - 1, 3}, 10, 100, 1000, 10000)
	}
	// The product of A transposed with B.
	want := map[[2]int64]float64{{5, 9}: 310, {5, n - 1}: 3000, {n - 2, 9}: 20, {0, 3}: 40000}
	for text, transposed := range map[string]bool{
		"C(i,j) = sum_k A(k,i)*B(k,j)":                      false,
		"C(j,i) = sum_k A(k,i)*B(k,j)":                      true,
		"S(i,j) = sum_k A(k,i)*B(k,j); C(i,j) = S(i,j)*2/2": false,
	} {
		for threads, f := range map[int]tensor.Format{1: tensor.COO, 3: tensor.DCSR} {
			for _, s := range both(t, WithThreads(threads)) {
				got, err := s.Eval(context.Background(), text, Args{"A": a(f), "B": b(f)}, Result("C", tensor.DCSR))
				if err != nil {
					t.Errorf("%s of %s: %v", text, f, err)
					continue
				}
				coords, vals, err := got.ToCoords()
				if err != nil {
					t.Fatal(err)
				}
				have := map[[2]int64]float64{}
				for p := range vals.Len() {
					at := [2]int64{coords[0][p], coords[1][p]}
					if transposed {
						at[0], at[1] = at[1], at[0]
					}
					have[at] = vals.Scalar(p).Float64()
				}
				if !maps.Equal(have, want) {
					t.Errorf("%s of %s: got %v, want %v", text, f, have, want)
				}
			}
		}
	}
}

// TestCompressingProduct multiplies so that very many products fall on one element:
// a hash table for all of them must not be made.
func TestCompressingProduct(t *testing.T) {
	const n, k, width = 1 << 40, 3000, 16
	var rows, cols []int64
	var ones []float64
	for r := range int64(k) {
		for c := range int64(width) {
			rows, cols, ones = append(rows, r<<20), append(cols, c<<12), append(ones, 1)
		}
	}
	a, err := tensor.FromCoords([]int64{n, n >> 18}, tensor.DCSR, [][]int64{rows, cols}, tensor.ArrayOf(ones))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range both(t, WithThreads(2), WithMemoryLimit(16<<20)) {
		kernel, err := s.Compile(t.Context(), "C(i,j) = sum_k A(k,i)*A(k,j)", Format("A", tensor.DCSR, tensor.Float64), Result("C", tensor.DCSR))
		if err != nil {
			t.Fatal(err)
		}
		args := Args{"A": a}
		for range 2 { // the second time it is known
			got, err := kernel.Run(context.Background(), args)
			if err != nil {
				t.Fatal(err) // 768,000 products would take over 100 MB
			}
			_, vals, err := got.ToCoords()
			if err != nil {
				t.Fatal(err)
			}
			if vals.Len() != width*width || vals.Scalar(7).Float64() != k {
				t.Errorf("got %d entries, the eighth is %v", vals.Len(), vals.Scalar(7))
			}
		}
		if !kernel.tooWide.Load() {
			t.Error("the workspace of two dimensions was not given up")
		}
		prepared, err := kernel.Prepare(context.Background(), args)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := prepared.Run(context.Background(), args); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKeysBeyond63BitsPrepared prepares a kernel for shapes that need another plan:
// it runs again on those, and refuses others as it refuses other patterns.
func TestKeysBeyond63BitsPrepared(t *testing.T) {
	square := func(n int64) *tensor.Tensor {
		x, err := tensor.FromCoords([]int64{n, n}, tensor.DCSR, [][]int64{{0, n - 1}, {5, n - 1}}, tensor.ArrayOf([]float64{1, 2}))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	s := NewSession(WithEngine(runtime.Interp()))
	k, err := s.Compile(t.Context(), "C(i,j) = sum_k A(k,i)*B(k,j)", Format("A", tensor.DCSR, tensor.Float64), Format("B", tensor.DCSR, tensor.Float64), Result("C", tensor.DCSR))
	if err != nil {
		t.Fatal(err)
	}
	large := Args{"A": square(1 << 40), "B": square(1 << 40)}
	p, err := k.Prepare(context.Background(), large)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Run(context.Background(), large)
	if err != nil {
		t.Fatal(err)
	}
	if got.NNZ() != 2 {
		t.Errorf("got %d entries, want 2", got.NNZ())
	}
	if _, err := p.Run(context.Background(), Args{"A": square(10), "B": square(10)}); !errors.Is(err, runtime.ErrPattern) {
		t.Errorf("other shapes: %v", err)
	}
}

// TestManyTruths adds more sparse matrices of bool than a merge takes.
func TestManyTruths(t *testing.T) {
	args := Args{}
	for k, name := range []string{"A", "B", "C", "D", "E"} {
		m, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int64{{int64(k) % 3}, {int64(k) / 3}}, tensor.ArrayOf([]bool{k != 3}))
		if err != nil {
			t.Fatal(err)
		}
		args[name] = m
	}
	got, err := Eval(context.Background(), "R(i,j) = A(i,j) + B(i,j) + C(i,j) + D(i,j) + E(j,i)", args, Result("R", tensor.CSR))
	if err != nil {
		t.Fatal(err)
	}
	want := []bool{true, false, false, true, true, false, true, false, false}
	for p, w := range want {
		if v := got.At(int64(p/3), int64(p%3)).Bool(); v != w {
			t.Errorf("element %d is %v", p, v)
		}
	}
}

// TestLookedUpWithoutBranch multiplies with sparse vectors of a few coordinates, of which entries are looked up without a branch, also where there are none, and where
// what is not there meets what is not finite.
func TestLookedUpWithoutBranch(t *testing.T) {
	a := matrix(t, tensor.CSR, [2]int64{3, 5}, [3]float64{0, 0, math.Inf(1)}, [3]float64{0, 1, 2}, [3]float64{1, 4, math.NaN()}, [3]float64{1, 1, 3}, [3]float64{2, 2, 1})
	f, err := tensor.FormatOf([]tensor.LevelKind{tensor.S}, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at     []int64
		values []float64
		want   []float64
	}{{nil, nil, []float64{0, 0, 0}}, {[]int64{1, 2}, []float64{10, 0}, []float64{20, 30, 0}}} {
		x, err := tensor.FromCoords([]int64{5}, f, [][]int64{c.at}, tensor.ArrayOf(c.values))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range both(t) {
			k, err := s.Compile(t.Context(), "y(i) = A(i,j)*x(j)", Operand("A", a), Operand("x", x), AsWritten())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the first run knows the extents
				y, err := k.Run(t.Context(), Args{"A": a, "x": x})
				if err != nil {
					t.Fatal(err)
				}
				if got := floats(t, y); !slices.Equal(got, c.want) {
					t.Errorf("%s: x of %d entries: %v, want %v", s.Engine().Name(), len(c.at), got, c.want)
				}
			}
			if loops, err := k.Explain("loops"); err != nil || !strings.Contains(loops, "let has: bool") {
				t.Errorf("%s: entries are looked up otherwise (%v):\n%s", s.Engine().Name(), err, loops)
			}
		}
	}
}
