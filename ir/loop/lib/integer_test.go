package lib_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// This file tests integer.loop.

// integers are values near the ends and zero, and random ones of every size.
func integers() []int64 {
	v := []int64{0, 1, -1, 2, -2, 3, -3, 7, -7, 10, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 32, -1 << 32, 1<<31 - 1}
	rng := rand.New(rand.NewPCG(9, 10))
	for range 130 {
		v = append(v, int64(rng.Uint64())>>rng.IntN(64))
	}
	return v
}

// pairs is every pair of the integers.
func pairs() (a, b []int64) {
	v := integers()
	for _, x := range v {
		for _, y := range v {
			a, b = append(a, x), append(b, y)
		}
	}
	return a, b
}

// wrapped is the low 64 bits of z as a signed number.
func wrapped(z *big.Int) int64 {
	m := new(big.Int).And(z, new(big.Int).SetUint64(math.MaxUint64))
	return int64(m.Uint64())
}

// floorDivMod rounds the exact quotient down; both are 0 for b = 0.
func floorDivMod(a, b *big.Int) (q, m *big.Int) {
	if b.Sign() == 0 {
		return new(big.Int), new(big.Int)
	}
	q, m = new(big.Int).QuoRem(a, b, new(big.Int))
	if m.Sign() != 0 && m.Sign() != b.Sign() {
		q.Sub(q, big.NewInt(1))
		m.Add(m, b)
	}
	return q, m
}

func TestSignedDivision(t *testing.T) {
	a, b := pairs()
	q := run[int64, int64](t, "floordiv_i64(x[i], w[i])", "i64", "i64", a, b)
	m := run[int64, int64](t, "mod_i64(x[i], w[i])", "i64", "i64", a, b)
	for i := range a {
		wantQ, wantM := floorDivMod(big.NewInt(a[i]), big.NewInt(b[i]))
		if q[i] != wrapped(wantQ) || m[i] != wrapped(wantM) {
			t.Errorf("%d divided by %d = %d, rest %d; want %d, %d", a[i], b[i], q[i], m[i], wantQ, wantM)
		}
	}
}

func TestUnsignedDivision(t *testing.T) {
	a, b := pairs()
	q := run[int64, int64](t, "i64(floordiv_u64(u64(x[i]), u64(w[i])))", "i64", "i64", a, b)
	m := run[int64, int64](t, "i64(mod_u64(u64(x[i]), u64(w[i])))", "i64", "i64", a, b)
	for i := range a {
		wantQ, wantM := floorDivMod(new(big.Int).SetUint64(uint64(a[i])), new(big.Int).SetUint64(uint64(b[i])))
		if uint64(q[i]) != wantQ.Uint64() || uint64(m[i]) != wantM.Uint64() {
			t.Errorf("%d divided by %d = %d, rest %d; want %d, %d", uint64(a[i]), uint64(b[i]), uint64(q[i]), uint64(m[i]), wantQ, wantM)
		}
	}
}

func TestIntegerPowers(t *testing.T) {
	a, b := pairs()
	s := run[int64, int64](t, "pow_i64(x[i], w[i])", "i64", "i64", a, b)
	u := run[int64, int64](t, "i64(pow_u64(u64(x[i]), u64(w[i])))", "i64", "i64", a, b)
	modulus := new(big.Int).Lsh(big.NewInt(1), 64)
	for i := range a {
		n := new(big.Int).SetUint64(uint64(b[i]))
		power := wrapped(new(big.Int).Exp(big.NewInt(a[i]), n, modulus))
		if u[i] != power {
			t.Errorf("pow_u64(%d, %d) = %d, want %d", uint64(a[i]), uint64(b[i]), uint64(u[i]), uint64(power))
		}
		want := power
		switch {
		case b[i] >= 0:
		case a[i] == 1, a[i] == -1 && b[i]%2 == 0:
			want = 1
		case a[i] == -1:
			want = -1
		default:
			want = 0
		}
		if s[i] != want {
			t.Errorf("pow_i64(%d, %d) = %d, want %d", a[i], b[i], s[i], want)
		}
	}
}
