package lang

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPrintParsed checks that a parsed program prints back to the same tree, with
// its parentheses.
func TestPrintParsed(t *testing.T) {
	for _, src := range corpus(t) {
		f, err := Parse(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		text := f.String()
		g, err := Parse(text)
		if err != nil {
			t.Errorf("%s prints as %s, which does not parse: %v", src, text, err)
			continue
		}
		if g.String() != text || sexprFile(g) != sexprFile(f) {
			t.Errorf("%s prints as %s, which is another program, %s", src, text, g)
		}
	}
}

// TestPrintTree checks that any tree prints to a text with the same tree: the
// printer adds the parentheses that are needed.
func TestPrintTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &File{}
		for range rapid.IntRange(1, 3).Draw(t, "statements") {
			f.Stmts = append(f.Stmts, &Assign{
				LHS: &Ref{Name: "y", Parens: true, Indices: drawIndices(t, 0)},
				Op:  AssignOp(rapid.IntRange(int(Set), int(AndTo)).Draw(t, "op")),
				RHS: drawNode(t, 5),
			})
		}
		text := f.String()
		g, err := Parse(text)
		if err != nil {
			t.Fatalf("%s does not parse: %v", text, err)
		}
		if want, got := sexprFile(f), sexprFile(g); want != got {
			t.Fatalf("%s\nprinted from %s\nparses as    %s", text, want, got)
		}
		if again := g.String(); again != text {
			t.Fatalf("%s prints as %s", text, again)
		}
	})
}

var indexNames = rapid.SampledFrom([]string{"i", "j", "k", "λ", "i_1", "x"})

func drawNode(t *rapid.T, depth int) Node {
	kind := rapid.IntRange(0, 8).Draw(t, "kind")
	if depth == 0 {
		kind %= 3
	}
	switch kind {
	case 0:
		return &Number{Text: rapid.SampledFrom([]string{"0", "12", "1.5", "2i", "1e-3", ".5", "3.", "1.5e+3i"}).Draw(t, "number")}
	case 1:
		return &Const{Name: rapid.SampledFrom([]string{"true", "false", "inf", "nan"}).Draw(t, "word")}
	case 2:
		if rapid.Bool().Draw(t, "bare") {
			return &Ref{Name: indexNames.Draw(t, "name")}
		}
		return &Ref{Name: rapid.SampledFrom([]string{"A", "x", "Größe", "_t2"}).Draw(t, "tensor"),
			Parens: true, Indices: drawIndices(t, 2)}
	case 3:
		return &Unary{Op: rapid.SampledFrom([]string{"-", "not"}).Draw(t, "unary"), X: drawNode(t, depth-1)}
	case 4, 5:
		op := rapid.SampledFrom([]string{"or", "and", "==", "<", ">=", "+", "-", "*", "/", "^"}).Draw(t, "binary")
		return &Binary{Op: op, X: drawNode(t, depth-1), Y: drawNode(t, depth-1)}
	case 6:
		return drawApply(t, depth)
	case 7:
		return &Paren{X: drawNode(t, depth-1)}
	}
	return drawFold(t, depth)
}

func drawApply(t *rapid.T, depth int) Node {
	a := &Apply{Name: rapid.SampledFrom([]string{"exp", "f32", "atan2", "max", "where"}).Draw(t, "function")}
	n := map[string]int{"atan2": 2, "max": 3, "where": 3}[a.Name]
	for range max(n, 1) {
		a.Args = append(a.Args, drawNode(t, depth-1))
	}
	return a
}

func drawFold(t *rapid.T, depth int) Node {
	f := &Fold{Name: rapid.SampledFrom([]string{"sum", "argmax", "cumsum", "quantile"}).Draw(t, "fold"), Body: drawNode(t, depth-1)}
	for range rapid.IntRange(1, 2).Draw(t, "variables") {
		v := &FoldVar{Name: indexNames.Draw(t, "index")}
		if rapid.Bool().Draw(t, "in") {
			v.In = "A"
		}
		f.Vars = append(f.Vars, v)
	}
	switch {
	case f.Name == "cumsum" && rapid.Bool().Draw(t, "option"):
		f.Options = []Option{{Name: "exclusive"}, {Name: "reverse"}}
	case f.Name == "quantile":
		f.Options = []Option{{Name: "hazen"}}
		f.Q = drawNode(t, depth-1)
	}
	return f
}

