package lang

import (
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file reads declarations for the tests of this package.

var update = flag.Bool("update", false, "rewrite the golden files")

// parseDecls reads declarations as the test data and docs/errors.md write them:
//
//	A(2) f64 CSR, x(1), s(0) f32, result y(1) i32 shape=4 fill=inf, in-out z(1)
//
// The rank stands in parentheses, then the element type, the format and options, all
// but the name optional. Without a rank it is taken from the program.
func parseDecls(t testing.TB, text string) map[string]Decl {
	t.Helper()
	decls := make(map[string]Decl)
	for _, part := range strings.Split(text, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		d := Decl{Rank: AnyRank}
		if words[0] == "result" {
			d.Result = true
			words = words[1:]
		}
		name, rank, found := strings.Cut(words[0], "(")
		if found {
			n, err := strconv.Atoi(strings.TrimSuffix(rank, ")"))
			if err != nil {
				t.Fatalf("declaration %q: %v", part, err)
			}
			d.Rank = n
		}
		for _, w := range words[1:] {
			declWord(t, &d, w)
		}
		decls[name] = d
	}
	return decls
}

func declWord(t testing.TB, d *Decl, w string) {
	t.Helper()
	if text, ok := strings.CutPrefix(w, "shape="); ok {
		d.Shape = parseShape(t, text)
		return
	}
	if text, ok := strings.CutPrefix(w, "fill="); ok {
		x, err := tensor.ParseScalar(text, tensor.Float64)
		if err != nil {
			t.Fatal(err)
		}
		d.Fill = &x
		return
	}
	if dt, err := tensor.ParseDType(w); err == nil {
		d.DType, d.HasDType = dt, true
		return
	}
	f, err := tensor.ParseFormat(w, d.Rank)
	if err != nil {
		f, err = tensor.ParseFormat(w, -1)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.Format, d.HasFormat = f, true
}

// parseShape reads "3x4"; "" is the shape of a scalar.
func parseShape(t testing.TB, text string) []int64 {
	t.Helper()
	shape := []int64{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == 'x' }) {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		shape = append(shape, n)
	}
	return shape
}

// parseShapes reads "A=3x4 x=4".
func parseShapes(t testing.TB, text string) map[string][]int64 {
	t.Helper()
	shapes := make(map[string][]int64)
	for _, w := range strings.Fields(text) {
		name, shape, _ := strings.Cut(w, "=")
		shapes[name] = parseShape(t, shape)
	}
	return shapes
}

// checkText parses and checks src.
func checkText(t testing.TB, src, decls string) (*Program, error) {
	t.Helper()
	file, err := Parse(src)
	if err != nil {
		return nil, err
	}
	return Check(file, parseDecls(t, decls))
}

// sexpr writes a tree without positions and parentheses.
func sexpr(n Node) string {
	switch n := n.(type) {
	case *Number:
		return n.Text
	case *Const:
		return n.Name
	case *Paren:
		return sexpr(n.X)
	case *Ref:
		var b strings.Builder
		b.WriteString(n.Name)
		for _, x := range n.Indices {
			b.WriteString("[")
			for _, t := range x.Terms {
				fmt.Fprintf(&b, "%d*%s ", t.Coef, t.Name)
				if t.Gather != nil {
					b.WriteString(sexpr(t.Gather))
				}
			}
			if x.Slice != nil {
				fmt.Fprintf(&b, "%+v", *x.Slice)
			}
			b.WriteString("]")
		}
		if n.Parens {
			b.WriteString("()")
		}
		return b.String()
	case *Unary:
		return "(" + n.Op + " " + sexpr(n.X) + ")"
	case *Binary:
		return "(" + n.Op + " " + sexpr(n.X) + " " + sexpr(n.Y) + ")"
	case *Apply:
		parts := []string{n.Name}
		for _, a := range n.Args {
			parts = append(parts, sexpr(a))
		}
		return "(" + strings.Join(parts, " ") + ")"
	case *Fold:
		parts := []string{n.Name}
		for _, v := range n.Vars {
			parts = append(parts, v.Name+":"+v.In)
		}
		for _, o := range n.Options {
			parts = append(parts, "["+o.Name+"]")
		}
		parts = append(parts, sexpr(n.Body))
		if n.Q != nil {
			parts = append(parts, sexpr(n.Q))
		}
		return "(" + strings.Join(parts, " ") + ")"
	}
	panic(fmt.Sprintf("BUG: unknown node %T", n))
}

func sexprFile(f *File) string {
	var lines []string
	for _, s := range f.Stmts {
		lines = append(lines, sexpr(s.LHS)+" "+s.Op.String()+" "+sexpr(s.RHS))
	}
	return strings.Join(lines, "\n")
}
