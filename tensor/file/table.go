package file

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// table is a file of columns, such as CSV or Parquet. It is
//
//   - with Coords a sparse tensor: those columns hold the coordinates of entries, Entry names their values, which are 1
//     without it;
//   - with Entry alone a vector: that column;
//   - else, if the columns are called i0, i1, … value, the sparse tensor that was written so;
//   - else the matrix of all columns, which are numbers then, but for one that names the rows; of a single column, a vector.
//
// Columns of text become numbers: labels in ascending order, from 0 on.
type table struct {
	in    *input
	names []string
	index int // the column that names the rows, by its own name; -1: none
	// columns loads columns, all of which are equally long.
	columns func(wanted []int) ([]column, error)
}

// column is a column of numbers, or else of text.
type column struct {
	numbers tensor.Array
	text    func(i int) string // nil: it is numbers
	n       int
	codes   tensor.Array // of the text, if it is numbered already, with so many labels
	labels  int
}

// valueColumn and coordColumn are the names of the columns that are written of a sparse tensor. The first of the latter names the
// rows of a dense one that has names; pandas calls that column of a Parquet file otherwise.
const (
	valueColumn = "value"
	rowColumn   = "i0"
	pandasIndex = "__index_level_0__"
)

var coordColumn = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^i(\d+)$`) })

// tensor makes the tensor that a table is.
func (t *table) tensor() (*tensor.Tensor, error) {
	cfg := t.in.cfg
	switch {
	case cfg.coords != nil:
		return t.entries(cfg.coords, cfg.entry)
	case cfg.entry != "":
		return t.vector(cfg.entry)
	case t.isWritten():
		return t.entries(t.names[:len(t.names)-1], valueColumn)
	}
	return t.matrix()
}

// newTable makes a table of columns with names.
func newTable(in *input, names []string) *table {
	t := &table{in: in, names: names, index: slices.Index(names, pandasIndex)}
	if t.index < 0 && len(names) > 1 && names[0] == rowColumn {
		t.index = 0
	}
	return t
}

// isWritten reports whether the columns are those that are written of a sparse tensor.
func (t *table) isWritten() bool {
	last := len(t.names) - 1
	if last < 1 || t.names[last] != valueColumn {
		return false
	}
	for k, name := range t.names[:last] {
		if m := coordColumn().FindStringSubmatch(name); m == nil || m[1] != strconv.Itoa(k) {
			return false
		}
	}
	return true
}

// find returns the places of columns.
func (t *table) find(names ...string) ([]int, error) {
	var places []int
	for _, name := range names {
		at := slices.Index(t.names, name)
		if at < 0 {
			return nil, t.in.errorf(0, "there is no column %q: they are %s", name, listNames(t.names))
		}
		places = append(places, at)
	}
	return places, nil
}

// listNames names the first few columns.
func listNames(names []string) string {
	const most = 12
	list := strings.Join(names[:min(most, len(names))], ", ")
	if len(names) > most {
		list += ", …"
	}
	return list
}

// vector reads a column.
func (t *table) vector(name string) (*tensor.Tensor, error) {
	if err := t.noSizes(); err != nil {
		return nil, err
	}
	places, err := t.find(name)
	if err != nil {
		return nil, err
	}
	cols, err := t.columns(places)
	if err != nil {
		return nil, err
	}
	if c := cols[0]; c.text != nil {
		return readTexts(t.in, c.n, c.text)
	}
	return t.dense([]int64{int64(cols[0].n)}, cols[0].numbers)
}

// noSizes refuses sizes and bases where there are no coordinates.
func (t *table) noSizes() error {
	if t.in.cfg.dims != nil || t.in.cfg.base >= 0 {
		return t.in.errorf(0, "sizes and bases are for coordinates: say with %s which columns they are", t.in.cfg.spell("Coords"))
	}
	return nil
}

func (t *table) dense(shape []int64, values tensor.Array) (*tensor.Tensor, error) {
	d, err := tensor.FromDense(shape, tensor.Dense(len(shape)), values)
	if err != nil {
		return nil, err
	}
	return finish(t.in, d)
}

// matrix reads all columns.
func (t *table) matrix() (*tensor.Tensor, error) {
	if err := t.noSizes(); err != nil {
		return nil, err
	}
	var wanted []int
	for k := range t.names {
		if k != t.index {
			wanted = append(wanted, k)
		}
	}
	cols, err := t.columns(wanted)
	if err != nil {
		return nil, err
	}
	rows, dt := 0, tensor.Invalid
	for k, c := range cols {
		if c.text != nil {
			return nil, t.in.errorf(0, "column %q holds text, such as %q: name one to read (%s), or the columns that are coordinates (%s); there are %s",
				t.names[wanted[k]], shorten(c.text(0)), t.in.cfg.spell("Entry"), t.in.cfg.spell("Coords"), listNames(t.names))
		}
		if rows = c.n; k == 0 {
			dt = c.numbers.DType()
		}
		dt = tensor.Promote(dt, c.numbers.DType())
	}
	switch len(cols) {
	case 0:
		return nil, t.in.errorf(0, "the table has no columns")
	case 1:
		return t.dense([]int64{int64(rows)}, cols[0].numbers)
	}
	if rows > math.MaxInt/len(cols) {
		return nil, t.in.errorf(0, "%d rows of %d columns are more than any machine holds", rows, len(cols))
	}
	values, err := tensor.MakeArray(dt, rows*len(cols))
	if err != nil {
		return nil, err
	}
	size := dt.Size()
	for k, c := range cols {
		a, err := c.numbers.Convert(dt)
		if err != nil {
			return nil, err
		}
		from, to := a.Raw(), values.Raw()
		for i := range rows {
			copy(to[(i*len(cols)+k)*size:][:size], from[i*size:])
		}
	}
	return t.dense([]int64{int64(rows), int64(len(cols))}, values)
}

// entries reads columns of coordinates, and of values.
func (t *table) entries(coords []string, value string) (*tensor.Tensor, error) {
	names := slices.Clone(coords)
	if value != "" {
		names = append(names, value)
	}
	places, err := t.find(names...)
	if err != nil {
		return nil, err
	}
	cols, err := t.columns(places)
	if err != nil {
		return nil, err
	}
	n := cols[0].n
	if t.isWritten() && t.in.cfg.coords == nil && len(coords) == 1 && cols[0].text != nil {
		values, err := t.values(value, cols, n) // a dense vector whose elements have names
		if err != nil {
			return nil, err
		}
		return t.dense([]int64{int64(n)}, values)
	}
	shape, list := make([]int64, len(coords)), make([]tensor.Array, len(coords))
	if dims := t.in.cfg.dims; dims != nil && len(dims) != len(coords) {
		return nil, t.in.errorf(0, "%d sizes for %d columns of coordinates", len(dims), len(coords))
	}
	if t.in.cfg.nodes {
		if err := t.numberTogether(coords, cols[:len(coords)]); err != nil {
			return nil, err
		}
	}
	for axis, name := range coords {
		if list[axis], shape[axis], err = t.coordinates(axis, name, cols[axis]); err != nil {
			return nil, err
		}
	}
	if t.in.cfg.nodes && t.in.cfg.dims == nil {
		shape = slices.Repeat([]int64{slices.Max(shape)}, len(shape))
	}
	values, err := t.values(value, cols, n)
	if err != nil {
		return nil, err
	}
	sparse, err := t.in.cfg.builder.FromColumns(shape, tensor.Coordinates(len(shape)), list, values)
	if err != nil {
		return nil, err
	}
	return finish(t.in, sparse)
}

// numberTogether numbers the texts of columns: equal ones alike, whichever column they stand in.
func (t *table) numberTogether(names []string, cols []column) error {
	texts := 0
	for _, c := range cols {
		if c.text != nil {
			texts++
		}
	}
	switch texts {
	case 0:
		return nil
	case len(cols):
	default:
		return t.in.errorf(0, "of the columns %s some hold text and others numbers: they cannot be numbered together", listNames(names))
	}
	n := cols[0].n
	if n > math.MaxInt/len(cols) {
		return t.in.errorf(0, "%d rows of %d columns are more than any machine holds", n, len(cols))
	}
	codes, labels, err := numberTexts(n*len(cols), func(i int) string { return cols[i/n].text(i % n) })
	if err != nil {
		return err
	}
	for k := range cols {
		cols[k].codes, cols[k].labels = codes.Slice(k*n, (k+1)*n), len(labels)
	}
	return nil
}

// values are those of entries: of the last column, or ones.
func (t *table) values(name string, cols []column, n int) (tensor.Array, error) {
	if name != "" {
		c := cols[len(cols)-1]
		if c.text != nil {
			return tensor.Array{}, t.in.errorf(0, "column %q holds text, such as %q: values of entries are numbers", name, shorten(c.text(0)))
		}
		return c.numbers, nil
	}
	dt := t.in.cfg.dtype
	if !dt.Valid() {
		dt = tensor.Float64
	}
	ones, err := tensor.MakeArray(dt, n)
	if err != nil {
		return ones, err
	}
	for i := range n {
		ones.SetScalar(i, tensor.One(dt))
	}
	return ones, nil
}

// coordinates makes coordinates along an axis of a column, and the size of the axis.
func (t *table) coordinates(axis int, name string, c column) (tensor.Array, int64, error) {
	size, declared := int64(0), t.in.cfg.dims != nil
	var list tensor.Array
	if c.codes.DType().Valid() {
		list, size = c.codes, int64(c.labels)
	} else if c.text != nil {
		codes, labels, err := numberTexts(c.n, c.text)
		if err != nil {
			return codes, 0, err
		}
		list, size = codes, int64(len(labels))
	} else {
		if !c.numbers.DType().IsInteger() {
			return list, 0, t.in.errorf(0, "column %q holds %v: coordinates are integers, or labels", name, c.numbers.DType())
		}
		var err error
		if list, err = tensor.MakeArray(tensor.Int64, c.n); err != nil {
			return list, 0, err
		}
		base := int64(t.in.cfg.indexBase(0))
		for i, to := range tensor.View[int64](list) {
			v := c.numbers.Scalar(i)
			if to = v.Int64() - base; v.DType() == tensor.Uint64 && v.Uint64() > math.MaxInt64 || to < 0 || to == math.MaxInt64 {
				return list, 0, t.in.errorf(0, "column %q: row %d is %v, which is no coordinate: expected %d or more", name, i, v, base)
			}
			tensor.View[int64](list)[i] = to
			size = max(size, to+1)
		}
	}
	if declared {
		if most := t.in.cfg.dims[axis]; size > most {
			return list, 0, t.in.errorf(0, "column %q has the coordinate %d, but the size of axis %d is %d", name, size-1, axis, most)
		}
		size = t.in.cfg.dims[axis]
	}
	return list, size, nil
}

// shorten cuts a long text for a message.
func shorten(text string) string {
	const most = 40
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// list lists the columns of a table.
func (t *table) list(types []string) []Item {
	items := make([]Item, len(t.names))
	for k, name := range t.names {
		items[k] = Item{Entry: name, Holds: "column", Stored: -1, Note: types[k]}
	}
	return items
}

// tableRows is how a tensor is written as a table.
type tableRows struct {
	names   []string // of the columns
	unnamed bool     // the names are made up
	types   []tensor.DType
	texts   []func(row int64) string // of a column that holds text; nil: it holds numbers
	n       int64
	scalar  func(row int64, column int) tensor.Scalar
}

// add appends a column.
func (r *tableRows) add(name string, dt tensor.DType, text func(row int64) string) {
	r.names, r.types, r.texts = append(r.names, name), append(r.types, dt), append(r.texts, text)
}

// tableOf is a tensor as a table: a dense one of rank 1 or 2 as it looks, another as its entries.
func tableOf(out *output, t *tensor.Tensor) (tableRows, error) {
	t, err := t.Canonical()
	if err != nil {
		return tableRows{}, err
	}
	if t.Rank() == 0 {
		return tableRows{}, errors.New("a tensor of rank 0 is no table")
	}
	if err := out.cfg.namesFit(t); err != nil {
		return tableRows{}, err
	}
	if t.Format().IsDense() && t.Rank() <= 2 {
		return denseTable(out.cfg.names, t), nil
	}
	if err := zeroFill(t, "a table"); err != nil {
		return tableRows{}, err
	}
	if t, err = out.cfg.builder.Convert(t, tensor.Coordinates(t.Rank())); err != nil {
		return tableRows{}, err
	}
	coords, values, err := t.ToCoords()
	if err != nil {
		return tableRows{}, err
	}
	r := tableRows{n: t.NNZ()}
	for k := range coords {
		var text func(row int64) string
		if names := out.cfg.names[k]; names != nil {
			text = func(row int64) string { return names[coords[k][row]] }
		}
		r.add(fmt.Sprintf("i%d", k), tensor.Int64, text)
	}
	r.add(valueColumn, t.DType(), nil)
	r.scalar = func(row int64, column int) tensor.Scalar {
		if column == len(coords) {
			return values.Scalar(int(row))
		}
		return tensor.Int(tensor.Int64, coords[column][row])
	}
	return r, nil
}

// denseTable is a dense vector or matrix as a table. Where an axis has names, the first column holds those of the rows, or their
// numbers.
func denseTable(names map[int][]string, t *tensor.Tensor) tableRows {
	r := tableRows{n: t.Shape()[0], unnamed: len(names) == 0}
	first := 0
	if !r.unnamed {
		first = 1
		r.add(rowColumn, tensor.Int64, func(row int64) string {
			if names[0] == nil {
				return strconv.FormatInt(row, 10)
			}
			return names[0][row]
		})
	}
	if t.Rank() == 1 {
		r.add(valueColumn, t.DType(), nil)
		r.scalar = func(row int64, _ int) tensor.Scalar { return t.At(row) }
		return r
	}
	columns := t.Shape()[1]
	for k := range columns {
		if names[1] != nil {
			r.add(names[1][k], t.DType(), nil)
		} else {
			r.add(fmt.Sprintf("c%0*d", len(fmt.Sprint(columns-1)), k), t.DType(), nil)
		}
	}
	r.scalar = func(row int64, column int) tensor.Scalar { return t.At(row, int64(column-first)) }
	return r
}
