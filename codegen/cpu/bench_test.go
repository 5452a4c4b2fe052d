package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

func spmv(b *testing.B) *loop.Func {
	b.Helper()
	src, err := os.ReadFile("testdata/spmv.loop")
	if err != nil {
		b.Fatal(err)
	}
	return parse(b, string(src))
}

func newest(b *testing.B) *llvm.LLVM {
	b.Helper()
	l, err := llvm.Load("")
	if err != nil {
		b.Skip(err)
	}
	return l
}

// BenchmarkEmit is the time from loops to LLVM text.
func BenchmarkEmit(b *testing.B) {
	f := spmv(b)
	for b.Loop() {
		emit(b, f)
	}
}

// BenchmarkCompile is the time from loops to a callable function.
func BenchmarkCompile(b *testing.B) {
	f, l := spmv(b), newest(b)
	for b.Loop() {
		m, err := l.Compile(emit(b, f), llvm.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Func("spmv"); err != nil {
			b.Fatal(err)
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSpMV is the time of one product with a CSR matrix of about a million
// entries, by the mean length of its rows.
func BenchmarkSpMV(b *testing.B) {
	l := newest(b)
	m, err := l.Compile(emit(b, spmv(b)), llvm.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := m.Close(); err != nil {
			b.Error(err)
		}
	})
	fn, err := m.Func("spmv")
	if err != nil {
		b.Fatal(err)
	}
	const entries, columns = 1 << 20, 1 << 15
	rng := rand.New(rand.NewPCG(1, 2))
	for _, length := range []int{4, 32, 512} {
		rows := entries / length
		pos, crd := make([]uint32, rows+1), make([]uint32, entries)
		for i := range pos {
			pos[i] = uint32(i * length)
		}
		for p := range crd {
			crd[p] = uint32(rng.IntN(columns))
		}
		vals, x, y := make([]float64, entries), make([]float64, columns), make([]float64, rows)
		args := llvm.NewArgBlock([]unsafe.Pointer{
			unsafe.Pointer(&pos[0]), unsafe.Pointer(&crd[0]), unsafe.Pointer(&vals[0]),
			unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]),
		}, []int64{int64(rows)})
		b.Run(fmt.Sprint("row", length), func(b *testing.B) {
			for b.Loop() {
				args.Call(fn, 0, 0, int64(rows))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/entries, "ns/entry")
		})
	}
}
