package interp_test

import (
	"fmt"
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
