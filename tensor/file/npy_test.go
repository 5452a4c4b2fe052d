package file

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// npy makes the bytes of a .npy file by hand.
func npy(major byte, header string, data []byte) []byte {
	b := append([]byte(npyMagic), major, 0)
	if major == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), data...)
}

func dict(descr, order, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
}

// packed lays numbers out in memory.
func packed(order binary.ByteOrder, v any) []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, order, v); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestReadNPY(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"f8", npy(1, dict("<f8", "False", "(3,)"), packed(le, []float64{1.5, 0, math.Inf(-1)})),
			"f64 D [3]\n0 1.5\n1 0\n2 -inf\n"},
		{"version 2", npy(2, dict("<f8", "False", "(1,)"), packed(le, 2.5)), "f64 D [1]\n0 2.5\n"},
		{"version 3", npy(3, dict("<f8", "False", "(1,)"), packed(le, 2.5)), "f64 D [1]\n0 2.5\n"},
		{"big-endian", npy(1, dict(">f4", "False", "(2,)"), packed(be, []float32{1, -2})), "f32 D [2]\n0 1\n1 -2\n"},
		{"big-endian complex", npy(1, dict(">c16", "False", "()"), packed(be, complex(1, -2))), "c128 D []\n1-2i\n"},
		{"rows", npy(1, dict("<i4", "False", "(2, 3)"), packed(le, []int32{1, 2, 3, 4, 5, 6})),
			"i32 D [2 3]\n0 0 1\n0 1 2\n0 2 3\n1 0 4\n1 1 5\n1 2 6\n"},
		{"columns", npy(1, dict("<i4", "True", "(2, 3)"), packed(le, []int32{1, 2, 3, 4, 5, 6})),
			"i32 D [2 3]\n0 0 1\n0 1 3\n0 2 5\n1 0 2\n1 1 4\n1 2 6\n"},
		{"columns of rank 3", npy(1, dict("|u1", "True", "(2, 2, 2)"), []byte{0, 1, 2, 3, 4, 5, 6, 7}),
			"u8 D [2 2 2]\n0 0 0 0\n0 0 1 4\n0 1 0 2\n0 1 1 6\n1 0 0 1\n1 0 1 5\n1 1 0 3\n1 1 1 7\n"},
		{"bool", npy(1, dict("|b1", "False", "(3,)"), []byte{0, 1, 7}), "bool D [3]\n0 false\n1 true\n2 true\n"},
		{"i1", npy(1, dict("|i1", "False", "(1,)"), []byte{0x80}), "i8 D [1]\n0 -128\n"},
		{"i2", npy(1, dict("<i2", "False", "(1,)"), packed(le, int16(-300))), "i16 D [1]\n0 -300\n"},
		{"i8", npy(1, dict("<i8", "False", "(1,)"), packed(le, int64(math.MinInt64))), "i64 D [1]\n0 -9223372036854775808\n"},
		{"u2", npy(1, dict(">u2", "False", "(1,)"), packed(be, uint16(65535))), "u16 D [1]\n0 65535\n"},
		{"u4", npy(1, dict("<u4", "False", "(1,)"), packed(le, uint32(1))), "u32 D [1]\n0 1\n"},
		{"u8", npy(1, dict("<u8", "False", "(1,)"), packed(le, uint64(math.MaxUint64))), "u64 D [1]\n0 18446744073709551615\n"},
		{"f2", npy(1, dict("<f2", "False", "(1,)"), packed(le, uint16(0x3e00))), "f16 D [1]\n0 1.5\n"},
		{"c8", npy(1, dict("<c8", "False", "(1,)"), packed(le, complex64(1i))), "c64 D [1]\n0 0+1i\n"},
		{"scalar", npy(1, dict("<f8", "False", "()"), packed(le, 3.5)), "f64 D []\n3.5\n"},
		{"empty", npy(1, dict("<f8", "False", "(0, 5)"), nil), "f64 D [0 5]\n"},
		{"spelled otherwise", npy(1, `{"shape":(2L,),"fortran_order":False,"descr":"|u1"}`, []byte{1, 2}), "u8 D [2]\n0 1\n1 2\n"},

		{"short", npy(1, dict("<f8", "False", "(2,)"), packed(le, 1.0)), "error: a.npy: the header promises 16 bytes of data (2 elements), but the file has 8\n"},
		{"long", npy(1, dict("|u1", "False", "(2,)"), []byte{1, 2, 3}), "error: a.npy: the header promises 2 bytes of data (2 elements), but the file has 3\n"},
		{"huge", npy(1, dict("<f8", "False", "(1000000, 1000000, 1000000)"), nil), "error: a.npy: the header promises 8000000000000000000 bytes of data (1000000000000000000 elements), but the file has 0\n"},
		{"overflow", npy(1, dict("<f8", "False", "(10000000000, 10000000000)"), nil), "error: a.npy: an array of shape [10000000000 10000000000] does not fit in memory\n"},
		{"cut in the header", npy(1, dict("<f8", "False", "(2,)"), nil)[:30], "error: a.npy: the file ends within the .npy header\n"},
		{"cut in the magic", []byte(npyMagic), "error: a.npy: the file ends within the .npy header\n"},
		{"no magic", []byte("hello world"), "error: a.npy: not a .npy file: it must start with \"\\x93NUMPY\"\n"},
		{"version 4", npy(4, "", nil), "error: a.npy: .npy version 4.0 is not known (1, 2 and 3 are)\n"},
		{"header length", append([]byte(npyMagic), 2, 0, 255, 255, 255, 255), "error: a.npy: the .npy header says it is 4294967295 bytes long, more than the allowed 65536\n"},
		{"records", npy(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", nil), "error: a.npy: .npy header: the elements are records; only plain numbers can be read\n"},
		{"objects", npy(1, dict("|O", "False", "(1,)"), nil), "error: a.npy: .npy header: element type \"|O\" cannot be read (Python objects; save the array with a numeric dtype): expected bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 or complex128\n"},
		{"long double", npy(1, dict("<f16", "False", "(1,)"), nil), "error: a.npy: .npy header: element type \"<f16\" cannot be read (long double; save the array as float64 or complex128): expected bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 or complex128\n"},
		{"no descr", npy(1, "{'fortran_order': False, 'shape': (1,)}", nil), "error: a.npy: .npy header: expected the keys descr, fortran_order and shape\n"},
		{"negative size", npy(1, dict("<f8", "False", "(-1,)"), nil), "error: a.npy: .npy header: expected a size at \"-1,), }\\n\"\n"},
		{"not a dictionary", npy(1, "[]", nil), "error: a.npy: .npy header: expected \"{\" before \"[]\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, describe(ReadFrom("a.npy", bytes.NewReader(tt.file)))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !strings.HasPrefix(tt.want, "error") { // a stream is read another way
				if diff := cmp.Diff(tt.want, describe(ReadFrom("a.npy", onlyReader{bytes.NewReader(tt.file)}))); diff != "" {
					t.Errorf("as a stream: -want +got:\n%s", diff)
				}
			}
		})
	}
}

