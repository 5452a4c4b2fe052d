package file

import (
	"archive/zip"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// aligned is the text of a header, padded so that the data begin at a multiple of 64.
func aligned(descr, order, shape string) string {
	text := dict(descr, order, shape)
	return strings.Repeat(" ", 63-(10+len(text)+63)%64) + text
}

// TestOpen compares what Open makes of a file with what Read does, and checks what it
// copies.
func TestOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are mapped on Linux only")
	}
	floats := []float64{1, 2, 3, 4, 5, 6}
	little := func(v any) []byte { return packed(binary.LittleEndian, v) }
	shifted := npy(1, " "+aligned("<f8", "False", "(6,)"), little(floats))
	for _, tt := range []struct {
		name string
		data []byte
		opts []Option
		want string // in what Copied says; "" if nothing is copied
	}{
		{"f64.npy", npy(1, aligned("<f8", "False", "(2, 3)"), little(floats)), nil, ""},
		{"c128.npy", npy(1, aligned("<c16", "False", "(3,)"), little(floats)), nil, ""},
		{"bool.npy", npy(1, aligned("|b1", "False", "(3,)"), []byte{1, 0, 1}), nil, ""},
		{"fortran.npy", npy(1, aligned("<f8", "True", "(2, 3)"), little(floats)), nil, ""},
		{"empty.npy", npy(1, aligned("<f8", "False", "(0, 3)"), nil), nil, "all: "},
		{"big.npy", npy(1, aligned(">f8", "False", "(6,)"), packed(binary.BigEndian, floats)), nil, "values: the bytes are in the other order"},
		{"two.npy", npy(1, aligned("|b1", "False", "(3,)"), []byte{1, 0, 2}), nil, "values: true is not always the byte 1"},
		{"shifted.npy", shifted, nil, "is not aligned to 8 bytes, as f64 must be"},
		{"converted.npy", npy(1, aligned("<f8", "False", "(6,)"), little(floats)), []Option{As(tensor.Float32)}, "values: converted from f64 to f32"},
		{"stored.npy", npy(1, aligned("<f8", "False", "(2, 3)"), little(floats)), []Option{Format(tensor.CSR)}, "all: "},
		{"fortran-asked.npy", npy(1, aligned("<f8", "True", "(2, 3)"), little(floats)), []Option{FormatNamed("D")}, "values: they are in Fortran order"},
		{"deflated.npz", npz(zip.Deflate, "a.npy"), nil, "values: the archive is compressed"},
		{"text.mtx", []byte(mtxText), nil, "all: the tensor is not made of arrays as the file has them"},
		{"packed.mtx.bz2", []byte(mtxBzip2), nil, "all: the file is compressed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tt.name)
			if err := os.WriteFile(path, tt.data, 0o666); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path, tt.opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			want, err := Read(path, tt.opts...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Tensor().Convert(want.Format())
			if err != nil {
				t.Fatal(err)
			}
			if d := tensor.Diff(got, want); d != "" {
				t.Error(d)
			}
			copied := strings.Join(f.Copied(), "; ")
			if tt.want == "" && copied != "" || !strings.Contains(copied, tt.want) {
				t.Errorf("copied: %q, want %q", copied, tt.want)
			}
			if mapped := f.Tensor().Values().Foreign() != nil; mapped != (tt.want == "") {
				t.Errorf("values in the file: %v", mapped)
			}
		})
	}
}

// TestOpenStoredNPZ opens arrays that an archive stores as they are: in place where
// they happen to be aligned, and not without a right checksum.
func TestOpenStoredNPZ(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are mapped on Linux only")
	}
	inPlace := 0
	for n := range 8 {
		name := strings.Repeat("a", n+1) + ".npy"
		path := filepath.Join(t.TempDir(), "a.npz")
		data := npz(zip.Store, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := tensor.Diff(f.Tensor(), want); d != "" {
			t.Error(d)
		}
		if len(f.Copied()) == 0 {
			inPlace++
		}
		f.Close()
		broken := slices.Clone(data)
		broken[strings.Index(string(data), "}\n")+2] ^= 1 // the first element
		if err := os.WriteFile(path, broken, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("a broken archive: %v", err)
		}
	}
	if inPlace == 0 {
		t.Error("no array was used in place, whatever its alignment")
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"short.npy", npy(1, aligned("<f8", "False", "(3,)"), make([]byte, 23)), "promises 24 bytes of data (3 elements), but the file has 23"},
		{"long.npy", npy(1, aligned("<f8", "False", "(3,)"), make([]byte, 25)), "but the file has 25"},
		{"huge.npy", npy(1, aligned("<f8", "False", "(1152921504606846975,)"), nil), "but the file has 0"},
		{"no.npy", []byte("\x93NUMPY"), "ends within the .npy header"},
	} {
		path := filepath.Join(dir, tt.name)
		if err := os.WriteFile(path, tt.data, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), tt.name) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := Open(filepath.Join(dir, "missing.npy")); !os.IsNotExist(err) && !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}
}

// TestMappingLives checks that a mapping lasts as long as a tensor uses it, also by
// way of others that share its arrays, and no longer once the file is closed.
func TestMappingLives(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are mapped on Linux only")
	}
	path := filepath.Join(t.TempDir(), "lives.npy")
	data := npy(1, aligned("<f8", "False", "(1024,)"), packed(binary.LittleEndian, make([]float64, 1024)))
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	mapped := func() bool {
		for range 3 {
			runtime.GC()
			time.Sleep(5 * time.Millisecond) // cleanups run on a goroutine of their own
		}
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip(err)
		}
		return strings.Contains(string(maps), path)
	}
	share := func(closed bool) tensor.Array {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if closed {
			f.Close()
		}
		// An array that is made of a slice of the memory must know where it is from.
		return tensor.ArrayOf(tensor.View[float64](f.Tensor().Values())[10:20])
	}
	a := share(true)
	if !mapped() {
		t.Fatal("the mapping went while an array was in use")
	}
	if got := a.Scalar(3).Float64(); got != 0 {
		t.Error(got)
	}
	runtime.KeepAlive(a.Foreign())
	a = tensor.Array{}
	for i := 0; mapped(); i++ {
		if i == 100 {
			t.Fatal("the mapping stays after its last array")
		}
	}
	share(false)
	if !mapped() {
		t.Error("the mapping of a file that is not closed went")
	}
}

// TestCutShort reads a mapping whose file another process has cut off meanwhile.
func TestCutShort(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are mapped on Linux only")
	}
	path := filepath.Join(t.TempDir(), "cut.npy")
	const n = 8 << 20
	if err := os.WriteFile(path, npy(1, aligned("|b1", "False", "(8388608,)"), make([]byte, n)), 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m := mapFile(file)
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	err = guarded(func() error {
		_, err := m.array(place{name: "values", offset: 128, n: n - 128, dtype: tensor.Bool})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "became shorter") {
		t.Errorf("read beyond the end of the file: %v", err)
	}
}
