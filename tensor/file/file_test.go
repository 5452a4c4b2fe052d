package file

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// smallMatrix is a 2x3 matrix with two entries.
func smallMatrix(t *testing.T) *tensor.Tensor {
	t.Helper()
	m, err := tensor.FromCoords([]int64{2, 3}, tensor.COO, [][]int64{{1, 0}, {2, 1}}, tensor.ArrayOf([]float64{1.5, -2}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWriteText(t *testing.T) {
	from := func(shape []int64, f tensor.Format, coords [][]int64, values tensor.Array) *tensor.Tensor {
		m, err := tensor.FromCoords(shape, f, coords, values)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	half, err := tensor.ArrayOf([]float64{0.1, 65504}).Convert(tensor.Float16)
	if err != nil {
		t.Fatal(err)
	}
	diagonal := [][]int64{{0, 1}, {0, 1}}
	square := []int64{2, 2}
	for _, tt := range []struct {
		file   string
		tensor *tensor.Tensor
		opts   []Option
		want   string
	}{
		{"a.mtx", smallMatrix(t), nil, "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 -2\n2 3 1.5\n"},
		{"a.mtx", smallMatrix(t), []Option{Format(tensor.CSC)}, "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 2 -2\n2 3 1.5\n"},
		{"a.mtx", smallMatrix(t), []Option{FormatNamed("D")}, "%%MatrixMarket matrix array real general\n2 3\n0\n0\n-2\n0\n0\n1.5\n"},
		{"a.ttx", tensor.ScalarTensor(tensor.Float(tensor.Float64, 2.5)), nil, "%%MatrixMarket tensor coordinate real general\n1\n2.5\n"},
		{"a.mtx", from(square, tensor.CSR, diagonal, tensor.ArrayOf([]bool{true, true})), nil,
			"%%MatrixMarket matrix coordinate pattern general\n%%GraphBLAS type bool\n2 2 2\n1 1\n2 2\n"},
		{"a.mtx", from(square, tensor.CSR, diagonal, tensor.ArrayOf([]bool{true, false})), nil,
			"%%MatrixMarket matrix coordinate integer general\n%%GraphBLAS type bool\n2 2 2\n1 1 1\n2 2 0\n"},
		{"a.mtx", from(square, tensor.COO, diagonal, tensor.ArrayOf([]uint64{1, 1 << 63})), nil,
			"%%MatrixMarket matrix coordinate unsigned-integer general\n2 2 2\n1 1 1\n2 2 9223372036854775808\n"},
		{"a.mtx", from(square, tensor.COO, diagonal, tensor.ArrayOf([]uint64{1, 2})), nil,
			"%%MatrixMarket matrix coordinate integer general\n%%GraphBLAS type uint64_t\n2 2 2\n1 1 1\n2 2 2\n"},
		{"a.mtx", from(square, tensor.COO, diagonal, tensor.ArrayOf([]float32{0.1, 1e30})), nil,
			"%%MatrixMarket matrix coordinate real general\n%%GraphBLAS type float\n2 2 2\n1 1 0.1\n2 2 1e+30\n"},
		{"a.mtx", from(square, tensor.COO, diagonal, half), nil,
			"%%MatrixMarket matrix coordinate real general\n%%Lacuna type f16\n2 2 2\n1 1 0.1\n2 2 6.55e+04\n"},
		{"a.mtx", from(square, tensor.COO, diagonal, tensor.ArrayOf([]complex128{1 - 2i, 0.5})), nil,
			"%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 1 -2\n2 2 0.5 0\n"},
		{"a.tns", smallMatrix(t), nil, "1 2 -2\n2 3 1.5\n"},
		{"a.tns", smallMatrix(t), []Option{TNS(ExtendedTNS)}, "2 2\n2 3\n1 2 -2\n2 3 1.5\n"},
		{"a.tns", from([]int64{2, 3}, tensor.COO, diagonal, tensor.ArrayOf([]float64{1, 2})), nil, "2 2\n2 3\n1 1 1\n2 2 2\n"},
		{"a.tns", from([]int64{2, 3}, tensor.COO, diagonal, tensor.ArrayOf([]float64{1, 2})), []Option{TNS(PlainTNS)}, "1 1 1\n2 2 2\n"},
		{"a.tns", from(square, tensor.Dense(2), diagonal, tensor.ArrayOf([]int8{1, 2})), nil, "1 1 1\n2 2 2\n"},
	} {
		var b bytes.Buffer
		if err := WriteTo(tt.file, &b, tt.tensor, tt.opts...); err != nil {
			t.Errorf("%s of %v: %v", tt.file, tt.tensor, err)
		} else if b.String() != tt.want {
			t.Errorf("%s of %v is\n%swant\n%s", tt.file, tt.tensor, b.String(), tt.want)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	filled, err := tensor.FromCoords([]int64{2}, tensor.Coordinates(1), [][]int64{{0}}, tensor.ArrayOf([]float64{1}),
		tensor.WithFill(tensor.Float(tensor.Float64, 7)))
	if err != nil {
		t.Fatal(err)
	}
	complexes, err := tensor.FromCoords([]int64{2}, tensor.Coordinates(1), [][]int64{{0}}, tensor.ArrayOf([]complex128{1}))
	if err != nil {
		t.Fatal(err)
	}
	large, err := tensor.FromCoords([]int64{1 << 40, 1 << 40}, tensor.COO, [][]int64{{0}, {0}}, tensor.ArrayOf([]float64{1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		file   string
		tensor *tensor.Tensor
		opts   []Option
		want   string
	}{
		{"a.mtx", filled, nil, "but what this tensor leaves out is 7"},
		{"a.tns", filled, nil, "but what this tensor leaves out is 7"},
		{"a.tns", complexes, []Option{TNS(PlainTNS)}, "has no complex values"},
		{"a.npy", large, nil, "a NumPy array holds every element"},
		{"a.txt", filled, nil, "the extension does not say what kind"},
		{"a.mtx.bz2", filled, nil, "bzip2 can only be read"},
		{"a.mtx", filled, []Option{Format(tensor.CSR)}, "rank"},
	} {
		path := filepath.Join(t.TempDir(), tt.file)
		err := Write(path, tt.tensor, tt.opts...)
		var fe *FileError
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), tt.want) || fe.Path != path {
			t.Errorf("%s: %v; want … %s …", tt.file, err, tt.want)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
			t.Errorf("%s: %s was left behind", tt.file, left[0].Name())
		}
	}
}

func TestWriteReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.mtx"), filepath.Join(dir, "link.mtx")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.mtx", link); err != nil {
		t.Fatal(err)
	}
	filled, err := tensor.FromCoords([]int64{2}, tensor.Coordinates(1), [][]int64{{0}}, tensor.ArrayOf([]float64{1}),
		tensor.WithFill(tensor.Float(tensor.Float64, 7)))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(link, filled); err == nil {
		t.Fatal("a fill was written to a Matrix Market file")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("after a failed write the file holds %q, %v", b, err)
	}
	if err := Write(link, smallMatrix(t)); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || !tensor.Equal(got, smallMatrix(t)) {
		t.Errorf("read %v, %v", got, err)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v, %v", st, err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("permissions changed: %v, %v", st, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("the directory holds %v, %v", left, err)
	}
}

func TestWriteToDevice(t *testing.T) {
	if st, err := os.Stat(os.DevNull); err != nil || st.Mode().IsRegular() {
		t.Skipf("%s is not a device", os.DevNull)
	}
	if err := Write(os.DevNull, smallMatrix(t), OfKind("mtx")); err != nil {
		t.Error(err)
	}
	if st, err := os.Stat(os.DevNull); err != nil || st.Mode().IsRegular() {
		t.Fatalf("%s was replaced: %v", os.DevNull, err)
	}
}

func TestReadOpenErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(filepath.Join(dir, "missing.mtx"))
	if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), "missing.mtx") != 1 {
		t.Errorf("a missing file: %v", err)
	}
	if _, err = Read(dir); err == nil {
		t.Error("a directory was read")
	}
	if err := Write(dir, smallMatrix(t), OfKind("mtx")); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("writing to a directory: %v", err)
	}
	if err := Write(filepath.Join(dir, "no", "a.mtx"), smallMatrix(t)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("writing into a missing directory: %v", err)
	}
}

