package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// TestBinsparseProperty takes random tensors through every container: from elements,
// pattern and fill to a file and back, and from a file to a file.
func TestBinsparseProperty(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		c := randomBinsparse(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		want, h := c.tensor(t)
		ext := rapid.SampledFrom(binsparseExtensions).Draw(t, "container")
		path := filepath.Join(dir, "a"+ext)
		if err := Write(path, want, Header(h)); err != nil {
			t.Fatalf("%v: %s", err, c.header)
		}
		var d binsparse.Descriptor
		got, err := Read(path, DescriptorInto(&d))
		if err != nil {
			t.Fatalf("%v: %s", err, c.header)
		}
		c.compare(t, got, want)
		again := filepath.Join(dir, "b"+rapid.SampledFrom(binsparseExtensions).Draw(t, "second container"))
		if err := Write(again, got, Header(d.Writable())); err != nil {
			t.Fatalf("again: %v: %s", err, c.header)
		}
		if got, err = Read(again); err != nil {
			t.Fatalf("again: %v: %s", err, c.header)
		}
		c.compare(t, got, want)
	})
}

// compare checks that got is the tensor of the case.
func (c *bspCase) compare(t fataler, got, want *tensor.Tensor) {
	dense, err := got.ToDense()
	if err != nil {
		t.Fatalf("%v", err)
	}
	pattern, err := binsparse.Pattern(got)
	if err != nil {
		t.Fatalf("%v", err)
	}
	switch {
	case !slices.Equal(got.Shape(), c.shape), got.Format() != want.Format(), got.DType() != c.values.DType():
		t.Fatalf("read %v, want %v", got, want)
	case !bytes.Equal(dense.Raw(), c.values.Raw()), !bytes.Equal(pattern.Raw(), c.pattern.Raw()):
		t.Fatalf("other values or another pattern: %s", c.header)
	case !got.Fill().Same(c.fill):
		t.Fatalf("fill %v, want %v: %s", got.Fill(), c.fill, c.header)
	}
}

// TestBinsparseAgainstSpecification has a script that knows nothing but the rules of the
// specification check what is written.
func TestBinsparseAgainstSpecification(t *testing.T) {
	python := pythonWith(t, "numpy", "h5py")
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(3, 14))
	write := func(name string, m *tensor.Tensor, fill tensor.Scalar, h *binsparse.Descriptor) {
		opts := []Option{OfKind(strings.TrimPrefix(filepath.Ext(name), "."))}
		if ext := filepath.Ext(name); ext != ".bspnpy" {
			opts = []Option{OfKind(map[string]string{".npz": "bspnpz", ".h5": "hdf5"}[ext])}
		}
		if h != nil {
			opts = append(opts, Header(h))
		}
		if err := Write(filepath.Join(dir, name), m, opts...); err != nil {
			t.Fatal(err)
		}
		base := filepath.Join(dir, strings.TrimSuffix(name, filepath.Ext(name)))
		whole, err := m.Expand()
		if err != nil {
			t.Fatal(err)
		}
		stored, err := binsparse.Pattern(m)
		if err != nil {
			t.Fatal(err)
		}
		pattern, err := tensor.FromDense(m.Shape(), tensor.Dense(m.Rank()), stored)
		if err != nil {
			t.Fatal(err)
		}
		for suffix, m := range map[string]*tensor.Tensor{".values.npy": whole, ".pattern.npy": pattern, ".fill.npy": tensor.ScalarTensor(fill)} {
			if err := Write(base+suffix, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	extensions := []string{".npz", ".h5", ".bspnpy"}
	for i := range 90 {
		c := randomBinsparse(rng.IntN)
		m, h := c.tensor(t)
		if i%3 == 0 {
			h = nil // predefined names where there are, and our own types
		}
		write(fmt.Sprintf("random%d%s", i, extensions[i%7%3]), m, c.fill, h)
	}
	for i, name := range []string{"DVEC", "DMATR", "DMATC", "CVEC", "CSR", "CSC", "DCSR", "DCSC", "COOR", "COOC"} {
		f, _ := binsparse.PredefinedFormat(name)
		format, err := f.Tensor()
		if err != nil {
			t.Fatal(err)
		}
		m := randomMatrix(t, rng, format, tensor.Float64)
		write(name+extensions[i%3], m, m.Fill(), nil)
	}
	for s := tensor.SymmetricLower; s <= tensor.SkewSymmetricUpper; s++ {
		for i, format := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.COO} {
			m := randomTriangle(t, rng, s, format)
			write(fmt.Sprint(s, i, extensions[i]), m, m.Fill(), nil)
		}
	}
	out, err := exec.Command(python, filepath.Join("testdata", "binsparse_check.py"), dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "118 files checked, 0 failed") {
		t.Errorf("%v\n%s", err, out)
	}
}

// pythonWith finds a Python that has the modules, or skips the test.
func pythonWith(t *testing.T, modules ...string) string {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import "+strings.Join(modules, ",")).Run() == nil {
			return python
		}
	}
	t.Skipf("needs a python3 with %s (apt-get install python3-numpy python3-h5py)", strings.Join(modules, " and "))
	return ""
}

