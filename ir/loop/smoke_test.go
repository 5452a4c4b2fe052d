package loop

import ("testing";"fmt")

func TestSmoke(t *testing.T) {
	src := `func spmv(readonly A1_pos: []u32, readonly A1_crd: []u32, readonly A_vals: []f64, readonly x: []f64, y: []f64; n: i64) chunk c, lo, hi {
  // comment
  for i = lo to hi {
    var s: f64 = 0.0
    for p = i64(A1_pos[i]) to i64(A1_pos[i + 1]) {
      s = s + A_vals[p] * x[i64(A1_crd[p])]
    }
    y[i] = s
    if i == n & n > 3 { y[i] = -(1.0) } else if n < 2 { fail 0 "bad" }
    let z: c128 = complex(1.0, nan) * complex((1.0), 2.0) + complex(s, 2.0)
    let k: i64 = select(true, isnan(1.5:f32):i64, i64(exp_f64(f64#7ff8000000000001)))
  }
}`
	f, err := ParseFunc(src)
	if err != nil { t.Fatal(err) }
	fmt.Println(f)
	fmt.Println(f.String()==Compact(f).String())
	p := `program a { scalar n bound scalar c
	buffer A: []u32 input buffer y: []f64 output
	partition rows of n - 1 weights A grain 4096 chunks c
	stage fill over rows ordered { let c = max(n, A[n+1]) * -3
	 alloc y[n] zero
	 partitioned { alloc y[c] }
	 run(A, y; n)
	 func f(readonly A: []u32, y: []f64; n: i64) chunk c, lo, hi { y[lo] = 1.0 } } }`
	q, err := ParseProgram(p)
	if err != nil { t.Fatal(err) }
	fmt.Println(q)
}
