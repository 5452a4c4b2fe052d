package runtime

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

func op(o loop.BinaryOp, x, y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: o, X: x, Y: y} }

// evalSize compiles and evaluates e where scalar 0 is 7 and buffer 0 holds
// pointers and buffer 1 a u64 that is too large.
func evalSize(e loop.SizeExpr) (int64, sizeFault) {
	code := compileSize(e)
	buffers := []loop.Buffer{{Name: "pos", Elem: loop.U32}, {Name: "huge", Elem: loop.U64}}
	mem := []Memory{MemoryOf([]uint32{0, 3, math.MaxUint32}), MemoryOf([]uint64{math.MaxInt64, 1 << 63})}
	return code.eval(make([]int64, code.depth), []int64{7}, mem, buffers, nil)
}

func TestSizeEval(t *testing.T) {
	const big = loop.SizeConst(math.MaxInt64)
	const small = loop.SizeConst(math.MinInt64)
	one, n := loop.SizeConst(1), loop.SizeScalar(0)
	load := func(b loop.BufferID, i loop.SizeExpr) loop.SizeExpr { return &loop.SizeLoad{Buffer: b, Index: i} }
	tests := []struct {
		name  string
		expr  loop.SizeExpr
		want  int64
		fault string // part of it
	}{
		{"constant", loop.SizeConst(-3), -3, ""},
		{"scalar", n, 7, ""},
		{"n+1", op(loop.Add, n, one), 8, ""},
		{"n-1", op(loop.Sub, n, one), 6, ""},
		{"n*n", op(loop.Mul, n, n), 49, ""},
		{"truncating division", op(loop.Div, loop.SizeConst(-7), loop.SizeConst(2)), -3, ""},
		{"min", op(loop.Min, n, one), 1, ""},
		{"max", op(loop.Max, n, one), 7, ""},
		{"right-nested", op(loop.Sub, n, op(loop.Sub, n, op(loop.Sub, n, one))), 6, ""},
		{"load", load(0, one), 3, ""},
		{"load is zero-extended", load(0, loop.SizeConst(2)), math.MaxUint32, ""},
		{"load of a load's index", load(0, op(loop.Sub, load(0, one), one)), math.MaxUint32, ""},
		{"largest u64 that fits", load(1, loop.SizeConst(0)), math.MaxInt64, ""},
		{"u64 that does not fit", load(1, one), 0, "9223372036854775808"},
		{"load past the end", load(0, loop.SizeConst(3)), 0, "element 3 of buffer pos does not exist: it has 3"},
		{"load before the start", load(0, loop.SizeConst(-1)), 0, "element -1"},
		{"add overflows", op(loop.Add, big, one), 0, "64 bits"},
		{"sub overflows", op(loop.Sub, small, one), 0, "64 bits"},
		{"mul overflows", op(loop.Mul, big, loop.SizeConst(2)), 0, "64 bits"},
		{"mul reaches the minimum", op(loop.Mul, loop.SizeConst(-1<<62), loop.SizeConst(2)), math.MinInt64, ""},
		{"mul passes the minimum", op(loop.Mul, small, loop.SizeConst(-1)), 0, "64 bits"},
		{"min / -1", op(loop.Div, small, loop.SizeConst(-1)), 0, "64 bits"},
		{"division by zero", op(loop.Div, n, loop.SizeConst(0)), 0, "division by zero"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, fault := evalSize(tt.expr)
			if tt.fault != "" {
				if !strings.Contains(string(fault), tt.fault) {
					t.Errorf("fault %q, want one with %q", fault, tt.fault)
				}
				return
			}
			if fault != "" || got != tt.want {
				t.Errorf("got %d %q, want %d", got, fault, tt.want)
			}
		})
	}
}

// Checked arithmetic gives what unbounded integers give, or a fault exactly
// when that does not fit.
func TestSizeArithmeticIsChecked(t *testing.T) {
	ops := map[loop.BinaryOp]func(z, x, y *big.Int) *big.Int{
		loop.Add: (*big.Int).Add, loop.Sub: (*big.Int).Sub, loop.Mul: (*big.Int).Mul, loop.Div: (*big.Int).Quo,
	}
	number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-4, 4),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, 1 << 31, 1 << 32, -1 << 31, 3037000500}))
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom([]loop.BinaryOp{loop.Add, loop.Sub, loop.Mul, loop.Div}).Draw(t, "op")
		x, y := number.Draw(t, "x"), number.Draw(t, "y")
		if o == loop.Div && y == 0 {
			t.Skip()
		}
		want := ops[o](new(big.Int), big.NewInt(x), big.NewInt(y))
		got, fault := evalSize(op(o, loop.SizeConst(x), loop.SizeConst(y)))
		if want.IsInt64() != (fault == "") || fault == "" && got != want.Int64() {
			t.Fatalf("%d %s %d = %d %q, want %s", x, o, y, got, fault, want)
		}
	})
}
