package lacuna_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// This file follows the links of all pages.

// TestLinks follows the links of all pages to files of this repository, and to headings in them.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(withoutCode(string(text)), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(file, "://") || strings.HasPrefix(file, "mailto:") {
				continue
			}
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
				continue
			}
			if anchor != "" && !anchors(t, to)[anchor] {
				t.Errorf("%s links to %s: %s has no such heading", page, m[1], to)
			}
		}
	}
}

// pages are the files of Markdown but for records of measurements.
func pages(t *testing.T) []string {
	var all []string
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || path != "." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md") && !strings.HasPrefix(path, filepath.Join("bench", "results")):
			all = append(all, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// withoutCode drops what stands in fences and backquotes, where brackets are indices.
func withoutCode(text string) string {
	text = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "")
}

// anchors are the names that headings of a page have in addresses: lower case, hyphens for blanks, no punctuation.
func anchors(t *testing.T, page string) map[string]bool {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ +(.*)$`).FindAllStringSubmatch(string(text), -1) {
		name := regexp.MustCompile(`[^\pL\pN_\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		named[strings.ReplaceAll(name, " ", "-")] = true
	}
	return named
}
