package cpu_test

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

// longRow are loops over the entries of one row, inside a loop over rows. n is the number of
// entries; what is stored behind them says that the loop came to its end.
var longRow = map[string]string{
	"merge": `
    var p: i64 = 0
    var q: i64 = 0
    let m: i64 = n / 2
    while p < n & q < m {
      let a: i64 = x[p]
      let b: i64 = 2 * q
      out[at] = min(a, b)
      at = at + 1
      p = p + i64(a <= b)
      q = q + i64(b <= a)
    }
    out[at] = p - q`,
	"run": `
    var p: i64 = 0
    var more: bool = p < n
    while more {
      if x[p] <= 200000 {
        p = p + 1
        more = p < n
      } else {
        more = false
      }
    }
    out[n + p] = p
    at = p`,
	"run to the end": `
    var p: i64 = 0
    var more: bool = p < n
    while more {
      if x[p] >= 0 {
        p = p + 1
        more = p < n
      } else {
        more = false
      }
    }
    out[n + p] = p
    at = p`,
	"scatter": `
    for p = 0 to n {
      let slot: i64 = n - 1 - x[p]
      out[slot] = out[slot] + p
      at = at + 1
    }`,
}

// TestLongRows runs loops that go through a row in strips: they compute what they would
// as one, and do not come to its end when the stop word is set.
func TestLongRows(t *testing.T) {
	const n = 3<<16 + 7 // more than three strips
	for name, body := range longRow {
		f := parse(t, "func row(readonly x: []i64, out: []i64; n: i64) chunk c, lo, hi {\n  for i = lo to hi {\n    var at: i64 = out[n]"+body+
			"\n    out[2 * n] = at\n  }\n}")
		oracle, err := interp.Compile(f, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		fresh := func() [][]byte {
			x, out := make([]int64, n), make([]int64, 2*n+1)
			for i := range x {
				x[i] = int64(i)
			}
			return [][]byte{unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8*n), unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), 8*(2*n+1))}
		}
		want := fresh()
		oracle.Call([]interp.Memory{
			{Ptr: unsafe.Pointer(&want[0][0]), Len: n}, {Ptr: unsafe.Pointer(&want[1][0]), Len: 2*n + 1},
		}, []int64{n}, 0, 0, 1)
		text := emit(t, f)
		eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
			m, err := l.Compile(text, llvm.Options{Level: llvm.O3})
			if err != nil {
				t.Fatal(err)
			}
			fn, err := m.Func(f.Name)
			if err != nil {
				t.Fatal(err)
			}
			bufs := aligned(f, fresh())
			if status := llvm.NewArgBlock(pointers(bufs), []int64{n}).Call(fn, 0, 0, 1); status != 0 {
				t.Errorf("%s: status %d", name, status)
			}
			if err := looptest.SameMemory(f, [][]byte{bufs[0].bytes()[:8*n], bufs[1].bytes()[:8*(2*n+1)]}, want); err != nil {
				t.Errorf("%s: %v", name, err)
			}

			bufs = aligned(f, fresh())
			stop := int32(-1)
			slots := []uintptr{uintptr(bufs[0].pointer()), uintptr(bufs[1].pointer()), n, uintptr(unsafe.Pointer(&stop))}
			status := llvm.Call(fn, unsafe.Pointer(&slots[0]), 0, 0, 1)
			runtime.KeepAlive(bufs)
			runtime.KeepAlive(&stop)
			if done := bufs[1].get(2 * n).Bits; status != loop.StatusStopped || done != 0 {
				t.Errorf("%s with the stop word set: status %d after %d entries, want %d before the end of the row", name, status, done, loop.StatusStopped)
			}
		})
	}
}
