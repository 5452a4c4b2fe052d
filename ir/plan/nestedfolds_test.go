package plan

import "testing"

// TestFlatten pins which nested folds are one.
func TestFlatten(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"y(i) = sum_j (sum_k (A(i,j)*A(j,k)))", "t0\nt0 sum over j k: (A(i,j) * A(j,k))"},
		{"y = max_i (max_j (max_k (A(i,j) + A(j,k))))", "t0\nt0 max over i j k: (A(i,j) + A(j,k))"},
		{"y = any_i (any_j (A(i,j) > 0))", "t0\nt0 or over i j: (A(i,j) > 0)"},
		{"y = all_i (all_j (A(i,j) > 0))", "t0\nt0 and over i j: (A(i,j) > 0)"},
		{"y = prod_i (prod_j A(i,j)) + min_i (min_j A(i,j))", "(t0 + t1)\nt0 prod over i j: A(i,j)\nt1 min over i j: A(i,j)"},
		// Other folds, something in between, or stored coordinates.
		{"y = max_i (sum_j A(i,j))", "t1\nt0 sum over j: A(i,j)\nt1 max over i: t0"},
		{"y = sum_i (2*(sum_j A(i,j)))", "t1\nt0 sum over j: A(i,j)\nt1 sum over i: (2 * t0)"},
		{"y = sum_i (sum_{j in A} A(i,j))", "t1\nt0 sum over j in A(i,j): A(i,j)\nt1 sum over i: t0"},
		{"y = logsumexp_i (logsumexp_j A(i,j))", "t1\nt0 logsumexp over j: A(i,j)\nt1 logsumexp over i: t0"},
		// A mean reads its sum once, a variance its body three times.
		{"y = mean_i (sum_j A(i,j))", "(t0 / f64(|i|))\nt0 sum over i j: A(i,j)"},
	} {
		got := mustNormalForm(t, test.text, "A:CSR x:D").describe()
		if got != test.want {
			t.Errorf("%s is\n%s\nwant\n%s", test.text, got, test.want)
		}
	}
}
