package interop

import (
	"fmt"
	"math"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// TACO is a tensor as TACO stores it: one mode format for each level.
type TACO struct {
	// Modes has the letter of each level's mode format, as TACO's command line
	// writes them: d dense, s compressed, u compressed with repeated coordinates,
	// q singleton, c singleton with repeated coordinates.
	Modes string
	// Order is the mode ordering: which dimension each level stores.
	Order []int
	// Shape is the extent of each dimension. That of a dense level's dimension is
	// the one element of TACO's index array for it.
	Shape []int64
	// Pos and Crd are the index arrays of each level, of any integer type (those of
	// TACO's own kernels are int32, which have the same bits as u32); the zero
	// Array for levels that have none.
	Pos, Crd []tensor.Array
	Values   tensor.Array
	Fill     tensor.Scalar
}

// tacoLetter is TACO's letter for a level, 0 for none.
func tacoLetter(l tensor.LevelType) byte {
	switch {
	case !l.Ordered:
		return 0
	case !l.Unique:
		return l.Kind.Properties().TACO[1]
	}
	return l.Kind.Properties().TACO[0]
}

// tacoLevel is the level that a letter of TACO stands for, one of kind 0 for none.
func tacoLevel(letter byte) tensor.LevelType {
	for k := range tensor.PhysicalKind(math.MaxUint8) {
		if letters := k.Properties().TACO; letter != 0 && (letters[0] == letter || letters[1] == letter) {
			return tensor.LevelType{Kind: k, Unique: letters[0] == letter, Ordered: true}
		}
	}
	return tensor.LevelType{}
}

// ToTACO returns the tensor in TACO's storage; arrays are shared. A last C or DC level of a
// multigraph becomes one with repeated coordinates, which is a conversion. TACO's letters
// say nothing of unsorted levels: those are an error, and so is a [tensor.Structure].
func ToTACO(t *tensor.Tensor) (*TACO, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	out, err := toTACO(t)
	return out, tensor.Named(err, tensor.WithName(t.Name()))
}

func toTACO(t *tensor.Tensor) (*TACO, error) {
	if t.Structure() != tensor.General {
		return nil, tensor.Errorf(-1, "TACO has no %v matrices: expand it first", t.Structure())
	}
	from, err := ungrouped(t)
	if err != nil {
		return nil, err
	}
	out := &TACO{Order: from.Format().Order(), Shape: from.Shape(), Values: from.Values(), Fill: from.Fill()}
	var letters strings.Builder
	for k, l := range from.Format().Physical() {
		letter := tacoLetter(l)
		if letter == 0 {
			return nil, tensor.Errorf(k, "it is %v, for which TACO has no letter: sort the tensor first (Canonical)", l)
		}
		letters.WriteByte(letter)
	}
	out.Modes = letters.String()
	out.Pos, out.Crd, err = indexArrays(from)
	if err != nil {
		return nil, tensor.Errorf(-1, "%v", err)
	}
	return out, nil
}

// FromTACO makes a tensor of TACO's arrays, which are checked as [tensor.New] does and shared. A
// fill that is not set is 0. Mode formats other than those listed at [TACO] are errors
// that name them.
func FromTACO(s *TACO, opts ...tensor.Option) (*tensor.Tensor, error) {
	if s == nil {
		return nil, tensor.Errorf(-1, "the TACO tensor is nil: make one with ToTACO, or fill in its fields")
	}
	if s.Fill.DType().Valid() {
		opts = append([]tensor.Option{tensor.WithFill(s.Fill)}, opts...)
	}
	t, err := fromTACO(s, opts)
	return t, tensor.Named(err, opts...)
}

func fromTACO(s *TACO, opts []tensor.Option) (*tensor.Tensor, error) {
	n := len(s.Modes)
	if len(s.Pos) != n || len(s.Crd) != n || len(s.Order) != n {
		return nil, tensor.Errorf(-1, "there are %d modes, with pos arrays for %d, crd arrays for %d and an order of %d: they must be as many", n, len(s.Pos), len(s.Crd), len(s.Order))
	}
	types := make([]tensor.LevelType, n)
	levels := make([]tensor.Level, n)
	for k := range types {
		levels[k].Pos, levels[k].Crd = s.Pos[k], s.Crd[k]
		if types[k] = tacoLevel(s.Modes[k]); types[k].Kind == 0 {
			return nil, tensor.Errorf(k, "TACO's mode format %q is not supported: there are d, s, u, q and c", s.Modes[k])
		}
	}
	format, err := tensor.FormatOfPhysical(types, s.Order)
	if err != nil {
		return nil, tensor.Errorf(-1, "%v", err)
	}
	return tensor.New(s.Shape, format, levels, s.Values, opts...)
}

// Descriptor writes the format as TACO's command line takes it for a tensor of the given
// name: "-f=A:ds:0,1".
func (s *TACO) Descriptor(name string) string {
	return fmt.Sprintf("-f=%s:%s:%s", name, s.Modes, strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Order), " ", ","), "[]"))
}