const mtxText = "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 1.5\n"

// mtxBzip2 is mtxText as bzip2 packs it.
const mtxBzip2 = "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xef\x46\x99\x92\x00\x00\x05\xdd\x80\x00\x10\x42\x01\x32" +
	"\x00\x00\x02\x2e\xaf\x94\x40\x20\x00\x48\x6a\x9e\x29\xe9\xa9\xea\x7a\x80\xd3\xf4\xa1\x09\xa6\x9a" +
	"\x1a\x00\x64\xc3\xf7\x01\x52\xda\xfa\x89\x89\x01\x86\xfb\x3d\xc7\x04\xac\xbd\x26\x70\x5f\xe7\xd3" +
	"\x21\x8d\x1b\x54\xd6\x81\x0e\x02\x81\xf1\x77\x24\x53\x85\x09\x0e\xf4\x69\x99\x20"

func TestCompressedInput(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write([]byte(mtxText))
	z.Close()
	const want = "f64 COO [2 2]\n1 0 1.5\n"
	for _, tt := range []struct{ name, data, want string }{
		{"a.mtx.gz", gz.String(), want},
		{"a.mtx.bz2", mtxBzip2, want},
		{"no-extension", gz.String(), want},
		{"named-wrongly.npy", mtxBzip2, want},
		// Members one after the other are one text, as gzip and bzip2 have it. The second
		// is a comment and two entries more here.
		{"two-members.mtx.gz", gz.String() + gz.String(), "error: two-members.mtx.gz:5: an entry more than the 1 that the header promises"},
		{"two-members.mtx.bz2", mtxBzip2 + mtxBzip2, "error: two-members.mtx.bz2:5: an entry more than the 1 that the header promises"},
		{"cut.mtx.gz", gz.String()[:gz.Len()-9], "error: cut.mtx.gz: unexpected EOF"},
		{"broken.mtx.gz", gz.String()[:gz.Len()-5] + "12345", "error: broken.mtx.gz: gzip: invalid checksum"},
		{"header.mtx.gz", gz.String()[:8], "error: header.mtx.gz: gzip: unexpected EOF"},
		{"empty.mtx", "", "error: empty.mtx:1: not a Matrix Market file"},
		{"unknown.dat", "1 2 3", "error: unknown.dat: not a kind of file that is known"},
	} {
		got := describe(ReadFrom(tt.name, strings.NewReader(tt.data)))
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s; want %s", tt.name, got, tt.want)
		}
	}
}

