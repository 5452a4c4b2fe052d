package explorer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Storage is how an operand is stored: the levels with their arrays, which are those that loops see, and the entries.
type Storage struct {
	Name    string   `json:"name"`
	Shape   []int64  `json:"shape"`
	Format  string   `json:"format"`
	DType   string   `json:"dtype"`
	Fill    string   `json:"fill"`
	Bytes   int64    `json:"bytes"`
	Stored  int64    `json:"stored"`
	Levels  []Level  `json:"levels"`
	Values  []string `json:"values"`
	Entries []Entry  `json:"entries"` // by position in Values
	More    bool     `json:"more,omitempty"`
	Formats []string `json:"formats"` // with names, that a tensor of this rank may have
	// Kinds are the kinds of its levels and Order their axes; Combinations are the kinds that there may be together, for few levels.
	Kinds        string   `json:"kinds"`
	Order        []int    `json:"order"`
	Combinations []string `json:"combinations"`
}

// Level is a level of storage.
type Level struct {
	Kind  string  `json:"kind"` // dense, compressed or singleton
	Axis  int     `json:"axis"`
	Size  int64   `json:"size"`
	Pos   []int64 `json:"pos,omitempty"`
	Crd   []int64 `json:"crd,omitempty"`
	Nodes []Node  `json:"nodes"` // of the coordinate tree, by position
}

// Node is a coordinate of a level under a position of the level before.
type Node struct {
	Parent int   `json:"parent"`
	Coord  int64 `json:"coord"`
}

// Entry is a stored value: its coordinates by axis, and the position in each level on the way to it.
type Entry struct {
	Coord []int64 `json:"coord"`
	Path  []int   `json:"path"`
}

// maxDrawn bounds the positions of a level that are told: nobody looks at more.
const maxDrawn = 4096

var errTooLarge = errors.New("the tensor is too large to show")

func (s *Service) storage(ctx context.Context, r *Request) (any, error) {
	for i := range r.Operands {
		if o := &r.Operands[i]; o.Name == r.Name {
			if !o.given() {
				return nil, fmt.Errorf("%s has no value", o.Name)
			}
			t, ok := o.Value.(*tensor.Tensor)
			if o.Value != nil && !ok {
				return nil, fmt.Errorf("%s is stored as several tensors", o.Name)
			}
			if !ok {
				var err error
				if t, err = s.tensor(ctx, o); err != nil {
					return nil, err
				}
			}
			return storageOf(o.Name, t), nil
		}
	}
	return nil, fmt.Errorf("there is no operand %s", r.Name)
}

func storageOf(name string, t *tensor.Tensor) *Storage {
	s := &Storage{Name: name, Shape: t.Shape(), Format: t.Format().String(), DType: t.DType().String(), Fill: t.Fill().String(),
		Bytes: t.Bytes(), Stored: t.NNZ(), Levels: []Level{}, Values: []string{}, Entries: []Entry{},
		Formats: formatsOf(t.Rank()), Kinds: joined(t.Format().Levels()), Order: append([]int{}, t.Format().Order()...), Combinations: combinations(t.Rank())}
	if s.Shape == nil {
		s.Shape = []int64{}
	}
	nodes := 1 // positions of the level before
	for k, l := range t.Levels() {
		level := Level{Kind: l.Kind.String(), Axis: t.Format().Order()[k], Size: l.Size, Pos: integers(l.Pos), Crd: integers(l.Crd), Nodes: []Node{}}
		coords, parents, ok := t.Nodes(k, maxDrawn)
		if !ok {
			s.More = true
			return s
		}
		for i, c := range coords {
			level.Nodes = append(level.Nodes, Node{int(parents[i]), c})
		}
		nodes = len(coords)
		s.Levels = append(s.Levels, level)
	}
	values := t.Values()
	if s.More = values.Len() > maxDrawn || values.Len() != nodes; s.More { // or several values at one coordinate
		return s
	}
	for i := range values.Len() {
		s.Values = append(s.Values, values.Scalar(i).String())
		s.Entries = append(s.Entries, s.entry(i))
	}
	return s
}

// entry follows the tree from a value up.
func (s *Storage) entry(at int) Entry {
	e := Entry{make([]int64, len(s.Levels)), make([]int, len(s.Levels))}
	for k := len(s.Levels) - 1; k >= 0; k-- {
		n := s.Levels[k].Nodes[at]
		e.Coord[s.Levels[k].Axis], e.Path[k] = n.Coord, at
		at = n.Parent
	}
	return e
}

// integers are the elements of an index array, nil if it is long.
func integers(a tensor.Array) []int64 {
	if a.Len() > maxDrawn {
		return nil
	}
	list := make([]int64, a.Len())
	for i := range list {
		list[i] = a.At64(i)
	}
	return list
}

// formatsOf are the formats for a rank that have names.
func formatsOf(rank int) []string {
	list := []string{}
	for _, name := range []string{"D", "CSR", "CSC", "DCSR", "DCSC", "COO", "COOC", "CSF", "DVEC", "CVEC", "DMATC"} {
		if f, err := tensor.ParseFormat(name, rank); err == nil && !slices.Contains(list, f.String()) {
			list = append(list, f.String())
		}
	}
	return list
}

// combinations are the kinds that so many levels may have together, as formats are written; none for many.
func combinations(rank int) []string {
	list := []string{}
	if rank == 0 || rank > 4 {
		return list
	}
	levels := make([]tensor.LevelKind, rank)
	var each func(int)
	each = func(k int) {
		if k == rank {
			if _, err := tensor.FormatOf(levels, nil); err == nil {
				list = append(list, joined(levels))
			}
			return
		}
		for _, kind := range tensor.LevelKinds() {
			levels[k] = kind
			each(k + 1)
		}
	}
	each(0)
	return list
}

// joined are the kinds of levels as a format is written.
func joined(levels []tensor.LevelKind) string {
	words := make([]string, len(levels))
	for k, l := range levels {
		words[k] = l.String()
	}
	return strings.Join(words, "-")
}
