//go:build linux

package spill

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// A block is zero, and nothing of it is to be seen in the directory.
func TestMap(t *testing.T) {
	dir := t.TempDir()
	f, err := New(dir, 16<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const n = 3<<20 + 5
	m, err := f.Map(n)
	if err != nil {
		t.Fatal(err)
	}
	if len(m) != n {
		t.Errorf("%d bytes, want %d", len(m), n)
	}
	for i, v := range m {
		if v != 0 {
			t.Fatalf("byte %d is %d", i, v)
		}
	}
	for i := range m {
		m[i] = byte(i)
	}
	f.drop(0)
	f.Cut(m, 1<<20)
	for i, v := range m {
		want := byte(i)
		if i >= 1<<20 {
			want = 0
		}
		if i < n/4096*4096 && v != want {
			t.Fatalf("byte %d is %d, want %d", i, v, want)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("in the directory: %v, %v", list, err)
	}
	f.Free(m)
	if len(f.blocks) > 0 {
		t.Errorf("%d blocks are watched", len(f.blocks))
	}
}

func TestTakes(t *testing.T) {
	f := &Files{from: 100}
	if f.Takes(99) || !f.Takes(100) || (*Files)(nil).Takes(1<<40) {
		t.Error("from 100 bytes on")
	}
}

// A disk without room is an error, not a signal later.
func TestFull(t *testing.T) {
	f, err := New(t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var full *Error
	if _, err := f.Map(1 << 52); !errors.As(err, &full) || full.Bytes != 1<<52 {
		t.Errorf("error %v", err)
	}
	if _, err := New("/no/such/directory", 1<<20); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("error %v", err)
	}
}

func TestInMemory(t *testing.T) {
	var st syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &st); err != nil || st.Type != 0x01021994 {
		t.Skip("no tmpfs")
	}
	if _, err := New("/dev/shm", 1<<20); err == nil {
		t.Error("no error")
	}
}

// What is written far beyond the limit does not stay in the process's memory.
func TestResident(t *testing.T) {
	const limit = 16 << 20
	f, err := New(t.TempDir(), limit)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := f.Map(16 * limit)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Free(m)
	for i := 0; i < len(m); i += 4096 {
		m[i] = 1
	}
	for range 400 {
		if resident() < 2*libraries {
			break
		}
		time.Sleep(look)
	}
	if n := resident(); n >= 2*libraries {
		t.Errorf("%d bytes stay in memory", n)
	}
	for i := 0; i < len(m); i += 4096 {
		if m[i] != 1 {
			t.Fatalf("byte %d is lost", i)
		}
	}
}
