package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
)

// TestManyReduceOrders: a statement with few reductions is tried with all orders of their loops together; of many, one after the
// other gets its best, so that the number of candidates grows with the reductions rather than with the product of their orders.
func TestManyReduceOrders(t *testing.T) {
	for _, test := range []struct{ sums, most int }{{1, 2}, {3, 8}, {12, 1 + 12}} {
		text := "y(i) = " + strings.Repeat("sum_{j,k} (A(i,j)*A(k,j)*x(k)) + ", test.sums) + "1"
		s := mustNormalForm(t, text, "A:CSR x:D").scheduler(testAlgebra, ir.Options{})
		calls, least := 0, -1
		s.eachReduceOrder(nil, func() float64 {
			calls++
			wrong := 0
			for _, r := range s.reduces {
				if r.Order[0].Name[0] != 'k' {
					wrong++
				}
			}
			if least < 0 || wrong < least {
				least = wrong
			}
			return float64(wrong)
		})
		if calls != test.most || least != 0 {
			t.Errorf("%d sums are tried in %d ways, want %d, and the best has %d in the wrong order", test.sums, calls, test.most, least)
		}
	}
}

// TestManyOrders: of many loops, or of the loops of a large statement, only orders are tried in which something is stored.
func TestManyOrders(t *testing.T) {
	s := mustNormalForm(t, "y(i) = sum_{j,k} (A(i,j)*A(k,j)*x(k))", "A:CSR x:D").scheduler(testAlgebra, ir.Options{})
	count := func() (n int) {
		s.eachOrder(s.indices, s.accesses, func([]*ir.Index) { n++ })
		return n
	}
	if n := count(); n != 6 {
		t.Errorf("three loops are tried in %d orders, want 6", n)
	}
	s.most = 5
	if n := count(); n != 2 { // i j k; k j i, but not that of x, which is stored in any
		t.Errorf("the loops of a large statement are tried in %d orders, want 2", n)
	}
}

// TestManyVectors: a product of many vectors does not take longer to plan than their number warrants: one order is
// as good as another, and loops over dense ones are not cut short by anything.
func TestManyVectors(t *testing.T) {
	var text, formats strings.Builder
	text.WriteString("y = 1")
	for i := range 60 {
		fmt.Fprintf(&text, "*x%d(i%d)", i, i)
		fmt.Fprintf(&formats, "x%d:D ", i)
	}
	s := mustNormalForm(t, text.String(), formats.String()).scheduler(testAlgebra, ir.Options{})
	n := 0
	s.eachReduceOrder(nil, func() float64 { n++; return 0 })
	if n > 2 {
		t.Errorf("60 dense vectors are tried in %d orders, want one that costs as much as the others", n)
	}
	whole := wholeLoops(s.accesses)
	for _, v := range s.reduces[0].Vars {
		if !whole[v] {
			t.Errorf("the loop of %s is looked into, though nothing can cut it short", v.Name)
		}
	}
}

// TestManyIndices: an access of many indices counts as a large statement.
func TestManyIndices(t *testing.T) {
	var names, levels []string
	for _, name := range strings.Split("abcdefghijklmnopqrst", "") {
		names, levels = append(names, name), append(levels, "S")
	}
	format := strings.Join(levels, "-")
	text := "y(" + strings.Join(names[1:], ",") + ") = sum_a A(" + strings.Join(names, ",") + ")"
	s := mustNormalForm(t, text, "A:"+format+" y:"+format[2:]).scheduler(testAlgebra, ir.Options{})
	n := 0
	s.eachOrder(s.indices, s.accesses, func([]*ir.Index) { n++ })
	if n > cost.LeastTrials {
		t.Errorf("the loops over 20 indices are tried in %d orders, want %d at most", n, cost.LeastTrials)
	}
}
