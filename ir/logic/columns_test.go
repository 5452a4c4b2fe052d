package logic

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestColumned: elements lie apart where a sum inside reads a dense matrix whose innermost index is one of the result's.
func TestColumned(t *testing.T) {
	decls := map[string]lang.Decl{}
	for name, f := range map[string]tensor.Format{"A": tensor.CSR, "V": tensor.Dense(2), "b": tensor.Dense(1), "B": tensor.Dense(2)} {
		decls[name] = lang.Decl{Rank: f.Rank(), Format: f, HasFormat: true, DType: tensor.Float64, HasDType: true}
	}
	for text, want := range map[string]bool{
		"G(i,r) = B(i,r) - sum_j (A(i,j)*V(j,r))":                true,
		"G(i,r) = B(i,r) - sum_j (A(i,j)*V(r,j))":                false, // side by side
		"y(i) = b(i) - sum_j (A(i,j)*b(j))":                      false,
		"y(i) = b(i) - sum_j (A(i,j)*V(i,j+1))":                  false, // no plain index
		"G(i,r) = sum_j (A(i,j)*V(j,r))":                         false, // the whole is no part
		"T(k,l) = B(k,l)*V(k,l); R = 1 - sum_p (b(p)*T(p,p))":    false, // how T is stored is not known yet
		"T(0,i,k) = A(i,k); y(i) = b(i) - sum_p (b(p)*T(0,p,i))": false,
	} {
		p, err := lang.Check(must(lang.Parse(text)), decls)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := columned(p.Stmts[len(p.Stmts)-1].RHS); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
