package declare

import (
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Storage is what options say of how a tensor is stored.
type Storage struct {
	Name     string
	Format   tensor.Format // as declared, or the operand's; that of one tensor for parts
	Triangle bool          // of a matrix of which the other triangle is not stored
	Result   bool          // something was said that only results need
}

// Storages lists what options say of tensors, by name.
func Storages(opts ...Option) ([]Storage, error) {
	d := New()
	if err := d.Apply(opts); err != nil {
		return nil, err
	}
	var list []Storage
	for i := range d.list {
		r := &d.list[i]
		s := Storage{Name: r.name, Format: r.says.Format, Result: r.result}
		if t, ok := r.example.(*tensor.Tensor); ok {
			s.Format = t.Format()
		}
		form, _ := r.form()
		s.Triangle = len(form.Pieces) == 1
		list = append(list, s)
	}
	slices.SortFunc(list, func(x, y Storage) int { return strings.Compare(x.Name, y.Name) })
	return list, nil
}

// IndexTypes gives the index types of operands: those of examples, and 32 bits
// elsewhere.
type IndexTypes struct{ Of *Declarations }

// IndexType implements emit.OperandTypes.
func (x IndexTypes) IndexType(t *ir.Tensor, level int, kind emit.ArrayKind) tensor.DType {
	if t.Source != nil {
		if example, ok := x.Of.Example(t.Source.Name).(*tensor.Tensor); ok && example != nil {
			if kind == emit.Positions {
				return example.LevelAt(level).Pos.DType()
			}
			return example.LevelAt(level).Crd.DType()
		}
	}
	return tensor.Uint32
}
