package hdf5

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// FuzzOpen looks at everything in a damaged file: nothing may crash, take long, or
// report an error of another type. Checksums are not verified, as they would find all damage.
func FuzzOpen(f *testing.F) {
	names, err := filepath.Glob("testdata/*.h5.gz")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		name = strings.TrimSuffix(filepath.Base(name), ".gz")
		if b := fixture(f, name); len(b) <= maxFuzz {
			f.Add(b)
		}
	}
	addCorpus(f)
	var buf Buffer
	w := Create(&buf)
	must(f, w.Dataset("a/x", Float32, []uint64{3, 4}, numbered(Float32, 12), Options{}))
	must(f, w.Dataset("a/y", Bool, []uint64{7}, numbered(Bool, 7), Options{Chunk: []uint64{2}, Deflate: 1, Shuffle: true}))
	must(f, w.Strings("s", []uint64{2}, []string{"one", "two"}))
	must(f, w.Attr("a", "text", "value"))
	must(f, w.Close())
	f.Add(buf.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxFuzz {
			return
		}
		start := time.Now()
		readAnything(t, data)
		if took := time.Since(start); took > 10*time.Second {
			t.Fatalf("took %v for %d bytes", took, len(data))
		}
	})
}

// addCorpus adds damaged files of earlier runs, those that between them reach all that was
// reached: testdata/corpus.zip.
func addCorpus(f *testing.F) {
	r, err := zip.OpenReader("testdata/corpus.zip")
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	for _, file := range r.File {
		b, err := fs.ReadFile(r, file.Name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// maxFuzz bounds the files that are tried: larger ones only take longer.
const maxFuzz = 1 << 15

// readAnything reads what there is, and fails at what no file may bring about.
func readAnything(t *testing.T, data []byte) {
	f := newFile(bytes.NewReader(data), int64(len(data)))
	f.unverified = true
	if err := f.readSuperblock(); err != nil {
		wantError(t, err)
		return
	}
	err := f.Root().Walk(func(path string, obj Object, err error) error {
		wantError(t, err)
		if obj == nil {
			if err == nil {
				t.Fatalf("%s: neither an object nor an error", path)
			}
			return nil
		}
		readAttrs(t, obj)
		if d, ok := obj.(*Dataset); ok {
			readDataset(t, d, int64(len(data)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("an error of type %T: %v", err, err)
	}
}

func readAttrs(t *testing.T, obj Object) {
	names, err := obj.AttrNames()
	wantError(t, err)
	for _, name := range names[:min(len(names), 100)] {
		a, err := obj.Attr(name)
		if wantError(t, err); err != nil {
			continue
		}
		_, err = a.Bytes()
		wantError(t, err)
		_, err = a.Text()
		wantError(t, err)
		_, err = a.Ints()
		wantError(t, err)
		_, err = a.Floats()
		wantError(t, err)
	}
}

func readDataset(t *testing.T, d *Dataset, fileSize int64) {
	_ = d.Type().String()
	at, n, ok := d.Contiguous()
	if ok && (at < 0 || n < 0 || at+n > fileSize) {
		t.Fatalf("%s: %d bytes at %d are not in the file", d.Path(), n, at)
	}
	err := d.Check()
	if wantError(t, err); err != nil || d.Size() > 1<<20 {
		return
	}
	_, err = d.Strings()
	wantError(t, err)
	b, err := d.ReadAll()
	if wantError(t, err); err == nil && int64(len(b)) != d.Size() {
		t.Fatalf("%s: read %d bytes of %d", d.Path(), len(b), d.Size())
	}
}
