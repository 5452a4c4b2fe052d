package plan

import (
	"fmt"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func indices(names ...string) []*ir.Index {
	var list []*ir.Index
	for i, n := range names {
		list = append(list, &ir.Index{ID: i, Name: n})
	}
	return list
}

func plain(v *ir.Index) ir.IndexExpr { return ir.IndexExpr{Terms: []ir.Term{{Var: v, Coef: 1}}} }

func TestConcordant(t *testing.T) {
	v := indices("i", "j")
	i, j := v[0], v[1]
	at := depths{i: 0, j: 1}
	for _, test := range []struct {
		format tensor.Format
		x, y   ir.IndexExpr
		want   bool
	}{
		{tensor.CSR, plain(i), plain(j), true},
		{tensor.CSC, plain(i), plain(j), false},
		{tensor.CSR, plain(j), plain(i), false},
		{tensor.CSC, plain(j), plain(i), true},
		{tensor.CSR, plain(i), plain(i), true},
		{tensor.Dense(2), plain(j), plain(i), true},
		{tensor.CSC, plain(i), ir.IndexExpr{Const: 3}, true}, // column 3: nothing to reorder
	} {
		a := &ir.Access{Tensor: &ir.Tensor{Format: test.format}, Indices: []ir.IndexExpr{test.x, test.y}}
		if got := at.concordant(a); got != test.want {
			t.Errorf("%s in %s, in loops i, j: concordant %t, want %t", ir.ExprString(a), test.format, got, test.want)
		}
	}
}

func TestReordered(t *testing.T) {
	v := indices("i", "j", "k")
	at := depths{v[0]: 0, v[1]: 1, v[2]: 2}
	parse := func(s string, rank int) tensor.Format {
		f, err := tensor.ParseFormat(s, rank)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, test := range []struct{ from, to string }{
		{"CSC", "CSR"},
		{"COOC", "DCSR"},
		{"DC-DC-S[2,1,0]", "DC-DC-S"},
		{"C-DC-S[1,0,2]", "C-DC-S"},
		{"C-S-D[1,0,2]", "C-S-D"},
	} {
		from := parse(test.from, -1)
		a := &ir.Access{Tensor: &ir.Tensor{Format: from}}
		for axis := 0; axis < from.Rank(); axis++ {
			a.Indices = append(a.Indices, plain(v[axis]))
		}
		got := at.reordered(a)
		if want := parse(test.to, from.Rank()); got != want {
			t.Errorf("%s reordered is %s, want %s", test.from, got, want)
		}
		b := &ir.Access{Tensor: &ir.Tensor{Format: got}, Indices: a.Indices}
		if !at.concordant(b) {
			t.Errorf("%s is not in loop order", got)
		}
	}
}

func TestPermutations(t *testing.T) {
	var got []string
	permutations(indices("a", "b", "c"), 100, func(order []*ir.Index) {
		s := ""
		for _, v := range order {
			s += v.Name
		}
		got = append(got, s)
	})
	if want := "[abc acb bac bca cab cba]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	n := 0
	permutations(indices("a", "b", "c", "d", "e", "f", "g", "h"), 50, func([]*ir.Index) { n++ })
	if n != 50 {
		t.Errorf("%d orders, want the limit of 50", n)
	}
}
