//go:build linux || darwin

package cpu_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
)

// placed puts the entries of rows where the counters of their columns say, row by row as a walk over a part of the entries does.
const placed = `func place(next: []u32, pos: []u32, crd: []u32, vals: []f64, rows: []u32, out: []f64; n: i64, shift: i64) chunk c, lo, hi {
  var i: i64 = 0
  var p: i64 = 0
  while p < n {
    let begin: i64 = p
    let end: i64 = %s
    for q = begin to end {
      let j: i64 = i64(crd[q])
      let slot: i64 = %s
      let at: i64 = i64(next[slot])
      next[slot] = u32(at + %s)
      rows[at] = u32(i)
      %s
    }
    p = end
    i = i + 1
  }
}`

// TestAsksToWrite says which loops ask for the places of later entries, and how far they look.
func TestAsksToWrite(t *testing.T) {
	const row, column = "min(i64(pos[i + 1]), n)", "j + shift"
	for _, test := range []struct {
		name, end, slot, step, body string
		asks                        int
		wholeRange                  bool
	}{
		{"rows of all entries", row, column, "1", "out[at] = vals[q]", 2, true},
		{"the bound first", "min(n, i64(pos[i + 1]))", column, "1", "out[at] = vals[q]", 2, true},
		{"each row by itself", "i64(pos[i + 1])", column, "1", "out[at] = vals[q]", 2, false},
		{"buckets of the part", row, "j + begin", "1", "out[at] = vals[q]", 2, false},
		{"one array", row, column, "1", "out[q] = vals[q]", 1, true},
		{"a place that is nobody's counter", row, column, "1", "out[at + 1] = vals[q]", 1, true},
		{"buckets in order", row, "q + shift", "1", "out[at] = vals[q]", 0, false},
		{"columns that are stored to", row, column, "1", "crd[q] = u32(1)", 0, false},
		{"counted by a variable", row, column, "i", "out[at] = vals[q]", 2, true},
		{"for some entries", row, column, "1", "if j == 1 {\n out[at] = vals[q]\n }", 0, false},
		{"a long way to a bucket", row, "j" + strings.Repeat(" + shift", 40), "1", "out[at] = vals[q]", 0, false},
		{"a failure", row, column, "1", `fail 0 "no"`, 0, false},
	} {
		text := emit(t, parse(t, fmt.Sprintf(placed, test.end, test.slot, test.step, test.body)))
		if n := strings.Count(text, "call void @llvm.prefetch"); n != test.asks {
			t.Errorf("%s: asks for %d places, want %d", test.name, n, test.asks)
		}
		if whole := strings.Contains(text, "sub i64 %n, 1"); whole != test.wholeRange {
			t.Errorf("%s: looks at the last entry of all: %t, want %t", test.name, whole, test.wholeRange)
		}
	}
}

// TestAsksToWriteInside runs such loops where memory ends behind the last entry: they look no further, and put each entry where it belongs.
func TestAsksToWriteInside(t *testing.T) {
	for _, end := range []string{"min(i64(pos[i + 1]), n)", "i64(pos[i + 1])"} {
		f := parse(t, fmt.Sprintf(placed, end, "j + shift", "1", "out[at] = vals[q]"))
		text := emit(t, f)
		const columns, entries = 7, 100
		pos, crd, vals := []uint32{0}, []uint32{}, []float64{}
		count := make([]uint32, columns+1)
		for i := 0; len(crd) < entries; i++ {
			for range min(i%5, entries-len(crd)) {
				j := uint32(len(crd) * 5 % columns)
				crd, vals = append(crd, j), append(vals, float64(len(crd)))
				count[j+1]++
			}
			pos = append(pos, uint32(len(crd)))
		}
		for j := range columns {
			count[j+1] += count[j]
		}
		wantRows, want := make([]uint32, entries), make([]float64, entries)
		at := slices.Clone(count)
		for i := range len(pos) - 1 {
			for p := pos[i]; p < pos[i+1]; p++ {
				to := at[crd[p]]
				at[crd[p]]++
				wantRows[to], want[to] = uint32(i), vals[p]
			}
		}
		pos, crd, vals = atEnd(t, pos), atEnd(t, crd), atEnd(t, vals)
		eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
			fn, err := compile(t, l, text, llvm.O3).Func(f.Name)
			if err != nil {
				t.Fatal(err)
			}
			next, rows, out := atEnd(t, count[:columns]), make([]uint32, entries), make([]float64, entries)
			args := llvm.NewArgBlock([]unsafe.Pointer{unsafe.Pointer(&next[0]), unsafe.Pointer(&pos[0]), unsafe.Pointer(&crd[0]), unsafe.Pointer(&vals[0]), unsafe.Pointer(&rows[0]), unsafe.Pointer(&out[0])},
				[]int64{entries, 0})
			if status := args.Call(fn, 0, 0, 1); status != 0 {
				t.Fatal("status", status)
			}
			if !slices.Equal(rows, wantRows) || !slices.Equal(out, want) {
				t.Errorf("%s: rows %v, values %v; want %v, %v", end, rows, out, wantRows, want)
			}
		})
	}
}
