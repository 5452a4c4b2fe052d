package from

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Names is a dictionary: names in the order in which they came first, and their numbers.
type Names struct {
	list    []string
	numbers map[string]int64
}

// Len is how many names there are.
func (n *Names) Len() int { return len(n.list) }

// Name is the name with a number, "" if no name has it.
func (n *Names) Name(i int64) string {
	if i < 0 || i >= int64(len(n.list)) {
		return ""
	}
	return n.list[i]
}

// String is all names in the order of their numbers, as a slice of them prints.
func (n *Names) String() string { return fmt.Sprint(n.list) }

// Number is the number of a name; false if there is no such name.
func (n *Names) Number(name string) (int64, bool) {
	i, ok := n.numbers[name]
	return i, ok
}

// number is the number of a name that may be new.
func (n *Names) number(name string) int64 {
	i, ok := n.numbers[name]
	if !ok {
		if n.numbers == nil {
			n.numbers = map[string]int64{}
		}
		i = int64(len(n.list))
		name = strings.Clone(name) // it may be a part of a long line
		n.list, n.numbers[name] = append(n.list, name), i
	}
	return i
}

// Edges makes a tensor of lines such as "alice,heidi,4.5" in CSV: a name for each axis, and the value, which is 1, or true,
// where it is left out on every line. Each axis has a dictionary of its own, which numbers its names as they come. Lines that begin with #
// are comments. To read files with other commas, or with a header, set up a [csv.Reader] and call [Records].
func Edges[T tensor.Element](r io.Reader, format tensor.Format, on OnDuplicate, opts ...tensor.Option) (*tensor.Tensor, []*Names, error) {
	return Records[T](reader(r), format, on, make([]*Names, format.Rank()), opts...)
}

// Graph is [Edges] for lines "from,to" or "from,to,weight" between nodes of one kind: all axes share a dictionary, and the
// matrix is square.
func Graph[T tensor.Element](r io.Reader, format tensor.Format, on OnDuplicate, opts ...tensor.Option) (*tensor.Tensor, *Names, error) {
	shared, names := &Names{}, make([]*Names, format.Rank())
	for axis := range names {
		names[axis] = shared
	}
	t, _, err := Records[T](reader(r), format, on, names, opts...)
	return t, shared, err
}

func reader(r io.Reader) *csv.Reader {
	c := csv.NewReader(r)
	c.Comment, c.TrimLeadingSpace = '#', true
	return c
}

// Records is [Edges] for a reader as the caller has set it up, and with a dictionary for each axis: nil is a new one, and
// one that has names already goes on with them. The extent of an axis is the number of its names.
func Records[T tensor.Element](r *csv.Reader, format tensor.Format, on OnDuplicate, names []*Names, opts ...tensor.Option) (*tensor.Tensor, []*Names, error) {
	rank := format.Rank()
	if len(names) != rank {
		return nil, nil, fmt.Errorf("from.Records: %d dictionaries are given, format %v has %d axes", len(names), format, rank)
	}
	names = append([]*Names(nil), names...)
	for axis := range names {
		if names[axis] == nil {
			names[axis] = &Names{}
		}
	}
	r.ReuseRecord = true
	b := NewBuilder[T](format, on)
	at := make([]int64, rank)
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("from: %w", err)
		}
		line, _ := r.FieldPos(0)
		text := "1"
		switch len(record) {
		case rank:
		case rank + 1:
			text = record[rank]
		default:
			return nil, nil, fmt.Errorf("from: line %d has %d fields: it has %d names, and may have a value", line, len(record), rank)
		}
		v, err := parse[T](text)
		if err != nil && b.Len() == 0 {
			return nil, nil, fmt.Errorf("from: line %d: %w; if it is a header, read it with a csv.Reader first, and pass that to Records", line, err)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("from: line %d: %w", line, err)
		}
		for axis := range at {
			at[axis] = names[axis].number(record[axis])
		}
		b.Add(v, at...)
	}
	shape := make([]int64, rank)
	for axis := range shape {
		shape[axis] = int64(names[axis].Len())
	}
	t, err := b.Build(shape, opts...)
	return t, names, err
}

// parse reads a value.
func parse[T tensor.Element](text string) (T, error) {
	one := make([]T, 1)
	if f, ok := any(&one[0]).(*float64); ok { // the usual type, and the usual numbers
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			*f = v
			return one[0], nil
		}
	}
	a := tensor.ArrayOf(one)
	x, err := tensor.ParseScalar(text, a.DType())
	if err == nil {
		a.SetScalar(0, x)
	}
	return one[0], err
}
