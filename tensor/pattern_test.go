package tensor

import "testing"

func TestPattern(t *testing.T) {
	a, err := FromCoords([]int64{2, 3}, CSR, [][]int64{{0, 1}, {2, 0}}, ArrayOf([]float32{0, 5}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Pattern(a)
	if err != nil {
		t.Fatal(err)
	}
	if p.Format() != CSR || p.DType() != Bool || p.Fill().Bool() || p.NNZ() != 2 {
		t.Fatalf("got %v", p)
	}
	for i := range int64(2) {
		for j := range int64(3) {
			want := i == 0 && j == 2 || i == 1 && j == 0 // an explicit zero is stored
			if p.At(i, j).Bool() != want {
				t.Errorf("at %d,%d: %v", i, j, p.At(i, j))
			}
		}
	}
	empty, err := FromCoords([]int64{0, 3}, COO, [][]int64{nil, nil}, ArrayOf([]float64{}))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Pattern(empty); err != nil || p.NNZ() != 0 {
		t.Errorf("an empty tensor gives %v, %v", p, err)
	}
	if p, err := Pattern(ScalarTensor(Float(Float64, 2))); err != nil || !p.At().Bool() {
		t.Errorf("a scalar gives %v, %v", p, err)
	}
}
