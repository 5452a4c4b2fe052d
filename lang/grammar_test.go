package lang

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// productions reads "Name = body ." lines, without comments.
func productions(text string) map[string]string {
	m := make(map[string]string)
	for _, line := range strings.Split(text, "\n") {
		if name, body, ok := strings.Cut(line, " = "); ok && !strings.HasPrefix(line, "//") {
			m[name] = body
		}
	}
	return m
}

// TestGrammarFile holds grammar.ebnf against the grammar that the parser runs.
func TestGrammarFile(t *testing.T) {
	text, err := os.ReadFile("grammar.ebnf")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(productions(parser().String()), productions(string(text))); diff != "" {
		t.Errorf("grammar.ebnf differs from the parser (-parser +file):\n%s", diff)
	}
	for name := range tokenNames {
		switch name {
		case "EOF", "Op":
			continue
		}
		if !strings.Contains(string(text), "\n//   "+strings.ToLower(name)+" ") {
			t.Errorf("grammar.ebnf does not describe the token %s", strings.ToLower(name))
		}
	}
}

// corpus lists every program of the golden files.
func corpus(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/explicit/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	var list []string
	for _, name := range files {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name != "programs" {
				continue
			}
			for _, line := range strings.Split(string(f.Data), "\n") {
				if line != "" && !strings.HasPrefix(line, "#") {
					list = append(list, strings.ReplaceAll(line, `\n`, "\n"))
				}
			}
		}
	}
	return list
}

// TestGrammarCoverage checks that the golden programs use every production.
func TestGrammarCoverage(t *testing.T) {
	seen := make(map[string]bool)
	for _, src := range corpus(t) {
		tokens, lexErr := scan(src)
		if lexErr != nil {
			t.Fatal(lexErr)
		}
		peeking, err := lexer.Upgrade(&tokenList{tokens: tokens})
		if err != nil {
			t.Fatal(err)
		}
		prog, err := parser().ParseFromLexer(peeking)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		visitTypes(reflect.ValueOf(prog), seen)
	}
	for name := range productions(parser().String()) {
		if !seen[strings.ToLower(name)] {
			t.Errorf("no golden program uses the production %s", name)
		}
	}
}

// visitTypes notes the lower-case names of the struct types reached from v.
func visitTypes(v reflect.Value, seen map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visitTypes(v.Elem(), seen)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visitTypes(v.Index(i), seen)
		}
	case reflect.Struct:
		seen[strings.ToLower(v.Type().Name())] = true
		for i := range v.NumField() {
			visitTypes(v.Field(i), seen)
		}
	}
}
