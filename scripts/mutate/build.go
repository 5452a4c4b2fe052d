package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// switches is the package of the switches, which the overlay adds to the module.
//
//go:embed switches.go.txt
var switches string

const module = "github.com/lacuna-sparse/lacuna"

// root is the folder of the module.
var root = func() string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "."
	}
	return strings.TrimSpace(string(out))
}()

var goroot = func() string {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}()

// build compiles the test binaries of all packages that import one with mistakes, with all of these. Mistakes that
// do not compile, such as one that leaves a variable without a use, are taken out of the list.
func build(work string, mutants []*mutant) ([]*suite, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	overlay, err := filepath.Abs(filepath.Join(work, "overlay.json"))
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(filepath.Dir(overlay), "bin")
	for range 10 {
		if err := writeOverlay(overlay, mutants); err != nil {
			return nil, err
		}
		out, err := exec.Command("go", append([]string{"build", "-gcflags=-e", "-overlay", overlay}, with(mutants)...)...).CombinedOutput()
		if err == nil {
			break
		}
		if !dropBroken(mutants, string(out)) {
			return nil, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	packages, err := tested(mutants)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	var suites []*suite
	chosen, err := regexp.Compile(*where)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		if !chosen.MatchString(p) {
			continue
		}
		s := &suite{pkg: p, binary: filepath.Join(bin, strings.ReplaceAll(p, "/", "-")+".test"), dir: filepath.Join(root, p)}
		if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary, "./"+p).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go test -c ./%s: %w\n%s", p, err, out)
		}
		if _, err := os.Stat(s.binary); err == nil {
			suites = append(suites, s)
		}
	}
	return suites, nil
}

// dropBroken takes the edits out of the mutants on the lines that a compiler complains of.
func dropBroken(mutants []*mutant, complaints string) bool {
	dropped := false
	for _, at := range regexp.MustCompile(`(?m)^(?:\./)?([^\s:]+\.go):(\d+):`).FindAllStringSubmatch(complaints, -1) {
		for _, m := range mutants {
			if len(m.inserts) > 0 && (strings.HasSuffix(at[1], "/"+m.file) || at[1] == m.file) && fmt.Sprint(m.line) == at[2] {
				m.inserts, m.what, dropped = nil, m.what+" (does not compile)", true
			}
		}
	}
	return dropped
}

// writeOverlay writes the files with the mistakes and the table that puts them in place.
func writeOverlay(path string, mutants []*mutant) error {
	replace := map[string]string{}
	put := func(target, text string) error {
		file := filepath.Join(filepath.Dir(path), fmt.Sprintf("%03d.go", len(replace)))
		replace[target] = file
		return os.WriteFile(file, []byte(text), 0o644)
	}
	if err := put(filepath.Join(root, "internal/mutant/mutant.go"), switches); err != nil {
		return err
	}
	// Package testing tells the switches which tests run.
	for name, lines := range map[string][2]string{
		"testing.go":     {"func tRunner(t *T, fn func(t *T)) {\n", "\tdefer MutantTest(t.name)()\n"},
		"run_example.go": {"func runExample(eg InternalExample) (ok bool) {\n", "\tdefer MutantTest(eg.Name)()\n"},
	} {
		path := filepath.Join(goroot, "src/testing", name)
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.Replace(string(source), lines[0], lines[0]+lines[1], 1)
		if text == string(source) {
			return fmt.Errorf("%s has no line %q", path, lines[0])
		}
		if name == "testing.go" {
			text += "\n// MutantTest is called where a test begins, and what it returns where it ends.\nvar MutantTest = func(name string) func() { return func() {} }\n"
		}
		if err := put(path, text); err != nil {
			return err
		}
	}
	files := map[string][]insert{}
	for _, m := range mutants {
		if len(m.inserts) > 0 {
			files[m.path] = append(files[m.path], m.inserts...)
		}
	}
	for name, inserts := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, name, source, parser.PackageClauseOnly)
		if err != nil {
			return err
		}
		inserts = append(inserts, insert{set.Position(parsed.Name.End()).Offset, `; import "` + module + `/internal/mutant"`, false})
		slices.SortStableFunc(inserts, func(a, b insert) int { return cmp.Compare(a.at, b.at) })
		var text strings.Builder
		from := 0
		for _, i := range inserts {
			text.Write(source[from:i.at])
			text.WriteString(i.text)
			from = i.at
		}
		text.Write(source[from:])
		if err := put(name, text.String()); err != nil {
			return err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// tested are the packages, from the root of the module, whose tests use a package with mistakes.
func tested(mutants []*mutant) ([]string, error) {
	mistaken := map[string]bool{}
	for _, m := range mutants {
		mistaken[m.pkg] = true
	}
	out, err := exec.Command("go", "list", "-test", "-f", `{{if .ForTest}}{{.ForTest}} {{join .Deps " "}}{{end}}`, "./...").Output()
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if mistaken[words[0]] || slices.ContainsFunc(words[1:], func(p string) bool { return mistaken[p] }) {
			found[strings.TrimPrefix(strings.TrimPrefix(words[0], module), "/")] = true
		}
	}
	var list []string
	for p := range found {
		list = append(list, p)
	}
	slices.Sort(list)
	return list, nil
}

// with lists the packages that have mistakes.
func with(mutants []*mutant) []string {
	var list []string
	for _, m := range mutants {
		list = append(list, m.pkg)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
