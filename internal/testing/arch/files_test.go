package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsNameFiles compares the table of files in doc.go of packages that have one with the folder: a table without a file
// misleads, and so does one with a file that is gone.
func TestDocsNameFiles(t *testing.T) {
	for _, folder := range []string{"tensor", "runtime", "runtime/exec", "runtime/dist", "lower/gpu"} {
		dir := filepath.Join("..", "..", "..", filepath.FromSlash(folder))
		text, err := os.ReadFile(filepath.Join(dir, "doc.go"))
		if err != nil {
			t.Fatal(err)
		}
		patterns := regexp.MustCompile(`[a-z_*]+\.go\b`).FindAllString(string(text), -1)
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{"doc.go": true}
		for _, path := range files {
			name, found := filepath.Base(path), filepath.Base(path) == "doc.go"
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, p := range patterns {
				if ok, _ := filepath.Match(p, name); ok {
					found, used[p] = true, true
				}
			}
			if !found {
				t.Errorf("%s/doc.go does not say what is in %s", folder, name)
			}
		}
		for _, p := range patterns {
			if !used[p] {
				t.Errorf("%s/doc.go names %s, which is not there", folder, p)
			}
		}
	}
}
