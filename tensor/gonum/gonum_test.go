package gonum_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/mat"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/gonum"
)

// matrices are gonum's, and whether they are shared.
func matrices() map[string]struct {
	m      mat.Matrix
	format string
	shared bool
} {
	dense := mat.NewDense(2, 3, []float64{1, 0, 2, 0, 3, 0})
	return map[string]struct {
		m      mat.Matrix
		format string
		shared bool
	}{
		"dense":                  {dense, "D", true},
		"its transpose":          {dense.T(), "D-D[1,0]", true},
		"part of it":             {mat.NewDense(3, 3, []float64{1, 0, 2, 0, 3, 0, 4, 5, 6}).Slice(1, 3, 0, 2), "D", false},
		"one row of it":          {mat.NewDense(3, 3, []float64{1, 0, 2, 0, 3, 0, 4, 5, 6}).Slice(1, 2, 0, 2), "D", true},
		"a vector":               {mat.NewVecDense(3, []float64{1, 2, 3}), "D", true},
		"every other element":    {mat.NewDense(3, 2, []float64{1, 9, 2, 9, 3, 9}).ColView(0), "D", false},
		"diagonal":               {mat.NewDiagDense(3, []float64{1, 2, 3}), "CSR", false},
		"band":                   {mat.NewBandDense(4, 4, 1, 0, []float64{-1, 1, 2, 3, 4, 5, 6, 7}), "CSR", false},
		"triangle":               {mat.NewTriDense(2, mat.Upper, []float64{1, 2, 0, 3}), "CSR", false},
		"symmetric":              {mat.NewSymDense(2, []float64{1, 2, 0, 3}), "D", false},
		"a transposed triangle":  {mat.NewTriDense(2, mat.Upper, []float64{1, 2, 0, 3}).T(), "CSC", false},
		"a transposed transpose": {mat.Transpose{Matrix: dense.T()}, "D", true},
	}
}

func TestMatricesThereAndBack(t *testing.T) {
	for name, c := range matrices() {
		got, err := gonum.FromMatrix(c.m)
		if err != nil {
			t.Fatal(name, err)
		}
		want, err := tensor.ParseFormat(c.format, 2)
		if err != nil {
			t.Fatal(err)
		}
		if got.Format() != want {
			t.Errorf("%s is %v", name, got)
		}
		rows, cols := c.m.Dims()
		view, err := gonum.NewMatrix(got)
		if err != nil {
			t.Fatal(name, err)
		}
		dense, err := gonum.Dense(got)
		if err != nil {
			t.Fatal(name, err)
		}
		for i := range rows {
			for j := range cols {
				if v := c.m.At(i, j); got.At(int64(i), int64(j)).Float64() != v || view.At(i, j) != v || view.T().At(j, i) != v || dense.At(i, j) != v {
					t.Errorf("%s differs at %d,%d", name, i, j)
				}
			}
		}
		sum := 0.0
		view.DoNonZero(func(i, j int, v float64) { sum += v })
		if math.Abs(sum-mat.Sum(c.m)) > 1e-12 {
			t.Errorf("%s: the non-zero elements add up to %v, not %v", name, sum, mat.Sum(c.m))
		}
		if d, ok := c.m.(mat.RawMatrixer); ok && c.shared != (&d.RawMatrix().Data[0] == &tensor.StoredValues[float64](got)[0]) {
			t.Errorf("%s: shared is %v", name, !c.shared)
		}
	}
}

