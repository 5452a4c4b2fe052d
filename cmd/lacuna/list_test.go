package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestListFolder: a folder is no tensor, unless it says so.
func TestListFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.mtx", "b.mtx.gz", "c.txt", "z/.zgroup"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	a := &app{stdout: bufio.NewWriter(&out)}
	if err := a.listFolder(dir); err != nil {
		t.Fatal(err)
	}
	a.stdout.Flush()
	if want := "a.mtx\nb.mtx.gz\nz/\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if holdsTensor(dir) || !holdsTensor(filepath.Join(dir, "z")) {
		t.Error("which folder is a tensor is not told")
	}
}
