package gpu_test

import (
	"strings"
	"testing"
)

const cube = `program y {
  scalar n_i bound
  scalar n_j bound
  scalar n_k bound
  scalar chunks
  buffer z_vals: []f32 input
  buffer t_vals: []f32 input
  buffer y_vals: []f32 output
  partition cut of n_i grain 1 chunks chunks
  stage compute over cut {
    alloc y_vals[n_i * n_j * n_k]
    run(z_vals, t_vals, y_vals; n_j, n_k)
    func compute(
      readonly z_vals: []f32,
      readonly t_vals: []f32,
      y_vals: []f32;
      n_j: i64,
      n_k: i64
    ) chunk chunk, lo, hi {
      for i = lo to hi {
        for j = 0 to n_j {
          let p: i64 = i * n_j + j
          for independent k = 0 to n_k {
            y_vals[p * n_k + k] = z_vals[p * n_k + k] - t_vals[p]
          }
        }
      }
    }
  }
}`

// Pairs of coordinates are rows, unless what they store might be the same, or they have to do
// with each other.
func TestPairs(t *testing.T) {
	const lines = "long_lines_of_vectors long_lines line_elements"
	const body = "          for independent k = 0 to n_k {\n            y_vals[p * n_k + k] = z_vals[p * n_k + k] - t_vals[p]\n          }\n"
	fold := func(index string) string {
		return "          var acc: f32 = 0.0:f32\n          for k = 0 to n_k {\n            acc = acc + z_vals[p * n_k + k]\n          }\n          y_vals[" + index + "] = acc\n"
	}
	for _, test := range []struct{ name, old, replacement, want string }{
		{"elements", "", "", lines},
		{"a fold for each pair", body, fold("p"), "whole_rows rows"},
		{"a place by name", "            y_vals[p * n_k + k]", "            let q: i64 = (i * n_j + j) * n_k + k\n            y_vals[q]", lines},
		{"read apart", "z_vals[p * n_k + k]", "z_vals[k * n_j + p]", "line_elements"},
		{"read at places", "t_vals[p]", "t_vals[i64(bits(t_vals[k]))]", "line_elements"},
		{"stored by row", "y_vals[p * n_k + k]", "y_vals[i * n_k + k]", "elements"},
		{"stored at multiples", "y_vals[p * n_k + k]", "y_vals[p * 2 + k]", "elements"},
		{"one column of several", body, fold("i * n_j + j / 2"), "elements"},
		{"part of a dimension", "for j = 0 to n_j", "for j = 1 to n_j", "elements"},
		{"columns of the row", "for j = 0 to n_j", "for j = 0 to i", "elements"},
		{"two stores", body, body + "          y_vals[p] = 0.0:f32\n", "elements"},
	} {
		text := cube
		if test.old != "" {
			if text = strings.Replace(cube, test.old, test.replacement, 1); text == cube {
				t.Fatal(test.name, "changes nothing")
			}
		}
		if got := mappings(t, text); got != test.want {
			t.Errorf("%s: mapped to %v, want %v", test.name, got, test.want)
		}
	}
}

// Blocks take rows that are read side by side.
func TestWholeRows(t *testing.T) {
	text := strings.ReplaceAll(spmv, "p_A = begin to end", "p_A = 0 to n_i")
	for _, test := range []struct{ name, index, want string }{
		{"side by side", "i * n_i + p_A", "whole_rows rows"},
		{"the same for all rows", "p_A", "whole_rows rows"},
		{"apart", "p_A * n_i + i", "rows"},
		{"backwards", "n_i - p_A", "rows"},
	} {
		text := strings.NewReplacer("A_vals[p_A]", "A_vals["+test.index+"]", "x_vals[j]", "x_vals[i]").Replace(text)
		if got := mappings(t, text); got != test.want {
			t.Errorf("%s: mapped to %v, want %v", test.name, got, test.want)
		}
	}
}
