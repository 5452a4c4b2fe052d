//go:build linux

package operand

import (
	"path/filepath"
	"runtime/debug"
	"testing"
)

// Go's heap keeps to the part of the memory that mapped files leave, as long as files are open.
func TestOutOfCoreKeepsTheHeapSmall(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	_, c, err := (&MemoryFlag{Text: "256MiB"}).Open(t.Context(), []Destination{{Path: filepath.Join(t.TempDir(), "y.npy")}})
	if err != nil {
		t.Fatal(err)
	}
	if got := debug.SetMemoryLimit(-1); got != 128<<20 {
		t.Errorf("with 256 MiB the heap's limit is %d bytes", got)
	}
	c.Close()
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the heap's limit was %d bytes, and is %d", before, got)
	}
}
