package exec

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Programs that differ in a coordinate or in the bounds of a slice share one compilation, and compute what they do
// where each is compiled for itself.
func TestLiteralsShareKernels(t *testing.T) {
	const n = 150
	var coords [2][]int64
	var vals []float64
	for i := range int64(n) {
		for j := range int64(n) {
			if (i*7+j*5)%11 == 0 {
				coords[0], coords[1], vals = append(coords[0], i), append(coords[1], j), append(vals, float64(i*j+1))
			}
		}
	}
	for _, f := range []tensor.Format{tensor.CSR, tensor.DCSR, tensor.CSC, tensor.Dense(2)} {
		R := must(t)(tensor.FromCoords([]int64{n, n}, f, coords[:], tensor.ArrayOf(vals)))
		for _, program := range []string{
			"S(v) = sum_j R(#,j)*R(v,j)", "S = R(#,#)", "S(i) = R(i,#)*2.5", "S(i) = R(#,i) + R(i,0)",
			"S(:) = sum_j R(#:140,j)", "S(:) = R(#:,3)", "S(:,:) = R(#:140:2,0:#)",
		} {
			e := &counting{Engine: runtime.Interp()}
			s, plain := NewSession(WithEngine(e)), NewSession(WithEngine(runtime.Interp()))
			plain.keepLiterals = true
			compiled := map[int]int64{}
			for id := 10; id < 100; id++ {
				if testengine.Thin(8, id-10) && id != 99 {
					continue
				}
				text := strings.ReplaceAll(program, "#", fmt.Sprint(id))
				args := Args{"R": R}
				got, err := s.Eval(t.Context(), text, args)
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				want, err := plain.Eval(t.Context(), text, args)
				if err != nil {
					t.Fatal(err)
				}
				if err := sameArrays(got, want); err != nil {
					t.Fatalf("%s of %s: %v", text, f, err)
				}
				compiled[id] = e.compiled.Load()
			}
			if compiled[99] != compiled[10] {
				t.Errorf("%s of %s: %d programs are compiled for the first number, %d for 90", program, f, compiled[10], compiled[99])
			}
		}
	}
}

// Errors are about the number that the user wrote, also where the kernel was compiled for another.
func TestLiteralsInErrors(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()))
	x := must(t)(tensor.FromDense([]int64{5}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3, 4, 5})))
	p := must(t)(tensor.FromDense([]int64{5}, tensor.Dense(1), tensor.ArrayOf([]int64{0, 0, 1, 2, 8})))
	args := Args{"x": x}
	for text, want := range map[string]string{
		"y = x(4) + x(2)": "",
		"y = x(2) + x(7)": "coordinate 7",
		"y(:) = x(2:4)":   "",
		"y(:) = x(3:9)":   "coordinate",
	} {
		_, err := s.Eval(t.Context(), text, args)
		var e *lang.Error
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (!errors.As(err, &e) || e.Code != lang.ErrOutOfRange || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), text)):
			t.Errorf("%s: got %v, want an error of the program with %q", text, err, want)
		}
	}
	args["p"] = p
	if _, err := s.Eval(t.Context(), "y = x(p(2))", args); err != nil {
		t.Error(err)
	}
	_, err := s.Eval(t.Context(), "y = x(p(4))", args)
	if err == nil || !strings.Contains(err.Error(), "8") || strings.Contains(err.Error(), "p(2)") {
		t.Errorf("got %v, want the value of p(4)", err)
	}
}

// What differs in more than literals does not share a kernel.
func TestLiteralsThatStay(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()))
	x := must(t)(tensor.FromDense([]int64{9}, tensor.Dense(1), tensor.ArrayOf([]float64{0, 1, 2, 3, 4, 5, 6, 7, 8})))
	for _, test := range []struct {
		text string
		want float64
	}{
		{"y = x(3) - x(3)", 0}, {"y = x(5) - x(3)", 2}, {"y = x(3) - x(5)", -2},
		{"y = x(2)*x(3)", 6}, {"y = x(2)*x(2)", 4}, {"y = x(0) + x(8)", 8},
	} {
		y, err := s.Eval(t.Context(), test.text, Args{"x": x})
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if v := y.At(); v.Float64() != test.want {
			t.Errorf("%s = %v, want %v", test.text, v, test.want)
		}
	}
}
