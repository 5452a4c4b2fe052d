//go:build unix

package diskcache

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func openTemp(t testing.TB, max int64) *Cache {
	t.Helper()
	c, err := Open(t.TempDir(), max)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// entry is a key and the bytes that belong to it.
func entry(n int) (Key, []byte) {
	key := sha256.Sum256(fmt.Appendf(nil, "entry %d", n))
	return key, bytes.Repeat(key[:], n%100)
}

// expect checks what the cache has under a key.
func expect(t *testing.T, c *Cache, kind string, key Key, want []byte) {
	t.Helper()
	got, ok := c.Get(kind, key)
	if !ok || !bytes.Equal(got, want) {
		t.Errorf("%s %x: %d bytes, %v, want %d bytes", kind, key[:4], len(got), ok, len(want))
	}
}

func TestPutAndGet(t *testing.T) {
	c := openTemp(t, 64<<20)
	for n := range 200 {
		key, data := entry(n)
		if _, ok := c.Get("object", key); ok {
			t.Fatalf("entry %d is there before it was put", n)
		}
		if err := c.Put("object", key, data); err != nil {
			t.Fatal(err)
		}
		expect(t, c, "object", key, data)
	}
	key, data := entry(3)
	if _, ok := c.Get("ptx", key); ok {
		t.Error("an entry of one kind was found as another")
	}
	if err := c.Put("ptx", key, []byte("text")); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "ptx", key, []byte("text"))
	expect(t, c, "object", key, data)
	if err := c.Put("object", key, []byte("new")); err != nil {
		t.Fatal(err)
	}
	expect(t, c, "object", key, []byte("new"))
	again, err := Open(c.Dir(), c.Max())
	if err != nil {
		t.Fatal(err)
	}
	expect(t, again, "object", key, []byte("new"))
}

