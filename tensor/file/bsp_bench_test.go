package file

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// BenchmarkBinsparse measures a CSR matrix of ten million entries, 120 MB, from a tensor to
// a file on disk and back: read into memory, and opened in place, which leaves the checks.
func BenchmarkBinsparse(b *testing.B) {
	const rows, perRow = 1_000_000, 10
	rng := rand.New(rand.NewPCG(1, 2))
	pos, crd, values := make([]uint32, rows+1), make([]uint32, 0, rows*perRow), make([]float64, rows*perRow)
	for i := range rows {
		begin := len(crd)
		for range perRow {
			crd = append(crd, uint32(len(crd)-begin)*(rows/perRow)+rng.Uint32N(rows/perRow))
		}
		pos[i+1] = uint32(len(crd))
	}
	for i := range values {
		values[i] = rng.Float64()
	}
	levels := []tensor.Level{{}, {Pos: tensor.ArrayOf(pos), Crd: tensor.ArrayOf(crd)}}
	m, err := tensor.New([]int64{rows, rows}, tensor.CSR, levels, tensor.ArrayOf(values))
	if err != nil {
		b.Fatal(err)
	}
	for _, ext := range binsparseExtensions {
		path := filepath.Join(b.TempDir(), "a"+ext)
		measure := func(name string, f func() error) {
			b.Run(name+ext, func(b *testing.B) {
				b.SetBytes(m.Bytes())
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		if err := Write(path, m); err != nil {
			b.Fatal(err)
		}
		measure("write", func() error { return Write(path, m) })
		measure("read", func() error {
			_, err := Read(path)
			return err
		})
		if ext != ".bspnpy" { // directories are read
			measure("open", func() error {
				f, err := Open(path)
				if err == nil {
					err = f.Close()
				}
				return err
			})
		}
	}
}
