package file

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// This file reads small files that promise much, of every kind.

// gzipped packs a text that begins with head and goes on with so many bytes of lines.
func gzipped(t *testing.T, head, line string, bytesOfLines int) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	some := []byte(strings.Repeat(line, 1<<20/len(line)))
	z.Write([]byte(head))
	for n := 0; n < bytesOfLines; n += len(some) {
		z.Write(some)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// zipped makes an archive of deflated entries.
func zipped(t *testing.T, entries map[string][]byte) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, data := range entries {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSmallFilesOfMuch reads small compressed files that hold, or promise, more than they bear out. Each is refused
// with no more memory, all garbage counted, than it unpacks to a few times.
func TestSmallFilesOfMuch(t *testing.T) {
	const much = 40 << 20
	integers := npy(1, dict("<i8", "False", "(1000000000000000000,)"), make([]byte, 1<<20))
	promise := npy(1, dict("<f8", "False", "(1000000000000000000,)"), make([]byte, 1<<20))
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"blank.mtx.gz", gzipped(t, "%%MatrixMarket matrix coordinate real general\n2 2 1\n", "\n", much), "blank lines and comments, with no entry"},
		{"comments.mtx.gz", gzipped(t, "%%MatrixMarket matrix coordinate real general\n2 2 1\n", "% nothing\n", much), "blank lines and comments, with no entry"},
		{"array.mtx.gz", gzipped(t, "%%MatrixMarket matrix array real general\n2 2\n1\n", "\n", much), "blank lines and comments, with no entry"},
		{"header.mtx.gz", gzipped(t, "%%MatrixMarket matrix coordinate real general\n", "%\n", much), "blank lines and comments, with no entry"},
		{"blank.tns.gz", gzipped(t, "1 1 1\n", "\n", much), "blank lines and comments, with no entry"},
		{"behind.tns.gz", gzipped(t, "1 1 1\n1 2 1\n2 1 1\n2 2 1\n", "# nothing\n", much), "blank lines and comments, with no entry"},
		{"sizes.mtx.gz", gzipped(t, "%%MatrixMarket matrix coordinate real general\n2 2 1000000000000\n", "\n", 0), "cannot have more than"},
		{"sizes.tns.gz", gzipped(t, "2 1000000000000\n2 2\n1 1 1\n", "\n", 0), "cannot have more than"},
		{"promise.npy.gz", gzipped(t, string(promise), "\n", 0), "compressed to so little"},
		{"promise.npz", zipped(t, map[string][]byte{"a.npy": promise}), "compressed to so little"},
		{"scipy.npz", zipped(t, map[string][]byte{
			"format.npy":  npy(1, dict("|S3", "False", "()"), []byte("csr")),
			"shape.npy":   npy(1, dict("<i8", "False", "(2,)"), []byte("\x02\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00")),
			"indptr.npy":  integers,
			"indices.npy": integers,
			"data.npy":    promise,
		}), "expected 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := ReadFrom(tt.name, bytes.NewReader(tt.file))
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 128<<20 {
				t.Errorf("a file of %d bytes took %d bytes of memory", len(tt.file), used)
			}
		})
	}
	// What deflate packs best is still read.
	ones := npy(1, dict("<f8", "False", fmt.Sprintf("(%d,)", 1<<20)), make([]byte, 8<<20))
	for name, file := range map[string][]byte{"zeros.npz": zipped(t, map[string][]byte{"a.npy": ones}), "zeros.npy.gz": gzipped(t, string(ones), "\n", 0)} {
		if x, err := ReadFrom(name, bytes.NewReader(file)); err != nil || x.NNZ() != 1<<20 {
			t.Errorf("%s of %d bytes: %v, %v", name, len(file), x, err)
		}
	}
}
