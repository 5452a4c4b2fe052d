package lang

import (
	"os"
	"strings"
	"testing"
)

// This file checks the examples of docs/language.md.

// TestLanguagePage checks the examples of docs/language.md: each line of a block is
// a program, and what stands behind "means:" its explicit form.
func TestLanguagePage(t *testing.T) {
	text, err := os.ReadFile("../docs/language.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```lacuna\n")[1:]
	if len(blocks) < 10 {
		t.Fatalf("only %d examples", len(blocks))
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		decls := ""
		for _, line := range strings.Split(strings.TrimSpace(block), "\n") {
			if rest, ok := strings.CutPrefix(line, "# operands:"); ok {
				decls = rest
				continue
			}
			p, err := checkText(t, line, decls)
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if _, want, ok := strings.Cut(line, "# means: "); ok && p.String() != want {
				t.Errorf("%s\nhas the explicit form\n%s", line, p)
			}
		}
	}
}
