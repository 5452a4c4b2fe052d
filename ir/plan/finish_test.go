package plan

import (
	"context"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
)

// TestFinish: which functions of sums are applied when the sum is there, where the sum's loops follow the storage of its operand and
// those around it would not.
func TestFinish(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"y(i) = 0.5*sum_j A(j,i)*x(j)", "compute compute"},
		{"y(i) = sqrt(sum_j A(j,i)*x(j))", "compute compute"},
		{"y(i) = mean_j A(j,i)", "compute compute"},
		{"y(i) = max(sum_j A(j,i)*x(j) - b(i), 0)", "compute compute"},
		{"y(i) = -max_j A(j,i)", "compute compute"},
		{"y(i) = sum_j A(j,i)*x(j)", "compute"},                   // the fold alone
		{"y(i) = 0.5*sum_j A(i,j)*x(j)", "compute"},               // A is read as it is stored
		{"y(i) = x(i)*sum_j A(j,i)", "convert compute"},           // x may be infinite where a column stores nothing
		{"y(i) = sum_j A(j,i) + max_j A(j,i)", "convert compute"}, // two folds
		{"y(i) = 1/sum_j A(j,i)", "compute compute"},
		{"y(i) = (sum_j A(j,i)*x(j))/b(i)", "convert compute"},
		{"y(i) = 0.5*sum_{j in A} A(j,i)", "convert compute"},
		{"y(i) = S(i) + exp(sum_j A(j,i))", "convert compute"},
	} {
		p, err := New(context.Background(), checked(t, test.text, "A:CSR S:S x:D b:D =y:D[f64]"), ir.Options{}, arithmetic)
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		var steps []string
		for _, s := range p.Steps {
			switch s.(type) {
			case *ir.Convert:
				steps = append(steps, "convert")
			case *ir.Compute:
				steps = append(steps, "compute")
			}
		}
		if got := strings.Join(steps, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
}
