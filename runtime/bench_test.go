package runtime

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/admission"
)

// BenchmarkCall is the cost of a run that does next to nothing: what calling
// a compiled kernel on small tensors costs.
func BenchmarkCall(b *testing.B) {
	for _, name := range []string{InterpName, CPUName} {
		b.Run(name, func(b *testing.B) {
			e, err := EngineByName(name, nil)
			if err != nil {
				b.Skip(err)
			}
			x := mustCompile(b, e, scaleProgram(b))
			bind := x.NewBindings()
			bind.Buffers[0], bind.Buffers[1] = MemoryOf(make([]float64, 8)), MemoryOf(make([]float64, 8))
			bind.Scalars[0] = 8
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			b.Run("RunInto", func(b *testing.B) {
				b.ReportAllocs()
				var r Results
				for b.Loop() {
					if err := x.RunInto(ctx, bind, Options{}, &r); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("Run", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					mustRun(b, x, bind, Options{})
				}
			})
		})
	}
}

// BenchmarkStages is the cost of a small program of three stages, one with a
// temporary, whose result is allocated, on one thread and on two.
func BenchmarkStages(b *testing.B) {
	for _, name := range []string{InterpName, CPUName} {
		e, err := EngineByName(name, nil)
		if err != nil {
			continue
		}
		x := mustCompile(b, e, filterProgram(b))
		bind := x.NewBindings()
		bind.Buffers[0], bind.Scalars[0] = MemoryOf(make([]float64, 100)), 100
		for _, threads := range []int{1, 2} {
			b.Run(name+map[int]string{1: "/serial", 2: "/parallel"}[threads], func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					mustRun(b, x, bind, Options{Threads: threads})
				}
			})
		}
	}
}

// BenchmarkCompile is the cost of compiling a program of three stages, and of
// finding it in a cache.
func BenchmarkCompile(b *testing.B) {
	for _, name := range []string{InterpName, CPUName} {
		e, err := EngineByName(name, nil)
		if err != nil {
			continue
		}
		p := filterProgram(b)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				mustCompile(b, e, p)
			}
		})
		b.Run(name+"/cached", func(b *testing.B) {
			c := NewCache(1)
			for b.Loop() {
				if _, err := c.Compile(context.Background(), e, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDefaultLimit is the cost of looking at the machine's memory.
func BenchmarkDefaultLimit(b *testing.B) {
	for b.Loop() {
		admission.Read()
	}
}
