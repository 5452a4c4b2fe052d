package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestExplicit compares the explicit form of programs with goldens. A file in
// testdata/explicit has the sections operands, programs (one a line, "\n" for a line
// end) and explicit: each program's form with the tensors it makes and needs.
func TestExplicit(t *testing.T) {
	files, err := filepath.Glob("testdata/explicit/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) { goldenFile(t, name) })
	}
}

func goldenFile(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	sections := make(map[string]*txtar.File)
	for i := range archive.Files {
		sections[archive.Files[i].Name] = &archive.Files[i]
	}
	decls := strings.ReplaceAll(string(sections["operands"].Data), "\n", " ")
	var got strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(string(sections["programs"].Data)), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			got.WriteString(line + "\n")
			continue
		}
		got.WriteString(explicitForm(t, line, decls))
	}
	golden := sections["explicit"]
	if *update {
		golden.Data = []byte(got.String())
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(golden.Data), got.String()); diff != "" {
		t.Errorf("%s (-golden +got):\n%s", name, diff)
	}
}

// explicitForm checks a program, prints it and, unless it has slices, checks what it
// printed again: the explicit form must mean itself.
func explicitForm(t *testing.T, line, decls string) string {
	t.Helper()
	src := strings.ReplaceAll(line, `\n`, "\n")
	p, err := checkText(t, src, decls)
	if err != nil {
		t.Errorf("%s\n%v", src, err)
		return ""
	}
	text := p.String()
	again, err := checkText(t, text, decls)
	switch {
	case hasSlices(p):
	case err != nil:
		t.Errorf("%s\nthe explicit form\n%s\nis not accepted: %v", src, text, err)
	case again.String() != text || results(again) != results(p):
		t.Errorf("%s\nthe explicit form\n%s\n%s\nhas the explicit form\n%s\n%s", src, text, results(p), again, results(again))
	}
	return strings.ReplaceAll(text, "\n", "; ") + "    # " + results(p) + "\n"
}

// results lists the results with their types, then the operands.
func results(p *Program) string {
	var words []string
	for _, t := range p.Tensors {
		if t.Result {
			words = append(words, t.Name+": "+t.DType.String())
		}
	}
	words = append(words, "from")
	for _, t := range p.Tensors {
		if t.Operand {
			words = append(words, t.Name)
		}
	}
	return strings.Join(words, " ")
}

func hasSlices(p *Program) bool {
	for _, s := range p.Stmts {
		for _, x := range s.Indices {
			if x.Name == "" {
				return true
			}
		}
	}
	return false
}

func TestLiteralNodes(t *testing.T) {
	decls := "result y(0) f32, result z(0) c64"
	for _, c := range []struct{ src, want string }{
		{"y = 0.1", "y = 0.1"},
		{"y = -0.0", "y = -0.0"},
		{"y = -inf", "y = -inf"},
		{"y = nan", "y = nan"},
		{"y = 1e30", "y = 1e+30"},
		{"y = 16777217", "y = 1.6777216e+07"},
		{"z = 2i", "z = 2i"},
		{"z = -2i", "z = -2i"},
		{"z = 3", "z = 3.0"},
		{"w = 18446744073709551615", "w = 18446744073709551615"},
		{"w = -9223372036854775808", "w = -9223372036854775808"},
		{"w = true", "w = true"},
	} {
		p, err := checkText(t, c.src, decls)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := p.String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.src, got, c.want)
		}
	}
}