// randomMatrix is a matrix with entries of a tenth of its places, or a vector.
func randomMatrix(t *testing.T, rng *rand.Rand, format tensor.Format, dt tensor.DType) *tensor.Tensor {
	shape := []int64{7, 9}[:format.Rank()]
	coords := make([][]int64, len(shape))
	seen := map[[2]int64]bool{}
	values := []float64{}
	for range 12 {
		at := [2]int64{rng.Int64N(7), rng.Int64N(9)}
		if format.Rank() == 1 {
			at[1] = 0
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		for axis := range coords {
			coords[axis] = append(coords[axis], at[axis])
		}
		values = append(values, float64(1+rng.IntN(100)))
	}
	array, err := tensor.ArrayOf(values).Convert(dt)
	if err != nil {
		t.Fatal(err)
	}
	m, err := tensor.FromCoords(shape, format, coords, array)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// randomTriangle is a triangle of a matrix of the structure.
func randomTriangle(t *testing.T, rng *rand.Rand, s tensor.Structure, format tensor.Format) *tensor.Tensor {
	const n = 6
	var rows, cols []int64
	var values []complex128
	for i := range int64(n) {
		for j := range int64(n) {
			if !s.Stores(i, j) || rng.IntN(3) > 0 || i == j && strings.HasPrefix(s.String(), "skew") {
				continue
			}
			v := complex(float64(1+rng.IntN(9)), float64(rng.IntN(5)))
			if i == j && strings.HasPrefix(s.String(), "hermitian") {
				v = complex(real(v), 0)
			}
			rows, cols, values = append(rows, i), append(cols, j), append(values, v)
		}
	}
	m, err := tensor.FromCoords([]int64{n, n}, format, [][]int64{rows, cols}, tensor.ArrayOf(values))
	if err == nil {
		m, err = m.WithStructure(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestKeepStructure writes a triangle and reads it as one, and as a whole.
func TestKeepStructure(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, ext := range binsparseExtensions {
		want := randomTriangle(t, rng, tensor.HermitianLower, tensor.CSR)
		path := filepath.Join(t.TempDir(), "a"+ext)
		if err := Write(path, want); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path, KeepStructure(), Format(tensor.CSC))
		if err != nil {
			t.Fatal(err)
		}
		if got.Structure() != want.Structure() || got.NNZ() != want.NNZ() || got.Format() != tensor.CSC {
			t.Errorf("%s: read %v, %v; want %v", ext, got, got.Structure(), want)
		}
		whole, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		expanded, err := want.Expand()
		if err != nil {
			t.Fatal(err)
		}
		if whole.Structure() != tensor.General || !tensor.Equal(whole, expanded) {
			t.Errorf("%s: read %v, %v; want %v", ext, whole, whole.Structure(), expanded)
		}
		if _, err := Read(path, As(tensor.Float32)); err == nil || !strings.Contains(err.Error(), "imaginary parts") {
			t.Errorf("%s as f32: %v", ext, err)
		}
		if narrow, err := Read(path, As(tensor.Complex64), KeepStructure()); err != nil || narrow.DType() != tensor.Complex64 || narrow.Structure() != want.Structure() {
			t.Errorf("%s as c64: %v, %v", ext, narrow, err)
		}
	}
}

// TestOpenBinsparse uses the arrays where they lie in the file.
func TestOpenBinsparse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are mapped on Linux only")
	}
	want := randomMatrix(t, rand.New(rand.NewPCG(1, 6)), tensor.CSR, tensor.Complex128)
	for _, ext := range binsparseExtensions {
		path := filepath.Join(t.TempDir(), "a"+ext)
		if err := Write(path, want); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if !tensor.Equal(f.Tensor(), want) {
			t.Errorf("%s: %v, want %v", ext, f.Tensor(), want)
		}
		if copied := f.Copied(); len(copied) > 0 && littleEndian && ext != ".bspnpy" {
			t.Errorf("%s: copied %v", ext, copied)
		}
		f.Close()
	}
}

// TestWriteDirectory replaces a tensor in a directory, and nothing else.
func TestWriteDirectory(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.bspnpy")
	first, second := smallMatrix(t), randomMatrix(t, rand.New(rand.NewPCG(1, 7)), tensor.CSC, tensor.Int16)
	for _, m := range []*tensor.Tensor{first, second} {
		if err := Write(path, m); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(path); err != nil || !tensor.Equal(got, m) {
			t.Errorf("read %v, %v", got, err)
		}
	}
	link := filepath.Join(dir, "link.bspnpy")
	if err := os.Symlink("a.bspnpy", link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, first); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(path); err != nil || !tensor.Equal(got, first) {
		t.Errorf("through a link: %v, %v", got, err)
	}
	var names []string
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	if !slices.Equal(names, []string{"a.bspnpy", "link.bspnpy"}) {
		t.Errorf("left behind: %v", names)
	}
	other := filepath.Join(dir, "mine.bspnpy")
	if err := os.Mkdir(other, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"data.npy", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(other, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := Write(other, first); err == nil || !strings.Contains(err.Error(), "it is not replaced") {
			t.Errorf("%s was overwritten: %v", name, err)
		}
		if _, err := Read(other); err == nil || !strings.Contains(err.Error(), "without binsparse.json") {
			t.Errorf("reading it: %v", err)
		}
	}
	for name, opts := range map[string][]Option{"a.bspnpy.gz": nil, "b.zarr": nil, "c.mtx": {OfKind("bspnpy")}} {
		err := Write(filepath.Join(dir, name), first, opts...)
		if (err == nil) != (name == "c.mtx") {
			t.Errorf("%s: %v", name, err)
		}
	}
	var b bytes.Buffer
	if err := WriteTo("a.bspnpy", &b, first); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("to a stream: %v", err)
	}
}

// TestMaxBytesOfArrays refuses arrays that are larger than the caller allows, however small
// the file.
func TestMaxBytesOfArrays(t *testing.T) {
	var b bytes.Buffer
	m, err := tensor.FromDense([]int64{50, 50}, tensor.Dense(2), tensor.ArrayOf(make([]float64, 2500)))
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteTo("a.npz", &b, m); err != nil { // compressed
		t.Fatal(err)
	}
	if b.Len() > 2000 {
		t.Fatalf("%d bytes", b.Len())
	}
	if _, err := ReadFrom("a.npz", bytes.NewReader(b.Bytes()), MaxBytes(2000)); err == nil || !strings.Contains(err.Error(), "more than the allowed 2000 bytes") {
		t.Errorf("%v", err)
	}
	sparse, err := m.Convert(tensor.CSR, tensor.WithFill(tensor.Float(tensor.Float64, 1)))
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := WriteTo("a.pydata.npz", &b, sparse); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFrom("a.npz", bytes.NewReader(b.Bytes()), MaxBytes(int64(b.Len()))); err == nil || !strings.Contains(err.Error(), "more than the allowed") {
		t.Errorf("%v", err)
	}
}
