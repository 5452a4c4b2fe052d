package runtime

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// counting is a program whose chunks count a thousand entries each.
const counting = `program p {
  scalar n bound
  scalar chunks
  scalar entries
  buffer crd: []u32 output
  buffer vals: []f64 output
  buffer counts: []i64 temp
  buffer totals: []i64 temp
  partition cut of n grain 1 chunks chunks
  stage count over cut {
    partitioned {
      alloc counts[chunks]
    }
    run(counts)
    func count(counts: []i64) chunk c, lo, hi {
      counts[c] = (hi - lo) * 1000
    }
  }
  stage place {
    alloc totals[1]
    prefix counts[0, 1] of chunks total totals[0] limit 72057594037927936
    run(counts, totals; chunks)
    func place(counts: []i64, totals: []i64; chunks: i64) chunk chunk, lo, hi {
      var sum: i64 = 0
      for c = 0 to chunks {
        let n: i64 = counts[c]
        counts[c] = sum
        sum = sum + n
        if sum > 72057594037927936 {
          fail 0 "too many"
        }
      }
      totals[0] = sum
    }
  }
  stage allocate {
    let entries = totals[0]
    alloc crd[entries] zero
  }
  stage allocate {
    alloc vals[entries] zero
  }
}`

// A result that is counted before it is stored is refused with its size; or, if counting
// takes long, as soon as it is plain that it will not fit.
func TestCountsThatDoNotFit(t *testing.T) {
	defer func(d time.Duration) { patience = d }(patience)
	x := mustCompile(t, Interp(), mustProgram(t, counting))
	for _, test := range []struct {
		n        int64
		patience time.Duration
		want     string
	}{
		{100, 0, ""},
		{1000, time.Hour, "stage allocate: buffer crd needs 3.8 MiB (1000000 × u32) on top of "},
		{1000, time.Hour, "(option WithMemoryLimit), and all of the result needs 11.4 MiB: "},
		{1000, 0, "stage count: the result has more than 522288 entries, which need more than 2.0 MiB on top of 7.8 KiB in use"},
		{1000, 0, "the memory limit is 2.0 MiB (option WithMemoryLimit)"},
	} {
		patience = test.patience
		for _, threads := range []int{1, 3} {
			b := x.NewBindings()
			b.Scalars[0] = test.n
			_, err := x.Run(context.Background(), b, Options{Threads: threads, MemoryLimit: 2 << 20})
			var limit *MemoryLimitError
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%d chunks: %v", test.n, err)
			case test.want != "" && (!errors.As(err, &limit) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%d chunks: got %v, want %q", test.n, err, test.want)
			}
		}
	}
}
