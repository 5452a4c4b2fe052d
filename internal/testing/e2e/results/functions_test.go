package results_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestEveryFunctionRuns: the table of functions is the one place that lists them, so each must have a meaning in the
// loop language for every type that it takes. Which meaning random programs check.
func TestEveryFunctionRuns(t *testing.T) {
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	x, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]float64{0.5, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range lang.Functions {
		ran := 0
		for _, to := range []string{"f64", "f32", "i64", "u8", "bool", "c128"} {
			arg := to + "(x(i))"
			args := []string{arg, arg} // of min and max, which take any number of them
			if f.Arity == 1 {
				args = args[:1]
			}
			e := name + "(" + strings.Join(args, ", ") + ")"
			switch isWord := unicode.IsLetter(rune(name[0])); {
			case name == "neg":
				e = "-" + arg
			case name == "not":
				e = "not " + arg
			case !isWord, name == "and", name == "or":
				e = arg + " " + name + " " + arg
			}
			_, err := s.Eval(context.Background(), "y(i) = "+e, lacuna.Args{"x": x})
			var refused lang.Errors
			switch {
			case err == nil:
				ran++
			case !errors.As(err, &refused) || strings.Contains(err.Error(), "[E1"): // not one of syntax
				t.Errorf("%s: %v", e, err)
			}
		}
		if ran == 0 {
			t.Errorf("no type of argument was taken by %s", name)
		}
	}
}
