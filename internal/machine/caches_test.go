package machine

import (
	"runtime"
	"testing"
)

func TestHostCachesAreOfASizeThatThereIs(t *testing.T) {
	c := readCaches()
	if c.L1 < 8<<10 || c.L1 > 1<<20 || c.L2 < c.L1 || c.L2 > 1<<28 {
		t.Errorf("the caches of this machine are said to be %v", c)
	}
	if c.L3 != 0 && (c.L3 < c.L2 || c.L3 > 1<<33 || c.Shared < 1 || c.Shared > runtime.NumCPU()) {
		t.Errorf("the shared cache of this machine is said to be %v", c)
	}
}

func TestCachesAsGiven(t *testing.T) {
	base := Caches{L1: 1, L2: 2, L3: 3, Shared: 4}
	for text, want := range map[string]Caches{
		"":                 base,
		"L2=512KiB":        {1, 512 << 10, 3, 4},
		"l1=32K, L2=1MiB,": {32 << 10, 1 << 20, 3, 4},
		"L3=16MiB":         {1, 2, 16 << 20, 4},
	} {
		if got, err := base.with(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"L4=1MiB", "L2", "L2=", "L2=-1", "1MiB", "L2=0", "L3=abc", "L1=32KiB,L3=abc"} {
		if got, err := base.with(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

// TestShare: what threads share is divided among those that there are, and no more than have it.
func TestShare(t *testing.T) {
	c := Caches{L3: 32 << 20, Shared: 8}
	for threads, want := range map[int]int64{0: 4 << 20, 1: 32 << 20, 2: 16 << 20, 8: 4 << 20, 64: 4 << 20} {
		if got := c.Share(threads); got != want {
			t.Errorf("%d threads: %d, want %d", threads, got, want)
		}
	}
	if got := (Caches{L1: 1, L2: 2}).Share(1); got != 0 {
		t.Errorf("%d of none", got)
	}
}

func TestCachesInWords(t *testing.T) {
	for want, c := range map[string]Caches{
		"L1 48.0 KiB, L2 1.0 MiB":                    {L1: 48 << 10, L2: 1 << 20},
		"L1 48.0 KiB, L2 1.0 MiB, L3 16.0 MiB for 8": {L1: 48 << 10, L2: 1 << 20, L3: 16 << 20, Shared: 8},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
