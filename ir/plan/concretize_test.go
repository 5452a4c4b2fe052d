package plan

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
)

// nestOf prints the nest of a statement with its loops as written.
func nestOf(t *testing.T, text string) string {
	nf := mustNormalForm(t, text, "A:CSR B:CSR x:D")
	for _, r := range nf.reduces {
		r.Order = r.Vars
	}
	var free []*ir.Index
	for _, x := range nf.lhs.Indices {
		free = x.Vars(free)
	}
	p := ir.Plan{Steps: []ir.Step{&ir.Compute{Body: nf.gather(free)}}}
	return p.String()
}

// TestNest places every reduction at the outermost loop that binds what it
// reads from outside, before what reads it.
func TestNest(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"inside the loop whose index it reads", "y(i) = sum_j A(i,j)*x(j)", `
forall i
  where t0 = sum over j
    forall j
      t0 sum= (A(i,j) * x(j))
  y(i) = t0
`},
		{"outside all loops when it reads none", "y(i) = x(i) / norm_j x(j)", `
where t0 = sum over j
  forall j
    t0 sum= square(x(j))
forall i
  y(i) = (x(i) / sqrt(t0))
`},
		{"between two loops", "C(i,j) = B(i,j) * max_k A(i,k)", `
forall i
  where t0 = max over k
    forall k
      t0 max= A(i,k)
  forall j
    C(i,j) = (B(i,j) * t0)
`},
		{"inside another reduction that binds what it reads", "y(i) = sum_j (A(i,j) * max_k B(j,k))", `
forall i
  where t1 = sum over j
    forall j
      where t0 = max over k
        forall k
          t0 max= B(j,k)
      t1 sum= (A(i,j) * t0)
  y(i) = t1
`},
		{"before another reduction that only reads it", "y(i) = sum_j (A(i,j) * max_k x(k))", `
where t0 = max over k
  forall k
    t0 max= x(k)
forall i
  where t1 = sum over j
    forall j
      t1 sum= (A(i,j) * t0)
  y(i) = t1
`},
		{"three passes in a row", "y(i) = var_j A(i,j)", `
forall i
  where t0 = sum over j
    forall j
      t0 sum= A(i,j)
  where t1 = sum over j2
    forall j2
      t1 sum= (A(i,j2) - (t0 / f64(|j|)))
  where t2 = sum over j3
    forall j3
      t2 sum= square((A(i,j3) - ((t0 / f64(|j|)) + (t1 / f64(|j|)))))
  y(i) = (t2 / f64(|j|))
`},
	} {
		if got := nestOf(t, test.text); got != test.want[1:] {
			t.Errorf("%s: %s is\n%s\nwant%s", test.name, test.text, got, test.want)
		}
	}
}

// TestRefersTo: what a value reads through reductions, stopping at one of them.
func TestRefersTo(t *testing.T) {
	nf := mustNormalForm(t, "y(i) = sum_j (A(i,j) * max_k B(j,k)) + min_l x(l)", "A:CSR B:CSR x:D")
	inner, outer, other := nf.reduces[0], nf.reduces[1], nf.reduces[2]
	for _, test := range []struct {
		name string
		e    ir.Expr
		done *ir.Reduce
		want []*ir.Reduce
	}{
		{"the value reads all", nf.value, nil, []*ir.Reduce{inner, outer, other}},
		{"not what only a computed one reads", nf.value, outer, []*ir.Reduce{outer, other}},
		{"a body reads what is inside it", outer.Body, nil, []*ir.Reduce{inner}},
		{"or nothing", inner.Body, nil, nil},
	} {
		got := refersTo(test.e, test.done)
		if len(got) != len(test.want) {
			t.Errorf("%s: %d reductions, want %d", test.name, len(got), len(test.want))
		}
		for _, r := range test.want {
			if !got[r] {
				t.Errorf("%s: t%d is missing", test.name, r.Temp.ID)
			}
		}
	}
}
