package lang

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The files in testdata/errors hold one program a line, with the errors that it must
// give: # ERROR code @column "regexp". Directives before it, "# operands: …" and
// "# shapes: …", set the declarations and, for Bind, the shapes of the programs that
// follow. "\n" in a program stands for a line end.

var marker = regexp.MustCompile(`# ERROR (E\d+) (?:@(\d+) )?("(?:[^"\\]|\\.)*")`)

func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	seen := make(map[Code]bool)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var decls, shapes string
		for n, line := range strings.Split(string(text), "\n") {
			if rest, ok := strings.CutPrefix(line, "# operands:"); ok {
				decls, shapes = rest, ""
				continue
			}
			if rest, ok := strings.CutPrefix(line, "# shapes:"); ok {
				shapes = rest
				continue
			}
			if line == "" || strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "# ERROR") {
				continue
			}
			where := fmt.Sprintf("%s:%d", name, n+1)
			src := strings.ReplaceAll(marker.ReplaceAllString(line, ""), `\n`, "\n")
			for _, code := range checkMarkers(t, where, src, line, runAll(t, src, decls, shapes)) {
				seen[code] = true
			}
		}
	}
	for _, info := range Codes() {
		// Planning gives the unsupported, ir/derive those about gradients.
		if !seen[info.Code] && info.Code != ErrTooLarge && info.Code < ErrUnsupported {
			t.Errorf("no test gives %s, %s", info.Code, info.Title)
		}
	}
}

// runAll runs Parse, Check and, with shapes, Bind, up to the first that fails.
func runAll(t testing.TB, src, decls, shapes string) []*Error {
	t.Helper()
	p, err := checkText(t, src, decls)
	if err == nil && shapes != "" {
		_, err = Bind(p, parseShapes(t, shapes))
	}
	var list Errors
	var one *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &list):
		return list
	case errors.As(err, &one):
		return []*Error{one}
	}
	t.Fatalf("%q: error of type %T: %v", src, err, err)
	return nil
}

// checkMarkers compares errors with the markers of a line, one to one.
func checkMarkers(t *testing.T, where, src, line string, got []*Error) []Code {
	t.Helper()
	var codes []Code
	rest := slices.Clone(got)
	for _, m := range marker.FindAllStringSubmatch(line, -1) {
		pattern, err := strconv.Unquote(m[3])
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		re := regexp.MustCompile(pattern)
		at := slices.IndexFunc(rest, func(e *Error) bool {
			return string(e.Code) == m[1] && (m[2] == "" || m[2] == strconv.Itoa(e.Pos.Column)) && re.MatchString(e.Msg+" / "+e.Hint)
		})
		if at < 0 {
			t.Errorf("%s: %s\nno error %s", where, src, m[0])
			for _, e := range got {
				t.Logf("got column %d: %v", e.Pos.Column, e)
			}
			continue
		}
		codes = append(codes, rest[at].Code)
		if e := rest[at]; e.Error() == "" || e.Source != src && e.Pos.IsKnown() {
			t.Errorf("%s: the error does not carry its source", where)
		}
		rest = slices.Delete(rest, at, at+1)
	}
	for _, e := range rest {
		t.Errorf("%s: %s\nunexpected error at column %d: %v", where, src, e.Pos.Column, e)
	}
	return codes
}

