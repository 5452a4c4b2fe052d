package file

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// readCSV reads a table of text.
func readCSV(in *input) (*tensor.Tensor, error) {
	t, _, err := openCSV(in)
	if err != nil {
		return nil, err
	}
	return t.tensor()
}

// listCSV lists the columns of a table with a header.
func listCSV(in *input) ([]Item, error) {
	t, first, err := openCSV(in)
	if err != nil {
		return nil, err
	}
	types := make([]string, len(t.names))
	if first != nil { // no header: a matrix
		return nil, nil
	}
	return t.list(types), nil
}

// openCSV reads the first line: the names of columns, if not all of them are numbers. Without names columns are
// called by their numbers, and first is the line. Fields are separated by the first of comma, tab and semicolon that stands
// there; lines that begin with # are comments.
func openCSV(in *input) (t *table, first []string, err error) {
	head, err := in.r.Peek(headerLine)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	r := csv.NewReader(in.r)
	r.Comment = '#'
	for line := range bytes.Lines(bytes.TrimPrefix(head, utf8BOM)) {
		if at := bytes.IndexAny(line, ",\t;"); line[0] != '#' && len(bytes.TrimSpace(line)) > 0 {
			if at >= 0 {
				r.Comma = rune(line[at])
			}
			break
		}
	}
	if bytes.HasPrefix(head, utf8BOM) {
		if _, err := in.r.Discard(len(utf8BOM)); err != nil {
			return nil, nil, err
		}
	}
	record, err := r.Read()
	if err != nil {
		return nil, nil, in.csvError(err)
	}
	numbers := true
	for _, field := range record {
		if _, err := strconv.ParseFloat(strings.TrimSpace(field), 64); err != nil {
			numbers = false
		}
	}
	names := slices.Clone(record)
	if numbers {
		first = record
	}
	for k := range names {
		if numbers || names[k] == "" {
			names[k] = strconv.Itoa(k)
		}
	}
	t = newTable(in, names)
	if !numbers && record[0] == "" && len(record) > 1 {
		t.index = 0 // as pandas and R write the names of rows
	}
	t.columns = func(wanted []int) ([]column, error) { return in.csvColumns(r, first, wanted) }
	return t, first, nil
}

// csvError gives an error of package csv its place in the file.
func (in *input) csvError(err error) error {
	var pe *csv.ParseError
	switch {
	case err == io.EOF:
		return in.errorf(0, "the table is empty")
	case errors.As(err, &pe) && pe.Err == csv.ErrFieldCount:
		return in.errorf(pe.Line, "the line has another number of fields than the first")
	case errors.As(err, &pe):
		return in.errorf(pe.Line, "column %d: %v", pe.Column, pe.Err)
	}
	return err
}

// csvText gathers the fields of a column.
type csvText struct {
	text []byte
	ends []int
}

func (c *csvText) add(field string) {
	c.text = append(c.text, field...)
	c.ends = append(c.ends, len(c.text))
}

func (c *csvText) field(i int) string {
	start := 0
	if i > 0 {
		start = c.ends[i-1]
	}
	return string(c.text[start:c.ends[i]])
}

// csvColumns reads the wanted columns to the end.
func (in *input) csvColumns(r *csv.Reader, first []string, wanted []int) ([]column, error) {
	r.ReuseRecord = true
	texts := make([]csvText, len(wanted))
	for record := first; ; {
		if record != nil {
			for k, at := range wanted {
				texts[k].add(record[at])
			}
		}
		var err error
		if record, err = r.Read(); err == io.EOF {
			break
		} else if err != nil {
			return nil, in.csvError(err)
		}
	}
	cols := make([]column, len(wanted))
	for k := range texts {
		var err error
		if cols[k], err = texts[k].column(); err != nil {
			return nil, err
		}
	}
	return cols, nil
}

// column is the fields as integers if all are, else as floats if all are, with nan for empty ones, else as text.
func (c *csvText) column() (column, error) {
	n := len(c.ends)
	ints, err := tensor.MakeArray(tensor.Int64, n)
	if err != nil {
		return column{}, err
	}
	list, whole := tensor.View[int64](ints), true
	for i := range list {
		v, err := strconv.ParseInt(strings.TrimSpace(c.field(i)), 10, 64)
		if whole = err == nil; !whole {
			break
		}
		list[i] = v
	}
	if whole {
		return column{numbers: ints, n: n}, nil
	}
	values, err := tensor.MakeArray(tensor.Float64, n)
	if err != nil {
		return column{}, err
	}
	floats, seen := tensor.View[float64](values), false
	for i := range floats {
		field := strings.TrimSpace(c.field(i))
		if field == "" {
			floats[i] = math.NaN()
			continue
		}
		v, err := strconv.ParseFloat(field, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || strings.ContainsAny(field, "xX_") {
			return column{text: c.field, n: n}, nil
		}
		floats[i], seen = v, true
	}
	if !seen {
		return column{text: c.field, n: n}, nil
	}
	return column{numbers: values, n: n}, nil
}

// writeCSV writes a table: the rows of a dense vector or matrix, else a header and a line for each entry.
func writeCSV(out *output, t *tensor.Tensor) error {
	r, err := tableOf(out, t)
	if err != nil {
		return err
	}
	if t.DType().IsComplex() {
		return fmt.Errorf("a table of text has no complex numbers: write the real and the imaginary parts")
	}
	w := csv.NewWriter(out.w)
	if name, _ := splitCompression(out.name); strings.HasSuffix(strings.ToLower(name), ".tsv") {
		w.Comma = '\t'
	}
	if !r.unnamed {
		if err := w.Write(r.names); err != nil {
			return err
		}
	}
	record := make([]string, len(r.names))
	for i := range r.n {
		for k := range record {
			switch {
			case r.texts[k] != nil:
				record[k] = r.texts[k](i)
			case r.types[k] == tensor.Bool: // as numbers: true and false would be read as labels
				record[k] = strconv.Itoa(int(r.scalar(i, k).Convert(tensor.Int64).Int64()))
			default:
				record[k] = r.scalar(i, k).String()
			}
		}
		if err := w.Write(record); err != nil {
			return err
		}
		if i%progressStep == 0 {
			out.cfg.progress(i, r.n)
		}
	}
	w.Flush()
	return w.Error()
}

// progressStep is after how many rows progress is told.
const progressStep = 1 << 14