// TestStreamedNPYPromises reads arrays whose size only the header knows.
func TestStreamedNPYPromises(t *testing.T) {
	data := make([]byte, 5<<20)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	file := npy(1, dict("|u1", "False", fmt.Sprintf("(%d,)", len(data))), data)
	got, err := ReadFrom("a.npy", onlyReader{bytes.NewReader(file)})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Values().Raw(), data) {
		t.Error("the data are not what was written")
	}
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"short": {file[:len(file)-1], "the data end before"},
		"long":  {append(file[:len(file):len(file)], 1), "data go on after"},
		"huge":  {npy(1, dict("<f8", "False", "(100000000000000000,)"), data), "the data end before"},
	} {
		if _, err := ReadFrom("a.npy", onlyReader{bytes.NewReader(tt.file)}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want … %s …", name, err, tt.want)
		}
	}
}

// npz makes an archive of arrays by hand.
func npz(method uint16, entries ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, name := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			panic(err)
		}
		if _, err := w.Write(npy(1, dict("|u1", "False", "(2,)"), []byte{byte(i), 7})); err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestReadNPZ(t *testing.T) {
	two := npz(zip.Deflate, "x.npy", "y.npy", "notes.txt")
	for _, tt := range []struct {
		name string
		file []byte
		opts []Option
		want string
	}{
		{"one", npz(zip.Deflate, "arr_0.npy"), nil, "u8 D [2]\n0 0\n1 7\n"},
		{"stored", npz(zip.Store, "arr_0.npy"), nil, "u8 D [2]\n0 0\n1 7\n"},
		{"named", two, []Option{Entry("y")}, "u8 D [2]\n0 1\n1 7\n"},
		{"several", two, nil, "error: a.npz: the archive holds 2 arrays, so one must be named (Entry): \"x\", \"y\"\n"},
		{"no such", two, []Option{Entry("z")}, "error: a.npz: the archive has no array \"z\"; it has \"x\", \"y\"\n"},
		{"none", npz(zip.Store), nil, "error: a.npz: the archive holds no arrays (entries whose names end in .npy)\n"},
		{"Zarr", npz(zip.Store, "X/.zarray"), nil, "error: a.npz: the archive is a Zarr hierarchy, which is read from a directory only: unpack it into one, such as unzip x.zarr.zip -d x.zarr\n"},
		{"no archive", []byte("PK\x03\x04 and then something else"), nil, "error: a.npz: not a readable .npz archive: zip: not a valid zip file\n"},
		{"limited", npz(zip.Deflate, "x.npy"), []Option{MaxBytes(50)}, "error: a.npz: 192 bytes, more than the allowed 50\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := describe(ReadFrom("a.npz", bytes.NewReader(tt.file), tt.opts...))
			if tt.name == "limited" && strings.Contains(got, "more than the allowed 50") {
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got := describe(ReadFrom("a.npz", onlyReader{bytes.NewReader(tt.file)}, tt.opts...)); got != tt.want {
				t.Errorf("as a stream: %s", got)
			}
		})
	}
}

// TestNumPyAgrees lets NumPy, if it is installed, write every type and read ours.
func TestNumPyAgrees(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("NumPy is not installed (apt install python3-numpy)")
	}
	dir := t.TempDir()
	for _, typ := range npyTypes {
		path := filepath.Join(dir, typ.code+".npy")
		values, err := tensor.ArrayOf([]uint8{0, 1, 2, 3, 0, 5}).Convert(typ.dtype)
		if err != nil {
			t.Fatal(err)
		}
		want, err := tensor.FromDense([]int64{2, 3}, tensor.Dense(2), values)
		if err != nil {
			t.Fatal(err)
		}
		if err := Write(path, want); err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf(`
import numpy
a = numpy.load(%q)
assert (a == numpy.array([[0,1,2],[3,0,5]]).astype(%q)).all() and a.dtype == numpy.dtype(%q), a
numpy.save(%q, numpy.asfortranarray(a.astype(a.dtype.newbyteorder('>'))))
numpy.savez_compressed(%q, only=a)
`, path, typ.code, typ.code, path, path+".npz")
		if out, err := exec.Command(python, "-c", script).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", typ.code, err, out)
		}
		for _, path := range []string{path, path + ".npz"} {
			got, err := Read(path)
			if err != nil || !tensor.Equal(got, want) {
				t.Errorf("%s as NumPy writes it: %v, %v", filepath.Base(path), got, err)
			}
		}
	}
}
