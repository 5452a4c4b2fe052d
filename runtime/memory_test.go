package runtime

import (
	"math"
	"testing"
)

func TestBytesOf(t *testing.T) {
	for _, tt := range []struct{ n, size, want int64 }{
		{0, 16, 0}, {3, 8, 24}, {1 << 60, 8, math.MaxInt64}, {1 << 62, 16, math.MaxInt64}, {math.MaxInt64, 1, math.MaxInt64},
	} {
		if got := bytesOf(tt.n, tt.size); got != tt.want {
			t.Errorf("bytesOf(%d, %d) = %d, want %d", tt.n, tt.size, got, tt.want)
		}
	}
}
