package ir

import "testing"

// TestPlain: a bare index that takes every coordinate of its axis, nothing else.
func TestPlain(t *testing.T) {
	i, j := &Index{Name: "i"}, &Index{ID: 1, Name: "j"}
	plain := func(v *Index) IndexExpr { return IndexExpr{Terms: []Term{{Var: v, Coef: 1}}} }
	gathered := &Access{Tensor: &Tensor{Name: "p"}, Indices: []IndexExpr{plain(i)}}
	part := plain(i)
	part.Slice = true
	for _, test := range []struct {
		name string
		x    IndexExpr
		want *Index
	}{
		{"i", plain(i), i},
		{"a constant", IndexExpr{Const: 2}, nil},
		{"i+1", IndexExpr{Terms: []Term{{Var: i, Coef: 1}}, Const: 1}, nil},
		{"2*i", IndexExpr{Terms: []Term{{Var: i, Coef: 2}}}, nil},
		{"-i", IndexExpr{Terms: []Term{{Var: i, Coef: -1}}}, nil},
		{"i+j", IndexExpr{Terms: []Term{{Var: i, Coef: 1}, {Var: j, Coef: 1}}}, nil},
		{"a gather", IndexExpr{Gather: gathered}, nil},
		{"a slice that ends early", part, nil},
	} {
		if got := test.x.Plain(); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}
