package file

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Kind describes a kind of file.
type Kind struct {
	Name       string   // as OfKind takes it
	Title      string   // for people
	Extensions []string // lower case, with the dot; the first is the usual one

	sniff func(head []byte) bool // nil: has no signature
	read  func(*input) (*tensor.Tensor, error)
	write func(*output, *tensor.Tensor) error // nil: is only read

	takesDims bool // files that do not tell their sizes
	takesBase bool // text with indices that somebody may count from 0

	takesCoords bool // tables, of which columns may be coordinates

	list func(*input) ([]Item, error) // what is in a file of several things; nil: there is one

	// Of what is a directory, in place of sniff, read and write: writeDir fills a new one, nil
	// if it is only read; readDir reads the one that input.name is the path of.
	recogniseDir func(dir string) bool
	readDir      func(*input) (*tensor.Tensor, error)
	writeDir     func(cfg *config, dir string, t *tensor.Tensor) error
}

// isFile reports whether there is something of this name in a directory.
func isFile(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// Writable reports whether files of this kind can be written.
func (k *Kind) Writable() bool { return k.write != nil || k.writeDir != nil }

// kinds is the table of everything that can be read and written. To add a kind
// of file is to add a row.
var kinds = [...]Kind{
	{
		Name: "mtx", Title: "Matrix Market", Extensions: []string{".mtx", ".ttx", ".mm"},
		sniff: func(head []byte) bool {
			head = bytes.TrimPrefix(head, utf8BOM)
			return len(head) >= len(mtxBanner) && foldEqual(head[:len(mtxBanner)], mtxBanner)
		},
		read: readMatrixMarket, write: writeMatrixMarket, takesBase: true,
	},
	{
		Name: "tns", Title: "FROSTT", Extensions: []string{".tns"},
		read: readTNS, write: writeTNS, takesDims: true, takesBase: true,
	},
	{
		Name: "npy", Title: "NumPy array", Extensions: []string{".npy"},
		sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(npyMagic)) },
		read:  readNPY, write: writeNPY,
	},
	{
		Name: "npz", Title: "NumPy archive", Extensions: []string{".npz"},
		sniff: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
		},
		read: readNPZ, write: writeNPZ, list: listNPZ,
	},
	{
		Name: "hdf5", Title: "binsparse, or AnnData, in HDF5", Extensions: []string{".bsp.h5", ".h5", ".hdf5"},
		sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(hdf5Magic)) },
		read:  readHDF5, write: writeBinsparseHDF5, list: listHDF5,
	},
	{
		Name: "h5ad", Title: "AnnData", Extensions: []string{".h5ad"},
		read: readHDF5, write: writeAnnData, list: listHDF5,
	},
	{
		Name: "csv", Title: "table as text", Extensions: []string{".csv", ".tsv"},
		read: readCSV, write: writeCSV, list: listCSV, takesDims: true, takesBase: true, takesCoords: true,
	},
	{
		Name: "parquet", Title: "Parquet table", Extensions: []string{".parquet"},
		sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) },
		read:  readParquet, write: writeParquet, list: listParquet, takesDims: true, takesBase: true, takesCoords: true,
	},
	{
		Name: "zarr", Title: "Zarr hierarchy, of AnnData or an array", Extensions: []string{".zarr"},
		readDir: readZarr, recogniseDir: zarrRoot,
	},
	{
		Name: "bspnpz", Title: "binsparse in a NumPy archive", Extensions: []string{".bsp.npz"},
		read: readNPZ, write: writeBinsparseNPZ,
	},
	{
		Name: "bspnpy", Title: "binsparse in a directory of NumPy arrays", Extensions: []string{".bspnpy"},
		readDir: readBinsparseDir, writeDir: writeBinsparseDir,
		recogniseDir: func(dir string) bool { return isFile(dir, binsparseFile) },
	},
	{
		Name: "scipy", Title: "SciPy sparse matrix", Extensions: []string{".scipy.npz"},
		read: readNPZ, write: writeSciPy,
	},
	{
		Name: "pydata", Title: "pydata/sparse array", Extensions: []string{".pydata.npz"},
		read: readNPZ, write: writePyData,
	},
}

// utf8BOM may stand before the text of a file that went through an editor.
var utf8BOM = []byte("\xef\xbb\xbf")

// Kinds lists the kinds of file that can be read and written.
func Kinds() []Kind {
	list := make([]Kind, len(kinds))
	for i, k := range kinds {
		k.Extensions = append([]string(nil), k.Extensions...)
		list[i] = k
	}
	return list
}

// kindNamed returns the kind of that name, or nil.
func kindNamed(name string) *Kind {
	for i := range kinds {
		if kinds[i].Name == name {
			return &kinds[i]
		}
	}
	return nil
}

// kindNames lists the names of all kinds, for a message.
func kindNames() string {
	var names []string
	for i := range kinds {
		names = append(names, kinds[i].Name)
	}
	return strings.Join(names, ", ")
}

// extensions lists the extensions of the kinds that can be read, or written, for a message.
func extensions(writing bool) string {
	var all []string
	for i := range kinds {
		if !writing || kinds[i].Writable() {
			all = append(all, kinds[i].Extensions...)
		}
	}
	return strings.Join(all, ", ")
}

// splitCompression cuts the extension of a compressed file off its name:
// "a.mtx.gz" is "a.mtx" and ".gz".
func splitCompression(path string) (name, compression string) {
	ext := filepath.Ext(path)
	switch lower := strings.ToLower(ext); lower {
	case ".gz", ".bz2":
		return strings.TrimSuffix(path, ext), lower
	}
	return path, ""
}

// kindByExtension returns the kind that the name stands for, or nil. Of several
// extensions that the name ends in the longest counts: a.bsp.npz is a .bsp.npz.
func kindByExtension(path string) *Kind {
	name, _ := splitCompression(path)
	name = strings.ToLower(filepath.Base(name))
	var kind *Kind
	longest := 0
	for i := range kinds {
		for _, e := range kinds[i].Extensions {
			if len(e) > longest && strings.HasSuffix(name, e) {
				kind, longest = &kinds[i], len(e)
			}
		}
	}
	return kind
}

// kindToWrite returns the kind that a file of the given name is to have, or nil.
func (cfg *config) kindToWrite(path string) *Kind {
	if cfg.kind != "" {
		return kindNamed(cfg.kind)
	}
	return kindByExtension(path)
}

// kindBySignature returns the kind whose signature head begins with, or nil.
func kindBySignature(head []byte) *Kind {
	for i := range kinds {
		if kinds[i].sniff != nil && kinds[i].sniff(head) {
			return &kinds[i]
		}
	}
	return nil
}
