package gpu_test

import (
	"strings"
	"testing"
)

const columnSums = `program p {
  scalar n_i bound
  scalar n_k bound
  scalar chunks
  buffer U_vals: []f64 input
  buffer y_vals: []f64 output
  partition cut of n_k grain 4 chunks chunks
  stage compute over cut {
    alloc y_vals[n_k]
    run(U_vals, y_vals; n_i, n_k)
    func compute(readonly U_vals: []f64, y_vals: []f64; n_i: i64, n_k: i64) chunk chunk, lo, hi {
      for k = lo to hi {
        var acc: f64 = 0.0
        for i = 0 to n_i {
          acc = acc + U_vals[i * n_k + k]
        }
        y_vals[k] = acc
      }
    }
  }
}`

// Elements whose folds read side by side for neighbours are the columns of one row.
func TestLine(t *testing.T) {
	const columns = "columns tiles_of_columns vectors pieces_of_vectors pieces_of_columns joined_pieces"
	for _, test := range []struct{ name, old, replacement, want string }{
		{"sums of columns", "", "", columns},
		{"part of a column", "for i = 0 to", "for i = 1 to", "elements"},
		{"read along the fold", "i * n_k + k", "k * n_i + i", "whole_rows rows"},
		{"read apart", "i * n_k + k", "i + k * 2", "rows"},
		{"a length for each", "to n_i", "to n_i - k", "elements"},
	} {
		text := strings.Replace(columnSums, test.old, test.replacement, 1)
		if got := mappings(t, text); got != test.want {
			t.Errorf("%s: mapped to %v, want %v", test.name, got, test.want)
		}
	}
}
