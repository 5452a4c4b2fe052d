package lang

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// warningsOf checks a program and lists what it may not mean.
func warningsOf(t testing.TB, src, decls string) []*Warning {
	t.Helper()
	file, err := Parse(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	p, err := Check(file, parseDecls(t, decls))
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return Warnings(file, p)
}

func TestWarnings(t *testing.T) {
	const decls = "A(2), U(2), V(2), L(2), B(2), x(1), b(1), w(1), s(0), p(1) i64"
	for _, test := range []struct {
		text  string
		want  Code
		about string   // the part that is marked
		fixes []string // that are offered
	}{
		{"r = (A(i,j) - sum_k U(i,k)*V(j,k))^2", WarnInnerSum, "(A(i,j) - sum_k U(i,k)*V(j,k))",
			[]string{"r = (sum_{i,j} (A(i,j) - sum_k U(i,k)*V(j,k)))^2", "r = sum_{i,j} (A(i,j) - sum_k U(i,k)*V(j,k))^2"}},
		// The sum over j stays inside: b(i) stands beside it there.
		{"r = 1 + (A(i,j)*x(j) - b(i))^2", WarnInnerSum, "(A(i,j)*x(j) - b(i))",
			[]string{"r = 1 + (sum_i (sum_j A(i,j)*x(j) - b(i)))^2", "r = 1 + sum_i (sum_j A(i,j)*x(j) - b(i))^2"}},
		{"y(i) = 3*w(i)*(2*(A(i,j)*x(j)))^2", WarnInnerSum, "(2*(A(i,j)*x(j)))",
			[]string{"y(i) = 3*w(i)*(2*(sum_j A(i,j)*x(j)))^2", "y(i) = sum_j 3*w(i)*(2*(A(i,j)*x(j)))^2"}},
		{"y(i) = w(i)/(A(i,j)*x(j))", WarnInnerSum, "(A(i,j)*x(j))",
			[]string{"y(i) = w(i)/(sum_j A(i,j)*x(j))", "y(i) = sum_j w(i)/(A(i,j)*x(j))"}},
		{"y(i) = 2^(A(i,j))", WarnInnerSum, "(A(i,j))", []string{"y(i) = 2^(sum_j A(i,j))", "y(i) = sum_j 2^(A(i,j))"}},
		{"r = (A(i,j) - s)^2", WarnInnerSum, "(A(i,j) - s)", []string{"r = (sum_{i,j} A(i,j) - s)^2", "r = sum_{i,j} (A(i,j) - s)^2"}},
		{"y(i) = (A(i,j) + w(i) + B(i,j))^2", WarnInnerSum, "(A(i,j) + w(i) + B(i,j))",
			[]string{"y(i) = (sum_j A(i,j) + w(i) + sum_j B(i,j))^2", "y(i) = sum_j (A(i,j) + w(i) + B(i,j))^2"}},
		{"r = (x(p(i)) - 1)^2", WarnInnerSum, "(x(p(i)) - 1)", []string{"r = (sum_i x(p(i)) - 1)^2", "r = sum_i (x(p(i)) - 1)^2"}},
		{"y(:) = (A(:,:) - 1)^2", WarnInnerSum, "(A(:,:) - 1)", nil},
		{"x(i) = b(i) - sum_j L(i,j)*x(j)", WarnOldValue, "x(j)", []string{"x1(i) = b(i) - sum_j L(i,j)*x(j)"}},
		{"x(i) = b(i) - L(i,j)*x(j)", WarnOldValue, "x(j)", []string{"x1(i) = b(i) - L(i,j)*x(j)"}},
		{"x1(i) = b(i); x1(i) = b(i) - L(i,j)*x1(j)", WarnOldValue, "x1(j)", []string{"x11(i) = b(i) - L(i,j)*x1(j)"}},

		// Linear, or the same with and without the parentheses, or with nothing implied.
		{text: "y(i) = 2*(A(i,j)*x(j))"},
		{text: "y(i) = w(i)*(A(i,j)*x(j) + b(i))"},
		{text: "y(i) = -(A(i,j)*x(j))/s"},
		{text: "y(i) = (A(i,j)*x(j) - b(i))^2"},
		{text: "y(i) = b(i) + (A(i,j)*x(j))"},
		{text: "y(i) = (A(i,j) + B(i,j))*x(j)"},
		{text: "y(i) = exp((A(i,j)*x(j)))"},
		{text: "y(i) = (A(i,j)*x(j)) > 0"},
		{text: "y(i) = (sum_j A(i,j)*x(j))^2"},
		{text: "y(i) = sum_j (A(i,j) - x(j))^2"},
		{text: "y(i) = (A(i,j)^2)"},
		{text: "y(i) = (x(i) - b(i))^2"},
		{text: "y(i) = b(i)/(s + 1)"},
		{text: "x(i) = sum_j A(i,j)*x(j)"},
		{text: "x(i) = min_j (A(i,j) + x(j))"},
		{text: "x(i) = x(i) + sum_j A(i,j)*b(j)"},
		{text: "x(i) += b(i) - sum_j A(i,j)*x(j)"},
		{text: "x(p(i)) += (b(i) - w(i))^2"},
		{text: "z(i) = b(i) - sum_j L(i,j)*z1(j)"},
	} {
		got := warningsOf(t, test.text, decls+", z1(1)")
		if test.want == "" {
			if len(got) > 0 {
				t.Errorf("%s: a false alarm:\n%s", test.text, got[0])
			}
			continue
		}
		if len(got) != 1 || got[0].Code != test.want {
			t.Errorf("%s: got %v, want %s", test.text, got, test.want)
			continue
		}
		w := got[0]
		if about := test.text[w.Pos.Offset:w.End.Offset]; about != test.about {
			t.Errorf("%s: marked is %q, want %q", test.text, about, test.about)
		}
		var texts []string
		for _, f := range w.Fixes {
			texts = append(texts, f.Text)
			// What is offered replaces the statement, and gives no warning of its kind again.
			fixed := test.text[:f.Pos.Offset] + f.Text + test.text[f.End.Offset:]
			for _, again := range warningsOf(t, fixed, decls) {
				t.Errorf("%s: what is offered, %s, warns again:\n%s", test.text, fixed, again)
			}
		}
		if fmt.Sprint(texts) != fmt.Sprint(test.fixes) {
			t.Errorf("%s: offered are\n%q, want\n%q", test.text, texts, test.fixes)
		}
	}
}

// TestWarningText: a warning reads like an error, with what may be meant behind it.
func TestWarningText(t *testing.T) {
	got := warningsOf(t, "y(i) = (A(i,j)*x(j))^2", "A(2), x(1)")[0].String()
	want := `1:8: warning: the implied sum over j stands inside the parentheses: what is applied to them is applied to the sum [W101]
    y(i) = (A(i,j)*x(j))^2
           ^
hint: write the sum that is meant, as one of these
as it is now: y(i) = (sum_j A(i,j)*x(j))^2
the sum outside: y(i) = sum_j (A(i,j)*x(j))^2`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFixMeansTheSame: what is offered as the present meaning has the same explicit form.
func TestFixMeansTheSame(t *testing.T) {
	const decls = "A(2), x(1), b(1)"
	for _, src := range []string{"y(i) = (A(i,j)*x(j))^2", "r = (A(i,j)*x(j) - b(i))^2", "y = b(k) + 2^(x(i)*b(i))/(x(j) + 1)"} {
		before, err := checkText(t, src, decls)
		if err != nil {
			t.Fatal(err)
		}
		after, err := checkText(t, warningsOf(t, src, decls)[0].Fixes[0].Text, decls)
		if err != nil {
			t.Fatal(err)
		}
		if before.String() != after.String() {
			t.Errorf("%s means\n%s\nand what is offered\n%s", src, before, after)
		}
	}
}

// TestNoFalseAlarms: the programs of the pages and of the examples mean what they say. Pages with mistakes on purpose
// are left out.
func TestNoFalseAlarms(t *testing.T) {
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../examples/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	statement := regexp.MustCompile("[\"'`]([A-Za-z_0-9]+(?:\\([^\"'`=]*\\))? ?(?:[+*]|min|max)?= [^\"'`]+)[\"'`]")
	checked := 0
	for _, name := range append(append(files, more...), "../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) == "errors.md" {
			continue
		}
		var programs []string
		for _, m := range statement.FindAllStringSubmatch(string(text), -1) {
			programs = append(programs, m[1])
		}
		for _, block := range strings.Split(string(text), "```lacuna\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			programs = append(programs, strings.Split(block, "\n")...)
		}
		for _, src := range programs {
			file, err := Parse(src)
			if err != nil {
				continue // not a program
			}
			// Names are those of the pages: gathers are called p, q, k and l, and scalars s, alpha and t.
			decls := parseDecls(t, "s(0), alpha(0), t(0)")
			for _, n := range file.Names() {
				if !n.Assigned {
					decls[n.Name] = Decl{Rank: n.Rank, HasDType: true, DType: tensor.Float64}
				}
			}
			for _, name := range []string{"p", "q", "k", "l"} {
				decls[name] = Decl{Rank: 1, HasDType: true, DType: tensor.Int64}
			}
			p, err := Check(file, decls)
			if err != nil { // perhaps it updates its result
				for _, n := range file.Names() {
					decls[n.Name] = Decl{Rank: n.Rank, HasDType: true, DType: tensor.Float64}
				}
				if p, err = Check(file, decls); err != nil {
					continue
				}
			}
			checked++
			got := Warnings(file, p)
			for _, w := range got {
				if !strings.Contains(src, "# warning: "+string(w.Code)) {
					t.Errorf("%s:\n%s", name, w)
				}
			}
			if strings.Contains(src, "# warning: ") && len(got) == 0 {
				t.Errorf("%s: there is no warning of %s", name, src)
			}
		}
	}
	t.Logf("%d programs", checked)
	if checked < 60 {
		t.Errorf("only %d programs were found", checked)
	}
}
