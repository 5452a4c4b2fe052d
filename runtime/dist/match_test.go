package dist

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// To move values is to pack and unpack them.
func TestMove(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	stretches := func(n int64) (list runs) {
		for at := int64(0); n > 0; {
			k := min(n, 1+r.Int64N(4))
			at += r.Int64N(2)
			list.add(at, k)
			at, n = at+k, n-k
		}
		return list
	}
	for range 200 {
		n := r.Int64N(20)
		a, b := stretches(n), stretches(n)
		from, packed := make([]byte, 100), make([]byte, 2*n)
		for k := range from {
			from[k] = byte(k + 1)
		}
		want, got := make([]byte, 100), make([]byte, 100)
		a.pack(packed, from, 2)
		b.unpack(want, packed, 2)
		if b.move(got, from, a, 2); !bytes.Equal(got, want) {
			t.Fatalf("%v to %v: %v, want %v", a, b, got, want)
		}
	}
}
