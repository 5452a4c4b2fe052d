package file

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// elementsOf lists a matrix by rows: "1 0 2 / 0 3 0".
func elementsOf(t *testing.T, m *tensor.Tensor) string {
	t.Helper()
	values, err := m.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range values.Len() {
		switch cols := int(m.Shape()[m.Rank()-1]); {
		case i == 0:
		case i%cols == 0:
			b.WriteString(" / ")
		default:
			b.WriteByte(' ')
		}
		b.WriteString(values.Scalar(i).String())
	}
	return b.String()
}

// TestDialectsOfHDF5 reads the groups of testdata/dialects.h5 and dialects.h5ad, which
// testdata/binsparse_dialects.py writes with h5py.
func TestDialectsOfHDF5(t *testing.T) {
	const whole, bools, complexes = "1 0 2 / 0 3 0", "true false false / false true false", "1+2i 0+0i 3-4i / 0+0i 5+0i 0+0i"
	for _, tt := range []struct {
		file, entry, want string
		dtype             tensor.DType
	}{
		{"dialects.h5", "attribute of variable length", whole, tensor.Float64},
		{"dialects.h5", "/attribute of fixed length", whole, tensor.Float64},
		{"dialects.h5", "attribute with padding", whole, tensor.Float64},
		{"dialects.h5", "attribute with one element", whole, tensor.Float64},
		{"dialects.h5", "attribute, variable length, one element", whole, tensor.Float64},
		{"dialects.h5", "bare object", whole, tensor.Float64},
		{"dialects.h5", "big-endian", whole, tensor.Float64},
		{"dialects.h5", "narrow signed indices", whole, tensor.Float64},
		{"dialects.h5", "chunks, shuffled and compressed", whole, tensor.Float64},
		{"dialects.h5", "custom without format", whole, tensor.Float64},
		{"dialects.h5", "bint8 as uint8", bools, tensor.Bool},
		{"dialects.h5", "bint8 as int8", bools, tensor.Bool},
		{"dialects.h5", "bint8 as enum", bools, tensor.Bool},
		{"dialects.h5", "complex pairs", complexes, tensor.Complex64},
		{"dialects.h5", "complex compound", complexes, tensor.Complex64},
		{"dialects.h5", "empty", "0 0 0 / 0 0 0", tensor.Float64},
		{"dialects.h5", "empty, arrays left out", "0 0 0 / 0 0 0", tensor.Float64},
		{"dialects.h5", "empty, null arrays", "0 0 0 / 0 0 0", tensor.Float64},
		{"dialects.h5", "a scalar as fill", "1 7 2 / 7 3 7", tensor.Float64},
		{"dialects.h5", "big-endian/values", "1 2 3", tensor.Float64},
		{"dialects.h5ad", "", "2 0 5 0 / 0 0 0 0 / 0 8 0 0", tensor.Float32},
		{"dialects.h5ad", "layers/by columns", "2 0 0 / 0 0 8 / 5 0 0 / 0 0 0", tensor.Float32},
		{"dialects.h5ad", "raw", "2 0 5 0 / 0 0 0 0 / 0 8 0 0", tensor.Float32},
		{"dialects.h5ad", "obsm/dense", "0 1 2 / 3 4 5", tensor.Float64},
	} {
		path := filepath.Join("testdata", tt.file)
		got, err := Read(path, Entry(tt.entry))
		if err != nil {
			t.Errorf("%s: %v", tt.entry, err)
			continue
		}
		if list := elementsOf(t, got); list != tt.want || got.DType() != tt.dtype {
			t.Errorf("%s: %v %s, want %v %s", tt.entry, got.DType(), list, tt.dtype, tt.want)
		}
		f, err := Open(path, Entry(tt.entry))
		if err != nil {
			t.Errorf("%s, opened: %v", tt.entry, err)
			continue
		}
		if !tensor.Equal(f.Tensor(), got) {
			t.Errorf("%s, opened: %v, want %v", tt.entry, f.Tensor(), got)
		}
		f.Close()
	}
}

