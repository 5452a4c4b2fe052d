package lang_test

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func ExampleParse() {
	file, err := lang.Parse("y(i)=A(i,j)*x( j )+b(i)  # a residual")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(file)

	_, err = lang.Parse("y(i) = 2x(i)")
	fmt.Println(err)
	// Output:
	// y(i) = A(i,j)*x(j) + b(i)
	// 1:8: malformed number: 2 is followed by 'x' [E102]
	//     y(i) = 2x(i)
	//            ^~
	// hint: write a product with *: 2*…; numbers look like 12, 1.5, 1e-3, 2i
}

func ExampleCheck() {
	file, err := lang.Parse("y(i) = A(i,j)*x(j) + 1")
	if err != nil {
		fmt.Println(err)
		return
	}
	program, err := lang.Check(file, map[string]lang.Decl{
		"A": {Rank: 2, DType: tensor.Float32, HasDType: true, Format: tensor.CSR, HasFormat: true},
		"x": {Rank: 1, DType: tensor.Float64, HasDType: true},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(program)
	// Output: y(i) = sum_j (f64(A(i,j))*x(j)) + 1.0
}

func ExampleBind() {
	file, err := lang.Parse("y(i) = x(i+k)*w(k)")
	if err != nil {
		fmt.Println(err)
		return
	}
	program, err := lang.Check(file, map[string]lang.Decl{"x": {Rank: 1}, "w": {Rank: 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	extents, err := lang.Bind(program, map[string][]int64{"x": {9}, "w": {3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(extents.Shapes["y"])
	// Output: [7]
}
