package gpu_test

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
)

const spmv = `program y {
  scalar n_i bound
  scalar y_dim0 bound
  scalar cut0_chunks
  buffer y_vals: []f64 output
  buffer A1_pos: []u32 input
  buffer A1_crd: []u32 input
  buffer A_vals: []f64 input
  buffer x_vals: []f64 input
  partition cut0 of n_i weights A1_pos grain 32768 chunks cut0_chunks
  stage allocate {
    alloc y_vals[y_dim0]
  }
  stage compute over cut0 {
    run(A1_crd, A1_pos, A_vals, x_vals, y_vals; n_i)
    func compute_y(
      readonly A1_crd: []u32,
      readonly A1_pos: []u32,
      readonly A_vals: []f64,
      readonly x_vals: []f64,
      y_vals: []f64;
      n_i: i64
    ) chunk chunk, lo, hi {
      for i = lo to hi {
        var acc: f64 = 0.0
        let begin: i64 = i64(A1_pos[i])
        let end: i64 = i64(A1_pos[i + 1])
        for p_A = begin to end {
          let j: i64 = i64(A1_crd[p_A])
          let A: f64 = A_vals[p_A]
          let x: f64 = x_vals[j]
          acc = acc + A * x
        }
        let t: f64 = acc
        y_vals[i] = t
      }
    }
  }
}`

// What is read at places that entries tell is read by tiles of entries; rows that do
// not say which entries are whose, or entries that ask for their row, are left to lanes.
func TestPositions(t *testing.T) {
	for _, test := range []struct {
		name, old, replacement, want string
	}{
		{"product", "", "", "longest few_rows starts_of_tiles positions long_rows"},
		{"nothing gathered", "x_vals[j]", "x_vals[p_A]", "rows long_rows"},
		{"the row is asked for", "acc + A * x", "acc + A * x * f64(i)", "rows long_rows"},
		{"not a fold", "acc + A * x", "acc * 2.0 + A * x", "elements"},
		{"other rows' entries", "A1_pos[i + 1]", "A1_pos[i + 2]", "rows"},
	} {
		text := spmv
		if test.old != "" {
			text = strings.ReplaceAll(spmv, test.old, test.replacement)
		}
		var got []string
		for _, s := range mapped(t, text).Stages {
			if how, ok := strings.CutPrefix(s.Name, "compute_by_"); ok {
				got = append(got, how)
			}
		}
		if how := strings.Join(got, " "); how != test.want {
			t.Errorf("%s: mapped to %s, want %s", test.name, how, test.want)
		}
	}
}

// The lanes of a warp share the loop over a row.
func TestRows(t *testing.T) {
	p, err := loop.ParseProgram(strings.ReplaceAll(spmv, "x_vals[j]", "x_vals[p_A]"))
	if err != nil {
		t.Fatal(err)
	}
	before := p.String()
	g := gpu.Map(p, gpu.Options{})
	if err := g.Verify(nil); err != nil {
		t.Fatalf("%v\n%s", err, g)
	}
	if p.String() != before {
		t.Error("the program itself has changed")
	}
	text := g.String()
	for _, want := range []string{"stage compute_by_rows {", "grid threads 256 {", "shuffle_xor(sum, mask)"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	again, err := loop.ParseProgram(text)
	if err != nil {
		t.Fatal(err)
	}
	if again.String() != text {
		t.Errorf("parsed again it is\n%s", again)
	}
}
