package machine

import "testing"

func TestHostCachesAreOfASizeThatThereIs(t *testing.T) {
	c := readCaches()
	if c.L1 < 8<<10 || c.L1 > 1<<20 || c.L2 < c.L1 || c.L2 > 1<<28 {
		t.Errorf("the caches of this machine are said to be %v", c)
	}
}

func TestCachesAsGiven(t *testing.T) {
	base := Caches{L1: 1, L2: 2}
	for text, want := range map[string]Caches{
		"":                 base,
		"L2=512KiB":        {1, 512 << 10},
		"l1=32K, L2=1MiB,": {32 << 10, 1 << 20},
	} {
		if got, err := base.with(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"L4=1MiB", "L2", "L2=", "L2=-1", "1MiB", "L2=0"} {
		if got, err := base.with(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}