func TestMatricesOfOtherTensors(t *testing.T) {
	filled, err := tensor.FromCoords([]int64{2, 2}, tensor.CSR, [][]int64{{0}, {1}}, tensor.ArrayOf([]int8{0}), tensor.WithFill(tensor.Int(tensor.Int8, 3)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := gonum.NewMatrix(filled)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	m.DoNonZero(func(i, j int, v float64) { count++ })
	if mat.Sum(m) != 9 || count != 3 {
		t.Error(mat.Sum(m), count)
	}
	for _, at := range [][2]int{{2, 0}, {-1, 0}, {0, 2}} {
		func() {
			defer func() {
				if e, ok := recover().(mat.Error); !ok {
					t.Errorf("%v: %v", at, e)
				}
			}()
			m.At(at[0], at[1])
		}()
	}
	complexes, _ := tensor.NewDense([]complex64{1}, 1, 1)
	none, _ := tensor.NewDense([]float64{}, 0, 2)
	for want, x := range map[string]*tensor.Tensor{"rank 1": tensor.Vector([]float64{1}), "complex": complexes, "no elements": none, "nil": nil} {
		if _, err := gonum.Dense(x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestGraphsThereAndBack(t *testing.T) {
	g := simple.NewWeightedDirectedGraph(0, math.Inf(1))
	for _, e := range [][3]float64{{10, 20, 1.5}, {20, 40, 2}, {10, 40, 5}, {40, 10, 0}} {
		g.SetWeightedEdge(g.NewWeightedEdge(simple.Node(int64(e[0])), simple.Node(int64(e[1])), e[2]))
	}
	g.AddNode(simple.Node(30))
	a, ids, err := gonum.FromGraph(g)
	if err != nil || !slices.Equal(ids, []int64{10, 20, 30, 40}) || a.NNZ() != 4 {
		t.Fatal(a, ids, err)
	}
	back, err := gonum.NewGraph(a)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range ids {
		for j, y := range ids {
			i, j := int64(i), int64(j)
			w, ok := g.Weight(x, y)
			if v, has := back.Weight(i, j); v != w || has != ok || back.HasEdgeFromTo(i, j) != g.HasEdgeFromTo(x, y) || back.HasEdgeBetween(i, j) != g.HasEdgeBetween(x, y) {
				t.Errorf("edge %d to %d: %v %v, want %v %v", x, y, v, has, w, ok)
			}
			if e := back.Edge(i, j); (e == nil) != (g.Edge(x, y) == nil) {
				t.Errorf("edge %d to %d: %v", x, y, e)
			}
		}
		if a, b := graph.NodesOf(back.From(int64(i))), graph.NodesOf(g.From(x)); len(a) != len(b) {
			t.Errorf("from %d: %v, want %v", x, a, b)
		}
		if a, b := graph.NodesOf(back.To(int64(i))), graph.NodesOf(g.To(x)); len(a) != len(b) {
			t.Errorf("to %d: %v, want %v", x, a, b)
		}
	}
	if back.Node(4) != nil || back.Nodes().Len() != 4 || back.From(-1).Len() != 0 || back.To(9).Len() != 0 {
		t.Error("there are other nodes")
	}
	undirected := simple.NewUndirectedGraph()
	undirected.SetEdge(undirected.NewEdge(simple.Node(1), simple.Node(0)))
	if a, _, err := gonum.FromGraph(undirected); err != nil || a.NNZ() != 2 || a.At(0, 1).Float64() != 1 {
		t.Error(a, err)
	}
	dense, _ := tensor.NewDense([]float64{1, 2, 3, 4}, 2, 2)
	if _, err := gonum.NewGraph(dense); err == nil {
		t.Error("a dense matrix is a graph")
	}
}

// A system of equations from a sparse matrix that lacuna has computed, solved by gonum.
func Example() {
	A, _ := tensor.NewCSR([]int64{2, 2}, []int{0, 2, 3}, []int{0, 1, 1}, []float64{2, 1, 4})
	x, err := gonum.FromVector(mat.NewVecDense(2, []float64{1, 8}))
	if err != nil {
		fmt.Println(err)
		return
	}
	N, err := lacuna.Eval(context.Background(), "N(i,k) = A(j,i)*A(j,k)", lacuna.Args{"A": A})
	if err != nil {
		fmt.Println(err)
		return
	}
	normal, _ := gonum.Dense(N)
	b, err := lacuna.Eval(context.Background(), "b(i) = A(j,i)*x(j)", lacuna.Args{"A": A, "x": x})
	if err != nil {
		fmt.Println(err)
		return
	}
	right, _ := gonum.VecDense(b)
	var solution mat.VecDense
	if err := solution.SolveVec(normal, right); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", mat.Formatted(&solution))
	// Output:
	// ⎡-0.50⎤
	// ⎣ 2.00⎦
}

// Any matrix of gonum's is an operand, and any tensor a matrix of gonum's.
func ExampleFromMatrix() {
	A, err := gonum.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3, 4}))
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _ := gonum.NewMatrix(A)
	fmt.Println(A, mat.Trace(m), m.Tensor() == A)
	// Output: 2x2 f64 D, 4 stored, fill 0 5 true
}

// Shortest paths over a sparse matrix of distances.
func ExampleNewGraph() {
	A, _ := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int{{0, 0, 1}, {1, 2, 2}}, tensor.ArrayOf([]float64{1, 5, 2}))
	g, err := gonum.NewGraph(A)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(path.DijkstraFrom(g.Node(0), g).WeightTo(2))
	// Output: 3
}

// The neighbours of neighbours in a graph of gonum's, by a product.
func ExampleFromGraph() {
	g := simple.NewDirectedGraph()
	g.SetEdge(g.NewEdge(simple.Node(7), simple.Node(8)))
	g.SetEdge(g.NewEdge(simple.Node(8), simple.Node(9)))
	A, ids, err := gonum.FromGraph(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	two, err := lacuna.Eval(context.Background(), "B(i,k) = A(i,j)*A(j,k)", lacuna.Args{"A": A})
	if err != nil {
		fmt.Println(err)
		return
	}
	for at := range tensor.Entries[float64](two) {
		fmt.Println(ids[at[0]], "to", ids[at[1]])
	}
	// Output: 7 to 9
}
