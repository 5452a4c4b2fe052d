package declare

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Keys of different declarations differ, and those of one in another order do not.
func TestKeys(t *testing.T) {
	x, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	sp, err := x.Convert(tensor.CSF(1))
	if err != nil {
		t.Fatal(err)
	}
	lists := [][]Option{
		nil,
		{StrictIEEE()},
		{Operand("x", x)},
		{Operand("x", sp)},
		{Operand("y", sp)},
		{Operand("x", sp), Operand("y", x)},
		{Format("x", tensor.CSF(1), tensor.Float64)},
		{Format("x", tensor.CSF(1), tensor.Float32)},
		{Result("x", tensor.CSF(1))},
		{ResultType("x", tensor.Float64)},
		{Shape("x", 1, 2)},
		{Shape("x", 12)},
		{Shape("x", -1)},
		{Fill("x", tensor.Float(tensor.Float64, 1))},
		{Fill("x", tensor.Float(tensor.Float32, 1))},
		{Fill("x", tensor.Float(tensor.Float64, 2))},
	}
	key := func(opts []Option) string {
		d := New()
		if err := d.Apply(opts); err != nil {
			t.Fatal(err)
		}
		return string(d.AppendKey(nil, "text"))
	}
	seen := map[string]int{}
	for i, opts := range lists {
		k := key(opts)
		if j, ok := seen[k]; ok {
			t.Errorf("options %d and %d have one key", i, j)
		}
		seen[k] = i
	}
	if key([]Option{Operand("y", x), Operand("x", sp)}) != key([]Option{Operand("x", sp), Operand("y", x)}) {
		t.Error("the order of operands matters")
	}
}