// TestBrokenHDF5 says what is wrong with the broken groups of those files, and where.
func TestBrokenHDF5(t *testing.T) {
	for _, tt := range []struct{ file, entry, want string }{
		{"dialects.h5", "", "the file holds 32 tensors, so one must be named (Entry): a scalar as fill, attribute of fixed length"},
		{"dialects.h5", "nowhere", "there is no nowhere in the file; there is "},
		{"dialects.h5", "broken", "group /broken is not a tensor"},
		{"dialects.h5", "broken/wrapped pointers", "pointers_to_1[2] = 3 is below 250"},
		{"dialects.h5", "broken/no pointers", `dataset "pointers_to_1": it is missing`},
		{"dialects.h5", "broken/no values", `dataset "values": it is missing`},
		{"dialects.h5", "broken/unsorted", "indices_1[1] = 0 follows 2: coordinates must ascend"},
		{"dialects.h5", "broken/index out of range", "indices_1[1] = 3 is out of range"},
		{"dialects.h5", "broken/negative index", "indices_1[2] = -1 is out of range"},
		{"dialects.h5", "broken/indices of floats", `dataset "indices_1": its elements are f64: expected an integer type`},
		{"dialects.h5", "broken/two-dimensional indices", `dataset "indices_1": it has 2 dimensions: expected one`},
		{"dialects.h5", "broken/text for values", "dataset /broken/text for values/values: its elements are string: expected numbers"},
		{"dialects.h5", "broken/group for values", "/broken/group for values/values"},
		{"dialects.h5", "broken/not JSON", "the descriptor is not a JSON object"},
		{"dialects.h5", "broken/number for a descriptor", `attribute "binsparse" of /broken/number for a descriptor`},
		{"dialects.h5", "broken/ghost entries", "number_of_stored_values is 1099511627776, but the arrays hold 3 positions"},
		{"dialects.h5", "broken/elsewhere", "soft link"},
		{"dialects.h5ad", "layers/bad rows", `dataset "pointers_to_1": it has 4 elements: expected 5`},
		{"dialects.h5ad", "layers/bad columns", "element 0 is 2, out of range: axis 1 has the size 2"},
		{"dialects.h5ad", "layers/three sizes", `attribute "shape" of /layers/three sizes is [3 4 1]: expected two sizes`},
		{"dialects.h5ad", "layers/unknown", "is not a tensor"},
		{"dialects.h5ad", "layers", "is not a tensor"},
	} {
		path := filepath.Join("testdata", tt.file)
		got, err := Read(path, Entry(tt.entry))
		var fe *FileError
		if !errors.As(err, &fe) || fe.Path != path || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v; want … %s …", tt.entry, got, err, tt.want)
		}
	}
}

