package tensor

import (
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkValidate measures the checks of New, in bytes of index arrays (of values
// for bools).
func BenchmarkValidate(b *testing.B) {
	const rows, per = 1 << 20, 16
	pos, row, col := make([]uint32, rows+1), make([]uint32, rows*per), make([]uint32, rows*per)
	for i := range row {
		row[i], col[i] = uint32(i/per), uint32(i%per*(rows/per)+i%1000)
	}
	for r := range rows {
		pos[r+1] = uint32((r + 1) * per)
	}
	shape := []int64{rows, rows}
	bools := ArrayAt(Bool, ArrayOf(make([]uint8, rows*per)).Pointer(), rows*per)
	for _, side := range []struct {
		name   string
		shape  []int64
		format Format
		levels []Level
		values Array
		bytes  int64
	}{
		{"CSR", shape, CSR, []Level{{}, {Pos: ArrayOf(pos), Crd: ArrayOf(col)}}, ArrayOf(make([]int8, rows*per)), 4*rows + 4*rows*per},
		{"COO", shape, COO, []Level{{Crd: ArrayOf(row)}, {Crd: ArrayOf(col)}}, ArrayOf(make([]int8, rows*per)), 8 * rows * per},
		{"bool", []int64{rows * per}, Dense(1), []Level{{}}, bools, rows * per},
	} {
		for _, threads := range []int{1, runtime.NumCPU()} {
			b.Run(fmt.Sprintf("%s/threads=%d", side.name, threads), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				b.SetBytes(side.bytes)
				for b.Loop() {
					if _, err := New(side.shape, side.format, side.levels, side.values); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
