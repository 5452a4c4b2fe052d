package gonum_test

import (
	"fmt"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/mat"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/gonum"
)

// A matrix of distances, asked as a graph: gonum's algorithms ask the same.
func ExampleGraph() {
	A, _ := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int{{0, 0, 1}, {1, 2, 2}}, tensor.ArrayOf([]float64{1, 5, 2}))
	g, err := gonum.NewGraph(A)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Nodes().Len(), "nodes;", len(graph.NodesOf(g.To(2))), "edges lead to node 2")
	fmt.Println(g.HasEdgeFromTo(2, 1), g.HasEdgeBetween(2, 1), g.Edge(0, 1) != nil, g.WeightedEdge(0, 2).Weight())
	fmt.Println(g.Weight(2, 0))
	// Output:
	// 3 nodes; 2 edges lead to node 2
	// false true true 5
	// +Inf false
}

// Only what is stored is gone through.
func ExampleMatrix_DoNonZero() {
	A, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 1, 3}, []int{2, 0, 1}, []float64{1, 2, 3})
	m, err := gonum.NewMatrix(A)
	if err != nil {
		fmt.Println(err)
		return
	}
	m.DoNonZero(func(i, j int, v float64) { fmt.Println(i, j, v) })
	rows, cols := m.T().Dims()
	fmt.Println(rows, cols, mat.Sum(m.T()))
	// Output:
	// 0 2 1
	// 1 0 2
	// 1 1 3
	// 3 2 6
}
