package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lang/derive"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Gradient is the compiled gradient of a program with respect to one operand.
type Gradient struct {
	Source   string // the derived program
	Upstream string // its operand that holds the adjoint of the result
	Result   string // what it computes

	session *Session
	kernel  *Kernel
	wrt     *lang.Tensor
	program *lang.Program // that was derived
	of      *lang.Tensor  // y
}

// Grad compiles the gradient of a program with respect to the operand wrt.
func (s *Session) Grad(ctx context.Context, src, wrt string, opts ...declare.Option) (*Gradient, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	return s.gradient(ctx, src, wrt, declare.New(), opts)
}

// EvalGrad runs the gradient of a program on args.
func (s *Session) EvalGrad(ctx context.Context, src, wrt string, args Args, opts ...declare.Option) (*tensor.Tensor, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	g, err := s.gradient(ctx, src, wrt, declare.ByExample(args), opts)
	if err != nil {
		return nil, err
	}
	return g.Run(ctx, args)
}

// gradient derives a program and compiles what comes of it.
func (s *Session) gradient(ctx context.Context, src, wrt string, d *declare.Declarations, opts []declare.Option) (g *Gradient, err error) {
	defer runtime.Caught(src, &err)
	if err := d.Apply(opts); err != nil {
		return nil, err
	}
	if err := d.Canonicalise(ctx, &s.env.convert); err != nil {
		return nil, err
	}
	file, program, err := d.Check(src)
	if err != nil {
		return nil, err
	}
	checked := func(f *lang.File) (*lang.Program, error) { return d.CheckFile(f) }
	stores := func(p *lang.Program) map[*lang.Tensor]tensor.Format { return resultFormats(ctx, p, d) }
	derived, err := derive.Program(file, checked, stores, wrt, d.Names()...)
	if err != nil {
		return nil, err
	}
	says, err := d.Decls(file)
	if err != nil {
		return nil, err
	}
	if u, ok := says[derived.Upstream]; ok {
		if err := checkUpstream(program, derived, u); err != nil {
			return nil, err
		}
	}
	operand := program.Tensors[0]
	for _, t := range program.Tensors {
		if t.Name == wrt {
			operand = t
		}
	}
	format, groups := groupFormats(operand.Format, derived.Groups, derived.Upstream, func(name string) bool {
		return name == derived.Upstream && denseUpstream(says, name)
	})
	more := []declare.Option{
		declare.Result(derived.Result, format), declare.ResultType(derived.Result, operand.DType), declare.Fill(derived.Result, tensor.Zero(operand.DType)),
	}
	if u := d.Example(derived.Upstream); u == nil && !d.Declared(derived.Upstream) {
		more = append(more, declare.Format(derived.Upstream, tensor.Dense(derived.Of.Rank), derived.Of.DType))
	}
	kept := map[string]bool{} // results that the derived program needs, too
	for _, n := range derived.File.Names() {
		kept[n.Name] = n.Assigned
	}
	for _, t := range program.Tensors {
		// What was said of results concerns the program itself, except for the value of elements that it does not assign.
		if t.Result && !t.Operand && !(kept[t.Name] && t.FillKnown) {
			d.Drop(t.Name)
		}
	}
	for name, f := range groups {
		if name != derived.Upstream {
			more = append(more, declare.Result(name, f))
		}
	}
	k, err := s.kernel(ctx, derived.File.Source, d, more)
	if err != nil {
		return nil, gradientError(derived.File.Source, err)
	}
	return &Gradient{Source: derived.File.Source, Upstream: derived.Upstream, Result: derived.Result, session: s, kernel: k, wrt: operand, program: program, of: derived.Of}, nil
}

// checkUpstream refuses an adjoint, as it is declared, that cannot be that of the result.
func checkUpstream(p *lang.Program, derived *derive.Gradient, says lang.Decl) error {
	e := &lang.Error{Pos: adjointOf(p).Pos}
	name, of := derived.Upstream, derived.Of
	switch {
	case says.Rank >= 0 && says.Rank != of.Rank:
		e.Code, e.Msg = lang.ErrRank, fmt.Sprintf("%s has %s, but it is the adjoint of %s, which has %d", name, dimensions(says.Rank), of.Name, of.Rank)
		e.Hint = fmt.Sprintf("%s has the shape of %s", name, of.Name)
	case says.HasDType && says.DType.IsComplex() && !of.DType.IsComplex():
		e.Code, e.Msg = lang.ErrType, fmt.Sprintf("%s holds %s, but it is the adjoint of %s, which holds %s", name, says.DType, of.Name, of.DType)
		e.Hint = "the adjoint of a real tensor is real"
	default:
		return nil
	}
	return e.WithSource(p.Source)
}

// dimensions writes a rank.
func dimensions(n int) string {
	if n == 1 {
		return "1 dimension"
	}
	return fmt.Sprintf("%d dimensions", n)
}

// adjointOf is where the result that is differentiated is assigned.
func adjointOf(p *lang.Program) *lang.Access { return p.Stmts[len(p.Stmts)-1].LHS }

