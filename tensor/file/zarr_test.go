package file

import (
	"archive/zip"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// unpacked is the folder of testdata/zarr.zip (see make_anndata.py) in files.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	z, err := zip.OpenReader("testdata/zarr.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(dir, z); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestZarrCodecs(t *testing.T) {
	dir := unpacked(t)
	for _, version := range []string{"v2", "v3"} {
		items, err := List(filepath.Join(dir, "codecs.zarr", version))
		if err != nil {
			t.Fatal(err)
		}
		if len(items) < 8 {
			t.Fatalf("%s lists %v", version, items)
		}
		for _, item := range items {
			t.Run(version+"/"+item.Entry, func(t *testing.T) {
				a, err := Read(filepath.Join(dir, "codecs.zarr", version), Entry(item.Entry))
				if item.Entry == "blosclz" || item.Entry == "sharded" {
					if err == nil || !strings.Contains(err.Error(), "not read") {
						t.Fatalf("got %v, want a refusal", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(item.Entry, "long") {
					for i := range int64(200_000) {
						if v := a.At(i).Int64(); v != i%1000 {
							t.Fatalf("element %d is %d", i, v)
						}
					}
					return
				}
				for i := range int64(5) {
					for j := range int64(7) {
						want := 7*i + j
						if item.Entry == "holes" && i == 4 {
							want = -1
						}
						if v := a.At(i, j).Int64(); v != want {
							t.Fatalf("element %d,%d is %d, want %d", i, j, v, want)
						}
					}
				}
			})
		}
	}
}

// TestAnnDataColumns reads everything in a file of AnnData's own making, in HDF5 and in Zarr.
func TestAnnDataColumns(t *testing.T) {
	for _, path := range []string{"testdata/small.h5ad", filepath.Join(unpacked(t), "small.zarr")} {
		t.Run(filepath.Ext(path), func(t *testing.T) {
			items, err := List(path)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, i := range items {
				got = append(got, fmt.Sprint(i.Entry, " ", i.Holds, " ", i.Shape, " ", i.Stored))
			}
			for _, want := range []string{"X CSR [5 4] 7", "layers/counts CSC [5 4] 7", "obs/kind categories [5] -1", "obs/n array [5] -1", "obsm/pca array [5 2] -1", "obs/_index text [5] -1"} {
				if !slices.Contains(got, want) {
					t.Errorf("lists %q, without %q", got, want)
				}
			}
			x, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			counts, err := Read(path, Entry("layers/counts"))
			if err != nil {
				t.Fatal(err)
			}
			if x.Format() != tensor.CSR || counts.Format() != tensor.CSC || x.At(3, 2).Float64() != 5 || counts.At(3, 2).Int64() != 50 {
				t.Errorf("X is %v, layers/counts %v", x, counts)
			}
			for _, c := range []struct {
				entry  string
				codes  []int32
				labels []string
			}{
				{"obs/kind", []int32{1, 0, 2, 1, 0}, []string{"a", "b", noLabel}},
				{"obs/batch", []int32{0, 1, 0, 1, 1}, []string{"10", "20"}},
				{"obs/_index", []int32{0, 1, 2, 3, 4}, []string{"cell0", "cell1", "cell2", "cell3", "cell4"}},
			} {
				var labels []string
				v, err := Read(path, Entry(c.entry), LabelsInto(&labels))
				if err != nil {
					t.Fatal(err)
				}
				if codes := tensor.View[int32](v.Values()); !slices.Equal(codes, c.codes) || !slices.Equal(labels, c.labels) {
					t.Errorf("%s: %v %q, want %v %q", c.entry, codes, labels, c.codes, c.labels)
				}
			}
		})
	}
}

// TestHostileZarr reads metadata that promise more than there is.
func TestHostileZarr(t *testing.T) {
	array := func(shape, chunks, more string) string {
		return `{"zarr_format":2,"shape":` + shape + `,"chunks":` + chunks + `,"dtype":"<i4","fill_value":0,"order":"C","filters":null,"compressor":null` + more + `}`
	}
	for name, c := range map[string]struct{ meta, want string }{
		"huge":     {array("[1099511627776]", "[1]", ""), "not stored"},
		"grid":     {array("[10000000]", "[1]", ""), "not stored"},
		"overflow": {array("[4294967296,4294967296,4294967296]", "[1,1,1]", ""), "larger than any machine"},
		"chunk":    {array("[4]", "[4294967296]", ""), "expected sizes"},
		"product":  {array("[4,4]", "[2000000000,2000000000]", ""), "larger than 2 GiB"},
		"empty":    {array("[4]", "[0]", ""), "expected sizes"},
		"rank":     {array("[4]", "[1,1]", ""), "as many sizes"},
		"negative": {array("[-4]", "[1]", ""), "expected sizes"},
		"cut":      {array("[4]", "[4]", ""), "unpacks to 3 bytes"},
		"json":     {`{"zarr_format":2`, ".zarray"},
		"wrong":    {`{"zarr_format":7}`, "expected 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, ".zarray"), []byte(c.meta), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "0"), []byte("abc"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	if _, err := Read(filepath.Join(unpacked(t), "small.zarr"), Entry("../codecs.zarr/v2/raw")); err == nil || !strings.Contains(err.Error(), "not a path within") {
		t.Errorf("a path out of the hierarchy: %v", err)
	}
}

// TestBloscLeavesOddBlocks unpacks a block of 101 elements that c-blosc 1.21 (numcodecs 0.11) was told to shuffle by bits: eight does not
// divide their number, so it did not.
func TestBloscLeavesOddBlocks(t *testing.T) {
	b, err := hex.DecodeString("0201340494010000940100008100000014000000690000001f000100001f010400001f020400001f030400001f040400001f050400001f0604" +
		"00001f070400001f080400001f090400001f0a0400001f0b0400001f0c0400001f0d0400001f0e0400001f0f0400001f100400001f110400001f120400001e130400500014000000")
	if err != nil {
		t.Fatal(err)
	}
	got, err := unblosc(b, 404)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 101 {
		if v := binary.LittleEndian.Uint32(got[4*i:]); v != uint32(i/5) {
			t.Fatalf("element %d is %d", i, v)
		}
	}
	b[0] = 5 // Blosc 2
	if _, err := unblosc(b, 404); err == nil || !strings.Contains(err.Error(), "version 5 of Blosc's format is not read") {
		t.Errorf("of a later version: %v", err)
	}
}

// TestZarrSaysWhatThereIs names an entry that is missing.
func TestZarrSaysWhatThereIs(t *testing.T) {
	_, err := Read(filepath.Join(unpacked(t), "small.zarr"), Entry("layers/cuonts"))
	if err == nil || !strings.Contains(err.Error(), "there is no layers/cuonts in the hierarchy; there is X, layers/counts, ") || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestZarrComplexFill reads arrays of which no chunk is stored.
func TestZarrComplexFill(t *testing.T) {
	for fill, want := range map[string]string{"[1.5, -2]": "1.5-2i", "[0, 0]": "0+0i", `["NaN", "-Infinity"]`: "NaN-Infi"} {
		dir := t.TempDir()
		meta := `{"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "complex128", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
			"chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "fill_value": ` + fill + `}`
		if err := os.WriteFile(filepath.Join(dir, "zarr.json"), []byte(meta), 0o644); err != nil {
			t.Fatal(err)
		}
		a, err := Read(dir)
		if err != nil {
			t.Errorf("%s: %v", fill, err)
			continue
		}
		if got := a.At(2).String(); !strings.EqualFold(got, want) {
			t.Errorf("%s: got %s, want %s", fill, got, want)
		}
	}
}

// FuzzBlosc unpacks anything: there must be no crash, and no more than is allowed.
func FuzzBlosc(f *testing.F) {
	z, err := zip.OpenReader("testdata/zarr.zip")
	if err != nil {
		f.Fatal(err)
	}
	defer z.Close()
	for _, name := range []string{"lz4/0.0", "lz4bits/0.0", "blosczstd/0.0", "blosczlib/0.0", "longlz4/1"} {
		r, err := z.Open("codecs.zarr/v2/" + name)
		if err != nil {
			f.Fatal(err)
		}
		b, err := readMost(r, 1<<20)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if out, err := unblosc(b, 1<<20); err == nil && len(out) > 1<<20 {
			t.Errorf("unpacked to %d bytes", len(out))
		}
	})
}
