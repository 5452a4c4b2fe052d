package mpi

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestShare has processes bound to processors of their own, all on all, and two on one of two.
func TestShare(t *testing.T) {
	of := func(processors ...int) (a affinity) {
		for _, p := range processors {
			a[p/8] |= 1 << (p % 8)
		}
		return a
	}
	for _, c := range []struct {
		here []affinity
		want float64 // of the first
		may  int     // use so many
	}{
		{[]affinity{of(0), of(1)}, 1, 1},
		{[]affinity{of(0, 1, 2, 1023), of(4, 5, 6, 7)}, 4, 4},
		{[]affinity{of(0, 1), of(0, 1), of(0, 1), of(0, 1)}, 0.5, 1},
		{[]affinity{of(0, 1), of(0)}, 1.5, 1},
		{[]affinity{of(3), of(3)}, 0.5, 1},
		{[]affinity{of(), of(1)}, 0, 1},
	} {
		if got := c.here[0].share(c.here); got != c.want {
			t.Errorf("of %d processes, the first has %v processors, want %v", len(c.here), got, c.want)
		}
		if n := (&Group{processors: c.want}).Processors(); n != c.may {
			t.Errorf("%v processors count as %d, want %d", c.want, n, c.may)
		}
	}
	if n := (&Group{processors: 1./3 + 1./3 + 1./3}).Processors(); n != 1 {
		t.Errorf("three thirds count as %d", n)
	}
}

// TestQuota reads the limits of control groups, of which each holds for those within.
func TestQuota(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a/cpu.max", "150000 100000\n")
	write("a/b/cpu.max", "max 100000\n")
	write("a/b/c/cpu.max", "25000 100000\n")
	for path, want := range map[string]float64{"/": math.Inf(1), "/a": 1.5, "/a/b": 1.5, "/a/b/c": 0.25, "/none": math.Inf(1)} {
		if got := quota(root, write("own", "1:cpu:/x\n0::"+path+"\n")); got != want {
			t.Errorf("in %s the quota is %v, want %v", path, got, want)
		}
	}
	if got := quota(root, filepath.Join(root, "nothing")); !math.IsInf(got, 1) {
		t.Errorf("without control groups the quota is %v", got)
	}
}

// TestMayUseSomething asks the system.
func TestMayUseSomething(t *testing.T) {
	if a := mayUse(); a.share([]affinity{a}) < 1 {
		t.Error("this process may use no processor")
	}
}
