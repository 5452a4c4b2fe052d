package lacuna

import (
	"context"
	"testing"
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/runtime"
)

func TestFirst(t *testing.T) {
	A, err := tensor.FromCoords([]int64{3, 4}, tensor.CSR, [][]int64{{0, 0, 2}, {1, 3, 0}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil { t.Fatal(err) }
	x, err := tensor.FromDense([]int64{4}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3, 4}))
	if err != nil { t.Fatal(err) }
	for _, src := range []string{
		"y(i) = sum_j A(i,j) * x(j)", "s = A(i,j)", "y(i) = max_j A(i,j)", "y(j) = sum_i A(i,j)", "B(j,i)=A(i,j)", "C(i,j) = A(i,j)+A(i,j)*2",
		"C(i,j) = A(i,j)*A(i,j)", "C(i,j)=exp(A(i,j))", "m = argmax_{i,j} A(i,j)", "l(i)=logsumexp_j A(i,j)", "D(i,k)=sum_j A(i,j)*A(k,j)", "y(i)=mean_j A(i,j)", "y(i)=var_j A(i,j)", "y(i) = x(i+1)-x(i)", "y(i)=max_{j in A} A(i,j)",
		"p = prod_{i,j} (A(i,j)+1)", "c = count_{i,j} A(i,j)", "y(i) = any_j A(i,j)",
	} {
		s := NewSession(WithEngine(runtime.Interp()))
		args := Args{"A": A, "x": x}
		if _, err := s.kernelFor(src, args, nil); err != nil { 
			delete(args, "x")
		}
		k, err := s.kernelFor(src, args, nil)
		if err != nil { t.Error(src, err); continue }
		for a := range args { ok := false; for _, o := range k.operands { if o.Name == a { ok = true } }; if !ok { delete(args, a) } }
		y, err := k.Run(context.Background(), args)
		if err != nil { t.Error(src, err); fmt.Println(k.plan); continue }
		d, _ := y.ToDense()
		fmt.Println(src, "->", y.Format(), y.Fill(), tensorString(d))
	}
}
func tensorString(a tensor.Array) string { s := ""; for i := 0; i < a.Len(); i++ { s += a.Scalar(i).String() + " " }; return s }
