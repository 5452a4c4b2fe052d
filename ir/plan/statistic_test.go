package plan

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
)

// Where the outermost index of what is assigned tells the order of a quantile, that axis is the outermost of the quantiles as they are made, too.
func TestOrdersOutermost(t *testing.T) {
	for text, want := range map[string]bool{
		"Q(k,i) = quantile_j(A(i,j), q(k))": true,
		"Q(i,k) = quantile_j(A(i,j), q(k))": false,
		"y(k) = quantile_j(x(j), q(k))":     true,
		"y(i) = quantile_j(A(i,j), 0.5)":    false,
	} {
		found := false
		for _, step := range planOf(t, text, "A:D-D x:D q:D", ir.Options{}).Steps {
			if s, ok := step.(*ir.Statistic); ok {
				found = true
				if s.OrdersFirst != want {
					t.Errorf("%s: orders are outermost: %v, want %v", text, s.OrdersFirst, want)
				}
			}
		}
		if !found {
			t.Errorf("%s has no quantile", text)
		}
	}
}
