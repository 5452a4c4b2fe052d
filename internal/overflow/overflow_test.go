package overflow

import (
	"math"
	"math/big"
	"testing"
)

// TestExact compares with integers that have no end.
func TestExact(t *testing.T) {
	values := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 32, -3, -1, 0, 1, 2, 3037000499, 3037000500, 1 << 32, math.MaxInt64 - 1, math.MaxInt64}
	for _, x := range values {
		for _, y := range values {
			for _, op := range []struct {
				name string
				do   func(x, y int64) (int64, bool)
				want func(z, x, y *big.Int) *big.Int
			}{{"+", Add, (*big.Int).Add}, {"-", Sub, (*big.Int).Sub}, {"*", Mul, (*big.Int).Mul}} {
				want := op.want(new(big.Int), big.NewInt(x), big.NewInt(y))
				if got, ok := op.do(x, y); ok != want.IsInt64() || ok && got != want.Int64() {
					t.Errorf("%d %s %d = %d, %v", x, op.name, y, got, ok)
				}
			}
		}
	}
}
