package gpu_test

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
)

const spmm = `program C {
  scalar n_i bound
  scalar n_k bound
  scalar chunks
  buffer C_vals: []f64 output
  buffer A_pos: []u32 input
  buffer A_crd: []u32 input
  buffer A_vals: []f64 input
  buffer B_vals: []f64 input
  partition cut of n_i weights A_pos grain 32768 chunks chunks
  stage allocate {
    alloc C_vals[n_i * n_k] zero
  }
  stage compute over cut {
    run(A_crd, A_pos, C_vals, A_vals, B_vals; n_k)
    func compute(
      readonly A_crd: []u32,
      readonly A_pos: []u32,
      C_vals: []f64,
      readonly A_vals: []f64,
      readonly B_vals: []f64;
      n_k: i64
    ) chunk chunk, lo, hi {
      for i = lo to hi {
        let begin: i64 = i64(A_pos[i])
        let end: i64 = i64(A_pos[i + 1])
        for p = begin to end {
          let j: i64 = i64(A_crd[p])
          for independent k = 0 to n_k {
            let at: i64 = i * n_k + k
            C_vals[at] = C_vals[at] + A_vals[p] * B_vals[j * n_k + k]
          }
        }
      }
    }
  }
}`

// What is mapped to lanes that share columns, and what is not because an element might
// be changed, or read, by the wrong lane or at the wrong time.
func TestColumns(t *testing.T) {
	const sum = "C_vals[at] + A_vals[p] * B_vals[j * n_k + k]"
	for _, test := range []struct {
		name, old, replacement string
		want                   []string
	}{
		{"product", "", "", []string{"columns", "tiles_of_columns", "vectors", "longest", "pieces_of_vectors", "pieces_of_columns", "joined_pieces"}},
		{"not a fold", sum, "(C_vals[at] + A_vals[p]) * B_vals[j * n_k + k]", []string{"columns", "tiles_of_columns", "vectors"}},
		{"row of the entry", "let at: i64 = i * n_k + k", "let at: i64 = j * n_k + k", []string{"elements"}},
		{"another element read", sum, "C_vals[at] + C_vals[i * n_k] * B_vals[j * n_k + k]", []string{"elements"}},
		{"not independent", "for independent k", "for k", []string{"elements"}},
		{"a part of the line", "= 0 to n_k", "= 1 to n_k", []string{"elements"}},
	} {
		text := strings.ReplaceAll(spmm, test.old, test.replacement)
		if test.old == "" {
			text = spmm
		}
		got := mappings(t, text)
		if got != strings.Join(test.want, " ") {
			t.Errorf("%s: mapped to %v, want %v", test.name, got, test.want)
		}
	}
}

// mappings are how the stage "compute" of a program is mapped.
func mappings(t *testing.T, text string) string {
	t.Helper()
	var got []string
	for _, s := range mapped(t, text).Stages {
		if how, ok := strings.CutPrefix(s.Name, "compute_by_"); ok {
			got = append(got, how)
		}
	}
	return strings.Join(got, " ")
}

// mapped is a program mapped to grids, which the verifier passes.
func mapped(t *testing.T, text string) *loop.Program {
	t.Helper()
	p, err := loop.ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Verify(nil); err != nil {
		t.Fatal(err)
	}
	g := gpu.Map(p, gpu.Options{})
	if err := g.Verify(nil); err != nil {
		t.Fatalf("%v\n%s", err, g)
	}
	return g
}
