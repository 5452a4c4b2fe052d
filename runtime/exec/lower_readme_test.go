package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// This file checks the loops in lower/README.md.

// TestLowerReadme checks that the code shown in lower/README.md is what the
// compiler prints: every block occurs in a golden file.
func TestLowerReadme(t *testing.T) {
	text, err := os.ReadFile("../../lower/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/explain/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var goldens strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		goldens.Write(data)
	}
	parts := strings.Split(string(text), "```\n")
	for i := 1; i < len(parts); i += 2 {
		if !strings.Contains(goldens.String(), parts[i]) {
			t.Errorf("no golden file has this block:\n%s", parts[i])
		}
	}
	if len(parts) < 9 {
		t.Errorf("only %d blocks found", len(parts)/2)
	}
}
