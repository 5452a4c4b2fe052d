package llvm

import (
	"fmt"
	"testing"
)

func benchEachLLVM(b *testing.B, bench func(*testing.B, *LLVM)) {
	for _, major := range []string{"14", "15", "19", "22"} {
		if l, err := Load(major); err == nil {
			b.Run(fmt.Sprint("llvm", major), func(b *testing.B) { bench(b, l) })
		}
	}
}

// BenchmarkCompile is the time from IR text to a callable function.
func BenchmarkCompile(b *testing.B) {
	benchEachLLVM(b, func(b *testing.B, l *LLVM) {
		for b.Loop() {
			m, err := l.Compile(spmv, Options{})
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
	})
}

// BenchmarkEmitObject is the compiler's part of BenchmarkCompile.
func BenchmarkEmitObject(b *testing.B) {
	benchEachLLVM(b, func(b *testing.B, l *LLVM) {
		for b.Loop() {
			if _, err := l.EmitObject(spmv, Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCall is the cost of a call of an empty kernel.
func BenchmarkCall(b *testing.B) {
	benchEachLLVM(b, func(b *testing.B, l *LLVM) {
		m, err := l.Compile("define i64 @f(i64* %args, i64 %chunk, i64 %lo, i64 %hi) {\n  ret i64 %hi\n}", Options{})
		if err != nil {
			b.Fatal(err)
		}
		fn, err := m.Func("f")
		if err != nil {
			b.Fatal(err)
		}
		block := NewArgBlock(nil, []int64{1, 2})
		for b.Loop() {
			if block.Call(fn, 0, 1, 2) != 2 {
				b.Fatal("wrong result")
			}
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	})
}
