package gpu_test

import (
	"strings"
	"testing"
)

const sddmm = `program C {
  scalar n_i bound
  scalar n_k bound
  scalar chunks
  buffer A_pos: []u32 input
  buffer A_crd: []u32 input
  buffer A_vals: []f32 input
  buffer B_vals: []f32 input
  buffer E_vals: []f32 input
  buffer C_vals: []f32 output
  buffer starts: []i64 temp
  partition cut of n_i grain 1 chunks chunks
  stage compute over cut {
    alloc C_vals[len(A_vals)]
    partitioned {
      alloc starts[chunks] zero
    }
    run(A_pos, A_crd, A_vals, B_vals, E_vals, C_vals, starts; n_k)
    func compute(
      readonly A_pos: []u32,
      readonly A_crd: []u32,
      readonly A_vals: []f32,
      readonly B_vals: []f32,
      readonly E_vals: []f32,
      C_vals: []f32,
      readonly starts: []i64;
      n_k: i64
    ) chunk chunk, lo, hi {
      var n: i64 = starts[chunk]
      for i = lo to hi {
        for p = i64(A_pos[i]) to i64(A_pos[i + 1]) {
          let j: i64 = i64(A_crd[p])
          var acc: f32 = 0.0:f32
          for k = 0 to n_k {
            acc = acc + B_vals[i * n_k + k] * E_vals[j * n_k + k]
          }
          C_vals[n] = A_vals[p] * acc
          n = n + 1
        }
      }
    }
  }
}`

// What is mapped to teams that share the folds of entries, and what is left to teams that
// take single entries.
func TestDots(t *testing.T) {
	const fold = "acc = acc + B_vals[i * n_k + k] * E_vals[j * n_k + k]"
	for _, test := range []struct{ name, old, replacement, want string }{
		{"product", "", "", "dots_of_vectors dots"},
		{"greatest", fold, "acc = max(acc, B_vals[i * n_k + k] - E_vals[j * n_k + k])", "dots_of_vectors dots"},
		{"of the entry", fold, "acc = acc + A_vals[p] * E_vals[j * n_k + k]", "dots_of_vectors dots"},
		{"under a condition", fold, "if B_vals[i * n_k + k] > 0.0:f32 {\n" + fold + "\n}", "entries"},
		{"of a fixed length", "0 to n_k", "0 to 3", "entries"},
		{"not from the start", "0 to n_k", "1 to n_k", "entries"},
		{"reads nothing", fold, "acc = acc + f32(k)", "entries"},
	} {
		text := sddmm
		if test.old != "" {
			text = strings.Replace(sddmm, test.old, test.replacement, 1)
			if text == sddmm {
				t.Fatal(test.name, "changes nothing")
			}
		}
		got := mappings(t, text)
		if got != test.want {
			t.Errorf("%s: mapped to %v, want %v", test.name, got, test.want)
		}
	}
}
