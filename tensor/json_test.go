package tensor_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

func TestJSONThereAndBack(t *testing.T) {
	for _, spelling := range []string{"CSR", "CSC", "COO", "D", "D-D[1,0]", "S-D", "DCSR", "COO(unsorted,duplicates)"} {
		f, err := tensor.ParseFormat(spelling, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, values := range []tensor.Array{
			tensor.ArrayOf([]float64{math.Inf(-1), 0.1, math.Copysign(0, -1)}), tensor.ArrayOf([]complex64{1i, 2, 3 - 2i}), tensor.ArrayOf([]bool{true, false, true}),
			tensor.ArrayOf([]uint64{math.MaxUint64, 0, 7}), tensor.ArrayOf([]tensor.F16{0x3c00, 0, 0x7c00}),
		} {
			m, err := tensor.FromCoords([]int64{3, 2}, f, [][]int{{0, 2, 1}, {1, 0, 1}}, values, tensor.WithName("m"), tensor.WithFill(tensor.One(values.DType())))
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(m)
			if err != nil {
				t.Fatal(spelling, err)
			}
			var back tensor.Tensor
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if d := tensor.Diff(m, &back); d != "" || back.Format() != m.Format() || back.Name() != "m" {
				t.Errorf("%s: %s", text, d)
			}
			if err := json.Unmarshal(text, &back); err == nil {
				t.Error("a tensor was changed")
			}
		}
	}
	lower, err := tensor.FromCoords([]int64{2, 2}, tensor.CSR, [][]int{{1}, {0}}, tensor.ArrayOf([]float64{3}))
	if err != nil {
		t.Fatal(err)
	}
	if lower, err = lower.WithStructure(tensor.SymmetricLower); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]*tensor.Tensor{"A": lower, "s": tensor.Number(2.5)})
	if err != nil {
		t.Fatal(err)
	}
	var both map[string]*tensor.Tensor
	if err := json.Unmarshal(text, &both); err != nil || both["A"].At(0, 1).Float64() != 3 || both["s"].At().Float64() != 2.5 {
		t.Error(string(text), both, err)
	}
}

func TestJSONRefuses(t *testing.T) {
	if _, err := json.Marshal(tensor.Vector(make([]float32, tensor.MaxJSON+1))); err == nil || !strings.Contains(err.Error(), "100001 values") {
		t.Error(err)
	}
	for text, want := range map[string]string{
		`{"shape":[2],"type":"f64","format":"D","fill":0,"values":[1]}`:                                     "1 values",
		`{"shape":[1000000000,1000000],"type":"f64","format":"D","fill":0,"values":[]}`:                     "0 values",
		`{"shape":[1000000000,1000000],"type":"f64","format":"D","fill":0,"coords":[[0],[0]],"values":[1]}`: "memory",
		`{"shape":[1000000000000,2],"type":"f64","format":"CSR","fill":0,"coords":[[0],[0]],"values":[1]}`:  "limit",
		`{"shape":[2,2],"type":"f64","format":"CSR","fill":0,"coords":[[0],[2]],"values":[1]}`:              "out of range",
		`{"shape":[2,2],"type":"f64","format":"CSR","fill":0,"coords":[[0]],"values":[1]}`:                  "coordinates for 1 axes",
		`{"shape":[2,2],"type":"f64","format":"CSR","fill":0,"coords":[[0],[1]],"values":[{}]}`:             "value 0",
		`{"shape":[2],"type":"f65","format":"D","fill":0,"values":[1,2]}`:                                   "f65",
		`{"shape":[2],"type":"f64","format":"DX","fill":0,"values":[1,2]}`:                                  "DX",
		`{"shape":[-1],"type":"f64","format":"D","fill":0,"values":[]}`:                                     "-1",
		`{"shape":[2],"type":"f64","format":"D","fill":"x","values":[1,2]}`:                                 "x",
		`{"shape":[1,2],"type":"f64","format":"D","fill":0,"values":[1,2],"structure":"symmetric lower"}`:   "square",
		`{"shape":[1,2],"type":"f64","format":"D","fill":0,"values":[1,2],"structure":"lopsided"}`:          "lopsided",
		`{"shape":3}`: "shape",
		`{}`:          "type",
	} {
		var m tensor.Tensor
		if err := json.Unmarshal([]byte(text), &m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", text, err, want)
		} else if !strings.HasPrefix(err.Error(), "a tensor as JSON: ") {
			t.Errorf("%v does not say what was read", err)
		}
	}
	var none tensor.Tensor
	if err := json.Unmarshal([]byte("null"), &none); err != nil || none.DType().Valid() {
		t.Error("null is a tensor:", err)
	}
	var in struct{ A, B *tensor.Tensor }
	if err := json.Unmarshal([]byte(`{"A":null,"B":{"shape":[1],"type":"f64","format":"D","fill":0,"values":[1]}}`), &in); err != nil || in.A != nil || in.B.NNZ() != 1 {
		t.Error(in, err)
	}
	set := tensor.Vector([]float64{1})
	if err := set.UnmarshalJSON([]byte("null")); err != nil || set.NNZ() != 1 {
		t.Error("null changed a tensor:", err)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"shape":[2,2],"type":"f64","format":"CSR","fill":0,"coords":[[0],[1]],"values":["nan"]}`,
		`{"shape":[2],"type":"bool","format":"D","fill":false,"values":[true,false]}`,
		`{"name":"A","shape":[2,2],"type":"c64","format":"COO","fill":0,"structure":"symmetric lower","coords":[[1],[0]],"values":["1+2i"]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var m tensor.Tensor
		if json.Unmarshal(text, &m) != nil || m.NNZ() > tensor.MaxJSON || !m.DType().Valid() {
			return
		}
		again, err := json.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		var back tensor.Tensor
		if err := json.Unmarshal(again, &back); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if d := tensor.Diff(&m, &back); d != "" {
			t.Fatalf("%s: %s", again, d)
		}
	})
}

