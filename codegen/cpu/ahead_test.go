//go:build linux || darwin

package cpu_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
)

// selectedRows sums rows of y that entries name, in loops of different kinds.
const selectedRows = `func rows(readonly pos: []u32, readonly crd: []u32, readonly y: []f64, out: []f64; n: i64, stride: i64) chunk c, lo, hi {
  for i = lo to hi {
    let begin: i64 = i64(pos[i])
    let end: i64 = i64(pos[i + 1])
    for p = %s to %s {
      let j: i64 = i64(crd[p])
      var sum: f64 = 0.0
      for%s k = 0 to n {
        let steps: i64 = k%s
        let column: i64 = steps + 1
        let at: i64 = j * stride + column
        %s
      }
      out[p] = sum
    }
  }
}`

const (
	twoTerms = "sum = sum + y[at]\n        sum = sum + y[at + 1]"
	put      = "out[at] = y[at]"
)

// TestAsksAhead says which loops ask for rows ahead: those whose iterations take about a line of memory, of rows that the entry of a row of positions
// names, whatever bounds the loop over entries has.
func TestAsksAhead(t *testing.T) {
	for _, test := range []struct {
		name, begin, end, kind, step, body string
		asks                               int
	}{
		{"a line", "begin", "end", "", " * 8", twoTerms, 1},
		{"half a line", "begin", "end", "", " * 4", twoTerms, 1},
		{"an element", "begin", "end", "", "", twoTerms, 0},
		{"a column", "begin", "end", "", " * stride", twoTerms, 0},
		{"several lines", "begin", "end", "", " * 16", twoTerms, 0},
		{"vectors", "begin", "end", " independent", " * 8", put, 0},
		{"from the second entry on", "begin + 1", "end", "", " * 8", twoTerms, 1},
		{"an end that is none of positions", "begin", "end - 1", "", " * 8", twoTerms, 0},
	} {
		text := emit(t, parse(t, fmt.Sprintf(selectedRows, test.begin, test.end, test.kind, test.step, test.body)))
		if n := strings.Count(text, "call void @llvm.prefetch"); n != test.asks {
			t.Errorf("%s: asks for %d elements ahead, want %d", test.name, n, test.asks)
		}
	}
}

// atEnd is memory behind which nothing may be read.
func atEnd[T any](t *testing.T, list []T) []T {
	t.Helper()
	page := syscall.Getpagesize()
	pages, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(pages); err != nil {
			t.Error(err)
		}
	})
	if err := syscall.Mprotect(pages[page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	size := len(list) * int(unsafe.Sizeof(list[0]))
	out := unsafe.Slice((*T)(unsafe.Pointer(&pages[page-size])), len(list))
	copy(out, list)
	return out
}

// TestAsksInside runs such a loop where memory ends behind the last entry, and behind the last position: it looks no further.
func TestAsksInside(t *testing.T) {
	f := parse(t, fmt.Sprintf(selectedRows, "begin", "end", "", " * 8", twoTerms))
	text := emit(t, f)
	pos := atEnd(t, []uint32{0, 1, 1, 4, 6, 6})
	crd := atEnd(t, []uint32{3, 0, 1, 2, 3, 3})
	y := make([]float64, 4*16)
	for i := range y {
		y[i] = float64(i)
	}
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
		fn, err := compile(t, l, text, llvm.O3).Func(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]float64, len(crd))
		args := llvm.NewArgBlock([]unsafe.Pointer{unsafe.Pointer(&pos[0]), unsafe.Pointer(&crd[0]), unsafe.Pointer(&y[0]), unsafe.Pointer(&out[0])}, []int64{2, 16})
		if status := args.Call(fn, 0, 0, 5); status != 0 {
			t.Fatal("status", status)
		}
		for p, j := range crd {
			if want := float64(4*16*j + 22); out[p] != want {
				t.Errorf("entry %d: %v, want %v", p, out[p], want)
			}
		}
	})
}