func TestErrorText(t *testing.T) {
	src := "z(i) = x(i)\n\ty(i) = Größe(i)*A(i,k) "
	_, err := checkText(t, src, "x(1), A(1)")
	want := "2:9: unknown tensor Größe [E201]\n" +
		"    \ty(i) = Größe(i)*A(i,k) \n" +
		"    \t       ^~~~~\n" +
		"hint: pass it as an operand, or declare it\n" +
		"in Go: lacuna.Args{\"Größe\": t}; to compile, lacuna.Operand(\"Größe\", t) or lacuna.Format(\"Größe\", …)\n" +
		"\n" +
		"2:18: A has 2 indices here, but 1 dimension [E203]\n" +
		"    \ty(i) = Größe(i)*A(i,k) \n" +
		"    \t                ^\n" +
		"hint: A is declared with 1 dimension"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestErrorTextIsSafe(t *testing.T) {
	long := strings.Repeat("x(i)+", 2000)
	_, err := Parse("y(i) = \"\x1b[2J" + long)
	if err == nil || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 1000 {
		t.Errorf("the error is long or has control characters: %q", err)
	}
	e := &Error{Code: ErrSyntax, Pos: Pos{Offset: 99, Line: 1, Column: 100}, Msg: "m", Source: "short"}
	if got := e.Error(); got != "1:100: m [E103]" {
		t.Errorf("got %q", got)
	}
}

func TestUnsupported(t *testing.T) {
	e := Unsupported("scans over three indices", Pos{Offset: 4, Line: 1, Column: 5}).WithSource("y = x")
	want := "1:5: not supported yet: scans over three indices [E401]\n    y = x\n        ^"
	if e.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", e, want)
	}
	if !errors.As(fmt.Errorf("compile: %w", e), new(*Error)) {
		t.Error("errors.As does not find the error")
	}
}

func TestTooLarge(t *testing.T) {
	_, err := Parse(strings.Repeat(" ", MaxSource+1))
	var e *Error
	if !errors.As(err, &e) || e.Code != ErrTooLarge {
		t.Errorf("got %v", err)
	}
}

func TestErrorsAs(t *testing.T) {
	_, err := checkText(t, "y(i) = a(i) + b(i)", "x(1)")
	var list Errors
	var one *Error
	if !errors.As(err, &list) || len(list) != 2 || !errors.As(err, &one) || one != list[0] {
		t.Errorf("got %v", err)
	}
}

// TestErrorsPage checks docs/errors.md against the table of codes: an entry for each
// with its title, and an example that gives it.
func TestErrorsPage(t *testing.T) {
	text, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.Split(string(text), "\n## ")[1:]
	var titles []string
	for _, entry := range entries {
		title, body, _ := strings.Cut(entry, "\n")
		code, _, _ := strings.Cut(title, " ")
		if Code(code).Title() == "" {
			continue
		}
		titles = append(titles, title)
		_, block, found := strings.Cut(body, "```lacuna\n")
		if !found {
			if code != string(ErrTooLarge) && code != string(ErrUnsupported) && code != string(ErrSchedule) && code != string(WarnWholeLoop) {
				t.Errorf("%s has no example", code)
			}
			continue
		}
		block, _, _ = strings.Cut(block, "```")
		if strings.Contains(block, "# gradient:") {
			continue // ir/derive checks these
		}
		checkExample(t, Code(code), block)
	}
	var want []string
	for _, info := range Codes() {
		want = append(want, fmt.Sprintf("%s %s", info.Code, info.Title))
	}
	if !slices.Equal(titles, want) {
		t.Errorf("docs/errors.md has the entries\n%s\nwant\n%s", strings.Join(titles, "\n"), strings.Join(want, "\n"))
	}
}

// checkExample runs an example of the page; its comments are the directives.
func checkExample(t *testing.T, code Code, block string) {
	t.Helper()
	var decls, shapes string
	var src []string
	for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
		if rest, ok := strings.CutPrefix(line, "# operands:"); ok {
			decls = rest
		} else if rest, ok := strings.CutPrefix(line, "# shapes:"); ok {
			shapes = rest
		} else {
			src = append(src, line)
		}
	}
	if code[0] == 'W' {
		if got := warningsOf(t, strings.Join(src, "\n"), decls); len(got) != 1 || got[0].Code != code {
			t.Errorf("the example of %s gives %v", code, got)
		}
		return
	}
	got := runAll(t, strings.Join(src, "\n"), decls, shapes)
	if len(got) == 0 || got[0].Code != code {
		t.Errorf("the example of %s gives %v", code, got)
	}
}
