package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

const nestText = `program nest {
  scalar n bound
  scalar chunks
  buffer a: []i64 output
  partition cut of n grain 16 chunks chunks
  stage compute over cut {
    alloc a[n]
    run(a)
    func compute(
      a: []i64
    ) chunk chunk, lo, hi {
      for i = lo to hi {
        var k: i64 = 0
        while k < i {
          k = k + 1 + (k & 0)
        }
        for j = 0 to i {
          for u = 0 to 2 {
            k = k + (j & u)
          }
        }
        a[i] = k
      }
    }
  }
}
`

// TestLoopTimes counts what loops do, on every engine that can tell and any number of threads, finds a loop that runs long, and changes no result.
func TestLoopTimes(t *testing.T) {
	engines := []Engine{Interp()}
	if e, err := CPU(); err == nil {
		engines = append(engines, e)
	}
	for _, e := range engines {
		p, err := loop.ParseProgram(nestText)
		if err != nil {
			t.Fatal(err)
		}
		x, err := e.Compile(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		run := func(ctx context.Context, n int64, threads int) []int64 {
			b := x.NewBindings()
			b.Scalars[0] = n
			r, err := x.Run(ctx, b, Options{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			return slices.Clone(unsafe.Slice((*int64)(r.Buffers[0].Ptr), r.Buffers[0].Len))
		}
		const n = 100
		want := run(t.Context(), n, 1)
		var last StageTime
		watched, stop := WithLoopTimes(t.Context(), time.Millisecond, func(s StageTime) { last = s })
		defer stop()
		for threads := 1; threads <= 3; threads += 2 {
			if got := run(watched, n, threads); !slices.Equal(got, want) {
				t.Errorf("%s: with somebody looking, the result is %v, want %v", e.Name(), got, want)
			}
			var got []string
			for i, l := range last.Loops {
				if i == 0 && l.Visits >= 1 && l.Visits <= 7 { // a call may run several chunks
					l.Visits = 7
				}
				got = append(got, fmt.Sprint(l.Text, ": ", l.Around, " ", l.Visits, " ", l.Iterations))
			}
			if text, want := strings.Join(got, "\n"), "for i = lo to hi: -1 7 100\nwhile k < i: 0 100 4950\nfor j = 0 to i: 0 100 4950"; text != want {
				t.Errorf("%s: loops\n%s\nwant\n%s", e.Name(), text, want)
			}
			if last.Code <= 0 || last.Code > last.Took {
				t.Errorf("%s: %v in the function, of %v", e.Name(), last.Code, last.Took)
			}
		}
		// Looks find what runs long.
		var looks int64
		for start := time.Now(); looks == 0 && time.Since(start) < time.Minute; {
			run(watched, 3000, 1)
			looks = last.Loops[1].Samples + last.Loops[2].Samples
		}
		if looks == 0 {
			t.Errorf("%s: no look found an inner loop", e.Name())
		}
		stop()
		// And with more of them what takes microseconds.
		watched, stop = WithLoopTimes(t.Context(), time.Microsecond, func(s StageTime) { last = s })
		defer stop()
		looks = 0
		for start := time.Now(); looks == 0 && time.Since(start) < time.Minute; {
			run(watched, 50, 1)
			looks = last.Loops[1].Samples + last.Loops[2].Samples
		}
		if looks == 0 {
			t.Errorf("%s: no look found an inner loop of a short run", e.Name())
		}
	}
}

// TestCodeLooksItself is of where nobody else can: the interpreter finds itself where it spends its time, and what looking takes is not in it.
func TestCodeLooksItself(t *testing.T) {
	looksItself = true
	defer func() { looksItself = false }()
	p, err := loop.ParseProgram(nestText)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Interp().Compile(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var last StageTime
	watched, stop := WithLoopTimes(t.Context(), time.Microsecond, func(s StageTime) { last = s })
	defer stop()
	var all, inner int64
	for range 20 {
		b := x.NewBindings()
		b.Scalars[0] = 500
		if _, err := x.Run(watched, b, Options{Threads: 1}); err != nil {
			t.Fatal(err)
		}
		all += last.Samples + last.Loops[0].Samples
		inner += last.Loops[1].Samples + last.Loops[2].Samples
	}
	// Nearly all of it is in the loops over j and k: a hundred times as many iterations as of i.
	if all += inner; inner < 9*all/10 || all == 0 {
		t.Errorf("of %d looks %d found an inner loop", all, inner)
	}
}
