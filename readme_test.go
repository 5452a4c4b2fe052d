package lacuna_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file runs the commands and programs of README.md, and compares docs/internals.md with the stages and packages.

// The pages of documentation are programs too: these tests run the blocks of
// README.md and docs/internals.md and compare what comes out.

// block is a fenced block of a page.
type block struct {
	info string // the word behind the fence
	text string
}

// blocks reads the fenced blocks of a page.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var list []block
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(string(data), -1) {
		list = append(list, block{info: m[1], text: m[2]})
	}
	return list
}

// agrees compares output with what a page shows. A line "…" on the page stands
// for any number of lines; blanks at the end of lines do not matter.
func agrees(shown, got string) bool {
	var pattern strings.Builder
	for line := range strings.Lines(strings.TrimRight(shown, "\n")) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
		} else {
			pattern.WriteString(regexp.QuoteMeta(strings.TrimRight(line, " \n")) + `[ ]*\n`)
		}
	}
	return regexp.MustCompile(`^` + pattern.String() + `\n*$`).MatchString(strings.TrimRight(got, "\n") + "\n")
}

// build compiles a package of this module into dir.
func build(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append([]string{"build", "-o", path}, args...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	return path
}

// TestReadmeCommands runs the console blocks of README.md and of pages from a directory that
// looks like the repository after make build.
func TestReadmeCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command line")
	}
	root := t.TempDir()
	build(t, root, "bin/lacuna", "./cmd/lacuna")
	if err := os.CopyFS(filepath.Join(root, "examples"), os.DirFS("examples")); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"README.md", "docs/language.md", "docs/numerics.md"} {
		ran := 0
		for _, b := range blocks(t, page) {
			if b.info != "console" {
				continue
			}
			for _, text := range strings.Split("\n"+b.text, "\n$ ")[1:] {
				command, shown, _ := strings.Cut(text, "\n")
				cmd := exec.Command("sh", "-c", command)
				cmd.Dir = root
				cmd.Env = append(os.Environ(), "LACUNA_CACHE=off", "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
				got, err := cmd.CombinedOutput()
				if _, failed := err.(*exec.ExitError); err != nil && !failed {
					t.Fatal(err)
				}
				// Without LLVM a note says so first.
				got = regexp.MustCompile(`(?m)^lacuna: running on the interpreter.*\n`).ReplaceAll(got, nil)
				if !agrees(shown, string(got)) {
					t.Errorf("$ %s\nprints\n%sbut %s shows\n%s", command, got, page, shown)
				}
				ran++
			}
		}
		if ran < 2 {
			t.Errorf("found %d commands in %s; is this test reading it right?", ran, page)
		}
	}
}

// TestReadmeProgram runs the Go program of README.md; what it prints stands in
// a comment behind the call that prints it.
func TestReadmeProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	all := blocks(t, "README.md")
	at := slices.IndexFunc(all, func(b block) bool { return b.info == "go" })
	if at < 0 {
		t.Fatal("README.md has no Go program")
	}
	text := all[at].text
	var want strings.Builder
	for _, m := range regexp.MustCompile(`Println\(.*\) // (.*)`).FindAllStringSubmatch(text, -1) {
		want.WriteString(m[1] + "\n")
	}

	// An overlay puts the program into this module without writing there.
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("examples/readme")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "main.go"): source}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	program := build(t, dir, "readme", "-overlay", file, "./examples/readme")
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "LACUNA_CACHE=off")
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("the program prints\n%sbut README.md says\n%s", got, want.String())
	}
}

// TestInternalsStages compares the stages that docs/internals.md shows with
// what Explain prints.
func TestInternalsStages(t *testing.T) {
	k, err := lacuna.Compile(context.Background(), "y(i) = A(i,j)*x(j)",
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, b := range blocks(t, "docs/internals.md") {
		if !slices.Contains(lacuna.Stages(), b.info) || b.info == "asm" || slices.Contains(lacuna.GridStages(), b.info) { // assembly differs between machines
			continue
		}
		got, err := k.Explain(b.info)
		if err != nil {
			t.Errorf("%s: %v", b.info, err)
			continue
		}
		if !agrees(b.text, got) {
			t.Errorf("stage %s is\n%sbut docs/internals.md shows\n%s", b.info, got, b.text)
		}
		compared++
	}
	if compared < 5 {
		t.Errorf("found %d stages in docs/internals.md; is this test reading it right?", compared)
	}
}

// TestInternalsPackages compares the table of packages in docs/internals.md
// with the packages that there are and what they import.
func TestInternalsPackages(t *testing.T) {
	const module = "github.com/lacuna-sparse/lacuna"
	page, err := os.ReadFile("docs/internals.md")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile("`[^`]+`|root")
	imports := map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|[^|]*\|([^|]*)\|$`).FindAllStringSubmatch(string(page), -1) {
		for _, p := range name.FindAllString(row[1], -1) {
			imports[strings.Trim(p, "`")] = name.FindAllString(row[2], -1)
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	local := func(path string) string {
		if path == module {
			return "root"
		}
		return strings.TrimPrefix(path, module+"/")
	}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		p := local(paths[0])
		if strings.HasPrefix(p, "examples") {
			continue
		}
		listed, ok := imports[p]
		if !ok {
			t.Errorf("docs/internals.md does not list package %s", p)
			continue
		}
		for _, i := range paths[1:] {
			if strings.HasPrefix(i, module) && !slices.Contains(listed, local(i)) && !slices.Contains(listed, "`"+local(i)+"`") {
				t.Errorf("docs/internals.md does not say that package %s imports %s", p, local(i))
			}
		}
	}
}