// npzOf makes an archive of arrays, given as the bytes of .npy files.
func npzOf(t *testing.T, arrays map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, data := range arrays {
		w, err := z.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// array makes a .npy file of little-endian data.
func array(descr, shape string, data any) []byte {
	return npy(1, dict(descr, "False", shape), packed(binary.LittleEndian, data))
}

// TestSparseArchives reads what SciPy and pydata/sparse put into archives.
func TestSparseArchives(t *testing.T) {
	text := func(s string) []byte { return array(fmt.Sprintf("|S%d", len(s)), "()", []byte(s)) }
	ints := func(list ...int64) []byte { return array("<i8", fmt.Sprintf("(%d,)", len(list)), list) }
	floats := func(list ...float64) []byte { return array("<f8", fmt.Sprintf("(%d,)", len(list)), list) }
	scipy := func(format string, shape []byte, more map[string][]byte) map[string][]byte {
		more["format"], more["shape"] = text(format), shape
		return more
	}
	type arrays = map[string][]byte
	for _, tt := range []struct {
		name   string
		arrays arrays
		want   string // elements, or the error
	}{
		{"csr, unsorted, a duplicate", scipy("csr", ints(2, 3), arrays{"indptr": ints(0, 3, 4), "indices": ints(2, 0, 2, 1), "data": floats(1, 2, 4, 8)}), "2 0 5 / 0 8 0"},
		{"csc", scipy("csc", ints(2, 3), arrays{"indptr": ints(0, 1, 1, 2), "indices": ints(1, 0), "data": floats(1, 2)}), "0 0 2 / 1 0 0"},
		{"coo", scipy("coo", ints(2, 3), arrays{"row": ints(1, 0, 1), "col": ints(2, 0, 2), "data": floats(1, 2, 4)}), "2 0 0 / 0 0 5"},
		{"coo, coords", scipy("coo", ints(2, 1, 3), arrays{"coords": array("<i4", "(3, 2)", []int32{1, 0, 0, 0, 2, 1}), "data": floats(1, 2)}), "0 2 0 / 0 0 1"},
		{"coo of rank 1", scipy("coo", ints(3), arrays{"coords": array("<i4", "(1, 2)", []int32{2, 0}), "data": floats(1, 2)}), "2 0 1"},
		{"csr of rank 1", scipy("csr", ints(3), arrays{"indptr": ints(0, 2), "indices": ints(2, 0), "data": floats(1, 2)}), "2 0 1"},
		{"bsr", scipy("bsr", ints(2, 4), arrays{"indptr": ints(0, 2), "indices": ints(1, 0), "data": array("<f8", "(2, 2, 2)", []float64{1, 2, 3, 4, 5, 6, 7, 8})}), "5 6 1 2 / 7 8 3 4"},
		{"dia", scipy("dia", ints(3, 4), arrays{"offsets": ints(0, -1, 2), "data": array("<f8", "(3, 4)", []float64{1, 2, 3, 9, 4, 5, 9, 9, 9, 9, 6, 7})}), "1 0 6 0 / 4 2 0 7 / 0 5 3 0"},
		{"dia, short", scipy("dia", ints(3, 4), arrays{"offsets": ints(0), "data": array("<f8", "(1, 2)", []float64{1, 2})}), "1 0 0 0 / 0 2 0 0 / 0 0 0 0"},
		{"unicode", arrays{"format": array("<U3", "()", []uint32{'c', 's', 'r'}), "shape": ints(1, 2), "indptr": ints(0, 1), "indices": ints(1), "data": floats(3)}, "0 3"},
		{"pydata COO", arrays{"coords": array("<u8", "(2, 2)", []uint64{0, 1, 2, 0}), "data": floats(1, 2), "shape": ints(2, 3), "fill_value": array("<f8", "()", 7.0)}, "7 7 1 / 2 7 7"},
		{"pydata CSR", arrays{"indptr": ints(0, 1, 2), "indices": ints(2, 0), "data": floats(1, 2), "shape": ints(2, 3), "fill_value": array("<f8", "()", 0.0), "compressed_axes": ints(0)}, "0 0 1 / 2 0 0"},
		{"pydata CSC", arrays{"indptr": ints(0, 1, 1, 2), "indices": ints(1, 0), "data": floats(1, 2), "shape": ints(2, 3), "fill_value": array("<f8", "()", 0.0), "compressed_axes": ints(1)}, "0 0 2 / 1 0 0"},
		// rows are axis 1, columns axes 0 and 2: element (0,1,1) is row 1, column 1
		{"pydata GCXS", arrays{"indptr": ints(0, 1, 3), "indices": ints(3, 1, 2), "data": floats(1, 2, 4), "shape": ints(2, 2, 2), "fill_value": array("<f8", "()", -1.0), "compressed_axes": ints(1)}, "-1 -1 / -1 2 / -1 1 / 4 -1"},

		{"no data", scipy("csr", ints(2, 3), arrays{"indptr": ints(0, 0, 0), "indices": ints()}), "the archive holds 4 arrays"},
		{"lil", scipy("lil", ints(2, 3), arrays{"data": floats()}), `a SciPy matrix of format "lil" and shape [2 3]`},
		{"csr of rank 3", scipy("csr", ints(2, 3, 4), arrays{"data": floats()}), "expected csr, csc, coo, bsr or dia, and two dimensions"},
		{"negative size", scipy("csr", ints(2, -3), arrays{"data": floats()}), "shape[1] is -3"},
		{"shape of floats", scipy("csr", floats(2, 3), arrays{"data": floats()}), `array "shape" holds f64: expected integers`},
		{"format of numbers", arrays{"format": ints(1), "shape": ints(2), "data": floats()}, `array "format": it is of type i8 and shape [1]: expected one string`},
		{"csr without indices", scipy("csr", ints(2, 3), arrays{"indptr": ints(0, 1, 1), "data": floats(1)}), `dataset "indices_1": it is missing`},
		{"row out of range", scipy("coo", ints(2, 3), arrays{"row": ints(2), "col": ints(0), "data": floats(1)}), "element 0 is 2, out of range: axis 0 has the size 2"},
		{"data of text", scipy("coo", ints(2, 3), arrays{"row": ints(1), "col": ints(0), "data": array("|S1", "(1,)", []byte("x"))}), "the elements are text"},
		{"three rows of coords", scipy("coo", ints(2, 3), arrays{"coords": array("<i4", "(3, 1)", []int32{0, 0, 0}), "data": floats(1)}), "it has 3 rows: expected 2"},
		{"bsr that does not divide", scipy("bsr", ints(3, 4), arrays{"indptr": ints(0), "indices": ints(), "data": array("<f8", "(0, 2, 2)", []float64{})}), "blocks of 2x2 do not divide a matrix of 3x4"},
		{"bsr block out of range", scipy("bsr", ints(2, 2), arrays{"indptr": ints(0, 1), "indices": ints(1), "data": array("<f8", "(1, 2, 2)", []float64{1, 2, 3, 4})}), "element 0 is 1, out of range of the 1 columns of blocks"},
		{"dia with too few offsets", scipy("dia", ints(2, 2), arrays{"offsets": ints(), "data": array("<f8", "(1, 2)", []float64{1, 2})}), "1 diagonals"},
		{"pydata without indices", arrays{"data": floats(), "shape": ints(2), "fill_value": floats(0)}, "neither coords"},
		{"pydata axis twice", arrays{"indptr": ints(0), "indices": ints(), "data": floats(), "shape": ints(2, 2, 2), "fill_value": floats(0), "compressed_axes": ints(1, 1)}, "expected distinct axes of 0 to 2"},
		{"pydata rows", arrays{"indptr": ints(0, 0), "indices": ints(), "data": floats(), "shape": ints(2, 2, 2), "fill_value": floats(0), "compressed_axes": ints(1)}, `array "indptr" has 2 elements: expected one more than the 2 rows`},
		{"descriptor of bytes", arrays{"binsparse": text("{}")}, `has no "format"`},
		{"descriptor of numbers", arrays{"binsparse": ints(1)}, `array "binsparse": it is of type i8`},
	} {
		got, err := ReadFrom("a.npz", bytes.NewReader(npzOf(t, tt.arrays)))
		if err != nil {
			if fe := (*FileError)(nil); !errors.As(err, &fe) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v; want … %s …", tt.name, err, tt.want)
			}
			continue
		}
		if list := elementsOf(t, got); list != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, list, tt.want)
		}
	}
}

// TestEntryOfSparseArchive reads one array of an archive that is a tensor as a whole.
func TestEntryOfSparseArchive(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTo("a.scipy.npz", &b, smallMatrix(t)); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFrom("a.npz", bytes.NewReader(b.Bytes()), Entry("data"))
	if err != nil || elementsOf(t, got) != "-2 1.5" {
		t.Errorf("%v, %v", got, err)
	}
}
