package lang

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// addSeeds adds every golden program and every faulty one.
func addSeeds(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src)
	}
	files, err := filepath.Glob("testdata/errors/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			f.Add(marker.ReplaceAllString(line, ""))
		}
	}
}

// FuzzParse checks that any text is parsed or refused with a placed error, and that
// what is parsed prints back to the same tree.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, src string) {
		file, err := Parse(src)
		if err != nil {
			checkError(t, err)
			return
		}
		text := file.String()
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%q prints as %q, which does not parse: %v", src, text, err)
		}
		if sexprFile(again) != sexprFile(file) || again.String() != text {
			t.Fatalf("%q prints as %q, which prints as %q", src, text, again)
		}
	})
}

// FuzzCheck checks that any program is checked or refused, that its explicit form
// parses, and that binding it never fails but with an error.
func FuzzCheck(f *testing.F) {
	addSeeds(f)
	for _, src := range []string{
		"r(i) = 1 + (A(i,j) - s)^2*(x(k)/(w(l) + B(i,m)))", "x(i) = 1 - sum_j A(i,j)*x(j)", "r = -(2*(A(i,j) + sum_k B(i,k)))^2 # x",
		"r = (A(:,1:3) - s)^-((x(i)))", "r(i) = max((x(p(j)) - 1)^2, cumsum_i (A(i,j)*x(j))^2)", "y(i) = sum_j (A(i,j)*(x(k) + i))^2; x(i) = s + x(j)*x(k)",
	} {
		f.Add(src)
	}
	decls := parseDecls(f, "A(2) f64 CSR, B(2) f32, C(3), N(2) i32, M(2) bool, x(1), z(1) c64, w(1) f16, p(1) i64, u(1) u8, s(0), m(1) bool, result r(1) i32 shape=4")
	shapes := parseShapes(f, "A=3x4 B=3x4 C=3x4x5 N=3x4 M=4x4 x=4 z=4 w=3 p=3 u=4 m=4 s=")
	f.Fuzz(func(t *testing.T, src string) {
		file, err := Parse(src)
		if err != nil {
			return
		}
		p, err := Check(file, decls)
		if err != nil {
			checkError(t, err)
			return
		}
		if text := p.String(); text != "" {
			if _, err := Parse(text); err != nil && !tooDeep(err) {
				t.Fatalf("%q has the explicit form %q, which does not parse: %v", src, text, err)
			}
		}
		for _, w := range Warnings(file, p) {
			checkWarning(t, w, p, decls)
		}
		e, err := Bind(p, shapes)
		if err != nil {
			checkError(t, err)
			return
		}
		for i, s := range p.Stmts {
			for _, x := range s.Indices {
				if e.Index[i][x.ID] < 0 {
					t.Fatalf("%q: index %s has extent %d", src, x.Name, e.Index[i][x.ID])
				}
			}
		}
	})
}

// checkWarning checks that what a warning of p is about lies in the text, that texts it offers parse, and that
// one which writes sums out means what p means.
func checkWarning(t *testing.T, w *Warning, p *Program, decls map[string]Decl) {
	t.Helper()
	if w.Code.Title() == "" || w.Msg == "" || !w.Pos.IsKnown() || w.Pos.Offset >= w.End.Offset || w.End.Offset > len(p.Source) {
		t.Fatalf("%q: from %v to %v: %s", p.Source, w.Pos, w.End, w)
	}
	for i, f := range w.Fixes {
		src := p.Source[:f.Pos.Offset] + f.Text + p.Source[f.End.Offset:]
		file, err := Parse(src)
		if err != nil {
			if !tooDeep(err) {
				t.Fatalf("%q: what is offered, %q, does not parse: %v", p.Source, src, err)
			}
			continue
		}
		if w.Code != WarnInnerSum {
			continue
		}
		q, err := Check(file, decls)
		if err != nil && !tooDeep(err) {
			t.Fatalf("%q: what is offered, %q, is wrong: %v", p.Source, src, err)
		}
		if err == nil && i == 0 && q.String() != p.String() {
			t.Fatalf("%q means\n%s\nand what is offered for it, %q,\n%s", p.Source, p, src, q)
		}
	}
}

// tooDeep says whether err is a limit: the explicit form may nest deeper than the
// program.
func tooDeep(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Code == ErrTooDeep || e.Code == ErrTooLarge)
}

// checkError checks that err is an error of this package, with a code and a message.
func checkError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code.Title() == "" || e.Msg == "" || err.Error() == "" {
		t.Fatalf("an error of another kind: %#v", err)
	}
}
