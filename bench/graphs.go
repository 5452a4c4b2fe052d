//go:build (linux || darwin) && (amd64 || arm64)

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// matrices are what the SpMV benchmark runs on.
var matrices = []struct {
	name, what string
	make       func() (*tensor.Tensor, error)
}{
	{"debian", "dependencies of Debian packages, as `apt-cache dumpavail` lists them", debian},
	{"lap2d", "5-point Laplacian of a 1000 x 1000 grid", laplacian},
	{"unif", "20,000 x 20,000, 16 random entries in each row", uniform},
	{"rmat", "RMAT graph, scale 16, 16 edges a node (0.57, 0.19, 0.19, 0.05)", rmat},
}

func matrixNames() []string {
	var names []string
	for _, m := range matrices {
		names = append(names, m.name)
	}
	return names
}

// entries collects the coordinates and values of a matrix.
type entries struct {
	row, col []int64
	val      []float64
}

func (e *entries) add(i, j int64, v float64) {
	e.row, e.col, e.val = append(e.row, i), append(e.col, j), append(e.val, v)
}

func (e *entries) csr(n int64) (*tensor.Tensor, error) {
	return tensor.FromCoords([]int64{n, n}, tensor.CSR, [][]int64{e.row, e.col}, tensor.ArrayOf(e.val))
}

// debian is the matrix of a PageRank step: entry (i,j) is 1 over the number of
// dependencies of package j if i is one of them. Of alternatives the first counts,
// and only what is a package itself.
func debian() (*tensor.Tensor, error) {
	dump, err := exec.Command("apt-cache", "dumpavail").Output()
	if err != nil {
		return nil, fmt.Errorf("apt-cache dumpavail: %w", err)
	}
	number, needs := map[string]int64{}, []map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(dump))
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		switch field, value, _ := strings.Cut(lines.Text(), ": "); {
		case field == "Package":
			number[value] = int64(len(needs))
			needs = append(needs, map[string]bool{})
		case (field == "Depends" || field == "Pre-Depends") && len(needs) > 0:
			for need := range strings.SplitSeq(value, ",") {
				name := strings.TrimSpace(need) + " "
				needs[len(needs)-1][name[:strings.IndexAny(name, " (|:")]] = true
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(needs) == 0 {
		return nil, fmt.Errorf("apt knows no packages: run apt-get update")
	}
	var e entries
	for j, set := range needs {
		maps.DeleteFunc(set, func(name string, _ bool) bool {
			i, ok := number[name]
			return !ok || i == int64(j)
		})
		for _, name := range slices.Sorted(maps.Keys(set)) {
			e.add(number[name], int64(j), 1/float64(len(set)))
		}
	}
	return e.csr(int64(len(needs)))
}

// laplacian is the 5-point difference operator on a square grid.
func laplacian() (*tensor.Tensor, error) {
	const side = 1000
	var e entries
	for y := range int64(side) {
		for x := range int64(side) {
			i := y*side + x
			if y > 0 {
				e.add(i, i-side, -1)
			}
			if x > 0 {
				e.add(i, i-1, -1)
			}
			e.add(i, i, 4)
			if x < side-1 {
				e.add(i, i+1, -1)
			}
			if y < side-1 {
				e.add(i, i+side, -1)
			}
		}
	}
	return e.csr(side * side)
}

// uniform has the same number of entries in each row, at random columns.
func uniform() (*tensor.Tensor, error) {
	const n, perRow = 20_000, 16
	rng := rand.New(rand.NewPCG(20, 16))
	var e entries
	for i := range int64(n) {
		row := map[int64]bool{}
		for len(row) < perRow {
			row[rng.Int64N(n)] = true
		}
		for _, j := range slices.Sorted(maps.Keys(row)) {
			e.add(i, j, rng.NormFloat64())
		}
	}
	return e.csr(n)
}

// rmat is a graph with a skewed degree distribution: each edge picks a quadrant
// of the adjacency matrix, a quadrant of that, and so on (Chakrabarti, Zhan and
// Faloutsos, 2004). Edges that fall on each other are summed.
func rmat() (*tensor.Tensor, error) {
	const scale, perNode = 16, 16
	rng := rand.New(rand.NewPCG(16, 16))
	var e entries
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
		e.add(i, j, 1)
	}
	return e.csr(1 << scale)
}
