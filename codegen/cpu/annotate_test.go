package cpu

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

func TestAnnotate(t *testing.T) {
	f, err := loop.ParseFunc(`func f(x: []f64, p: []u32; n: i64) chunk c, lo, hi {
  for i = lo to hi {
    for q = i64(p[i]) to i64(p[i + 1]) {
      x[q] = 0.0
    }
    var k: i64 = 0
    while k < n {
      k = k + 1
    }
  }
  for i.1 = 0 to n {
    x[i.1] = 1.0
  }
}`)
	if err != nil {
		t.Fatal(err)
	}
	const assembly = `f.body:
.LBB0_1:    # %for.i
.LBB0_2:    # %for.q
# %bb.3:    # %while.body
.LBB0_4:    # %for.i.end
.LBB0_5:    // %for.i.1
g.body:
.LBB1_1:    # %for.i
`
	const want = `f.body:
.LBB0_1:    # %for.i: for i = lo to hi
.LBB0_2:    # %for.q: for q = i64(p[i]) to i64(p[i + 1])
# %bb.3:    # %while.body: while k < n
.LBB0_4:    # %for.i.end
.LBB0_5:    // %for.i.1: for i.1 = 0 to n
g.body:
.LBB1_1:    # %for.i
`
	if got := Annotate(assembly, []*loop.Func{f}); got != want {
		t.Errorf("annotated:\n%swant\n%s", got, want)
	}
}