func drawIndices(t *rapid.T, depth int) []*RefIndex {
	var list []*RefIndex
	for range rapid.IntRange(0, 3).Draw(t, "rank") {
		list = append(list, drawIndex(t, depth))
	}
	return list
}

func drawIndex(t *rapid.T, depth int) *RefIndex {
	small := rapid.Int64Range(0, 9)
	switch kind := rapid.IntRange(0, 3).Draw(t, "index kind"); {
	case kind == 0:
		s := &Slice{Lo: small.Draw(t, "lo"), Step: 1 + small.Draw(t, "step"), Open: rapid.Bool().Draw(t, "open")}
		if !s.Open {
			s.Hi = s.Lo + small.Draw(t, "length")
		}
		return &RefIndex{Slice: s}
	case kind == 1 && depth > 0:
		return &RefIndex{Terms: []*IndexTerm{{Coef: 1, Gather: &Ref{Name: "p", Parens: true, Indices: drawIndices(t, depth-1)}}}}
	}
	x := &RefIndex{}
	for i := range rapid.IntRange(0, 2).Draw(t, "terms") {
		coef := rapid.Int64Range(-3, 3).Filter(func(c int64) bool { return c != 0 }).Draw(t, "coefficient")
		x.Terms = append(x.Terms, &IndexTerm{Coef: coef, Name: fmt.Sprintf("i%d", i)})
	}
	if c := rapid.Int64Range(-9, 9).Draw(t, "constant"); c != 0 || len(x.Terms) == 0 {
		x.Terms = append(x.Terms, &IndexTerm{Coef: c})
	}
	return x
}

func TestPrintText(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"y ( i )=A( i , j )*x( j )", "y(i) = A(i,j)*x(j)"},
		{"y(i)=i*2+x(2*i+1-k-2*k)", "y(i) = i*2 + x(2*i-3*k+1)"},
		{"y = x(i - i + 3)", "y = x(3)"},
		{"y = x(0:3:1) + x(:) + x(1::2)", "y = x(:3) + x(:) + x(1::2)"},
		{"y=+x(i)--x(i)", "y = x(i) - -x(i)"},
		{"y=(sum_{j}x(j))*2", "y = (sum_j x(j))*2"},
		{"y=a;;z=b\n\n", "y = a\nz = b"},
		{"y = a + # more\n b", "y = a + b"},
		{"y = x(\n1,\n2)", "y = x(1,2)"},
		{"y min= x max= 2", ""},
		{"y min= min(x, 2)", "y min= min(x, 2)"},
		{"y = a <= b and not c != d or e", "y = a <= b and not c != d or e"},
	} {
		f, err := Parse(c.src)
		if (err != nil) != (c.want == "") {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if err == nil && f.String() != c.want {
			t.Errorf("%q: got %q, want %q", c.src, f, c.want)
		}
	}
}

func TestPositions(t *testing.T) {
	f, err := Parse("y = 1\n  z(i) = Größe(i) + sum_{α in A} A(i,α)")
	if err != nil {
		t.Fatal(err)
	}
	sum := f.Stmts[1].RHS.(*Binary)
	fold := sum.Y.(*Fold)
	for _, c := range []struct {
		what string
		got  Pos
		want string
	}{
		{"z", f.Stmts[1].Pos, "2:3"}, {"Größe", sum.X.Place(), "2:10"}, {"+", sum.Pos, "2:19"},
		{"sum_{", fold.Pos, "2:21"}, {"α", fold.Vars[0].Pos, "2:26"}, {"A of in", fold.Vars[0].InPos, "2:31"},
	} {
		if c.got.String() != c.want {
			t.Errorf("%s is at %v, want %s", c.what, c.got, c.want)
		}
	}
	if !strings.HasPrefix(f.Source[fold.Vars[0].Pos.Offset:], "α") {
		t.Error("the offset of α is wrong")
	}
}
