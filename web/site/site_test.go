package site

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/lacuna-sparse/lacuna/internal/explorer"
)

// made is the site of this repository.
var made = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "lacuna-site")
	if err != nil {
		return "", err
	}
	// What make web puts beside the pages.
	for _, name := range []string{"index.html", "site.js", "site.css"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			return "", err
		}
	}
	return dir, Build("../..", dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := made(); dir != "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func pagesOf(t *testing.T) map[string]string {
	t.Helper()
	dir, err := made()
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".html" {
			data, err := os.ReadFile(path)
			pages[path] = string(data)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestEveryPageIsThere: all documents of the repository's docs have a page with their text.
func TestEveryPageIsThere(t *testing.T) {
	pages := pagesOf(t)
	dir, _ := made()
	for _, pattern := range []string{"../../docs/*.md", "../../docs/internals/*.md"} {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		for _, name := range list {
			rel, _ := filepath.Rel("../..", name)
			page := pages[filepath.Join(dir, target(filepath.ToSlash(rel)))]
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			title, _, _ := strings.Cut(strings.TrimPrefix(string(source), "# "), "\n")
			if !strings.Contains(page, "<h1 id=") || !strings.Contains(page, strings.TrimSpace(strings.ReplaceAll(title, "`", ""))) || len(page) < len(source)/2 {
				t.Errorf("%s has no page, or another", rel)
			}
			if n := strings.Count(string(source), "\n```"); strings.Count(page, "<pre") < n/2 {
				t.Errorf("%s has %d blocks of code, its page fewer", rel, n/2)
			}
		}
	}
}

var link = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// TestNoDeadLink follows every link of every page, as a browser would.
func TestNoDeadLink(t *testing.T) {
	pages := pagesOf(t)
	followed := 0
	for path, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], ":") {
				if !strings.HasPrefix(m[1], "https://") && !strings.HasPrefix(m[1], "data:,") && !strings.HasPrefix(m[1], "http://") {
					t.Errorf("%s links to %s", path, m[1])
				}
				continue
			}
			file, anchor, anchored := strings.Cut(m[1], "#")
			to := path
			if file != "" {
				to = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
			}
			if info, err := os.Stat(to); err != nil || info.IsDir() {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			if anchored && filepath.Base(to) != "index.html" && !strings.Contains(pages[to], ` id="`+anchor+`"`) {
				t.Errorf("%s links to %s: there is no such heading", path, m[1])
			}
			followed++
		}
	}
	if followed < 500 {
		t.Errorf("only %d links", followed)
	}
}

// TestDeadLinksAreErrors builds sites with one.
func TestDeadLinksAreErrors(t *testing.T) {
	for _, dead := range []string{"[a](missing.md)", "[a](#nothing)", "[a](other.md#nothing)", "![a](missing.png)", `<img src="missing.png">`} {
		b := &builder{root: fstest.MapFS{"docs/a.md": {Data: []byte("# A\n\n" + dead + "\n")}, "docs/other.md": {Data: []byte("# B\n")}}, out: t.TempDir(), pages: map[string]*page{}}
		b.setup()
		b.links(b.find("docs/a.md"))
		if len(b.wrong) != 1 {
			t.Errorf("%s: %v", dead, b.wrong)
		}
	}
}

var run = regexp.MustCompile(`class="run" href="[^"#]*index.html#([^"]*)"`)

// inflate is what link.js does with a fragment.
func inflate(t *testing.T, fragment string) (s state) {
	t.Helper()
	data, err := base64.RawURLEncoding.DecodeString(fragment)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// fit adds what the page would, of names that a program reads (web/src/operands.js).
func (s *state) fit(t *testing.T, service *explorer.Service) {
	t.Helper()
	var names struct {
		Operands []struct {
			Name string
			Rank int
		}
	}
	ask(t, service, "check", s, &names)
	for _, n := range names.Operands {
		if !slices.ContainsFunc(s.Operands, func(o operand) bool { return o.Name == n.Name }) {
			o := operand{Name: n.Name}
			o.fill(n.Rank, "")
			s.Operands = append(s.Operands, o)
		}
	}
}

func ask(t *testing.T, service *explorer.Service, op string, s *state, answer any) {
	t.Helper()
	question, err := json.Marshal(map[string]any{"op": op, "program": s.Program, "operands": s.Operands})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(service.Answer(context.Background(), question), answer); err != nil {
		t.Fatal(err)
	}
}

// mistaken are the examples of mistakes, but those of docs/errors.md, with a part of what is said of them.
var mistaken = map[string]string{
	"README.html y(i) = A(i,j) * x(j)":                               "E303",
	"schedule.html y(j) = A(i,j)*x(i) with order(i, j), parallel(i)": "no loops that compute",
	"schedule.html y(i) = A(i,j)*x(j) with positions(j: x)":          "no loops that compute",
	"schedule.html y(i) = A(i,j)*x(j) with tile(i: 32, j: 64)":       "do not stand directly in each other",
}

// TestExamplesRun asks the explorer what each button asks.
func TestExamplesRun(t *testing.T) {
	dir, _ := made()
	service := &explorer.Service{}
	asked := 0
	for path, text := range pagesOf(t) {
		mistakes := path == filepath.Join(dir, target(whole))
		for _, m := range run.FindAllStringSubmatch(text, -1) {
			s := inflate(t, m[1])
			s.fit(t, service)
			asked++
			var answer struct{ Error string }
			ask(t, service, map[string]string{"result": "eval", "stages": "explain", "grad": "eval"}[s.Tab], &s, &answer)
			want := mistaken[filepath.Base(path)+" "+s.Program]
			if answer.Error != "" && !mistakes && (want == "" || !strings.Contains(answer.Error, want)) {
				o, _ := json.Marshal(s.Operands)
				t.Errorf("%s: %q with %s: %s", filepath.Base(path), s.Program, o, answer.Error)
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d examples have a button", asked)
	}
}

// TestSearchFindsSections: the index has every heading once, with its text.
func TestSearchFindsSections(t *testing.T) {
	dir, err := made()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "search.js"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSuffix(strings.TrimPrefix(string(data), "globalThis.lacunaSections = "), ";\n")
	var list []section
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	found := false
	for _, s := range list {
		if seen[s.Link] {
			t.Errorf("%s is there twice", s.Link)
		}
		seen[s.Link] = true
		found = found || s.Link == "docs/errors.html#e303-extents-disagree" && strings.Contains(s.Text, "y(i) = A(i,j)*x(j)")
	}
	if !found || len(list) < 200 {
		t.Errorf("%d sections, E303 among them: %t", len(list), found)
	}
	if len(data) > 1<<20 {
		t.Errorf("the index has %d bytes", len(data))
	}
}
