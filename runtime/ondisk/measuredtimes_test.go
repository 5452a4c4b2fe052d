package ondisk

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
)

// TestTimesAreKept keeps times for one machine, and looks for them on that and on another.
func TestTimesAreKept(t *testing.T) {
	disk, err := diskcache.Open(t.TempDir(), 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := keptTimes(disk, "this"); ok {
		t.Error("times that nobody kept")
	}
	want := cost.Builtin()
	want.Step = 2.5
	if err := keepTimes(disk, "this", want); err != nil {
		t.Fatal(err)
	}
	if got, ok := keptTimes(disk, "this"); !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	if _, ok := keptTimes(disk, "another"); ok {
		t.Error("another machine has the times of this one")
	}
	if err := keepTimes(disk, "", want); err == nil {
		t.Error("times of an unknown machine are kept")
	}
	want.Wake = 0
	if err := keepTimes(disk, "this", want); err == nil {
		t.Error("threads that wake at once are kept")
	}
	builtin := cost.Builtin()
	if *Limits() != builtin.Limits() { // tests have no cache
		t.Error("a test runs with measured times")
	}
}
