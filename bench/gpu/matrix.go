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

// csr is a matrix in compressed rows.
type csr struct {
	rows int64
	cols int64
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
func uniform(rows, cols int64, k int, seed uint64) *csr {
	m := &csr{rows: rows, cols: cols, pos: make([]uint32, rows+1), crd: make([]uint32, rows*int64(k)), vals: make([]float64, rows*int64(k))}
	eachPart(rows, func(part int, lo, hi int64) {
		rng := rand.New(rand.NewPCG(seed, uint64(part)))
		for i := lo; i < hi; i++ {
			row := m.crd[i*int64(k) : i*int64(k)]
			for len(row) < k {
				for len(row) < k {
					row = append(row, uint32(rng.Int64N(cols)))
				}
				slices.Sort(row)
				row = slices.Compact(row)
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
	m := &csr{rows: n, cols: n, pos: make([]uint32, n+1), crd: make([]uint32, n*k), vals: make([]float64, n*k)}
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
	m := &csr{rows: n, cols: n, pos: make([]uint32, n+1)}
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

// generate writes all matrices, each as four files of plain numbers: the number of columns, and
// the arrays.
func generate(dir string, scale float64) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, x := range matrices {
		m := x.make(scale)
		base := filepath.Join(dir, x.name)
		if err := save(base+".cols", []uint32{uint32(m.cols)}); err != nil {
			return err
		}
		if err := save(base+".pos", m.pos); err != nil {
			return err
		}
		if err := save(base+".crd", m.crd); err != nil {
			return err
		}
		if err := save(base+".vals", m.vals); err != nil {
			return err
		}
		fmt.Printf("%s: %d rows, %d columns, %d entries\n", x.name, m.rows, m.cols, len(m.crd))
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
	if m.vals, err = read[float64](base + ".vals"); err != nil {
		return nil, err
	}
	cols, err := read[uint32](base + ".cols")
	if err != nil {
		return nil, err
	}
	m.rows, m.cols = int64(len(m.pos))-1, int64(cols[0])
	return m, nil
}

// rotated is the matrix with its rows moved up by one, the first one to the end.
func (m *csr) rotated() *csr {
	first := m.pos[1]
	r := &csr{rows: m.rows, cols: m.cols, pos: make([]uint32, m.rows+1)}
	for i := range m.rows {
		r.pos[i] = m.pos[i+1] - first
	}
	r.pos[m.rows] = m.pos[m.rows]
	r.crd = slices.Concat(m.crd[first:], m.crd[:first])
	r.vals = slices.Concat(m.vals[first:], m.vals[:first])
	return r
}

// tensor is the matrix in a format, of f32 or f64. Where the format allows any order, the
// entries are shuffled.
func (m *csr) tensor(format tensor.Format, dt tensor.DType) (*tensor.Tensor, error) {
	crd, vals := m.crd, m.vals
	shape := []int64{m.rows, m.cols}
	if format.IsDense() || format.Rank() != 2 {
		return nil, fmt.Errorf("no matrices in %s", format)
	}
	var rows []uint32
	if format.String() == tensor.CSR.String() {
		return tensor.New(shape, format, []tensor.Level{{}, {Pos: tensor.ArrayOf(m.pos), Crd: tensor.ArrayOf(crd)}}, numbers(vals, dt))
	}
	for i := range m.rows {
		for range m.pos[i+1] - m.pos[i] {
			rows = append(rows, uint32(i))
		}
	}
	if format.Relaxed() {
		crd, vals = slices.Clone(crd), slices.Clone(vals)
		rand.New(rand.NewPCG(4, 4)).Shuffle(len(rows), func(i, j int) {
			rows[i], rows[j] = rows[j], rows[i]
			crd[i], crd[j] = crd[j], crd[i]
			vals[i], vals[j] = vals[j], vals[i]
		})
	}
	return tensor.New(shape, format, []tensor.Level{{Crd: tensor.ArrayOf(rows)}, {Crd: tensor.ArrayOf(crd)}}, numbers(vals, dt))
}

// numbers are values of f32 or f64.
func numbers(vals []float64, dt tensor.DType) tensor.Array {
	if dt == tensor.Float64 {
		return tensor.ArrayOf(vals)
	}
	narrow := make([]float32, len(vals))
	for i, v := range vals {
		narrow[i] = float32(v)
	}
	return tensor.ArrayOf(narrow)
}
