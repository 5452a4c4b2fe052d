package tensor

import (
	"fmt"
	"strings"
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
	Pos, Crd []Array
	Values   Array
	Fill     Scalar
}

// tacoLetter is TACO's letter for a level, 0 for none.
func tacoLetter(l LevelType) byte {
	switch {
	case !l.Ordered:
		return 0
	case !l.Unique:
		return l.Kind.properties().TACO[1]
	}
	return l.Kind.properties().TACO[0]
}

// tacoLevel is the level that a letter of TACO stands for, one of kind 0 for none.
func tacoLevel(letter byte) LevelType {
	for k, s := range levelProperties {
		if letter != 0 && (s.TACO[0] == letter || s.TACO[1] == letter) {
			return LevelType{PhysicalKind(k), s.TACO[0] == letter, true}
		}
	}
	return LevelType{}
}

// ToTACO returns the tensor in TACO's storage; arrays are shared. A last C or DC level of a
// multigraph becomes one with repeated coordinates, which is a conversion. TACO's letters
// say nothing of unsorted levels: those are an error, and so is a [Structure].
func (t *Tensor) ToTACO() (*TACO, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	out, err := t.toTACO()
	return out, named(err, t.name)
}

func (t *Tensor) toTACO() (*TACO, error) {
	if t.structure != General {
		return nil, tensorError("TACO has no %v matrices: expand it first", t.structure)
	}
	from, err := t.ungrouped()
	if err != nil {
		return nil, err
	}
	out := &TACO{Order: from.format.Order(), Shape: from.Shape(), Values: from.values, Fill: from.fill}
	var letters strings.Builder
	for k, l := range from.format.Physical() {
		letter := tacoLetter(l)
		if letter == 0 {
			return nil, levelError(k, "it is %v, for which TACO has no letter: sort the tensor first (Canonical)", l)
		}
		letters.WriteByte(letter)
	}
	out.Modes = letters.String()
	out.Pos, out.Crd, err = from.indexArrays()
	if err != nil {
		return nil, tensorError("%v", err)
	}
	return out, nil
}

// FromTACO makes a tensor of TACO's arrays, which are checked as [New] does and shared. A
// fill that is not set is 0. Mode formats other than those listed at [TACO] are errors
// that name them.
func FromTACO(s *TACO, opts ...Option) (*Tensor, error) {
	if s == nil {
		return nil, tensorError("the TACO tensor is nil: make one with Tensor.ToTACO, or fill in its fields")
	}
	if s.Fill.dt.Valid() {
		opts = append([]Option{WithFill(s.Fill)}, opts...)
	}
	o := collect(opts)
	t, err := fromTACO(s, o)
	return t, named(err, o.name)
}

func fromTACO(s *TACO, o options) (*Tensor, error) {
	n := len(s.Modes)
	if len(s.Pos) != n || len(s.Crd) != n || len(s.Order) != n {
		return nil, tensorError("there are %d modes, with pos arrays for %d, crd arrays for %d and an order of %d: they must be as many", n, len(s.Pos), len(s.Crd), len(s.Order))
	}
	types := make([]LevelType, n)
	levels := make([]Level, n)
	for k := range types {
		levels[k].Pos, levels[k].Crd = s.Pos[k], s.Crd[k]
		if types[k] = tacoLevel(s.Modes[k]); types[k].Kind == 0 {
			return nil, levelError(k, "TACO's mode format %q is not supported: there are d, s, u, q and c", s.Modes[k])
		}
	}
	format, err := formatOfPhysical(types, s.Order)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	return newTensor(s.Shape, format, levels, s.Values, o)
}

// Descriptor writes the format as TACO's command line takes it for a tensor of the given
// name: "-f=A:ds:0,1".
func (s *TACO) Descriptor(name string) string {
	return fmt.Sprintf("-f=%s:%s:%s", name, s.Modes, strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Order), " ", ","), "[]"))
}
