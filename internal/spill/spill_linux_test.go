//go:build linux

package spill

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Blocks of results become a file without gaps, at the places that are told, and only together.
func TestAdopt(t *testing.T) {
	dir := t.TempDir()
	f, err := New(dir, 1<<20)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	var blocks [4][]byte
	for k := range blocks {
		if blocks[k], err = f.MapResult(100_000); err != nil {
			t.Fatal(err)
		}
		for i := range blocks[k] {
			blocks[k][i] = byte(i*(k+1) + k)
		}
	}
	if f.results == nil {
		t.Skip("the file system makes no file that can get a name")
	}
	other, err := f.Map(5000)
	if err != nil {
		t.Fatal(err)
	}
	// The second is freed, and of the others less is wanted than there is.
	want := [][]byte{bytes.Clone(blocks[0][:70_000]), bytes.Clone(blocks[2]), bytes.Clone(blocks[3][:9])}
	f.Cut(blocks[0], 70_000)
	f.Free(blocks[1])
	name := filepath.Join(dir, "x")
	if _, _, err := f.Adopt(name, [][]byte{blocks[0][:70_000], blocks[2]}); !errors.Is(err, ErrApart) {
		t.Fatalf("without a block that is used: %v", err)
	}
	if _, _, err := f.Adopt(filepath.Join(dir, "none", "x"), [][]byte{blocks[0][:70_000], blocks[2], blocks[3]}); err == nil {
		t.Fatal("in no folder: no error")
	}
	at, end, err := f.Adopt(name, [][]byte{blocks[0][:70_000], other, blocks[2], blocks[3][:9]})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if at[1] != -1 || int64(len(got)) != end || end > 4096+73_728+102_400+9 {
		t.Errorf("places %v to %d, and the file has %d bytes", at, end, len(got))
	}
	for k, place := range []int64{at[0], at[2], at[3]} {
		if !bytes.Equal(got[place:place+int64(len(want[k]))], want[k]) {
			t.Errorf("block %d is another at byte %d", k, place)
		}
	}
	// What comes later is of another file, and to free the blocks leaves this one alone.
	more, err := f.MapResult(10)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{blocks[0], blocks[2], blocks[3], more, other} {
		f.Free(b)
	}
	if again, err := os.ReadFile(name); err != nil || !bytes.Equal(again, got) {
		t.Errorf("the file is another one now (%v)", err)
	}
	if _, _, err := f.Adopt(name+"2", [][]byte{make([]byte, 9)}); !errors.Is(err, ErrApart) {
		t.Errorf("of nothing: %v", err)
	}
}
