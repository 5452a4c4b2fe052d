//go:build linux

package spill

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is written piece by piece is a block of the file of results in the end, beside others.
func TestGrow(t *testing.T) {
	for _, none := range []bool{false, true} {
		dir := t.TempDir()
		f, err := New(dir, 1<<20)
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
		f.none = none // no file that can get a name
		before, err := f.MapResult(10)
		if err != nil {
			t.Fatal(err)
		}
		if !none && f.results == nil {
			t.Skip("the file system makes no file that can get a name")
		}
		copy(before, "0123456789")
		var grown [2]*Growing
		for k := range grown {
			if grown[k], err = f.Grow(); err != nil {
				t.Fatal(err)
			}
			defer grown[k].Close()
		}
		given, err := f.Grow()
		if err != nil {
			t.Fatal(err)
		}
		var want [2][]byte
		for i := range 300 {
			for k, g := range grown {
				piece := bytes.Repeat([]byte{byte(i + k)}, i*(k+1))
				want[k] = append(want[k], piece...)
				if err := g.Append(piece); err != nil {
					t.Fatal(err)
				}
			}
			if err := given.Append(make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		given.Close()
		arrays := [][]byte{before}
		for k, g := range grown {
			m, err := g.Map()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(m, want[k]) {
				t.Errorf("block %d is another", k)
			}
			arrays = append(arrays, m)
		}
		name := filepath.Join(dir, "x")
		at, end, err := f.Adopt(name, arrays)
		if none {
			if !errors.Is(err, ErrApart) {
				t.Errorf("error %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil || int64(len(got)) != end || end > 1<<20 {
			t.Fatalf("%d bytes of %d, %v", len(got), end, err)
		}
		for k, w := range want {
			if !bytes.Equal(got[at[k+1]:at[k+1]+int64(len(w))], w) {
				t.Errorf("block %d is another in the file", k)
			}
		}
	}
}

// More than the disk has is an error.
func TestGrowFull(t *testing.T) {
	f, err := New(t.TempDir(), 1<<20)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	g, err := f.Grow()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	g.most = 10
	if err := g.Append(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	var full *Error
	if err := g.Append(make([]byte, 1)); !errors.As(err, &full) || full.Bytes != 11 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
}

// Where files may not be as long as the disk has room, or as all results together, what is written piece by piece has a file of its own.
func TestGrowInShortFiles(t *testing.T) {
	f, err := New(t.TempDir(), 1<<20)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	short := limit
	short.Cur = 1 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &short); err != nil {
		t.Skip(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	for range 2 {
		g, err := f.Grow()
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Append([]byte("abc")); err != nil {
			t.Fatal(err)
		}
		m, err := g.Map()
		if err != nil || string(m) != "abc" {
			t.Fatalf("%q, %v", m, err)
		}
		f.Free(m)
	}
}
