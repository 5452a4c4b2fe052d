package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// This file reads files that are damaged or lie.

// TestDamagedBytes damages small files at many bytes, and cuts them there: nothing may crash, or
// allocate much.
func TestDamagedBytes(t *testing.T) {
	names, err := filepath.Glob("testdata/small_*.h5.gz")
	must(t, err)
	for _, name := range names {
		name = strings.TrimSuffix(filepath.Base(name), ".gz")
		t.Run(name, func(t *testing.T) {
			sound := fixture(t, name)
			var before, after runtime.MemStats
			for i := 0; i < len(sound); i += 1 + len(sound)/300 {
				runtime.ReadMemStats(&before)
				readAnything(t, sound[:i])
				for _, to := range []byte{0, 1, 0x80, 0xff} {
					b := bytes.Clone(sound)
					b[i] = to
					readAnything(t, b)
				}
				runtime.ReadMemStats(&after)
				if n := after.TotalAlloc - before.TotalAlloc; n > 256<<20 {
					t.Errorf("with byte %d changed, %d bytes were allocated", i, n)
				}
			}
		})
	}
}

// patched writes a file by our writer and replaces the only occurrence of one number by another.
func patched(t *testing.T, write func(w *Writer), width int, from, to uint64) []byte {
	t.Helper()
	var buf Buffer
	w := Create(&buf)
	write(w)
	must(t, w.Close())
	old, new := make([]byte, 8), make([]byte, 8)
	binary.LittleEndian.PutUint64(old, from)
	binary.LittleEndian.PutUint64(new, to)
	if n := bytes.Count(buf.Bytes(), old[:width]); n != 1 {
		t.Fatalf("%d is in the file %d times", from, n)
	}
	return bytes.Replace(buf.Bytes(), old[:width], new[:width], 1)
}

// readX opens a file without regard to checksums and reads the dataset x.
func readX(b []byte) error {
	f := newFile(bytes.NewReader(b), int64(len(b)))
	f.unverified = true
	if err := f.readSuperblock(); err != nil {
		return err
	}
	d, err := f.Dataset("x")
	if err != nil {
		return err
	}
	_, err = d.ReadAll()
	return err
}

