package file

import (
	"fmt"
	"maps"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

// noLabel stands for what has no label: a category of its own, the last.
const noLabel = "(none)"

// LabelsInto puts what the values of a column of labels stand for into list: such a column, of a
// data frame of AnnData, a CSV or a Parquet file, is read as a vector of numbers from 0 on. What
// has no label is numbered last, as "(none)". Of anything else list becomes nil.
func LabelsInto(list *[]string) Option {
	return func(c *config) error {
		c.labels = list
		if list != nil {
			*list = nil
		}
		return nil
	}
}

// AxisNames names the coordinates along an axis of a tensor that is written, such as labels that [LabelsInto] told: in an AnnData
// file they are its observations or variables, in a table (CSV, Parquet) what stands before the rows and above the columns, or the
// coordinates of entries. Files of other kinds have no names, and are written without.
func AxisNames(axis int, names []string) Option {
	return func(c *config) error {
		if names != nil {
			c.names = maps.Clone(c.names)
			if c.names == nil {
				c.names = map[int][]string{}
			}
			c.names[axis] = names
		}
		return nil
	}
}

// namesFit holds names against the shape of what is written.
func (c *config) namesFit(t *tensor.Tensor) error {
	for axis, names := range c.names {
		if axis < 0 || axis >= t.Rank() {
			return fmt.Errorf("coordinates of axis %d are named, but the tensor has rank %d", axis, t.Rank())
		}
		if n := t.Dims()[axis]; int64(len(names)) != n {
			return fmt.Errorf("%d names (%s) for %d coordinates of axis %d", len(names), c.spell("AxisNames"), n, axis)
		}
	}
	return nil
}

// readLabels reads a column of labels as AnnData keeps it: codes, and what they stand for, which are texts or numbers.
func readLabels(in *input, c binsparse.Container, texts func() (labels []string, ok bool, err error)) (*tensor.Tensor, error) {
	_, codes, err := loaded(c, "codes", 1)
	if err != nil {
		return nil, err
	}
	labels, ok, err := texts()
	if err == nil && !ok {
		var numbers tensor.Array
		_, numbers, err = loaded(c, "categories", 1)
		labels = numbersAsText(numbers)
	}
	if err != nil {
		return nil, err
	}
	return readCategories(in, codes, labels)
}

// readCategories makes a vector of codes, of which a negative one has no label.
func readCategories(in *input, codes tensor.Array, labels []string) (*tensor.Tensor, error) {
	if !codes.DType().IsInteger() {
		return nil, in.errorf(0, "the codes of categories are %v: expected integers", codes.DType())
	}
	numbers, err := tensor.MakeArray(tensor.Int32, codes.Len())
	if err != nil {
		return nil, err
	}
	list, none := tensor.View[int32](numbers), false
	for i := range list {
		switch code := codes.At64(i); {
		case code < 0:
			list[i], none = int32(len(labels)), true
		case code >= int64(len(labels)):
			return nil, in.errorf(0, "element %d of the codes is %d, but there are %d categories", i, code, len(labels))
		default:
			list[i] = int32(code)
		}
	}
	if none {
		labels = append(slices.Clip(labels), noLabel)
	}
	return labelled(in, numbers, labels)
}

// readTexts makes a vector that numbers texts in their order.
func readTexts(in *input, n int, text func(i int) string) (*tensor.Tensor, error) {
	codes, labels, err := numberTexts(n, text)
	if err != nil {
		return nil, err
	}
	return labelled(in, codes, labels)
}

// numberTexts numbers n texts: equal ones alike, in ascending order.
func numberTexts(n int, text func(i int) string) (tensor.Array, []string, error) {
	codes, err := tensor.MakeArray(tensor.Int32, n)
	if err != nil {
		return codes, nil, err
	}
	list, seen := tensor.View[int32](codes), map[string]int32{}
	var labels []string
	for i := range list {
		t := text(i)
		code, ok := seen[t]
		if !ok {
			code = int32(len(labels))
			seen[t] = code
			labels = append(labels, t)
		}
		list[i] = code
	}
	slices.Sort(labels)
	rank := make([]int32, len(labels))
	for i, l := range labels {
		rank[seen[l]] = int32(i)
	}
	for i, code := range list {
		list[i] = rank[code]
	}
	return codes, labels, nil
}

// labelled makes a vector of codes, and hands over what they stand for.
func labelled(in *input, codes tensor.Array, labels []string) (*tensor.Tensor, error) {
	if in.cfg.labels != nil {
		*in.cfg.labels = labels
	}
	t, err := tensor.FromDense([]int64{int64(codes.Len())}, tensor.Dense(1), codes)
	if err != nil {
		return nil, err
	}
	return finish(in, t)
}

// numbersAsText is what numbers look like as labels.
func numbersAsText(a tensor.Array) []string {
	list := make([]string, a.Len())
	for i := range list {
		list[i] = fmt.Sprint(a.Scalar(i))
	}
	return list
}