// TestCutCompressedInput cuts compressed files anywhere: what is left is never taken for
// the whole, however well the text in it ends.
func TestCutCompressedInput(t *testing.T) {
	for _, kind := range []string{".mtx", ".tns"} {
		var text strings.Builder
		if kind == ".mtx" {
			text.WriteString("%%MatrixMarket matrix coordinate real general\n300 300 300\n")
		}
		for i := range 300 {
			fmt.Fprintf(&text, "%d %d %d.25\n", i+1, (i*7)%300+1, i*i)
		}
		var gz bytes.Buffer
		z := gzip.NewWriter(&gz)
		z.Write([]byte(text.String()))
		z.Close()
		whole := gz.String()
		if _, err := ReadFrom("a"+kind+".gz", strings.NewReader(whole)); err != nil {
			t.Fatal(err)
		}
		for cut := 1; cut < len(whole); cut++ {
			if got, err := ReadFrom("a"+kind+".gz", strings.NewReader(whole[:cut])); err == nil {
				t.Fatalf("%s: %d of %d bytes are read as %v", kind, cut, len(whole), got)
			}
		}
		if _, err := ReadFrom("a"+kind+".gz", strings.NewReader(whole+"junk")); err == nil {
			t.Errorf("%s: junk behind the compressed text is accepted", kind)
		}
	}
	for cut := 1; cut < len(mtxBzip2); cut++ {
		if got, err := ReadFrom("a.mtx.bz2", strings.NewReader(mtxBzip2[:cut])); err == nil {
			t.Fatalf("%d of %d bytes of a bzip2 file are read as %v", cut, len(mtxBzip2), got)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		opts             []Option
		want             string
	}{
		{"format", "a.mtx", mtxText, []Option{Format(tensor.CSR)}, "f64 CSR [2 2]\n1 0 1.5\n"},
		{"named format", "a.mtx", mtxText, []Option{FormatNamed("CSF")}, "f64 DCSR [2 2]\n1 0 1.5\n"},
		{"format of another rank", "a.mtx", mtxText, []Option{Format(tensor.Dense(3))},
			"error: a.mtx: format D has rank 3, but the tensor in the file has rank 2\n"},
		{"as f32", "a.tns", "1 1 1.000000059604644775390625001\n", []Option{As(tensor.Float32)}, "f32 COO [1 1]\n0 0 1.0000001\n"},
		{"as i64", "a.tns", "1 1 9007199254740993\n", []Option{As(tensor.Int64)}, "i64 COO [1 1]\n0 0 9007199254740993\n"},
		{"as bool", "a.tns", "1 1 0.5\n1 2 0\n", []Option{As(tensor.Bool)}, "bool COO [1 2]\n0 0 true\n0 1 false\n"},
		{"as complex", "a.tns", "1 1 0.5\n", []Option{As(tensor.Complex64)}, "c64 COO [1 1]\n0 0 0.5+0i\n"},
		{"as i8, too large", "a.tns", "1 1 128\n", []Option{As(tensor.Int8)}, "error: a.tns:1: \"128\" is out of range of i8 (-128 to 127)\n"},
		{"as f16, too large", "a.tns", "1 1 1e5\n", []Option{As(tensor.Float16)}, "error: a.tns:1: \"1e5\" is out of range of f16 (write inf if infinity is meant)\n"},
		{"index base", "a.tns", "0 0 1\n1 2 3\n", []Option{IndexBase(0)}, "f64 COO [2 3]\n0 0 1\n1 2 3\n"},
		{"index base of a matrix", "a.mtx", strings.Replace(mtxText, "2 1 1.5", "0 1 1.5", 1), []Option{IndexBase(0)}, "f64 COO [2 2]\n0 1 1.5\n"},
		{"index base, out of range", "a.mtx", mtxText, []Option{IndexBase(0)}, "error: a.mtx:3: index 2 of axis 0 is out of range: expected 0 to 1\n"},
		{"dims", "a.tns", "1 1 1\n", []Option{Dims(4, 5)}, "f64 COO [4 5]\n0 0 1\n"},
		{"dims, no values", "a.tns", "1 1\n4 5\n", []Option{Dims(4, 5)}, "f64 COO [4 5]\n0 0 1\n3 4 1\n"},
		{"dims, no entries", "a.tns", "# none\n", []Option{Dims(4, 5)}, "f64 COO [4 5]\n"},
		{"dims, out of range", "a.tns", "1 1 1\n5 1 1\n", []Option{Dims(4, 5)}, "error: a.tns:2: index 5 of axis 0 is out of range: expected 1 to 4\n"},
		{"dims, another rank", "a.tns", "1 1 1\n", []Option{Dims(4)}, "c128 S [4]\n0 1+1i\n"},
		{"dims against the header", "a.tns", "3 1\n4 5 6\n1 1 1 2\n", []Option{Dims(4, 5, 7)}, "error: a.tns:2: the sizes are [4 5 6], but the caller says [4 5 7]\n"},
		{"dims of a file that has its own", "a.mtx", mtxText, []Option{Dims(4, 5)},
			"error: a.mtx: sizes are given, but a file of kind mtx tells its own: leave Dims out\n"},
		{"plain by order", "a.tns", "2 3\n4 5\n", []Option{TNS(PlainTNS)}, "f64 S [4]\n1 3\n3 5\n"},
		{"extended by order", "a.tns", "2 1\n4 5\n1 2\n", []Option{TNS(ExtendedTNS)}, "f64 COO [4 5]\n0 1 1\n"},
		{"extended, but it is not", "a.tns", "1 1 1 5\n", []Option{TNS(ExtendedTNS)},
			"error: a.tns:1: an extended .tns file starts with a line \"rank entries\" and a line with as many sizes\n"},
		{"kind", "a.txt", "1 1 1\n", []Option{OfKind("tns")}, "f64 COO [1 1]\n0 0 1\n"},
		{"unknown kind", "a.txt", "", []Option{OfKind("tnx")}, "error: file: no kind of file is called \"tnx\"; there are mtx, tns, npy, npz, hdf5, h5ad, csv, parquet, zarr, bspnpz, bspnpy, scipy, pydata\n"},
		{"limit", "a.mtx", mtxText, []Option{MaxBytes(10)}, "error: a.mtx: 60 bytes, more than the allowed 10\n"},
		{"within the limit", "a.mtx", mtxText, []Option{MaxBytes(60)}, "f64 COO [2 2]\n1 0 1.5\n"},
		{"bad base", "a.mtx", mtxText, []Option{IndexBase(2)}, "error: file: IndexBase(2): indices start at 0 or 1\n"},
		{"bad threads", "a.mtx", mtxText, []Option{Threads(0)}, "error: file: Threads(0): at least one is needed\n"},
		{"bad limit", "a.mtx", mtxText, []Option{MaxBytes(0)}, "error: file: MaxBytes(0): at least one is needed\n"},
		{"bad dims", "a.tns", "", []Option{Dims(-1)}, "error: file: Dims: a size is negative\n"},
	} {
		if got := describe(ReadFrom(tt.file, strings.NewReader(tt.text), tt.opts...)); got != tt.want {
			t.Errorf("%s: %swant %s", tt.name, got, tt.want)
		}
	}
}

// TestBombIsLimited unpacks a small file that holds a large one.
func TestBombIsLimited(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write([]byte("%%MatrixMarket matrix coordinate real general\n"))
	zeros := bytes.Repeat([]byte("\n"), 1<<20)
	for range 8 {
		z.Write(zeros)
	}
	z.Close()
	_, err := ReadFrom("bomb.mtx.gz", &gz, MaxBytes(1<<20))
	if err == nil || !strings.Contains(err.Error(), "more than the allowed 1048576 bytes") {
		t.Errorf("read a bomb: %v", err)
	}
}

func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if k.Name == "" || k.Title == "" || len(k.Extensions) == 0 || seen[k.Name] {
			t.Errorf("kind %+v lacks something", k)
		}
		seen[k.Name] = true
		for _, ext := range k.Extensions {
			if got := kindByExtension("dir.x/a" + strings.ToUpper(ext) + ".gz"); got == nil || got.Name != k.Name {
				t.Errorf("extension %s is of kind %v", ext, got)
			}
		}
	}
}

func TestIsDevice(t *testing.T) {
	for path, want := range map[string]bool{
		"/dev/stdout": true, "/dev/fd/3": true, "/dev/../dev/null": true,
		"/dev/shm/a.mtx": false, "/dev/shm/../null": true, "dev/null": false, "a.mtx": false,
	} {
		if isDevice(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}