// TestLies has files whose numbers do not fit each other.
func TestLies(t *testing.T) {
	const n, chunk = 54321, 7777
	deflated := func(w *Writer) {
		must(t, w.Dataset("x", Uint8, []uint64{n}, make([]byte, n), Options{Deflate: 6, Chunk: []uint64{chunk}}))
	}
	single := func(w *Writer) {
		must(t, w.Dataset("x", Uint8, []uint64{n}, make([]byte, n), Options{Deflate: 6, Chunk: []uint64{n + 1}}))
	}
	plain := func(w *Writer) {
		must(t, w.Dataset("x", Uint8, []uint64{n}, make([]byte, n), Options{Chunk: []uint64{chunk}}))
	}
	square := func(w *Writer) {
		must(t, w.Dataset("x", Uint16, []uint64{54, n}, make([]byte, 108*n), Options{}))
	}
	const chunkSize uint64 = chunk | 1<<32 // in the layout, where 1 comes next, the size of an element
	for _, c := range []struct {
		name     string
		write    func(w *Writer)
		width    int
		from, to uint64
		want     string
	}{
		{"many elements", square, 8, 54, 1 << 40, "for a dataset of"},
		{"too many elements", square, 8, 54, 1 << 60, "hdf5: /x: the dimensions [1152921504606846976 54321] of elements of 2 bytes are too large to be counted"},
		{"many chunks", deflated, 8, n, 1 << 30, "bytes are not stored in the file"},
		{"large chunks", single, 8, (n + 1) | 1<<32, 1<<32 | 0x7fffffff, "cannot hold 2147483647 bytes"},
		{"small chunks", deflated, 8, chunkSize, 1<<32 | chunk/7, "it has more than 1111 bytes"},
		{"odd chunks", deflated, 8, chunkSize, 1<<32 | (chunk - 1), "no multiple of 7776"},
		{"empty chunks", deflated, 8, chunkSize, 1 << 32, "size 0"},
		{"wide elements", deflated, 8, chunkSize, 2<<32 | chunk, "elements of 2 bytes, the dataset of 1"},
		{"small plain chunks", plain, 8, chunkSize, 1<<32 | chunk/7, "chunk 0 has 7777 bytes, expected 1111"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := readX(patched(t, c.write, c.width, c.from, c.to))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestDamage changes sound files a little.
func TestDamage(t *testing.T) {
	var buf Buffer
	w := Create(&buf)
	must(t, w.Dataset("x", Uint8, []uint64{5000}, numbered(Uint8, 5000), Options{Fletcher32: true}))
	must(t, w.Close())
	sound := buf.Bytes()
	flip := func(at int) []byte {
		b := bytes.Clone(sound)
		b[at] ^= 1
		return b
	}
	tree := fixture(t, "small_tree1.h5")
	root := bytes.Index(tree, []byte("TREE\x01\x01")) // of the chunks of x, on level 1
	cycle := bytes.Clone(tree)
	binary.LittleEndian.PutUint64(cycle[root+24+8+16:], uint64(root)) // its first child
	cycle[root+5] = 2
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"data", flip(bytes.Index(sound, numbered(Uint8, 100)) + 50), "hdf5: /x: chunk 0: its checksum is wrong"},
		{"header", flip(bytes.LastIndex(sound, []byte("OHDR")) + 20), "hdf5: /: the checksum of the object header is wrong"},
		{"superblock", flip(20), "the checksum of the superblock is wrong"},
		{"version", func() []byte { b := bytes.Clone(sound); b[8] = 9; return b }(), "the superblock has version 9; 0 to 3 are read"},
		{"cut short", sound[:len(sound)-1], "the file is cut short"},
		{"nearly empty", sound[:9], "cut short"},
		{"cycle", cycle, "hdf5: /x: a node of a B-tree"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Open(bytes.NewReader(c.data), int64(len(c.data)))
			if err == nil {
				var d *Dataset
				if d, err = f.Dataset("x"); err == nil {
					_, err = d.ReadAll()
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	for _, b := range [][]byte{nil, []byte("\x89HDF"), make([]byte, 5000)} {
		if _, err := Open(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrFormat) {
			t.Errorf("%d bytes of nothing: %v", len(b), err)
		}
	}
}

// TestRefusals looks things up that are not there, or not read.
func TestRefusals(t *testing.T) {
	groups := open(t, fixture(t, "groups_latest.h5"))
	layouts := open(t, fixture(t, "layouts_latest.h5"))
	types := open(t, fixture(t, "types_latest.h5"))
	for _, c := range []struct {
		file       *File
		path, want string
		is         error
	}{
		{groups, "soft", `hdf5: /soft: is a soft link to "/a/b", which is not followed`, ErrUnsupported},
		{groups, "external", `hdf5: /external: is an external link to "/x" in the file "other.h5", which is not followed`, ErrUnsupported},
		{groups, "a/b/missing/x", "hdf5: /a/b/missing: there is no such object", ErrNotFound},
		{groups, "a/b/c/x/y", "hdf5: /a/b/c/x: is a dataset and holds nothing; expected a group", ErrNotFound},
		{groups, "a/b", "hdf5: /a/b: is a group; expected a dataset", nil},
		{layouts, "filters7", "hdf5: /filters7: the chunks went through the filter scaleoffset (6), which is not read (deflate, shuffle, fletcher32 and lzf are)", ErrUnsupported},
		{types, "committed", "hdf5: /committed: is a datatype; expected a group or a dataset", ErrUnsupported},
		{types, "ref", "hdf5: /ref: elements are a reference, which is not read", ErrUnsupported},
		{types, "vlen", "hdf5: /vlen: elements are a sequence of variable length of int32, which is not read", ErrUnsupported},
		{types, "odd", "hdf5: /odd: elements are an integer of 20 bits from bit 0 on in 4 bytes, which is not read", ErrUnsupported},
		{types, "vstr", "hdf5: /vstr: elements are strings of variable length; read them as strings", nil},
	} {
		d, err := c.file.Dataset(c.path)
		if err == nil {
			_, err = d.ReadAll()
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.path, err, c.want)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: the error %v is not %v", c.path, err, c.is)
		}
	}
	if _, err := layouts.Group("contiguous"); err == nil || err.Error() != "hdf5: /contiguous: is a dataset; expected a group" {
		t.Errorf("a dataset as a group: %v", err)
	}
	if _, err := groups.Root().Attr("none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing attribute: %v", err)
	}
	d, err := layouts.Dataset("contiguous")
	must(t, err)
	if err := d.ReadInto(make([]byte, 3)); err == nil || !strings.Contains(err.Error(), "the buffer has 3 bytes, expected 140") {
		t.Errorf("a small buffer: %v", err)
	}
}

// TestDeepGroups nests groups more than Walk follows.
func TestDeepGroups(t *testing.T) {
	var buf Buffer
	w := Create(&buf)
	must(t, w.Group(strings.Repeat("g/", 2*maxDepth)))
	must(t, w.Close())
	var last error
	must(t, open(t, buf.Bytes()).Root().Walk(func(_ string, _ Object, err error) error {
		if err != nil {
			last = err
		}
		return nil
	}))
	if last == nil || !strings.HasSuffix(last.Error(), fmt.Sprintf("groups are nested more than %d deep", maxDepth)) {
		t.Errorf("got %v", last)
	}
}

// failingReader fails beyond some offset.
type failingReader struct {
	b  []byte
	at int64
}

var errDisk = errors.New("a bad sector")

func (r failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.at {
		return 0, errDisk
	}
	return copy(p, r.b[off:]), nil
}

// TestReaderFails wants the cause of an error to be found in it, wherever it strikes.
func TestReaderFails(t *testing.T) {
	b := fixture(t, "small_tree1.h5")
	for at := 0; at < len(b); at += 50 {
		f, err := Open(failingReader{b, int64(at)}, int64(len(b)))
		for _, name := range []string{"x", "y"} {
			if err != nil {
				break
			}
			var d *Dataset
			if d, err = f.Dataset(name); err == nil {
				_, err = d.ReadAll()
			}
		}
		if err == nil && at > len(b)*3/4 {
			return // what lies there belongs to nothing
		}
		if !errors.Is(err, errDisk) {
			t.Fatalf("failing from byte %d on: %v", at, err)
		}
	}
}
