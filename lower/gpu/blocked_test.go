package gpu_test

import (
	"strings"
	"testing"
)

// denseProduct is Y = P Q as it is lowered.
const denseProduct = `program Y {
  scalar n_i bound
  scalar n_k bound
  scalar n_j bound
  scalar chunks
  buffer Y_vals: []f64 output
  buffer P_vals: []f64 input
  buffer Q_vals: []f64 input
  partition cut0 of n_i grain 32 chunks chunks
  stage allocate {
    alloc Y_vals[n_i * n_j] zero
  }
  stage compute over cut0 {
    run(Y_vals, P_vals, Q_vals; n_k, n_j)
    func compute_Y(Y_vals: []f64, readonly P_vals: []f64, readonly Q_vals: []f64; n_k: i64, n_j: i64) chunk chunk, lo, hi {
      for independent i = lo to hi {
        for k = 0 to n_k {
          let p: i64 = i * n_k + k
          for independent j = 0 to n_j {
            let q: i64 = k * n_j + j
            let at: i64 = i * n_j + j
            Y_vals[at] = Y_vals[at] + P_vals[p] * Q_vals[q]
          }
        }
      }
    }
  }
}`

// denseDots is Y = P Q' as it is lowered.
const denseDots = `program Y {
  scalar n_i bound
  scalar n_k bound
  scalar n_j bound
  scalar chunks
  buffer Y_vals: []f64 output
  buffer P_vals: []f64 input
  buffer Q_vals: []f64 input
  partition cut0 of n_i grain 32 chunks chunks
  stage allocate {
    alloc Y_vals[n_i * n_j]
  }
  stage compute over cut0 {
    run(Y_vals, P_vals, Q_vals; n_k, n_j)
    func compute_Y(Y_vals: []f64, readonly P_vals: []f64, readonly Q_vals: []f64; n_k: i64, n_j: i64) chunk chunk, lo, hi {
      for i = lo to hi {
        for j = 0 to n_j {
          var acc: f64 = 0.0
          for k = 0 to n_k {
            acc = acc + P_vals[i * n_k + k] * Q_vals[j * n_k + k]
          }
          Y_vals[i * n_j + j] = acc
        }
      }
    }
  }
}`

// Products of dense matrices are taken by blocks; what needs more than a row's and a column's elements is not.
func TestBlocked(t *testing.T) {
	const (
		blocks  = "blocked blocked_narrow "
		columns = "columns tiles_of_columns vectors"
		pieces  = columns + " pieces_of_vectors pieces_of_columns joined_pieces"
		lanes   = "whole_rows rows"
	)
	for _, test := range []struct{ name, text, old, replacement, want string }{
		{"product", denseProduct, "", "", blocks + pieces},
		{"not a fold", denseProduct, "+ P_vals", "* 0.5 + P_vals", blocks + columns},
		{"with the element", denseProduct, "P_vals[p] *", "P_vals[at] * P_vals[p] *", blocks + pieces},
		{"nothing of the row", denseProduct, "P_vals[p]", "2.0", pieces},
		{"nothing of the column", denseProduct, "Q_vals[q]", "2.0", pieces},
		{"read for both", denseProduct, "Q_vals[q]", "Q_vals[q + i]", pieces},
		{"a place that is read", denseProduct, "Q_vals[q]", "Q_vals[i64(P_vals[p]) + j]", pieces},
		{"a triangle", denseProduct, "k = 0 to n_k", "k = i to n_k", columns},
		{"a loop beside", denseProduct, "for independent j", "for l = 0 to n_k {\n}\nfor independent j", "columns tiles_of_columns vectors pieces_of_vectors pieces_of_columns joined_pieces"},
		{"dots", denseDots, "", "", blocks + lanes},
		{"dots and more", denseDots, "= acc\n", "= acc * P_vals[i]\n", blocks + lanes},
		{"dots of a part", denseDots, "k = 0 to n_k", "k = j to n_k", "line_elements"},
	} {
		text := test.text
		if test.old != "" {
			if text = strings.Replace(text, test.old, test.replacement, 1); text == test.text {
				t.Fatalf("%s: nothing replaced", test.name)
			}
		}
		if got := mappings(t, text); got != test.want {
			t.Errorf("%s: mapped to %v, want %v", test.name, got, test.want)
		}
	}
}
