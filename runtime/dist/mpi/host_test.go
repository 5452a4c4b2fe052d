package mpi

import "testing"

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

// TestMayUseSomething asks the system.
func TestMayUseSomething(t *testing.T) {
	if a := mayUse(); a.share([]affinity{a}) < 1 {
		t.Error("this process may use no processor")
	}
}
