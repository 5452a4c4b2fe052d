package interp_test

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

func Example() {
	f, err := loop.ParseFunc(`func scale(readonly x: []f64, y: []f64; n: i64) chunk c, lo, hi {
  for independent i = lo to hi {
    y[i] = x[i] * f64(n)
  }
}
`)
	if err != nil {
		panic(err)
	}
	k, err := interp.Compile(f, nil)
	if err != nil {
		panic(err)
	}
	x, y := []float64{1, 2, 3}, make([]float64, 3)
	bufs := []interp.Memory{
		{Ptr: unsafe.Pointer(&x[0]), Len: 3},
		{Ptr: unsafe.Pointer(&y[0]), Len: 3},
	}
	status := k.Call(bufs, []int64{10}, 0, 0, 3)
	fmt.Println(status, y)

	_, err = k.Run(bufs, []int64{10}, 0, 0, 4)
	fmt.Println(err)
	// Output:
	// 0 [10 20 30]
	// interp: func scale: index 3 of buffer x is out of range: it has 3 elements
}

// Each block of 64 threads turns its part of y around. Without the barrier it is a
// race.
func ExampleGridKernel() {
	const reverse = `func reverse(y: []i64) grid threads 64 {
  let i: i64 = block() * 64
  let v: i64 = y[i + 63 - thread()]
  barrier
  y[i + thread()] = v
}
`
	for _, text := range []string{reverse, strings.Replace(reverse, "barrier", "", 1)} {
		f, err := loop.ParseFunc(text)
		if err != nil {
			panic(err)
		}
		k, err := interp.CompileGrid(f, nil)
		if err != nil {
			panic(err)
		}
		y := make([]int64, 128)
		for i := range y {
			y[i] = int64(i)
		}
		bufs := []interp.Memory{{Ptr: unsafe.Pointer(&y[0]), Len: 128}}
		status, err := k.Run(bufs, nil, interp.Launch{Blocks: 2})
		fmt.Println(status, y[:3], y[126:], err)
	}
	// Output:
	// 0 [63 62 61] [65 64] <nil>
	// -4 [63 62 61] [126 127] interp: func reverse: race on y[31]: store by thread 31 of block 0 and load by thread 32 of block 0, with nothing between them that orders them
}
