package arch

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// kinds are how tests end that are named for what they are.
var kinds = regexp.MustCompile(`^(.*_)?(bench|example|export|fuzz|main|norace|race)_test\.go$`)

var (
	aboutFile    = regexp.MustCompile(`(?m)^// This file `)
	aboutPackage = regexp.MustCompile(`(?m)^// (Package|Command) (?:.*\n(?://.*\n)*)package `)
)

// TestPlaces: a test stands beside the file that it tests, and is named for it or for how the names of several begin; any other, such as of a package
// as a whole, says in a comment "This file …" what it is about. The comment of a package is in doc.go or in the file that is named for the package.
func TestPlaces(t *testing.T) {
	tree := os.DirFS("../../..")
	folders := map[string][]string{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 1 && d.Name()[0] == '.' || name == "examples/gopackage/kernels") {
			return fs.SkipDir // the last is generated
		}
		if strings.HasSuffix(name, ".go") {
			folders[path.Dir(name)] = append(folders[path.Dir(name)], path.Base(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, files := range folders {
		sources := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return strings.HasSuffix(f, "_test.go") })
		for _, f := range files {
			text, err := fs.ReadFile(tree, path.Join(folder, f))
			if err != nil {
				t.Fatal(err)
			}
			stem, _, _ := strings.Cut(strings.TrimSuffix(f, ".go"), "_")
			isTest, begins := strings.HasSuffix(f, "_test.go"), func(source string) bool { return strings.HasPrefix(source, stem) }
			if isTest && len(sources) > 0 && stem != path.Base(folder) && !slices.ContainsFunc(sources, begins) && !kinds.MatchString(f) && !aboutFile.Match(text) {
				t.Errorf("%s/%s: no file of such a name is tested: name the test for one, or say in a comment \"This file …\" what it is about", folder, f)
			}
			named := f == "doc.go" || f == "main.go" || stem == path.Base(folder) || strings.Contains(string(text), "\npackage "+stem+"\n")
			if !isTest && !named && aboutPackage.Match(text) {
				t.Errorf("%s/%s: a package's comment stands in doc.go, or in the file that is named for it", folder, f)
			}
		}
	}
}
