package aot_test

import (
	"fmt"
	"io"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file is part of the test, and of the program that the test builds: both make the
// same operands, and print results in the same way.

// goInput makes an operand: about one element in three, of small values of both signs.
func goInput(format, dtype, fill string, shape ...int64) *tensor.Tensor {
	f, err := tensor.ParseFormat(format, len(shape))
	goCheck(err)
	dt, err := tensor.ParseDType(dtype)
	goCheck(err)
	coords := make([][]int64, len(shape))
	var values []float64
	at := make([]int64, len(shape))
	n := len(format)
	var visit func(axis int)
	visit = func(axis int) {
		if axis < len(shape) {
			for at[axis] = 0; at[axis] < shape[axis]; at[axis]++ {
				visit(axis + 1)
			}
			return
		}
		if n++; n*7%3 == 0 || n%11 == 0 {
			for k, x := range at {
				coords[k] = append(coords[k], x)
			}
			values = append(values, float64(n*5%9-4))
		}
	}
	visit(0)
	array, err := tensor.ArrayOf(values).Convert(dt)
	goCheck(err)
	x, err := tensor.ParseScalar(fill, dt)
	goCheck(err)
	t, err := tensor.FromCoords(shape, f, coords, array, tensor.WithFill(x))
	goCheck(err)
	return t
}

func goCheck(err error) {
	if err != nil {
		panic(err)
	}
}

// goShow prints all of a result, to the bit.
func goShow(w io.Writer, name string, t *tensor.Tensor, err error) {
	if err != nil {
		fmt.Fprintln(w, name, "error:", err)
		return
	}
	_, err = tensor.New(t.Shape(), t.Format(), t.Levels(), t.Values(), tensor.WithFill(t.Fill()))
	goCheck(err)
	coords, values, err := t.ToCoords()
	goCheck(err)
	fmt.Fprintf(w, "%s %s %s %v %s %v %x\n", name, t.Format(), t.DType(), t.Shape(), t.Fill(), coords, values.Raw())
}
