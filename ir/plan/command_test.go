package plan

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
)

// planOf plans a program with what a test does to its only statement's scheduler options.
func planOf(t *testing.T, text, decls string, opts ir.Options) *ir.Plan {
	t.Helper()
	p, err := New(context.Background(), checked(t, text, decls), opts, testAlgebra.Eval)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// TestScheduleIsComplete: the schedule that a plan prints leaves nothing open. A planner that takes the dearest of the loops
// that are as it says makes the same plan as the one that takes the cheapest.
func TestScheduleIsComplete(t *testing.T) {
	for _, test := range []struct{ text, decls string }{
		{"y(i) = A(i,j)*x(j)", "A:CSR x:D =y:D"},
		{"y(j) = A(i,j)*x(i)", "A:CSR x:D =y:D"},
		{"C(i,j) = A(i,k)*B(k,j)", "A:CSR B:CSR =C:CSR"},
		{"C(i,j) = A(i,k)*B(k,j)", "A:CSR B:CSC =C:CSC"},
		{"C(i,j) = A(i,j)*A(i,k)*B(k,j)", "A:CSR B:CSR =C:CSR"},
		{"C(i,j) = A(i,k)*B(k,j) + max_l (A(i,l)*B(l,j))", "A:CSR B:CSR =C:DCSR"},
		{"s = A(i,j)*A(j,k)*A(i,k)", "A:CSR"},
		{"Y(i,j) = A(i,k)*X(k,j)", "A:CSR X:D-D =Y:D-D"},
		{"y(i) = A(i,j)*x(j)/sum_k A(i,k)", "A:CSR x:D =y:D"},
	} {
		plan := planOf(t, test.text, test.decls, ir.Options{})
		step := plan.Steps[len(plan.Steps)-1].(*ir.Compute)
		said := test.text + " with "
		for i, c := range Schedule(step, step.Directives) {
			if i > 0 {
				said += ", "
			}
			said += c
		}
		want := plan.String()
		if got := planOf(t, said, test.decls, ir.Options{}).String(); got != want {
			t.Errorf("%s gives\n%swant\n%s", said, got, want)
		}
		if got := loopsOf(planOf(t, said, test.decls, ir.Options{Dearest: true})); got != loopsOf(plan) {
			t.Errorf("%s leaves open\n%swant\n%s", said, got, loopsOf(plan))
		}
	}
}

// TestScheduleIsOfTheStatement: the loops that a scan or an order statistic needs beforehand are not those that the schedule is about.
func TestScheduleIsOfTheStatement(t *testing.T) {
	for _, text := range []string{"y(i,j) = z(j,i) * cumsum_j (A(i,k)*B(k,j))", "y(i,j) = z(j,i) * median_k (A(i,k)*B(k,j))"} {
		plan := planOf(t, text+" with order(j, i)", "A:CSR B:D-D z:D-D =y:D-D", ir.Options{})
		for i, s := range plan.Steps {
			c, ok := s.(*ir.Compute)
			if ok && c.Main != (len(c.Directives.Commands) > 0) {
				t.Errorf("%s: step %d, in which the statement's value is computed: %t, has the schedule %v", text, i, c.Main, c.Directives.Commands)
			}
		}
	}
}

// loopsOf prints a plan without what its alternatives cost.
func loopsOf(p *ir.Plan) string {
	for _, s := range p.Steps {
		if c, ok := s.(*ir.Compute); ok {
			c.Ways = nil
		}
	}
	return p.String()
}
