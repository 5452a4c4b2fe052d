package lacuna

import (
	"github.com/lacuna-sparse/lacuna/aot"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Link plans a program and joins all that its run does to one list of stages, for
// packages that compile it ahead of time. Options declare the operands, as for Compile.
// The name is that of the kernel.
func Link(name, src string, opts ...Option) (p *aot.Program, err error) {
	defer caught(src, &err)
	d := newDeclarations()
	if err := d.apply(opts); err != nil {
		return nil, err
	}
	if err := d.makePlain(NewSession(WithEngine(runtime.Interp()))); err != nil {
		return nil, err
	}
	_, program, err := check(src, d)
	if err != nil {
		return nil, err
	}
	plan, err := ir.New(program, ir.Options{StrictIEEE: d.strict, Forms: d.forms()}, lower.Eval)
	if err != nil {
		return nil, withSource(err, src)
	}
	return aot.Link(aot.Input{
		Name: name, Source: src, Plan: plan, Alg: ir.Algebra{Strict: d.strict, Eval: lower.Eval},
		Index: declaredIndex{d}, Grain: 0,
	})
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
