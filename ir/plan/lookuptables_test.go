package plan

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
)

// TestTables pins where tables stand, if anywhere.
func TestTables(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"y = sum_{i,j,k} A(i,j)*A(j,k)*A(i,k)", "forall i|table of A(i,k) by k|forall j|forall k"},
		{"y = sum_{i,j} (B(i,j) * (sum_k A(i,k)*B(j,k)))", "forall i|table of A(i,k) by k|forall j|forall k"},
		// What does not change at all is entered once.
		{"y(i) = sum_k A(i,k)*s(k)", "table of s(k) by k|forall i|forall k"},
		{"y = sum_{i,j} (B(i,j) * (sum_k A(i,k)*B(j,k)*s(k)))", "table of s(k) by k|forall i|table of A(i,k) by k|forall j|forall k"},
		// A merge goes through both operands once.
		{"y(i) = sum_k A(i,k)*B(i,k)", "forall i|forall k"},
		// A union has to go through both.
		{"y(i) = sum_k (A(i,k) + s(k))", "forall i|forall k"},
		// Fills that do not decide the product do not make an intersection.
		{"y(i) = sum_k (A(i,k) * x(k))", "forall i|forall k"},
		{"y(i) = sum_{k in A} (A(i,k) * s(k))", "forall i|forall k"},
		// Entries that belong to no index would have to be told apart.
		{"y(i) = sum_k (A(i,k) * s(2*k))", "forall i|forall k"},
	} {
		p, err := New(t.Context(), checked(t, test.text, "A:CSR B:CSR s:S x:D"), ir.Options{}, arithmetic)
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		var got []string
		for _, line := range strings.Split(p.String(), "\n") {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "forall") || strings.HasPrefix(line, "table") {
				got = append(got, line)
			}
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%s has\n%s\nwant\n%s", test.text, strings.Join(got, "|"), test.want)
		}
	}
}
