package gpu_test

import (
	"strings"
	"testing"
)

const counts = `program C {
  scalar n_i bound
  scalar n_k bound
  scalar chunks
  buffer A_pos: []u32 input
  buffer C_counts: []i64 output
  partition cut of n_i grain 1 chunks chunks
  stage allocate {
    alloc C_counts[n_i]
  }
  stage count over cut {
    run(A_pos, C_counts; n_k)
    func count(readonly A_pos: []u32, C_counts: []i64; n_k: i64) chunk chunk, lo, hi {
      for i = lo to hi {
        var n: i64 = 0
        for p = i64(A_pos[i]) to i64(A_pos[i + 1]) {
          if n_k > 100 {
            fail 0 "too many"
          }
          if n > 1000 {
            fail 0 "too many"
          }
          n = n + 1
        }
        C_counts[i] = n
      }
    }
  }
}`

// Loops that only count are done at once, others are not.
func TestCounting(t *testing.T) {
	for _, test := range []struct {
		name, old, replacement string
		loops                  bool
	}{
		{"count", "", "", false},
		{"by two", "n = n + 1", "n = n + 2", true},
		{"of some", "n = n + 1", "n = n + i64(A_pos[p])", true},
		{"fails in between", "n > 1000", "n == 1000", true},
		{"fails by the entry", "n > 1000", "p > 1000", true},
		{"fails by memory", "n_k > 100", "A_pos[p] > 100:u32", true},
		{"ends instead", "if n_k > 100 {\n            fail 0 \"too many\"\n          }", "if n_k > 100 {\n            n = 0\n          }", true},
	} {
		text := counts
		if test.old != "" {
			text = strings.Replace(counts, test.old, test.replacement, 1)
			if text == counts {
				t.Fatal(test.name, "changes nothing")
			}
		}
		p := mapped(t, text).String()
		if got := strings.Contains(p, "for p"); got != test.loops {
			t.Errorf("%s: a loop is left: %v\n%s", test.name, got, p)
		}
	}
}
