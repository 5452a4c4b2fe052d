package runtime

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// endless are programs whose one kernel would run for years, in the ways that
// loops can be long.
var endless = map[string]string{
	"innermost":    "  var s: i64 = 0\n  for i = 0 to n {\n    s = (s + i) * 3\n  }\n  y[0] = s",
	"nested":       "  var s: i64 = 0\n  for i = 0 to n {\n    for j = 0 to 1000 {\n      s = (s + j) * 3\n    }\n  }\n  y[0] = s",
	"empty inner":  "  for i = 0 to n {\n    for j = 0 to y[0] {\n      y[j] = 1\n    }\n  }",
	"empty middle": "  for i = 0 to n {\n    for j = 0 to y[0] {\n      for k = 0 to y[1] {\n        for l = 0 to y[2] {\n          y[3] = l\n        }\n      }\n    }\n  }",
	"sweep":        "  for i = 0 to n {\n    for j = 0 to 2 + i % 2 {\n      y[j] = (y[j] + i) * 3\n    }\n  }",
	"few inner":    "  for i = 0 to n {\n    for j = 0 to 3 {\n      y[j] = (y[j] + i) * 3\n    }\n  }",
	"while":        "  var i: i64 = 0\n  while y[0] >= 0 {\n    i = i + 1\n    y[1] = i\n  }",
	"in an if":     "  for i = 0 to n {\n    if y[0] == 1 {\n      for j = 0 to y[1] {\n        for k = 0 to y[2] {\n          y[3] = k\n        }\n      }\n    }\n  }",
	"counted":      "  var i: i64 = 0\n  while i < n {\n    i = i + 1\n    y[1] = (y[1] + i) * 3\n  }",
}

// A run ends soon after its context, wherever its kernel is.
func TestRunStopsKernels(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		for name, body := range endless {
			t.Run(name, func(t *testing.T) {
				p := mustProgram(t, fmt.Sprintf(`program endless {
  scalar n bound
  buffer y: []i64 inout
  stage forever {
    run(y; n)
    func forever(y: []i64; n: i64) chunk c, lo, hi {
%s
    }
  }
}`, body))
				x := mustCompile(t, e, p)
				stopped(t, x)
			})
		}
	})
}

// All threads of a stage stop, not only the first.
func TestRunStopsChunks(t *testing.T) {
	eachEngine(t, func(t *testing.T, e Engine) {
		p := mustProgram(t, `program endless {
  scalar n bound
  scalar chunks
  buffer y: []i64 inout
  partition d of 8 grain 1 chunks chunks
  stage forever over d {
    run(y; n)
    func forever(y: []i64; n: i64) chunk c, lo, hi {
      for i = lo to hi {
        for j = 0 to n {
          y[i] = (y[i] + j) * 3
        }
      }
    }
  }
}`)
		stopped(t, mustCompile(t, e, p))
	})
}

func mustProgram(t *testing.T, src string) *loop.Program {
	t.Helper()
	p, err := loop.ParseProgram(src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stopped runs x with a context that ends, and again with one that does not
// until the run is over: the first must not stop the second.
func stopped(t *testing.T, x *Executable) {
	t.Helper()
	y := make([]int64, 8)
	b := x.NewBindings()
	b.Buffers[0], b.Scalars[0] = MemoryOf(y), 1<<60
	const after = 20 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	start := time.Now()
	_, err := x.Run(ctx, b, Options{Threads: 2})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v, want %v", err, context.DeadlineExceeded)
	}
	// Far more than it takes, but machines that run tests are busy.
	if took := time.Since(start) - after; took > 2*time.Second {
		t.Errorf("stopped %v after its deadline", took)
	}
	y[0] = -1 // ends the loops that ask for it
	b.Scalars[0] = 10
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	if _, err := x.Run(ctx, b, Options{Threads: 2}); err != nil {
		t.Errorf("the run after it: %v", err)
	}
}

// The goroutine that watches contexts is gone soon after the last run.
func TestWatcherEnds(t *testing.T) {
	x := mustCompile(t, Interp(), scaleProgram(t))
	b := x.NewBindings()
	b.Buffers[0], b.Buffers[1] = MemoryOf(make([]float64, 8)), MemoryOf(make([]float64, 8))
	b.Scalars[0] = 8
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := x.Run(ctx, b, Options{}); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if !x.watcher.Watching() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the watcher goes on")
}
