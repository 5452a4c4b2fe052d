package exec

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// TestMeasure measures with few entries: all times are such as a machine can have, and what no machine says stays as it is built in.
func TestMeasure(t *testing.T) {
	if _, err := runtime.CPU(); err != nil {
		t.Skip(err)
	}
	var told []string
	times, err := measureTimes(context.Background(), 1<<13, func(what string) { told = append(told, what) })
	if err != nil {
		t.Fatal(err)
	}
	builtin := cost.Builtin()
	if !times.Sane() || len(told) != 7 || times.Launch != builtin.Launch {
		t.Errorf("%+v, told %q", times, told)
	}
	for k := 1; k < len(times.Random); k++ {
		if times.Random[k] < times.Random[k-1] {
			t.Errorf("more memory is faster: %v", times.Random)
		}
	}
	if times.Step == builtin.Step || times.Compile == builtin.Compile {
		t.Errorf("nothing was measured: %+v", times)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := measureTimes(ctx, 1<<13, nil); err == nil {
		t.Error("measured under a context that has ended")
	}
}

// TestInsertion: an insertion takes no less than an access, whatever a measurement on a busy machine says.
func TestInsertion(t *testing.T) {
	for _, c := range []struct{ access, hash, dense, want float64 }{{1.5, 9, 4, 6.5}, {1.5, 4.25, 4, 1.75}, {1.5, 4, 4, 1.5}, {1.5, 3, 4, 1.5}} {
		if got := insertion(c.access, c.hash, c.dense); got != c.want {
			t.Errorf("%+v: %g", c, got)
		}
	}
}
