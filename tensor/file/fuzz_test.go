package file

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// fuzzRead checks the promises that hold for any input: no crash; the same answer
// for a stream as for a file; what was read can be written and read again.
func fuzzRead(t *testing.T, name string, data []byte, opts ...Option) {
	if len(data) > 1<<16 {
		return
	}
	got, err := ReadFrom(name, bytes.NewReader(data), opts...)
	streamed, streamErr := ReadFrom(name, onlyReader{bytes.NewReader(data)}, opts...)
	if (err == nil) != (streamErr == nil) {
		t.Fatalf("as a file: %v; as a stream: %v", err, streamErr)
	}
	if err != nil {
		return
	}
	if !tensor.Equal(got, streamed) {
		t.Fatal("as a file and as a stream it is not the same tensor")
	}
	var b bytes.Buffer
	if err := WriteTo(name, &b, got); err != nil {
		t.Fatalf("cannot write what was read: %v", err)
	}
	again, err := ReadFrom(name, &b, As(got.DType()), Format(got.Format()))
	if err != nil {
		t.Fatalf("cannot read what was written: %v", err)
	}
	if !tensor.Equal(got, again) {
		t.Fatalf("wrote %v, read back %v", got, again)
	}
}

// fuzzOpen checks that a mapped file is the same tensor as one that is read. It writes
// to path.
func fuzzOpen(t *testing.T, path string, data []byte, opts ...Option) {
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	want, wantErr := Read(path, opts...)
	f, err := Open(path, opts...)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("opened: %v; read: %v", err, wantErr)
	}
	if err != nil {
		return
	}
	defer f.Close()
	got, err := f.Tensor().Convert(want.Format())
	if err != nil {
		t.Fatal(err)
	}
	if d := tensor.Diff(got, want); d != "" {
		t.Fatal(d)
	}
}

// addTexts seeds a fuzzer with the inputs of an archive.
func addTexts(f *testing.F, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range txtar.Parse(text).Files {
		f.Add(file.Data)
	}
}

func FuzzMatrixMarket(f *testing.F) {
	addTexts(f, "testdata/mtx.txtar")
	f.Fuzz(func(t *testing.T, data []byte) { fuzzRead(t, "a.mtx", data) })
}

// FuzzTwoPasses compares the two ways to read a matrix: by a list of coordinates and
// straight into compressed rows or columns.
func FuzzTwoPasses(f *testing.F) {
	addTexts(f, "testdata/mtx.txtar")
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		for _, format := range []tensor.Format{tensor.COO, tensor.CSR, tensor.CSC} {
			got, err := ReadFrom("a.mtx", bytes.NewReader(data), OfKind("mtx"), FormatNamed(format.String()), twoPassFrom(1))
			want, wantErr := ReadFrom("a.mtx", bytes.NewReader(data), OfKind("mtx"), FormatNamed(format.String()), twoPassFrom(math.MaxInt64))
			if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("%v: in two passes: %v; in one: %v", format, err, wantErr)
			}
			if err != nil {
				continue
			}
			if !tensor.Equal(got, want) {
				t.Fatalf("%v: %s", format, tensor.Diff(got, want))
			}
			if slices.Max(append(want.Shape(), 0)) > 1<<20 {
				return // compressed rows of it take a lot of memory, either way
			}
		}
	})
}

// twoPassFrom sets from how many entries on a file is read twice.
func twoPassFrom(n int64) Option {
	return func(c *config) error {
		c.twoPass = n
		return nil
	}
}

func FuzzTNS(f *testing.F) {
	addTexts(f, "testdata/tns.txtar")
	f.Fuzz(func(t *testing.T, data []byte) { fuzzRead(t, "a.tns", data, OfKind("tns")) })
}

func FuzzNPY(f *testing.F) {
	for _, typ := range npyTypes {
		f.Add(append(npyHeaderText(typ.code, []int64{2}), make([]byte, 2*typ.dtype.Size())...))
	}
	f.Add(npy(2, dict(">f4", "True", "(2, 3)"), packed(binary.BigEndian, make([]float32, 6))))
	f.Add(npy(3, dict("|b1", "False", "()"), []byte{3}))
	path := filepath.Join(f.TempDir(), "a")
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzRead(t, "a.npy", data, OfKind("npy"))
		fuzzOpen(t, path, data, OfKind("npy"))
	})
}

// fuzzSparse is fuzzRead for files whose tensors may have no dense form: what was read is
// written as binsparse.
func fuzzSparse(t *testing.T, name string, data []byte) {
	if len(data) > 1<<16 {
		return
	}
	got, err := ReadFrom(name, bytes.NewReader(data))
	streamed, streamErr := ReadFrom(name, onlyReader{bytes.NewReader(data)})
	if (err == nil) != (streamErr == nil) {
		t.Fatalf("as a file: %v; as a stream: %v", err, streamErr)
	}
	if err != nil {
		return
	}
	if !tensor.Equal(got, streamed) {
		t.Fatal("as a file and as a stream it is not the same tensor")
	}
	for _, target := range []string{"a.bsp.npz", "a.bsp.h5"} {
		var b bytes.Buffer
		if err := WriteTo(target, &b, got); err != nil {
			t.Fatalf("cannot write what was read: %v", err)
		}
		again, err := ReadFrom(target, bytes.NewReader(b.Bytes()), As(got.DType()))
		if err != nil {
			t.Fatalf("cannot read what was written: %v", err)
		}
		if !tensor.Equal(got, again) || got.Format() != again.Format() {
			t.Fatalf("wrote %v, read back %v", got, again)
		}
	}
}

// addWritten seeds a fuzzer with small files of a kind.
func addWritten(f *testing.F, name string) {
	rng := rand.New(rand.NewPCG(2, 7))
	for i := range 8 {
		c := randomBinsparse(rng.IntN)
		m, h := c.tensor(f)
		opts := []Option{Header(h)}
		if i%2 == 0 {
			opts = nil
		}
		var b bytes.Buffer
		if err := WriteTo(name, &b, m, opts...); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
}

func FuzzNPZ(f *testing.F) {
	f.Add(npz(zip.Deflate, "arr_0.npy"))
	f.Add(npz(zip.Store, "a.npy"))
	f.Add(npz(zip.Store, "a.npy", "b.npy"))
	addWritten(f, "a.bsp.npz")
	for _, name := range []string{"a.scipy.npz", "a.pydata.npz"} {
		for _, format := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.COO} {
			m, err := tensor.FromCoords([]int64{2, 3}, format, [][]int64{{1, 0}, {2, 1}}, tensor.ArrayOf([]float64{1.5, -2}))
			if err != nil {
				f.Fatal(err)
			}
			var b bytes.Buffer
			if err := WriteTo(name, &b, m); err != nil {
				f.Fatal(err)
			}
			f.Add(b.Bytes())
		}
	}
	path := filepath.Join(f.TempDir(), "a.npz")
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzSparse(t, "a.npz", data)
		fuzzOpen(t, path, data)
	})
}

func FuzzHDF5(f *testing.F) {
	addWritten(f, "a.bsp.h5")
	for _, path := range []string{"testdata/dialects.h5ad", "testdata/small.h5"} {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "a.h5")
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzSparse(t, "a.h5", data)
		fuzzOpen(t, path, data)
	})
}
