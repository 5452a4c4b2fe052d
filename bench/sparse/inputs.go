package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// matrixInput is a kind of square matrix. make returns the k-th of that kind as
// coordinates and values, the same on every machine; values at equal
// coordinates are summed.
type matrixInput struct {
	name, what string
	make       func(k uint64) *entries
	dense      bool // make only says how large it is
}

var inputs = []matrixInput{
	{name: "unif", what: "20,000 x 20,000, 16 random entries in each row", make: func(k uint64) *entries { return uniform(20_000, 16, k) }},
	{name: "lap", what: "5-point Laplacian of a 500 x 500 grid; the second to the last operand have random conductances", make: func(k uint64) *entries { return laplacian(500, k) }},
	{name: "rmat13", what: "RMAT graph, scale 13, 8 edges a node (0.57, 0.19, 0.19, 0.05)", make: func(k uint64) *entries { return rmat(13, 8, k) }},
	{name: "rmat16", what: "RMAT graph, scale 16, 16 edges a node (0.57, 0.19, 0.19, 0.05)", make: func(k uint64) *entries { return rmat(16, 16, k) }},
}

// reductionInputs are measured for reductions only.
var reductionInputs = []matrixInput{
	{name: "percent", what: "4,096 x 4,096, 41 random entries in each row", make: func(k uint64) *entries { return uniform(4096, 41, k) }},
	{name: "dense", what: "4,096 x 4,096, random, dense", make: func(uint64) *entries { return &entries{n: 4096} }, dense: true},
}

// normals are n random numbers, the same on every machine.
func normals(n int64) []float64 {
	rng := rand.New(rand.NewPCG(5, 0))
	v := make([]float64, n)
	for i := range v {
		v[i] = rng.NormFloat64()
	}
	return v
}

// inputFacts is what the report says about an input.
type inputFacts struct {
	name, what    string
	rows          int64
	entries       int64 // of the first operand
	below, tuples int64 // entries of L, and of the shuffled coordinates
}

// entries are the coordinates and values of a square matrix.
type entries struct {
	n        int64
	row, col []int64
	val      []float64
}

func (e *entries) add(i, j int64, v float64) {
	e.row, e.col, e.val = append(e.row, i), append(e.col, j), append(e.val, v)
}

func (e *entries) csr() (*tensor.Tensor, error) {
	return tensor.FromCoords([]int64{e.n, e.n}, tensor.CSR, [][]int64{e.row, e.col}, tensor.ArrayOf(e.val))
}

func (e *entries) shuffle(rng *rand.Rand) {
	rng.Shuffle(len(e.val), func(p, q int) {
		e.row[p], e.row[q] = e.row[q], e.row[p]
		e.col[p], e.col[q] = e.col[q], e.col[p]
		e.val[p], e.val[q] = e.val[q], e.val[p]
	})
}

// uniform has perRow different random columns in each row.
func uniform(n, perRow int64, k uint64) *entries {
	rng := rand.New(rand.NewPCG(1, k))
	e := &entries{n: n}
	seen := make([]int64, n) // the last row that has the column, plus one
	for i := range n {
		for left := perRow; left > 0; {
			if j := rng.Int64N(n); seen[j] != i+1 {
				seen[j] = i + 1
				e.add(i, j, rng.NormFloat64())
				left--
			}
		}
	}
	return e
}

// laplacian is the 5-point operator on a square grid. The first has the same
// conductance between all neighbours, the others random ones.
func laplacian(side int64, k uint64) *entries {
	rng := rand.New(rand.NewPCG(2, k))
	conductances := func() []float64 {
		c := make([]float64, side*side)
		for i := range c {
			if c[i] = 1; k > 0 {
				c[i] = 0.5 + rng.Float64()
			}
		}
		return c
	}
	east, south := conductances(), conductances()
	e := &entries{n: side * side}
	for y := range side {
		for x := range side {
			i := y*side + x
			var north, west float64
			if y > 0 {
				north = south[i-side]
				e.add(i, i-side, -north)
			}
			if x > 0 {
				west = east[i-1]
				e.add(i, i-1, -west)
			}
			e.add(i, i, north+west+east[i]+south[i])
			if x < side-1 {
				e.add(i, i+1, -east[i])
			}
			if y < side-1 {
				e.add(i, i+side, -south[i])
			}
		}
	}
	return e
}

