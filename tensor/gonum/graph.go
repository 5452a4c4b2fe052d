package gonum

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/from"
)

// FromGraph is the adjacency matrix of a graph, in CSR: element (i,j) is the weight of the edge from node i to node j, or 1 if the
// graph has no weights, and nothing is stored where there is no edge. An edge of an undirected graph is stored
// in both directions. Nodes are numbered in the order of their ids, which are returned.
func FromGraph(g graph.Graph) (adjacency *tensor.Tensor, ids []int64, err error) {
	if g == nil {
		return nil, nil, fmt.Errorf("the graph is nil")
	}
	for nodes := g.Nodes(); nodes.Next(); {
		ids = append(ids, nodes.Node().ID())
	}
	slices.Sort(ids)
	number := make(map[int64]int64, len(ids))
	for i, id := range ids {
		number[id] = int64(i)
	}
	weighted, _ := g.(graph.Weighted)
	b := from.NewBuilder[float64](tensor.CSR, from.Refuse)
	for i, id := range ids {
		for to := g.From(id); to.Next(); {
			other, w := to.Node().ID(), 1.0
			if weighted != nil {
				var ok bool
				if w, ok = weighted.Weight(id, other); !ok {
					return nil, nil, fmt.Errorf("the edge from node %d to node %d has no weight", id, other)
				}
			}
			j, ok := number[other]
			if !ok {
				return nil, nil, fmt.Errorf("node %d has an edge to node %d, which the graph does not list", id, other)
			}
			b.Add(w, int64(i), j)
		}
	}
	adjacency, err = b.Build([]int64{int64(len(ids)), int64(len(ids))})
	return adjacency, ids, err
}

// Graph is a square matrix as a directed graph with weights, for gonum's algorithms: what is stored at (i,j), 0 too, is the weight of the
// edge from node i to node j. A symmetric matrix is a graph with every edge in both directions.
type Graph struct{ out, in *tensor.Tensor }

var (
	_ graph.WeightedDirected = (*Graph)(nil)
	_ graph.Directed         = (*Graph)(nil)
)

// NewGraph returns the graph of an adjacency matrix of real numbers. It is stored by rows, and by columns for edges backwards: a
// CSR and a CSC matrix are not copied.
func NewGraph(adjacency *tensor.Tensor) (*Graph, error) {
	if err := fits(adjacency, 2); err != nil {
		return nil, err
	}
	if shape := adjacency.Shape(); shape[0] != shape[1] {
		return nil, fmt.Errorf("%v is not square: its nodes are its rows, and its columns", adjacency)
	}
	plain, err := adjacency.Canonical()
	if err != nil {
		return nil, err
	}
	if plain.Format().IsDense() && plain.NNZ() > 0 {
		return nil, fmt.Errorf("%v stores an edge between any two nodes: convert it to CSR, which leaves out what equals the fill", adjacency)
	}
	g := &Graph{}
	for f, to := range map[tensor.Format]**tensor.Tensor{tensor.CSR: &g.out, tensor.CSC: &g.in} {
		t, err := plain.Convert(f)
		if err != nil {
			return nil, err
		}
		if *to, err = asFloats(t); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// asFloats is a tensor with elements of type f64.
func asFloats(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.DType() == tensor.Float64 {
		return t, t.Fetch()
	}
	values, err := t.Values().Convert(tensor.Float64)
	if err != nil {
		return nil, err
	}
	return t.WithValues(values, nil)
}

// has reports whether a node exists.
func (g *Graph) has(id int64) bool { return id >= 0 && id < g.out.Dims()[0] }

// Node is the node of an id, nil if there is none.
func (g *Graph) Node(id int64) graph.Node {
	if !g.has(id) {
		return nil
	}
	return simple.Node(id)
}

// Nodes are all nodes, the numbers of rows.
func (g *Graph) Nodes() graph.Nodes {
	nodes := make([]graph.Node, g.out.Dims()[0])
	for i := range nodes {
		nodes[i] = simple.Node(i)
	}
	return iterator.NewOrderedNodes(nodes)
}

// From are the nodes that edges from a node lead to.
func (g *Graph) From(id int64) graph.Nodes { return g.ends(g.out, id, -1) }

// To are the nodes that edges to a node come from.
func (g *Graph) To(id int64) graph.Nodes { return g.ends(g.in, -1, id) }

// ends are the nodes along a row or a column.
func (g *Graph) ends(t *tensor.Tensor, at ...int64) graph.Nodes {
	if id := max(at[0], at[1]); !g.has(id) {
		return graph.Empty
	}
	f, err := tensor.FibreAt[float64](t, at...)
	if err != nil || len(f.Values) == 0 {
		return graph.Empty
	}
	var nodes []graph.Node
	for id := range f.All() {
		nodes = append(nodes, simple.Node(id))
	}
	return iterator.NewOrderedNodes(nodes)
}

// weight is the weight of an edge, if there is one.
func (g *Graph) weight(from, to int64) (float64, bool) {
	if !g.has(from) || !g.has(to) {
		return 0, false
	}
	row, err := tensor.Row[float64](g.out, from)
	if err != nil {
		return 0, false
	}
	lo, hi := 0, len(row.Values)
	for lo < hi {
		if middle := (lo + hi) / 2; row.Coord(middle) < to {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	if lo == len(row.Values) || row.Coord(lo) != to {
		return 0, false
	}
	return row.Values[lo], true
}

// HasEdgeBetween reports whether there is an edge in either direction.
func (g *Graph) HasEdgeBetween(x, y int64) bool {
	return g.HasEdgeFromTo(x, y) || g.HasEdgeFromTo(y, x)
}

// HasEdgeFromTo reports whether there is an edge.
func (g *Graph) HasEdgeFromTo(from, to int64) bool {
	_, ok := g.weight(from, to)
	return ok
}

// Edge is the edge between two nodes, nil if there is none.
func (g *Graph) Edge(from, to int64) graph.Edge {
	if e := g.WeightedEdge(from, to); e != nil {
		return e
	}
	return nil
}

// WeightedEdge is the edge between two nodes, nil if there is none.
func (g *Graph) WeightedEdge(from, to int64) graph.WeightedEdge {
	w, ok := g.weight(from, to)
	if !ok {
		return nil
	}
	return simple.WeightedEdge{F: simple.Node(from), T: simple.Node(to), W: w}
}

// Weight is the weight of an edge. Where there is none it is false, and the weight 0 from a node to itself and else infinite.
func (g *Graph) Weight(from, to int64) (w float64, ok bool) {
	switch w, ok = g.weight(from, to); {
	case ok:
		return w, true
	case from == to:
		return 0, g.has(from)
	}
	return math.Inf(1), false
}
