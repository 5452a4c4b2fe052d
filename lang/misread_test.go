package lang

import (
	"strings"
	"testing"
)

// TestMisread checks what is said of names that mean something else than they
// seem to.
func TestMisread(t *testing.T) {
	for _, c := range []struct {
		src, name        string // the tensors given: x and name
		reduction, index string // in the hints of the errors; "": no error
	}{
		{"y = sum(x)", "x", "sum_i x(i)", "sum(x(i))"},
		{"y = sum(i)", "x", "sum_i x(i)", ""},
		{"y(i) = mean(x(i,j))", "x", "mean_j x(i, j)", ""},
		{"y(i) = sum(i)", "sum", "", ""},
		{"sum = sum_i x(i); y = sum()", "x", "", ""},
		{"y(i) = x(p)", "p", "", "x(p(i))"},
		{"y(i) = x(2*p+1)", "p", "", "x(p(i))"},
		{"y(i) = x(p(i))", "p", "", ""},
		{"y(p) = x(i)", "p", "", "y(p(i))"},
		{"y = matmul(A, B)", "A", "", "C(i,k) = sum_j A(i,j)*B(j,k)"},
		{"y = x(i) + max(1, z(q(p)))", "p", "", "q(p(i))"},
	} {
		f, err := Parse(c.src)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, err error, want string) {
			t.Helper()
			switch {
			case want == "" && err != nil:
				t.Errorf("%s: %s: %v", c.src, what, err)
			case want != "" && (err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), ", ", ","), strings.ReplaceAll(want, ", ", ","))):
				t.Errorf("%s: %s: error %v, want one with %q", c.src, what, err, want)
			}
		}
		check("reduction", f.UnknownReduction(func(name string) bool { return name == "x" || name == c.name }), c.reduction)
		check("index", f.MisusedTensor(c.name), c.index)
	}
}
