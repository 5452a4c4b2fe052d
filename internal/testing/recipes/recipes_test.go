// Package recipes adds what CONTRIBUTING.md tells how to add, and holds its lists of files against what that takes.
package recipes

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

const root = "../../.."

// A recipe is a file of testdata: a title, what tests show that what is added works, and for each file what changes in it. Lines
// that begin with a space stand in the file already, those with + are added there and those with - taken out; @ begins another place.
type recipe struct {
	title string
	tests []string
	files []txtar.File
}

func recipes(t *testing.T) map[string]recipe {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	all := map[string]recipe{}
	for _, p := range paths {
		archive, err := txtar.ParseFile(p)
		if err != nil {
			t.Fatal(err)
		}
		head := strings.Split(strings.TrimSpace(string(archive.Comment)), "\n")
		all[strings.TrimSuffix(filepath.Base(p), ".txtar")] = recipe{head[0], head[1:], archive.Files}
	}
	return all
}

// TestRecipes builds the module with what each recipe adds, in an overlay, and runs its tests.
func TestRecipes(t *testing.T) {
	for name, r := range recipes(t) {
		t.Run(name, func(t *testing.T) {
			replace, dir := map[string]string{}, t.TempDir()
			for i, f := range r.files {
				from, err := filepath.Abs(filepath.Join(root, f.Name))
				if err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(from)
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				changed, err := change(string(text), string(f.Data))
				if err != nil {
					t.Fatalf("%s: %v", f.Name, err)
				}
				replace[from] = filepath.Join(dir, fmt.Sprint(i, path.Ext(f.Name)))
				if err := os.WriteFile(replace[from], []byte(changed), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if testing.Short() {
				return // the changes fit; to build with them takes a minute
			}
			overlay, err := json.Marshal(map[string]any{"Replace": replace})
			if err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(dir, "overlay.json")
			if err := os.WriteFile(at, overlay, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, tests := range r.tests {
				cmd := exec.Command("go", append([]string{"test", "-short", "-vet=off", "-overlay", at}, strings.Fields(tests)...)...)
				cmd.Dir = root
				if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "no tests to run") {
					t.Errorf("%s: go test %s: %v\n%s", r.title, tests, err, out)
				}
			}
		})
	}
}

// change is a text with what a recipe changes in it.
func change(text, changes string) (string, error) {
	for _, place := range strings.Split(changes, "@\n") {
		var before, after strings.Builder
		for line := range strings.Lines(place) {
			if line[0] != '+' {
				before.WriteString(line[1:])
			}
			if line[0] != '-' {
				after.WriteString(line[1:])
			}
		}
		if before.Len() == 0 && text == "" {
			text = after.String()
			continue
		}
		if n := strings.Count(text, before.String()); n != 1 {
			return "", fmt.Errorf("there are %d places with\n%s", n, before.String())
		}
		text = strings.Replace(text, before.String(), after.String(), 1)
	}
	return text, nil
}

// TestRecipesAreTold finds the files of each recipe, tests aside, where CONTRIBUTING.md has it, and no others.
func TestRecipesAreTold(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range recipes(t) {
		_, told, found := strings.Cut(string(data), "\n**"+r.title+"**")
		told, _, _ = strings.Cut(told, "\n**")
		if !found {
			t.Errorf("CONTRIBUTING.md has no recipe called %q", r.title)
			continue
		}
		var want []string
		for _, f := range r.files {
			if !strings.HasSuffix(f.Name, "_test.go") {
				want = append(want, f.Name)
			}
		}
		var got []string
		for line := range strings.Lines(told) {
			if cells := strings.Split(line, "|"); len(cells) > 2 && strings.Contains(cells[1], "`") {
				got = append(got, strings.Trim(cells[1], " `"))
			}
		}
		if slices.Sort(want); !slices.Equal(want, slices.Sorted(slices.Values(got))) {
			t.Errorf("%s touches %v, and CONTRIBUTING.md has %v", name, want, got)
		}
	}
}
