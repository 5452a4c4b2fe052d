package runtime_test

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// A program that allocates its result, run on whatever engine there is.
func ExampleExecutable_Run() {
	program, err := loop.ParseProgram(`
program squares {
  scalar n bound
  scalar chunks
  buffer x: []f64 input
  buffer y: []f64 output
  partition elements of n grain 1000 chunks chunks
  stage square over elements {
    alloc y[n]
    run(x, y)
    func square(readonly x: []f64, y: []f64) chunk c, lo, hi {
      for i = lo to hi {
        y[i] = x[i] * x[i]
      }
    }
  }
}`)
	if err != nil {
		panic(err)
	}
	const n, x, y = 0, 0, 1 // ids, in the order of the text

	ctx := context.Background()
	engine := runtime.Auto(nil)
	exe, err := engine.Compile(ctx, program)
	if err != nil {
		panic(err)
	}
	b := exe.NewBindings()
	b.Scalars[n] = 3
	b.Buffers[x] = runtime.MemoryOf([]float64{1, 2, 3})
	results, err := exe.Run(ctx, b, runtime.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(runtime.SliceOf[float64](results.Buffers[y]))
	// Output: [1 4 9]
}
