package operand

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
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
	a := cli.NewEnv(&out, io.Discard)
	if err := listFolder(a, dir); err != nil {
		t.Fatal(err)
	}
	a.Stdout.Flush()
	if want := "a.mtx\nb.mtx.gz\nz/\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if holdsTensor(dir) || !holdsTensor(filepath.Join(dir, "z")) {
		t.Error("which folder is a tensor is not told")
	}
}