func ExampleTensor_MarshalJSON() {
	A, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 1, 3}, []int{2, 0, 1}, []float64{0.5, 1, 2})
	text, err := json.Marshal(A)
	fmt.Println(string(text), err)
	var B tensor.Tensor
	err = json.Unmarshal(text, &B)
	fmt.Println(&B, err)
	_, err = json.Marshal(tensor.Vector(make([]bool, tensor.MaxJSON+1)))
	fmt.Println(err)
	// Output:
	// {"shape":[2,3],"type":"f64","format":"CSR","fill":0,"coords":[[0,1,1],[2,0,1]],"values":[0.5,1,2]} <nil>
	// 2x3 f64 CSR, 3 stored, fill 0 <nil>
	// json: error calling MarshalJSON for type *tensor.Tensor: a tensor as JSON: tensor: 100001 values are stored, and JSON is for 100000 at most: write a file, or file.Binary
}

func ExampleFormatted() {
	A, _ := tensor.NewCSR([]int64{2, 12}, []int{0, 1, 3}, []int{2, 0, 11}, []float64{1.0 / 3, 10, 2})
	fmt.Println(A)
	fmt.Printf("%.2v", tensor.Formatted(A))
	fmt.Printf("%+v", tensor.Formatted(A))
	// Output:
	// 2x12 f64 CSR, 3 stored, fill 0
	// 2x12 f64 CSR, 3 stored, fill 0
	//    .    . 0.33    .    .    .    .    .    .    . …
	//   10    .    .    .    .    .    .    .    .    . …
	// 2x12 f64 CSR, 3 stored, fill 0
	// (0,2) 0.3333333333333333
	// (1,0) 10
	// (1,11) 2
}

func TestFormattedOfOtherTensors(t *testing.T) {
	cube, err := tensor.FromCoords([]int64{9, 9, 9}, tensor.CSF(3), [][]int{{1, 2}, {3, 4}, {5, 6}}, tensor.ArrayOf([]int8{7, -8}))
	if err != nil {
		t.Fatal(err)
	}
	long := make([]int, 15)
	for i := range long {
		long[i] = i
	}
	gone := tensor.Vector([]float64{1})
	gone.Release()
	for want, x := range map[string]*tensor.Tensor{
		"(1,3,5) 7\n(2,4,6) -8\n":   cube,
		"\n0 1 2 3 4 5 6 7 8 9 …\n": tensor.Vector(long),
		"() 1.5\n":                  tensor.Number(1.5),
		"released":                  gone,
		"nil":                       nil,
	} {
		if got := fmt.Sprintf("%v", tensor.Formatted(x)); !strings.Contains(got, want) {
			t.Errorf("%q does not contain %q", got, want)
		}
	}
	if got := fmt.Sprintf("%d", tensor.Formatted(cube)); got != "%!d(tensor)" {
		t.Error(got)
	}
}
