package tensor

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// benchmarkEntries are the column indices of a square matrix with rows of uneven length.
func benchmarkEntries(n, perRow int) (columns [][]uint32, nnz int) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		row := make([]uint32, rng.IntN(2*perRow+1))
		for i := range row {
			row[i] = uint32(rng.IntN(n))
		}
		slices.Sort(row)
		row = slices.Compact(row)
		columns = append(columns, row)
		nnz += len(row)
	}
	return columns, nnz
}

// BenchmarkNew measures the checks of existing arrays. MB/s counts the bytes of the index
// arrays.
func BenchmarkNew(b *testing.B) {
	const n = 1 << 17
	columns, nnz := benchmarkEntries(n, 16)
	rows := make([]int64, 0, nnz)
	cols := make([]int64, 0, nnz)
	for i, row := range columns {
		for _, c := range row {
			rows, cols = append(rows, int64(i)), append(cols, int64(c))
		}
	}
	values := ArrayOf(make([]float64, nnz))
	for _, text := range []string{"CSR", "DCSR", "COO", "C-S(unsorted)", "COO(duplicates)", "C-DC(duplicates)"} {
		format, err := ParseFormat(text, 2)
		if err != nil {
			b.Fatal(err)
		}
		for _, index := range []DType{Uint32, Uint64} {
			t, err := FromCoords([]int64{n, n}, format, [][]int64{rows, cols}, values, WithIndexTypes(index, index))
			if err != nil {
				b.Fatal(err)
			}
			levels := t.Levels()
			b.Run(text+"/"+index.String(), func(b *testing.B) {
				b.SetBytes(t.Bytes() - t.values.Bytes())
				for b.Loop() {
					if _, err := New(t.shape, format, levels, values); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
