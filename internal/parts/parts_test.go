package parts

import (
	"runtime"
	"sync/atomic"
	"testing"
)

func TestDo(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, n := range []int{0, 1, 63, 64, 65, 200, 1000, 1001} {
		for _, worth := range []int{1, 10, 64, 1 << 20} {
			seen := make([]atomic.Int32, n)
			var bounds [Most][2]int
			Do(n, worth, func(part, lo, hi int) {
				bounds[part] = [2]int{lo, hi}
				if lo%64 != 0 && lo != n {
					t.Errorf("n %d, worth %d: part %d begins at %d", n, worth, part, lo)
				}
				for i := lo; i < hi; i++ {
					seen[i].Add(1)
				}
			})
			for i := range seen {
				if seen[i].Load() != 1 {
					t.Fatalf("n %d, worth %d: %d is in %d parts", n, worth, i, seen[i].Load())
				}
			}
			for part := 1; part < Most && bounds[part][1] > 0; part++ {
				if bounds[part][0] != bounds[part-1][1] {
					t.Errorf("n %d, worth %d: parts %v", n, worth, bounds[:part+1])
				}
			}
		}
	}
}

func TestPanicReachesTheCaller(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	defer func() {
		if r := recover(); r != "one of them" {
			t.Errorf("recovered %v", r)
		}
	}()
	Do(1000, 1, func(part, lo, hi int) {
		if part == 2 {
			panic("one of them")
		}
	})
	t.Error("no panic")
}
