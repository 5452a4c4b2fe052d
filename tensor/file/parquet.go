//go:build !js

package file

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// openParquet opens a Parquet file, whose directory stands at its end.
func openParquet(in *input) (*parquet.File, error) {
	at, size, err := in.random()
	if err != nil {
		return nil, err
	}
	return parquet.OpenFile(at, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
}

// safely has f's panic be an error: package parquet trusts what a file says of itself in places.
func safely[T any](in *input, f func() (T, error)) (result T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = in.errorf(0, "not a Parquet file that can be read: %.200v", r)
		}
	}()
	return f()
}

// readParquet reads a table of numbers and text.
func readParquet(in *input) (*tensor.Tensor, error) {
	return safely(in, func() (*tensor.Tensor, error) {
		f, err := openParquet(in)
		if err != nil {
			return nil, err
		}
		leaves := parquetLeaves(f)
		var names []string
		for _, leaf := range leaves {
			names = append(names, leaf.name)
		}
		t := newTable(in, names)
		t.columns = func(wanted []int) ([]column, error) {
			cols := make([]column, len(wanted))
			for k, at := range wanted {
				if cols[k], err = parquetColumn(in, f, leaves[at]); err != nil {
					return nil, err
				}
			}
			return cols, nil
		}
		return t.tensor()
	})
}

// listParquet lists the columns.
func listParquet(in *input) ([]Item, error) {
	return safely(in, func() ([]Item, error) {
		f, err := openParquet(in)
		if err != nil {
			return nil, err
		}
		var items []Item
		for _, leaf := range parquetLeaves(f) {
			items = append(items, Item{Entry: leaf.name, Holds: "column", Shape: []int64{f.NumRows()}, DType: leaf.dtype, Stored: -1, Note: leaf.problem})
		}
		return items, nil
	})
}

// parquetLeaf is a column at the top of a schema.
type parquetLeaf struct {
	name    string
	index   int
	dtype   tensor.DType // Invalid: text
	problem string       // why it is not read
}

// parquetLeaves are the columns of a file that are not within others.
func parquetLeaves(f *parquet.File) []parquetLeaf {
	var leaves []parquetLeaf
	for _, c := range f.Root().Columns() {
		leaf := parquetLeaf{name: c.Name(), index: c.Index()}
		switch {
		case !c.Leaf() || c.Repeated():
			leaf.problem = "it is nested"
		default:
			leaf.dtype, leaf.problem = parquetType(c)
		}
		leaves = append(leaves, leaf)
	}
	return leaves
}

// parquetType is the type of a column's elements; Invalid is text.
func parquetType(c *parquet.Column) (tensor.DType, string) {
	t := c.Type()
	unsigned, text := false, true
	if logical := t.LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case *format.IntType:
			unsigned = !l.IsSigned
		case *format.StringType, *format.EnumType, *format.JsonType, *format.NullType, nil:
		case *format.DecimalType, *format.DateType, *format.TimeType, *format.TimestampType:
			return tensor.Invalid, "its elements are " + t.String()
		default:
			text = false
		}
	}
	switch kind := t.Kind(); {
	case kind == parquet.Boolean:
		return tensor.Bool, ""
	case kind == parquet.Int32 && unsigned:
		return tensor.Uint32, ""
	case kind == parquet.Int32:
		return tensor.Int32, ""
	case kind == parquet.Int64 && unsigned:
		return tensor.Uint64, ""
	case kind == parquet.Int64:
		return tensor.Int64, ""
	case kind == parquet.Float:
		return tensor.Float32, ""
	case kind == parquet.Double:
		return tensor.Float64, ""
	case kind == parquet.ByteArray && text:
		return tensor.Invalid, ""
	}
	return tensor.Invalid, "its elements are " + t.String()
}

// parquetColumn reads a column, value by value: memory grows with what is there, not with what is promised.
func parquetColumn(in *input, f *parquet.File, leaf parquetLeaf) (column, error) {
	if leaf.problem != "" {
		return column{}, in.errorf(0, "column %q: %s, which is not read", leaf.name, leaf.problem)
	}
	var c parquetValues
	for _, group := range f.RowGroups() {
		pages := group.ColumnChunks()[leaf.index].Pages()
		err := c.read(in, leaf, pages)
		if closeErr := pages.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return column{}, fmt.Errorf("column %q: %w", leaf.name, err)
		}
	}
	if !leaf.dtype.Valid() {
		return column{text: c.text.field, n: c.n}, nil
	}
	return column{numbers: c.numbers.Slice(0, c.n), n: c.n}, nil
}

// parquetValues gathers the values of a column.
type parquetValues struct {
	numbers tensor.Array // with room beyond n
	text    csvText
	n       int
}

// read reads the pages of one row group.
func (c *parquetValues) read(in *input, leaf parquetLeaf, pages parquet.Pages) error {
	buffer := make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		values := page.Values()
		for err = nil; err == nil; {
			var n int
			n, err = values.ReadValues(buffer)
			if addErr := c.add(in, leaf, buffer[:n]); addErr != nil {
				err = addErr
			} else if n == 0 && err == nil {
				err = io.ErrNoProgress
			}
		}
		parquet.Release(page)
		if err != io.EOF {
			return err
		}
	}
}