// resultFormats is how the results of a program are stored, nothing if that cannot be planned.
func resultFormats(ctx context.Context, p *lang.Program, d *declare.Declarations) map[*lang.Tensor]tensor.Format {
	plan, err := plan.New(ctx, p, ir.Options{StrictIEEE: d.Strict(), Forms: d.Forms()}, scalar.Eval)
	if err != nil {
		return nil
	}
	formats := map[*lang.Tensor]tensor.Format{}
	for of, t := range plan.Results {
		formats[of] = t.Format
	}
	return formats
}

// Run computes the gradient. args holds the operands of the program that was derived, of
// which some may not matter, and the upstream adjoint.
func (g *Gradient) Run(ctx context.Context, args Args) (*tensor.Tensor, error) {
	if g == nil || g.kernel == nil {
		return nil, errors.New("the gradient is nil or a zero value: make one with lacuna.Grad or Session.Grad")
	}
	extents, err := g.checkShapes(args)
	if err != nil {
		return nil, err
	}
	mine := Args{}
	for _, o := range g.kernel.operands {
		t := o.Source
		a, ok := args[t.Name]
		switch {
		case t.StoredOf != nil:
		case ok:
			mine[t.Name] = a
		case t.Name == g.Upstream && g.of.Rank == 0:
			mine[t.Name] = tensor.ScalarTensor(tensor.Int(tensor.Int64, 1).Convert(g.of.DType))
		case t.Name == g.Upstream:
			return nil, fmt.Errorf("the adjoint of %s is missing: pass a tensor of its shape as %s", g.of.Name, g.Upstream)
		}
	}
	out, err := g.kernel.Run(ctx, mine)
	if err != nil {
		return nil, g.runError(err, args, extents)
	}
	if out.Format() != g.wrt.Format {
		if out, err = g.session.env.convert.Convert(ctx, out, g.wrt.Format); err != nil {
			return nil, err
		}
	}
	if a, ok := args[g.wrt.Name].(*tensor.Tensor); ok && a.Structure() == tensor.General && a.Format().Relaxed() {
		return g.session.valuesAt(ctx, out, a)
	}
	return out, nil
}

// checkShapes binds the program that was derived: the derived one need not use every
// dimension that must agree there.
func (g *Gradient) checkShapes(args Args) (*lang.Extents, error) {
	shapes := map[string][]int64{}
	for name, t := range args {
		if declare.Missing(t) {
			return nil, fmt.Errorf("operand %s is nil or a zero value: pass a tensor", name)
		}
		shapes[name] = t.Shape()
	}
	extents, err := lang.Bind(g.program, shapes)
	if err != nil {
		return nil, err
	}
	want := extents.Shapes[g.of.Name]
	if up := args[g.Upstream]; up != nil && !slices.Equal(up.Shape(), want) {
		e := &lang.Error{Code: lang.ErrDisagree, Pos: adjointOf(g.program).Pos, Hint: "the adjoint says for each element of " + g.of.Name + " how much a quantity changes with it",
			Msg: fmt.Sprintf("%s has shape %v, but it is the adjoint of %s, which has shape %v", g.Upstream, up.Shape(), g.of.Name, want)}
		return nil, e.WithSource(g.program.Source)
	}
	return extents, nil
}

// runError says what is wrong with an operand in terms of the program that was derived, if it can.
func (g *Gradient) runError(err error, args Args, extents *lang.Extents) error {
	if !outsideAxis(err) {
		return gradientError(g.Source, err)
	}
	value := func(t *lang.Tensor) *tensor.Tensor {
		v, _ := args[t.Name].(*tensor.Tensor)
		return v
	}
	for _, s := range g.program.Stmts {
		if e := findOutside(s, value, extents.Shapes); e != nil {
			e.Err = err
			return e.WithSource(g.program.Source)
		}
	}
	return gradientError(g.Source, err)
}

// gradientError says that an error is about the derived program, which it shows.
func gradientError(src string, err error) error {
	var l *lang.Error
	if errors.As(err, &l) {
		return fmt.Errorf("in the derived program\n%s\n%w", src, err)
	}
	return err
}

// valuesAt gives a tensor the format of another one, in whatever order its entries are: each gets
// the value at its coordinates, repeated where they are.
func (s *Session) valuesAt(ctx context.Context, t, like *tensor.Tensor) (*tensor.Tensor, error) {
	coords, err := s.env.convert.Coordinates(ctx, like)
	if err != nil {
		return nil, err
	}
	args := Args{"T": t}
	var at []string
	for axis, list := range coords {
		name := fmt.Sprintf("c%d", axis)
		if args[name], err = tensor.FromDense([]int64{int64(list.Len())}, tensor.Dense(1), list); err != nil {
			return nil, err
		}
		at = append(at, name+"(e)")
	}
	values, err := s.Eval(ctx, "v(e) = T("+strings.Join(at, ",")+")", args, declare.Result("v", tensor.Dense(1)))
	if err != nil {
		return nil, err
	}
	return like.WithValues(values.Values(), nil, tensor.WithFill(tensor.Zero(t.DType())))
}
