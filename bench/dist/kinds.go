//go:build linux && (amd64 || arm64)

package main

import (
	"math/rand/v2"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// kind is a kind of square matrix that is simulated: of 2^scale rows with about as many entries each as is said.
type kind struct {
	name  string
	edges func(r *rand.Rand, scale, degree int) []uint64 // row and column of each entry, as one number
}

func edge(i, j int64) uint64 { return uint64(i)<<32 | uint64(j) }

var kinds = []kind{
	{"uniform", func(r *rand.Rand, scale, degree int) (list []uint64) {
		for i := range int64(1) << scale {
			for range degree {
				list = append(list, edge(i, r.Int64N(1<<scale)))
			}
		}
		return list
	}},
	{"band", func(_ *rand.Rand, scale, degree int) (list []uint64) {
		n := int64(1) << scale
		for i := range n {
			for j := max(0, i-int64(degree/2)); j < min(n, i+int64(degree-degree/2)); j++ {
				list = append(list, edge(i, j))
			}
		}
		return list
	}},
	// R-MAT: Chakrabarti, Zhan and Faloutsos, SDM 2004, with the numbers of Graph500, and vertices in random order.
	{"RMAT", func(r *rand.Rand, scale, degree int) (list []uint64) {
		order := r.Perm(1 << scale)
		for range int64(degree) << scale {
			var i, j int
			for range scale {
				switch p := r.Float64(); {
				case p < 0.57:
					i, j = 2*i, 2*j
				case p < 0.76:
					i, j = 2*i, 2*j+1
				case p < 0.95:
					i, j = 2*i+1, 2*j
				default:
					i, j = 2*i+1, 2*j+1
				}
			}
			list = append(list, edge(int64(order[i]), int64(order[j])))
		}
		return list
	}},
}

// matrix makes the matrix.
func (k kind) matrix(scale, degree int) (*tensor.Tensor, error) {
	r := rand.New(rand.NewPCG(1, 2))
	list := k.edges(r, scale, degree)
	slices.Sort(list)
	list = slices.Compact(list)
	n := int64(1) << scale
	pos, crd, values := make([]uint32, n+1), make([]uint32, len(list)), make([]float64, len(list))
	for p, e := range list {
		pos[e>>32+1]++
		crd[p], values[p] = uint32(e), r.Float64()
	}
	for i := range n {
		pos[i+1] += pos[i]
	}
	return tensor.NewNamed([]int64{n, n}, tensor.CSR, map[string]tensor.Array{"pointers_0": tensor.ArrayOf(pos), "indices_1": tensor.ArrayOf(crd)}, tensor.ArrayOf(values))
}
