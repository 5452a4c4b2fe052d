package ondisk

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

func TestExecutableID(t *testing.T) {
	if id := ExecutableID(); !buildIDs.MatchString(id) {
		t.Errorf("the identity of this executable is %q, not one by the go command", id)
	}
	// Built with an identity of the user's, a program is known by its contents.
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]*regexp.Regexp{
		"-ldflags=":                  buildIDs,
		"-ldflags=-buildid=redacted": regexp.MustCompile(`^$`),
		"-ldflags=-buildid=":         regexp.MustCompile(`^$`),
	} {
		program := filepath.Join(dir, "program")
		cmd := exec.Command("go", "build", flag, "-o", program, source)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, out)
		}
		f, err := os.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		if id := goBuildID(f); !want.MatchString(id) {
			t.Errorf("%s: identity %q, want it to match %s", flag, id, want)
		}
		f.Close()
	}
}
