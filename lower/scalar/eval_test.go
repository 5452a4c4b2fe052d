package scalar

import (
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestAnnihilators checks the operator table against arithmetic: where it says
// that a value decides the result, it does, for every ordinary other operand.
func TestAnnihilators(t *testing.T) {
	types := []tensor.DType{tensor.Bool, tensor.Int8, tensor.Int64, tensor.Uint8, tensor.Uint64, tensor.Float32, tensor.Float64, tensor.Complex128}
	functions := []string{"+", "-", "*", "/", "mod", "floordiv", "and", "or", "xor", "bitand", "bitor", "bitxor", "min", "max", "pow", "==", "<", "atan2", "hypot"}
	found := 0
	for _, fn := range functions {
		for _, dt := range types {
			if !typed(fn, dt) {
				continue
			}
			for arg := 0; arg < 2; arg++ {
				for _, v := range candidates(dt) {
					if !ir.Annihilates(fn, arg, v, false) {
						continue
					}
					found++
					for _, w := range others(dt) {
						args := []tensor.Scalar{v, w}
						if arg == 1 {
							args = []tensor.Scalar{w, v}
						}
						got, ok := Eval(fn, dt, args)
						if !ok {
							t.Fatalf("%s on %v does not evaluate", fn, args)
						}
						if got.Complex128() != v.Complex128() {
							t.Errorf("%s: %v decides argument %d of %s, but the result is %v", dt, v, arg, fn, got)
						}
					}
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d annihilators were tried", found)
	}
}

// typed reports whether the checker would let fn see arguments of type dt.
func typed(fn string, dt tensor.DType) bool {
	switch fn {
	case "and", "or", "xor":
		return dt == tensor.Bool
	case "bitand", "bitor", "bitxor":
		return dt == tensor.Bool || dt.IsInteger()
	case "mod", "floordiv":
		return dt.IsInteger() || dt.IsFloat()
	case "/", "atan2", "hypot":
		return dt.IsFloat() || dt.IsComplex() && fn == "/"
	case "min", "max", "<":
		return !dt.IsComplex()
	case "-", "pow":
		return dt != tensor.Bool
	}
	return true
}

func candidates(dt tensor.DType) []tensor.Scalar {
	list := []tensor.Scalar{tensor.Zero(dt), tensor.One(dt)}
	if !dt.IsComplex() {
		list = append(list, ir.Lowest(dt), ir.Highest(dt))
	}
	return list
}

// others are operands without the exceptions that only StrictIEEE honours:
// infinities, NaN, and zero divisors.
func others(dt tensor.DType) []tensor.Scalar {
	var list []tensor.Scalar
	for _, x := range []int64{1, 2, 3, 7, 100} {
		list = append(list, tensor.Int(dt, x))
	}
	if dt.IsSigned() || dt.IsFloat() || dt.IsComplex() {
		list = append(list, tensor.Int(dt, -5))
	}
	return list
}

// TestFoldIdentities checks that folding a fold's identity changes nothing.
func TestFoldIdentities(t *testing.T) {
	names := map[ir.Fold]string{ir.FoldSum: "+", ir.FoldProd: "*", ir.FoldMin: "min", ir.FoldMax: "max", ir.FoldOr: "or", ir.FoldAnd: "and"}
	for f, fn := range names {
		for _, dt := range []tensor.DType{tensor.Bool, tensor.Int8, tensor.Uint64, tensor.Float32, tensor.Float64} {
			if (f == ir.FoldOr || f == ir.FoldAnd) != (dt == tensor.Bool) {
				continue
			}
			e := f.Identity(dt)
			if !f.IsIdentity(e) {
				t.Errorf("%s: %v is not seen as the identity of %s", dt, e, f)
			}
			for _, x := range append(others(dt), candidates(dt)...) {
				if got, ok := Eval(fn, dt, []tensor.Scalar{e, x}); !ok || got != x {
					t.Errorf("%s of %v and %v is %v", fn, e, x, got)
				}
			}
		}
	}
}

func TestEvalLibrary(t *testing.T) {
	for _, test := range []struct {
		fn   string
		x    float64
		want float64
	}{
		{"exp", 0, 1}, {"exp", 1, math.E}, {"log", 1, 0}, {"sqrt", 9, 3}, {"cos", 0, 1}, {"tanh", 0, 0},
		{"floor", -1.5, -2}, {"round", 2.5, 2}, {"sign", -3, -1}, {"abs", -2, 2}, {"square", 3, 9}, {"relu", -1, 0},
	} {
		got, ok := Eval(test.fn, tensor.Float64, []tensor.Scalar{tensor.Float(tensor.Float64, test.x)})
		if !ok || math.Abs(got.Float64()-test.want) > 1e-15*math.Abs(test.want) {
			t.Errorf("%s(%v) = %v, want %v", test.fn, test.x, got, test.want)
		}
	}
}
