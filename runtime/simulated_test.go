package runtime

import (
	"errors"
	"testing"
)

// The device that is simulated gives away all that it has, and not a byte more.
func TestSimulatedMemory(t *testing.T) {
	q, err := newSimulated(64).queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := q.alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	var out *outOfMemory
	if _, err := q.alloc(1); !errors.As(err, &out) || out.free != 0 || out.total != 64 {
		t.Errorf("a byte more: %v", err)
	}
	q.free(all, 64)
	if _, err := q.alloc(63); err != nil {
		t.Error(err)
	}
}
