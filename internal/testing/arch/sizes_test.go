package arch

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostLines is how long a package may be, tests aside, so that one can be read; larger are those that may be longer, and how long.
const mostLines = 7000

var larger = map[string]int{
	"ir/loop":     8_500,  // one language: its words, printer, parser and verifier
	"tensor/file": 11_200, // a file for each kind of file
	"lower/gpu":   7_100,  // a file for each mapping, which need what mappings share
	"tensor":      10_500, // see RATIONALE.md
}

// TestPackagesAreShort counts the lines of each folder's Go files.
func TestPackagesAreShort(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	lines := map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (name == "testdata" || strings.HasPrefix(name, ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		lines[filepath.ToSlash(dir)] += bytes.Count(text, []byte("\n"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range lines {
		most := max(mostLines, larger[dir])
		if n > most {
			t.Errorf("package %s has %d lines, and may have %d: part it where few names would have to be exported", dir, n, most)
		}
	}
	for dir := range larger {
		if lines[dir] == 0 {
			t.Errorf("there is no package %s", dir)
		}
	}
}
