package cost

import (
	"math"
	"testing"
)

// TestLimits compares the limits that follow from the built-in times with what they were measured to be.
func TestLimits(t *testing.T) {
	b := Builtin()
	if got, want := b.Limits(), (Limits{DenseKeys: 1 << 20, PlacesPerEntry: 16, Galloping: 32, HandOver: 1 << 15, CompileEntries: 1 << 20}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestLimitsFollowTimes checks in which direction they move.
func TestLimitsFollowTimes(t *testing.T) {
	far := Builtin()
	far.Random = [...]float64{1, 4, 20, 80} // caches are slow
	if n := far.Limits().DenseKeys; n >= 1<<20 {
		t.Errorf("slow caches: %d dense keys", n)
	}
	near := Builtin()
	near.Random = [...]float64{1, 1, 1, 1}
	if n := near.Limits().DenseKeys; n != mostDenseKeys {
		t.Errorf("no cache misses: %d dense keys", n)
	}
	broken := Builtin()
	broken.Restore, broken.Clear, broken.Step = 0, 0, 0
	if l := broken.Limits(); l.CompileEntries < 1 || l.PlacesPerEntry < 1 || l.Galloping < 1 || l.HandOver < 1 {
		t.Errorf("%+v", l)
	}
}

// TestRandomIn reads between the sizes.
func TestRandomIn(t *testing.T) {
	b := Builtin()
	for _, test := range []struct{ bytes, want float64 }{{0, 1}, {16 << 10, 1}, {512 << 10, 2}, {2 << 20, 3.5}, {8 << 20, 5}, {1 << 40, 20}} {
		if got := b.RandomIn(test.bytes); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("RandomIn(%g) = %g, want %g", test.bytes, got, test.want)
		}
	}
}

// TestRows checks that every time has a line of its own, by which it can be set, and that what no machine has is refused.
func TestRows(t *testing.T) {
	var x Times
	if x.Sane() {
		t.Error("times of nothing are sane")
	}
	for i, row := range x.Rows() {
		if !x.Set(row.Name, float64(i+1)) {
			t.Errorf("%s cannot be set", row.Name)
		}
	}
	want := Times{1, 2, 3, 4, 5, 6, [...]float64{7, 8, 9, 10}, 11, 12, 13, 14, 15}
	if x != want {
		t.Errorf("%+v, want %+v", x, want)
	}
	if x.Set("nothing", 1) {
		t.Error("nothing was set")
	}
	b := Builtin()
	if !b.Sane() {
		t.Error("the built-in times are not sane")
	}
	if b.Step = 5e6; b.Sane() {
		t.Error("steps of 5 ms are sane")
	}
}
