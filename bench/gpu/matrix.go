package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// csr is a square matrix in compressed rows.
type csr struct {
	n    int64
	pos  []uint32
	crd  []uint32
	vals []float64
}

func log2(x float64) int { return int(math.Round(math.Log2(x))) }

// eachPart runs work for parts of 0 … n-1 at once.
func eachPart(n int64, work func(part int, lo, hi int64)) {
	const parts = 64
	var all sync.WaitGroup
	for p := range int64(parts) {
		all.Go(func() { work(int(p), n*p/parts, n*(p+1)/parts) })
	}
	all.Wait()
}

// uniform has rows of k entries in columns drawn evenly, without repetition.
func uniform(n int64, k int, seed uint64) *csr {
	m := &csr{n: n, pos: make([]uint32, n+1), crd: make([]uint32, n*int64(k)), vals: make([]float64, n*int64(k))}
	eachPart(n, func(part int, lo, hi int64) {
		rng := rand.New(rand.NewPCG(seed, uint64(part)))
		for i := lo; i < hi; i++ {
			row := m.crd[i*int64(k) : (i+1)*int64(k)]
			for distinct := false; !distinct; {
				for p := range row {
					row[p] = uint32(rng.Int64N(n))
				}
				slices.Sort(row)
				distinct = len(slices.Compact(slices.Clone(row))) == k
			}
			for p := range row {
				m.vals[i*int64(k)+int64(p)] = rng.Float64()
			}
			m.pos[i+1] = uint32((i + 1) * int64(k))
		}
	})
	return m
}

// banded has k entries around the diagonal in each row.
func banded(n int64, k int64) *csr {
	m := &csr{n: n, pos: make([]uint32, n+1), crd: make([]uint32, n*k), vals: make([]float64, n*k)}
	eachPart(n, func(part int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			first := min(max(i-k/2, 0), n-k)
			for p := range k {
				m.crd[i*k+p] = uint32(first + p)
				m.vals[i*k+p] = float64(p + 1)
			}
			m.pos[i+1] = uint32((i + 1) * k)
		}
	})
	return m
}

// rmat is an R-MAT graph (Chakrabarti, Zhan, Faloutsos: R-MAT, 2004) of 2^scale vertices and k
// edges for each, with a, b, c = 0.57, 0.19, 0.19; repeated edges are one.
func rmat(scale, k int, seed uint64) *csr {
	n := int64(1) << scale
	rows := make([][]uint32, n)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n * int64(k) {
		var i, j int64
		for range scale {
			r := rng.Float64()
			i, j = i<<1, j<<1
			switch {
			case r < 0.57:
			case r < 0.76:
				j++
			case r < 0.95:
				i++
			default:
				i++
				j++
			}
		}
		rows[i] = append(rows[i], uint32(j))
	}
	m := &csr{n: n, pos: make([]uint32, n+1)}
	for i, row := range rows {
		slices.Sort(row)
		m.crd = append(m.crd, slices.Compact(row)...)
		m.pos[i+1] = uint32(len(m.crd))
	}
	m.vals = make([]float64, len(m.crd))
	for p := range m.vals {
		m.vals[p] = rng.Float64()
	}
	return m
}

// generate writes all matrices, each as three files of plain numbers.
func generate(dir string, scale float64) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, x := range matrices {
		m := x.make(scale)
		base := filepath.Join(dir, x.name)
		if err := save(base+".pos", m.pos); err != nil {
			return err
		}
		if err := save(base+".crd", m.crd); err != nil {
			return err
		}
		if err := save(base+".vals", m.vals); err != nil {
			return err
		}
		fmt.Printf("%s: %d rows, %d entries\n", x.name, m.n, len(m.crd))
	}
	return nil
}

func save[T uint32 | float64](path string, s []T) error {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
	return os.WriteFile(path, bytes, 0o666)
}

func read[T uint32 | float64](path string) ([]T, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), len(bytes)/int(unsafe.Sizeof(*new(T)))), nil
}

func load(base string) (*csr, error) {
	m := &csr{}
	var err error
	if m.pos, err = read[uint32](base + ".pos"); err != nil {
		return nil, err
	}
	if m.crd, err = read[uint32](base + ".crd"); err != nil {
		return nil, err
	}
	m.vals, err = read[float64](base + ".vals")
	m.n = int64(len(m.pos)) - 1
	return m, err
}

// rotated is the matrix with its rows moved up by one, the first one to the end.
func (m *csr) rotated() *csr {
	first := m.pos[1]
	r := &csr{n: m.n, pos: make([]uint32, m.n+1)}
	for i := range m.n {
		r.pos[i] = m.pos[i+1] - first
	}
	r.pos[m.n] = m.pos[m.n]
	r.crd = slices.Concat(m.crd[first:], m.crd[:first])
	r.vals = slices.Concat(m.vals[first:], m.vals[:first])
	return r
}

// tensor is the matrix in a format, of f32 or f64.
func (m *csr) tensor(format tensor.Format, dt tensor.DType) (*tensor.Tensor, error) {
	values := tensor.ArrayOf(m.vals)
	if dt == tensor.Float32 {
		narrow := make([]float32, len(m.vals))
		for i, v := range m.vals {
			narrow[i] = float32(v)
		}
		values = tensor.ArrayOf(narrow)
	}
	crd := tensor.ArrayOf(m.crd)
	if format.IsDense() || format.Rank() != 2 {
		return nil, fmt.Errorf("no matrices in %s", format)
	}
	if format.String() == tensor.COO.String() {
		rows := make([]uint32, len(m.crd))
		for i := range m.n {
			for p := m.pos[i]; p < m.pos[i+1]; p++ {
				rows[p] = uint32(i)
			}
		}
		return tensor.New([]int64{m.n, m.n}, format, []tensor.Level{{Crd: tensor.ArrayOf(rows)}, {Crd: crd}}, values)
	}
	return tensor.New([]int64{m.n, m.n}, format, []tensor.Level{{}, {Pos: tensor.ArrayOf(m.pos), Crd: crd}}, values)
}