// rmat is a graph with a skewed degree distribution: each edge picks a quadrant
// of the adjacency matrix, a quadrant of that, and so on (Chakrabarti, Zhan and
// Faloutsos, 2004). Some edges fall on each other. Weights are random.
func rmat(scale, perNode int, k uint64) *entries {
	rng := rand.New(rand.NewPCG(3, k))
	e := &entries{n: 1 << scale}
	for range perNode << scale {
		var i, j int64
		for range scale {
			i, j = 2*i, 2*j
			switch p := rng.Float64(); {
			case p < 0.57:
			case p < 0.76:
				j++
			case p < 0.95:
				i++
			default:
				i, j = i+1, j+1
			}
		}
		e.add(i, j, 0.5+rng.Float64())
	}
	return e
}

// below is the graph of a matrix without directions, each edge once: the strict
// lower triangle of the pattern of A and its transposed, with ones.
func below(a *tensor.Tensor) (*tensor.Tensor, error) {
	edges := &entries{n: a.Dims()[0]}
	eachEntry(a, func(i, j int64, _ float64) {
		if i != j {
			edges.add(max(i, j), min(i, j), 1)
		}
	})
	l, err := edges.csr()
	if err != nil {
		return nil, err
	}
	for p, v := 0, tensor.View[float64](l.Values()); p < len(v); p++ {
		v[p] = 1
	}
	return l, nil
}

// eachEntry calls f for the entries of a CSR matrix in order.
func eachEntry(a *tensor.Tensor, f func(i, j int64, v float64)) {
	pos, crd, vals := tensor.View[uint32](a.LevelAt(1).Pos), tensor.View[uint32](a.LevelAt(1).Crd), tensor.View[float64](a.Values())
	for i := range len(pos) - 1 {
		for p := pos[i]; p < pos[i+1]; p++ {
			f(int64(i), int64(crd[p]), vals[p])
		}
	}
}

// write makes the operands of an input and writes their arrays as files
// NAME.ARRAY: the matrices A0, A1, ... and L as pos, crd and val, and the
// coordinates "shuffled" and "sorted", which both make A0, as row, col and val.
// Indices have 32 bits.
func (in matrixInput) write(dir string, s suite) (inputFacts, error) {
	facts := inputFacts{name: in.name, what: in.what}
	path := func(array string) string { return filepath.Join(dir, in.name+"."+array) }
	for k := range s.operands {
		e := in.make(k)
		if in.dense {
			facts.rows, facts.entries = e.n, e.n*e.n
			return facts, os.WriteFile(path("D.val"), tensor.ArrayOf(normals(e.n*e.n)).Raw(), 0o600)
		}
		a, err := e.csr()
		if err != nil {
			return facts, err
		}
		if err := writeMatrix(path(fmt.Sprint("A", k)), a); err != nil {
			return facts, err
		}
		if k > 0 {
			continue
		}
		facts.rows, facts.entries, facts.tuples = e.n, a.NNZ(), int64(len(e.val))
		sorted := &entries{n: e.n}
		eachEntry(a, sorted.add)
		e.shuffle(rand.New(rand.NewPCG(4, 0)))
		l, err := below(a)
		if err != nil {
			return facts, err
		}
		facts.below = l.NNZ()
		err = errors.Join(writeMatrix(path("L"), l), e.write(path("shuffled")), sorted.write(path("sorted")))
		if err != nil {
			return facts, err
		}
	}
	return facts, nil
}

func writeMatrix(path string, a *tensor.Tensor) error {
	l := a.LevelAt(1)
	for _, index := range []tensor.Array{l.Pos, l.Crd} {
		if index.DType() != tensor.Uint32 {
			return fmt.Errorf("%s has %v indices, the sides read u32", path, index.DType())
		}
	}
	return errors.Join(
		os.WriteFile(path+".pos", l.Pos.Raw(), 0o600),
		os.WriteFile(path+".crd", l.Crd.Raw(), 0o600),
		os.WriteFile(path+".val", a.Values().Raw(), 0o600))
}

func (e *entries) write(path string) error {
	narrow := func(wide []int64) []byte {
		raw := make([]byte, 0, 4*len(wide))
		for _, c := range wide {
			raw = binary.NativeEndian.AppendUint32(raw, uint32(c))
		}
		return raw
	}
	return errors.Join(
		os.WriteFile(path+".row", narrow(e.row), 0o600),
		os.WriteFile(path+".col", narrow(e.col), 0o600),
		os.WriteFile(path+".val", tensor.ArrayOf(e.val).Raw(), 0o600))
}