// add appends values. Null is nan, or no text.
func (c *parquetValues) add(in *input, leaf parquetLeaf, values []parquet.Value) error {
	if most := in.tableMost(); int64(c.n)*int64(max(8, leaf.dtype.Size()))+int64(len(c.text.text)) > most {
		return fmt.Errorf("it unpacks to more than the allowed %d bytes", most)
	}
	if !leaf.dtype.Valid() {
		for _, v := range values {
			if v.IsNull() {
				c.text.add(noLabel)
			} else {
				c.text.add(string(v.ByteArray()))
			}
		}
		c.n += len(values)
		return nil
	}
	if !c.numbers.DType().Valid() {
		var err error
		if c.numbers, err = tensor.MakeArray(leaf.dtype, 0); err != nil {
			return err
		}
	}
	var err error
	if c.numbers, err = arrayWithRoom(heap{}, c.numbers, c.n, len(values)); err != nil {
		return err
	}
	for _, v := range values {
		s, err := parquetScalar(leaf.dtype, v)
		if err != nil {
			return fmt.Errorf("row %d: %w", c.n, err)
		}
		c.numbers.SetScalar(c.n, s)
		c.n++
	}
	return nil
}

// tableMost bounds the bytes of a column: a run of equal values takes a few bytes however long it is, which is believed up to a
// limit, or as much as deflate packs.
func (in *input) tableMost() int64 {
	most := max(inflated(in.most), 64<<20)
	if in.cfg.maxBytes > 0 {
		most = min(most, in.cfg.maxBytes)
	}
	return most
}

// errNull refuses what is missing where there is no nan.
var errNull = errors.New("the value is null, which integers and truth values have no number for")

// parquetScalar is a value as a number.
func parquetScalar(dt tensor.DType, v parquet.Value) (tensor.Scalar, error) {
	if v.IsNull() {
		if !dt.IsFloat() {
			return tensor.Scalar{}, errNull
		}
		return tensor.ParseScalar("nan", dt)
	}
	switch dt {
	case tensor.Bool:
		return tensor.Truth(v.Boolean()), nil
	case tensor.Int32:
		return tensor.Int(dt, int64(v.Int32())), nil
	case tensor.Uint32:
		return tensor.Uint(dt, uint64(v.Uint32())), nil
	case tensor.Uint64:
		return tensor.Uint(dt, v.Uint64()), nil
	case tensor.Float32:
		return tensor.Float(dt, float64(v.Float())), nil
	case tensor.Float64:
		return tensor.Float(dt, v.Double()), nil
	}
	return tensor.Int(dt, v.Int64()), nil
}

// writeParquet writes a table: columns c0, c1, … of a dense matrix, value of a vector, else those of coordinates and values.
func writeParquet(out *output, t *tensor.Tensor) error {
	r, err := tableOf(out, t)
	if err != nil {
		return err
	}
	if n := len(r.names); n > parquet.MaxColumnIndex {
		return fmt.Errorf("%d columns are more than the %d of a Parquet file: write the tensor in a sparse format, as its entries", n, parquet.MaxColumnIndex)
	}
	group, seen := parquetColumns{}, map[string]bool{}
	for k, name := range r.names {
		if seen[name] {
			return fmt.Errorf("two columns would be called %q", name)
		}
		seen[name] = true
		node := parquet.String()
		if r.texts[k] == nil {
			if node, err = parquetNode(r.types[k]); err != nil {
				return err
			}
		}
		group.fields = append(group.fields, parquetField{node, name})
	}
	w := parquet.NewWriter(out.w, parquet.NewSchema("tensor", group), parquet.Compression(&parquet.Snappy))
	batch := make([]parquet.Row, 0, 256)
	for i := range r.n {
		row := make(parquet.Row, len(r.names))
		for k := range row {
			if r.texts[k] != nil {
				row[k] = parquet.ByteArrayValue([]byte(r.texts[k](i))).Level(0, 0, k)
				continue
			}
			row[k] = parquetValue(r.scalar(i, k)).Level(0, 0, k)
		}
		if batch = append(batch, row); len(batch) == cap(batch) || i == r.n-1 {
			if _, err := w.WriteRows(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
		if i%progressStep == 0 {
			out.cfg.progress(i, r.n)
		}
	}
	return w.Close()
}

// parquetColumns are the columns of a schema in their order: a parquet.Group has them in that of their names.
type parquetColumns struct {
	parquet.Group
	fields []parquet.Field
}

func (c parquetColumns) Fields() []parquet.Field { return c.fields }

// parquetField is one of them.
type parquetField struct {
	parquet.Node
	name string
}

func (f parquetField) Name() string { return f.name }

// Value is of a row that is a Go value, of which there are none.
func (f parquetField) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// parquetNode is the type of a column of numbers.
func parquetNode(dt tensor.DType) (parquet.Node, error) {
	switch {
	case dt == tensor.Bool:
		return parquet.Leaf(parquet.BooleanType), nil
	case dt == tensor.Float32 || dt == tensor.Float16 || dt == tensor.BFloat16:
		return parquet.Leaf(parquet.FloatType), nil
	case dt == tensor.Float64:
		return parquet.Leaf(parquet.DoubleType), nil
	case dt.IsInteger() && dt.IsUnsigned():
		return parquet.Uint(8 * dt.Size()), nil
	case dt.IsInteger():
		return parquet.Int(8 * dt.Size()), nil
	}
	return nil, fmt.Errorf("there is no %v in Parquet: write the real and the imaginary parts", dt)
}

// parquetValue is a number as a value.
func parquetValue(s tensor.Scalar) parquet.Value {
	switch dt := s.DType(); {
	case dt == tensor.Bool:
		return parquet.BooleanValue(!s.IsZero())
	case dt == tensor.Float64:
		return parquet.DoubleValue(s.Float64())
	case dt.IsFloat():
		return parquet.FloatValue(float32(s.Float64()))
	case dt.Size() <= 4:
		return parquet.Int32Value(int32(s.Int64()))
	case dt == tensor.Uint64:
		return parquet.Int64Value(int64(s.Uint64()))
	}
	return parquet.Int64Value(s.Int64())
}
