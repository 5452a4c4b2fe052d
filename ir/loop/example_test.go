package loop_test

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

func ExampleBuilder() {
	b := loop.NewBuilder("scale")
	x := b.Buf("x", loop.F32, loop.ReadOnly)
	y := b.Buf("y", loop.F32, loop.ReadWrite)
	b.ForIndependent("i", b.Lo(), b.Hi(), func(i loop.Expr) {
		b.Store(y, i, b.Mul(loop.Float(loop.F32, 2), b.Load(x, i)))
	})
	fmt.Print(b.Func())
	// Output:
	// func scale(readonly x: []f32, y: []f32) chunk chunk, lo, hi {
	//   for independent i = lo to hi {
	//     y[i] = 2.0:f32 * x[i]
	//   }
	// }
}

func ExampleParseFunc() {
	_, err := loop.ParseFunc(`func f(y: []f32; n: i64) chunk c, lo, hi {
  y[n] = 2.0
}`)
	fmt.Println(err)
	// Output: 2:10: an element of y is of type f32, this expression of type f64
}

func ExampleFunc_Verify() {
	f, err := loop.ParseFunc("func f(y: []f64) chunk c, lo, hi { y[0] = exp_f64(1.0) }")
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Verify(nil))
	// Output: func f: calls exp_f64, which is not in the library (in: y[0] = exp_f64(1.0))
}
