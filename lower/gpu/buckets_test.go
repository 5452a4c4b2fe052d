package gpu_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
)

// A stable counting pass: count, running sum, move. What is behind the last element is
// filled by a loop that is independent.
const countingPass = `program sort {
  scalar n bound
  scalar cut0_chunks
  buffer keys: []u8 input
  buffer counts: []u32 temp
  buffer total: []u32 temp
  buffer place: []u32 output
  partition cut0 of 3 grain 1 chunks cut0_chunks
  stage count over cut0 {
    alloc counts[3 * 8] zero
    alloc place[n + 5]
    run(counts, keys; n)
    func count(counts: []u32, readonly keys: []u8; n: i64) chunk chunk, lo, hi {
      let begin: i64 = min(n, chunk * (n / 3 + 1))
      let end: i64 = min(n, begin + (n / 3 + 1))
      for p = begin to end {
        let at: i64 = i64(keys[p]) * 3 + chunk
        counts[at] = counts[at] + 1:u32
      }
    }
  }
  stage sum {
    alloc total[1]
    prefix counts[0, 1] of 24 total total[0]
    run(counts, total)
    func sum(counts: []u32, total: []u32) chunk chunk, lo, hi {
      var sum: u32 = 0:u32
      for at = 0 to 24 {
        let n: u32 = counts[at]
        counts[at] = sum
        sum = sum + n
      }
      total[0] = sum
    }
  }
  stage move over cut0 {
    run(counts, keys, place; n)
    func move(counts: []u32, readonly keys: []u8, place: []u32; n: i64) chunk chunk, lo, hi {
      let begin: i64 = min(n, chunk * (n / 3 + 1))
      let end: i64 = min(n, begin + (n / 3 + 1))
      for p = begin to end {
        let slot: i64 = i64(keys[p]) * 3 + chunk
        let dest: i64 = i64(counts[slot])
        counts[slot] = u32(dest + 1)
        place[dest] = u32(p)
      }
    }
  }
  stage close {
    run(total, place; n)
    func close(readonly total: []u32, place: []u32; n: i64) chunk chunk, lo, hi {
      let begin: i64 = i64(total[0])
      for independent p = begin to n + 5 {
        place[p] = 7:u32
      }
    }
  }
}`

func TestCountersMapping(t *testing.T) {
	text := mapped(t, countingPass).String()
	for _, want := range []string{"stage count_by_warps {", "stage move_by_warps {", "ballot(", "stage close_by_iterations {"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	// Places that are not those of the counter, and items that need each other, are not
	// for lanes.
	for _, change := range [][2]string{
		{"place[dest] = u32(p)", "place[p] = u32(dest)"},
		{"place[dest] = u32(p)", "place[dest] = counts[0]"},
		{"place[dest] = u32(p)", "place[dest] = place[0]"},
		{"counts[slot] = u32(dest + 1)", "counts[slot] = u32(dest + 2)"},
	} {
		if text := mapped(t, strings.Replace(countingPass, change[0], change[1], 1)).String(); strings.Contains(text, "move_by_warps") {
			t.Errorf("with %s the stage is still mapped to warps", change[1])
		}
	}
}

// TestCounters runs the pass on the simulated engine, which finds races.
func TestCounters(t *testing.T) {
	e := simulated(t, countingPass)
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 31, 32, 33, 95, 96, 97, 1000} {
		for _, buckets := range []int{1, 2, 8} {
			keys := make([]uint8, n)
			want := make([]uint32, n)
			for i := range keys {
				keys[i], want[i] = uint8(r.IntN(buckets)), uint32(i)
			}
			slices.SortStableFunc(want, func(i, j uint32) int { return int(keys[i]) - int(keys[j]) })
			want = append(want, 7, 7, 7, 7, 7)
			res, err := results(t, e, []runtime.Memory{memory(keys)}, int64(n))
			if err != nil {
				t.Fatal(err)
			}
			if got := runtime.SliceOf[uint32](res.Buffers[3]); !slices.Equal(got, want) {
				t.Errorf("%d items in %d buckets: %v, want %v", n, buckets, got, want)
			}
		}
	}
}
