package file

import (
	"fmt"
	"math"
	"strconv"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/hdf5"
)

// AnnData's names of a sparse matrix and of an array, with the versions of their encodings.
const (
	annRoot  = "anndata"
	annFrame = "dataframe"
	annText  = "string-array"
	annArray = "array"
	annDict  = "dict"
)

// writeAnnData writes a matrix as the X of an AnnData file, whose observations and variables are
// named by AxisNames or numbers: by rows or columns as it is stored, or dense.
func writeAnnData(out *output, t *tensor.Tensor) error {
	if t.Rank() != 2 {
		return fmt.Errorf("the X of AnnData has two dimensions, but this tensor has %d", t.Rank())
	}
	if entry := out.cfg.entry; entry != "" && entry != "X" {
		return fmt.Errorf("an AnnData file is written with the tensor as X: %q cannot be added to one", entry)
	}
	if err := out.cfg.namesFit(t); err != nil {
		return err
	}
	t, err := t.Canonical()
	if err != nil {
		return err
	}
	format := t.Format()
	if !format.IsDense() && format != tensor.CSR && format != tensor.CSC {
		format = tensor.CSR
	} else if format.IsDense() {
		format = tensor.Dense(2)
	}
	if t, err = out.cfg.builder.Convert(t, format); err != nil {
		return err
	}
	return writeHDF5(out, func(w *hdf5.Writer) error {
		a := annWriter{w: w}
		a.encode("", annRoot, "0.1.0")
		if format.IsDense() {
			a.array("X", t.Shape(), t.Values())
		} else {
			a.matrix("X", t)
		}
		a.frame("obs", t.Dims()[0], out.cfg.names[0])
		a.frame("var", t.Dims()[1], out.cfg.names[1])
		for _, name := range []string{"layers", "obsm", "obsp", "uns", "varm", "varp"} {
			a.group(name, annDict, "0.1.0")
		}
		return a.err
	})
}

// annWriter writes the parts of an AnnData file, up to the first error.
type annWriter struct {
	w   *hdf5.Writer
	err error
}

func (a *annWriter) attr(path, name string, value any) {
	if a.err == nil {
		a.err = a.w.Attr(path, name, value)
	}
}

// encode says what an object is.
func (a *annWriter) encode(path, kind, version string) {
	a.attr(path, encodingAttr, kind)
	a.attr(path, "encoding-version", version)
}

func (a *annWriter) group(path, kind, version string) {
	if a.err == nil {
		a.err = a.w.Group(path)
	}
	a.encode(path, kind, version)
}

func (a *annWriter) array(path string, shape []int64, values tensor.Array) {
	if a.err == nil {
		a.err = writeArray(a.w, path, shape, values)
	}
	a.encode(path, annArray, "0.2.0")
}

// matrix writes a matrix by rows or columns.
func (a *annWriter) matrix(path string, t *tensor.Tensor) {
	if a.err == nil {
		a.err = zeroFill(t, "a matrix of AnnData")
	}
	kind := "csr_matrix"
	if t.Format() == tensor.CSC {
		kind = "csc_matrix"
	}
	a.group(path, kind, "0.1.0")
	a.attr(path, "shape", t.Shape())
	level := t.LevelAt(1)
	dt := indexType(t)
	for _, index := range []struct {
		name  string
		array tensor.Array
	}{{"indptr", level.Pos}, {"indices", level.Crd}} {
		converted, err := index.array.Convert(dt)
		if a.err == nil {
			a.err = err
		}
		if a.err == nil {
			a.err = writeArray(a.w, path+"/"+index.name, []int64{int64(converted.Len())}, converted)
		}
	}
	if a.err == nil {
		a.err = writeArray(a.w, path+"/data", []int64{t.NNZ()}, t.Values())
	}
}

// frame writes a data frame without columns, whose n rows are named by numbers if they have no names.
func (a *annWriter) frame(path string, n int64, names []string) {
	if n > math.MaxInt32 && a.err == nil {
		a.err = fmt.Errorf("%d rows or columns: AnnData names each, and more than 2^31-1 are not written", n)
	}
	if a.err != nil {
		return
	}
	if names == nil {
		names = make([]string, n)
		for i := range names {
			names[i] = strconv.Itoa(i)
		}
	}
	a.group(path, annFrame, "0.2.0")
	a.attr(path, "_index", "_index")
	a.attr(path, "column-order", []float64{})
	if a.err == nil {
		a.err = a.w.Strings(path+"/_index", []uint64{uint64(n)}, names)
	}
	a.encode(path+"/_index", annText, "0.2.0")
}
