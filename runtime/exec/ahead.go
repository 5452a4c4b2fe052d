package exec

import (
	"context"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Ahead is a program planned to be compiled ahead of time.
type Ahead struct {
	Plan  *ir.Plan
	Alg   ir.Algebra
	Index lower.OperandTypes // of the operands: as in examples, and 32 bits elsewhere
}

// PlanAhead plans a program to be compiled ahead of time, with the results its own.
func PlanAhead(ctx context.Context, src string, grids bool, opts ...Option) (*Ahead, error) {
	d := newDeclarations()
	if err := d.apply(opts); err != nil {
		return nil, err
	}
	c, err := NewSession(WithEngine(runtime.Interp())).Converter(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.canonicalise(ctx, c); err != nil {
		return nil, err
	}
	_, program, err := check(src, d)
	if err != nil {
		return nil, err
	}
	alg := ir.Algebra{Strict: d.strict, Eval: lower.Eval}
	plan, err := ir.New(ctx, program, ir.Options{StrictIEEE: d.strict, Grids: grids, Forms: d.forms(), OwnResults: true}, alg.Eval)
	if err != nil {
		return nil, withSource(err, src)
	}
	return &Ahead{Plan: plan, Alg: alg, Index: declaredIndex{d}}, nil
}

// Storage is what options say of how a tensor is stored.
type Storage struct {
	Name     string
	Format   tensor.Format // as declared, or the operand's; that of one tensor for parts
	Triangle bool          // of a matrix of which the other triangle is not stored
	Result   bool          // something was said that only results need
}

// Storages lists what options say of tensors, by name.
func Storages(opts ...Option) ([]Storage, error) {
	d := newDeclarations()
	if err := d.apply(opts); err != nil {
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

// declaredIndex gives the index types of operands: those of examples, and 32 bits
// elsewhere.
type declaredIndex struct{ d *declarations }

// IndexType implements lower.OperandTypes.
func (x declaredIndex) IndexType(t *ir.Tensor, level int, kind lower.ArrayKind) tensor.DType {
	if t.Source != nil {
		if example, ok := x.d.example(t.Source.Name).(*tensor.Tensor); ok && example != nil {
			if kind == lower.Positions {
				return example.LevelAt(level).Pos.DType()
			}
			return example.LevelAt(level).Crd.DType()
		}
	}
	return tensor.Uint32
}
