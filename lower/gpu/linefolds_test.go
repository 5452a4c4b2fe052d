package gpu_test

import (
	"strings"
	"testing"
)

const lines = `program C {
  scalar n_i bound
  scalar n_k bound
  scalar chunks
  buffer A_pos: []u32 input
  buffer A_crd: []u32 input
  buffer A_vals: []f16 input
  buffer B_vals: []f16 input
  buffer C_vals: []f16 output
  partition cut of n_i grain 1 chunks chunks
  stage compute over cut {
    alloc C_vals[n_i * n_k]
    run(A_pos, A_crd, A_vals, B_vals, C_vals; n_k)
    func compute(
      readonly A_pos: []u32,
      readonly A_crd: []u32,
      readonly A_vals: []f16,
      readonly B_vals: []f16,
      C_vals: []f16;
      n_k: i64
    ) chunk chunk, lo, hi {
      for i = lo to hi {
        for k = 0 to n_k {
          var acc: f32 = 0.0:f32
          let begin: i64 = i64(A_pos[i])
          let end: i64 = i64(A_pos[i + 1])
          for p = begin to end {
            let j: i64 = i64(A_crd[p])
            acc = acc + A_vals[p] * B_vals[j * n_k + k]
          }
          C_vals[i * n_k + k] = acc
        }
      }
    }
  }
}`

// Lines whose elements are folds take columns, where each goes over the same entries.
func TestLineFolds(t *testing.T) {
	const columns = "columns tiles_of_columns vectors longest pieces_of_vectors pieces_of_columns joined_pieces"
	for _, test := range []struct{ name, old, replacement, want string }{
		{"product", "", "", columns},
		{"then more", "= acc\n", "= acc / f32(end - begin)\n", columns},
		{"all of a dimension", "for p = begin to end", "for p = 0 to n_k", strings.Replace(columns, "longest ", "", 1)},
		{"entries by column", "for p = begin to end", "for p = begin to end - k", "line_elements"},
		{"a variable in the loop", "let j: i64 = i64(A_crd[p])", "var j: i64 = i64(A_crd[p])", "line_elements"},
		{"some entries", "acc = acc + A_vals[p] * B_vals[j * n_k + k]", "if j > 3 {\nacc = acc + A_vals[p]\n}", "line_elements"},
		{"a loop after", "C_vals[i * n_k + k] = acc", "for m = 0 to 3 {\nacc = acc + 1.0:f32\n}\nC_vals[i * n_k + k] = acc", "line_elements"},
	} {
		text := lines
		if test.old != "" {
			text = strings.Replace(lines, test.old, test.replacement, 1)
			if text == lines {
				t.Fatal(test.name, "changes nothing")
			}
		}
		got := mappings(t, text)
		if got != test.want {
			t.Errorf("%s: mapped to %v, want %v", test.name, got, test.want)
		}
	}
}