func TestListAndClean(t *testing.T) {
	c := openTemp(t, 64<<20)
	if list, err := c.List(); err != nil || len(list) != 0 {
		t.Errorf("an empty cache lists %v, %v", list, err)
	}
	for n := range 10 {
		key, data := entry(n)
		if err := c.Put("object", key, data); err != nil {
			t.Fatal(err)
		}
	}
	key, _ := entry(4)
	notOurs := filepath.Join(filepath.Dir(c.path("object", key)), "README")
	if err := os.WriteFile(notOurs, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(c.path("object", key), old, old); err != nil {
		t.Fatal(err)
	}
	list, err := c.List()
	if err != nil || len(list) != 10 {
		t.Fatalf("%d entries, %v, want 10", len(list), err)
	}
	if last := list[9]; last.Key != fmt.Sprintf("%x", key) || last.Kind != "object" || last.Size != int64(headerSize+4*32) {
		t.Errorf("the entry used first is %+v", last)
	}
	if files, size, err := c.Clean(); files != 10 || size <= int64(10*headerSize) || err != nil {
		t.Errorf("%d files of %d bytes were removed, %v", files, size, err)
	}
	if _, err := os.Stat(notOurs); err != nil {
		t.Error("a file that is not the cache's was removed")
	}
	if _, ok := c.Get("object", key); ok {
		t.Error("an entry is there after all were removed")
	}
	if err := c.Put("object", key, nil); err != nil {
		t.Errorf("a cache that was cleaned takes nothing: %v", err)
	}
}

// What is damaged, foreign or not a file of ours counts as nothing, and is replaced.
func TestBadEntries(t *testing.T) {
	key, data := entry(42)
	other, _ := entry(43)
	change := func(at int) func(*testing.T, *Cache, string) {
		return func(t *testing.T, _ *Cache, path string) {
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file[at] ^= 1
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := map[string]func(*testing.T, *Cache, string){
		"magic":     change(0),
		"version":   change(8),
		"kind":      change(12),
		"key":       change(40),
		"length":    change(64),
		"checksum":  change(80),
		"contents":  change(headerSize + 7),
		"last byte": change(headerSize + len(data) - 1),
		"empty":     func(t *testing.T, _ *Cache, path string) { must(t, os.Truncate(path, 0)) },
		"half a header": func(t *testing.T, _ *Cache, path string) {
			must(t, os.Truncate(path, int64(headerSize/2)))
		},
		"cut short": func(t *testing.T, _ *Cache, path string) {
			must(t, os.Truncate(path, int64(headerSize+len(data)-1)))
		},
		"longer": func(t *testing.T, _ *Cache, path string) {
			must(t, os.Truncate(path, int64(headerSize+len(data)+1)))
		},
		"huge": func(t *testing.T, _ *Cache, path string) { must(t, os.Truncate(path, 1<<40)) },
		"another entry": func(t *testing.T, c *Cache, path string) {
			must(t, c.Put("object", other, data))
			must(t, os.Rename(c.path("object", other), path))
		},
		"another kind": func(t *testing.T, c *Cache, path string) {
			must(t, c.Put("ptx", key, data))
			must(t, os.Rename(c.path("ptx", key), path))
		},
		"not readable":      func(t *testing.T, _ *Cache, path string) { must(t, os.Chmod(path, 0o200)) },
		"writable by all":   func(t *testing.T, _ *Cache, path string) { must(t, os.Chmod(path, 0o666)) },
		"writable by group": func(t *testing.T, _ *Cache, path string) { must(t, os.Chmod(path, 0o620)) },
		"a folder": func(t *testing.T, _ *Cache, path string) {
			must(t, os.Remove(path))
			must(t, os.MkdirAll(filepath.Join(path, "inside"), 0o700))
		},
		"a link": func(t *testing.T, _ *Cache, path string) {
			must(t, os.Rename(path, path+".target"))
			must(t, os.Symlink(path+".target", path))
		},
		"a pipe": func(t *testing.T, _ *Cache, path string) {
			must(t, os.Remove(path))
			must(t, syscall.Mkfifo(path, 0o600))
		},
		"of another user": func(t *testing.T, _ *Cache, path string) {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a file away")
			}
			must(t, os.Chown(path, 12345, -1))
		},
	}
	for what, spoil := range cases {
		t.Run(what, func(t *testing.T) {
			c := openTemp(t, 64<<20)
			must(t, c.Put("object", key, data))
			spoil(t, c, c.path("object", key))
			got, ok := c.Get("object", key)
			if ok && !(what == "not readable" && os.Geteuid() == 0) { // root may read everything
				t.Errorf("it was taken for an entry of %d bytes", len(got))
			}
			must(t, c.Put("object", key, data))
			expect(t, c, "object", key, data)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFoldersThatAreNotTrusted(t *testing.T) {
	for _, mode := range []os.FileMode{0o777, 0o770, 0o1777, 0o702} {
		dir := t.TempDir()
		must(t, os.Chmod(dir, mode))
		if _, err := Open(dir, 64<<20); err == nil || !strings.Contains(err.Error(), DirVar) {
			t.Errorf("mode %o: error %v, want one that names %s", mode, err, DirVar)
		}
	}
	if os.Geteuid() == 0 {
		dir := t.TempDir()
		must(t, os.Chown(dir, 12345, -1))
		if _, err := Open(dir, 64<<20); err == nil || !strings.Contains(err.Error(), "12345") {
			t.Errorf("a folder of another user: error %v", err)
		}
		inside := filepath.Join(dir, "a", "b")
		if _, err := Open(inside, 64<<20); err == nil || !strings.Contains(err.Error(), "12345") {
			t.Errorf("a folder in one of another user: error %v", err)
		}
		if _, err := os.Stat(inside); err == nil {
			t.Error("it was made nevertheless")
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{"", "relative", file, filepath.Join(file, "inside")} {
		if _, err := Open(dir, 64<<20); err == nil {
			t.Errorf("Open(%q) succeeds", dir)
		}
	}
}

// A folder keeps to its part of the limit; what was used last stays.
func TestLimit(t *testing.T) {
	const part = 10 * 1000
	c := openTemp(t, shards*part)
	size := part/10 - headerSize
	var keys []Key
	for n := 0; len(keys) < 25; n++ {
		if key, _ := entry(n); shard(key) == "07" {
			keys = append(keys, key)
		}
	}
	start := time.Now().Add(-24 * time.Hour)
	for i, key := range keys {
		must(t, c.Put("object", key, make([]byte, size)))
		at := start.Add(time.Duration(i) * time.Minute)
		must(t, os.Chtimes(c.path("object", key), at, at))
		if i == 11 { // used again: now the entry used last
			expect(t, c, "object", keys[5], make([]byte, size))
		}
	}
	list, err := c.List()
	must(t, err)
	have := map[string]bool{}
	for _, e := range list {
		have[e.Key] = true
	}
	for i, key := range keys {
		if want := i == 5 || i >= len(keys)-9; have[fmt.Sprintf("%x", key)] != want {
			t.Errorf("entry %d is there: %v, want %v", i, !want, want)
		}
	}
	must(t, c.Put("object", keys[0], make([]byte, part)))
	if _, ok := c.Get("object", keys[0]); ok {
		t.Error("an entry larger than the limit was kept")
	}
	must(t, c.Put("object", keys[0], make([]byte, part-headerSize)))
	if list, err := c.List(); len(list) != 1 || err != nil {
		t.Errorf("beside the largest entry possible there are %d others, %v", len(list)-1, err)
	}
}

// Files that a process left behind when it was killed go away.
func TestAbandonedFiles(t *testing.T) {
	c := openTemp(t, 64<<20)
	key, data := entry(1)
	must(t, c.Put("object", key, data))
	dir := filepath.Dir(c.path("object", key))
	old, young := filepath.Join(dir, tempName+"1"), filepath.Join(dir, tempName+"2")
	for _, path := range []string{old, young} {
		must(t, os.WriteFile(path, data, 0o600))
	}
	then := time.Now().Add(-2 * abandoned)
	must(t, os.Chtimes(old, then, then))
	must(t, c.Put("object", key, data))
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old file is still there: %v", err)
	}
	if _, err := os.Stat(young); err != nil {
		t.Errorf("a file that may still be written was removed: %v", err)
	}
	if list, err := c.List(); len(list) != 1 || err != nil {
		t.Errorf("%d entries, %v, want 1", len(list), err)
	}
}

const (
	childVar = "LACUNA_TEST_CHILD" // the folder that a child process uses
	children = 4
	most     = 300 // different entries
)

// TestProcesses has several processes write and read the same entries in little
// room, and kills one after the other. No one ever reads anything wrong.
func TestProcesses(t *testing.T) {
	if dir := os.Getenv(childVar); dir != "" {
		child(t, dir)
		return
	}
	c := openTemp(t, smallestSize)
	var running []*exec.Cmd
	for range children {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcesses$")
		cmd.Env = append(os.Environ(), childVar+"="+c.Dir())
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
		running = append(running, cmd)
	}
	for i, cmd := range running[:children/2] {
		time.Sleep(time.Duration(50+30*i) * time.Millisecond)
		must(t, cmd.Process.Kill())
		if err := cmd.Wait(); err == nil {
			t.Error("a process ended before it was killed: the test tests nothing")
		}
	}
	for _, cmd := range running[children/2:] {
		if err := cmd.Wait(); err != nil {
			t.Errorf("a process failed: %v", err)
		}
	}
	check(t, c)
	// The last that any of them did may have been to clean up. The cache still takes entries.
	key, data := entry(0)
	must(t, c.Put("object", key, data))
	if got, ok := c.Get("object", key); !ok || !bytes.Equal(got, data) {
		t.Errorf("an entry that was put last: %d bytes, %v", len(got), ok)
	}
}

// child writes and reads for a while.
func child(t *testing.T, dir string) {
	c, err := Open(dir, smallestSize)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(600 * time.Millisecond); time.Now().Before(end); {
		key, data := entry(rand.IntN(most))
		if err := c.Put("object", key, data); err != nil {
			t.Fatal(err)
		}
		if rand.IntN(50) == 0 {
			if _, _, err := c.Clean(); err != nil {
				t.Fatal(err)
			}
		}
		check(t, c)
	}
}

// check reads all entries: each is there as it was written, or not there.
func check(t *testing.T, c *Cache) {
	t.Helper()
	for n := range most {
		key, want := entry(n)
		if got, ok := c.Get("object", key); ok && !bytes.Equal(got, want) {
			t.Fatalf("entry %d has %d bytes, want %d", n, len(got), len(want))
		}
	}
}

func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ dir, size, want string }{
		{dir, "", ""},
		{dir, "64MiB", ""},
		{"off", "", "switched off"},
		{"", "", "in tests"}, // this is one
		{"relative", "", "absolute"},
		{dir, "much", "LACUNA_CACHE_SIZE"},
		{dir, "1", "too little"},
		{dir, "-5", "LACUNA_CACHE_SIZE"},
	} {
		c, err := fromEnvironment(func(name string) string { return map[string]string{DirVar: test.dir, SizeVar: test.size}[name] })
		if test.want == "" {
			if err != nil || c.Dir() != dir {
				t.Errorf("%+v: %v", test, err)
			} else if test.size == "" && c.Max() != defaultSize || test.size != "" && c.Max() != 64<<20 {
				t.Errorf("%+v: the limit is %d", test, c.Max())
			}
		} else if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v", test, err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	c := openTemp(b, 64<<20)
	data := make([]byte, 16<<10)
	if err := c.Put("object", Key{}, data); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := c.Get("object", Key{}); !ok {
			b.Fatal("not there")
		}
	}
}
