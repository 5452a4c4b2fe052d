package grid

import (
	"fmt"
	"testing"

	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
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

func TestSpMV(t *testing.T) {
	p, err := loop.ParseProgram(spmv)
	if err != nil {
		t.Fatal(err)
	}
	g := Map(p, Options{})
	fmt.Println(g)
	var fs []*loop.Func
	for _, s := range g.Stages {
		if s.Func != nil {
			fs = append(fs, s.Func)
		}
	}
	text, err := ptx.Emit("m", fs, nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(text)
	l, err := llvm.Load("")
	if err != nil {
		t.Fatal(err)
	}
	asm, err := l.EmitAssembly(text, llvm.Options{Target: llvm.Target{Triple: ptx.Triple, CPU: "sm_80"}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(asm)
}
