package lacuna

import (
	"context"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file sees to operands that are stored as several tensors, or as one triangle
// of a matrix: what kernels are compiled for, and which tensors they take.

// missing reports whether there is no operand: nil, or one that no function made.
func missing(o tensor.Operand) bool {
	switch o := o.(type) {
	case nil:
		return true
	case *tensor.Tensor:
		return o == nil || !o.DType().Valid()
	case *tensor.Parts:
		return o == nil || !o.DType().Valid()
	case *tensor.Blocks:
		return o == nil || !o.DType().Valid()
	}
	return false
}

// piecesOf lists the tensors that an operand is stored as.
func piecesOf(o tensor.Operand) []*tensor.Tensor {
	switch o := o.(type) {
	case *tensor.Tensor:
		return []*tensor.Tensor{o}
	case *tensor.Parts:
		return o.Parts()
	}
	return nil
}

// formatOf is the format of an operand where it is one tensor.
func formatOf(o tensor.Operand) tensor.Format {
	switch o := o.(type) {
	case *tensor.Tensor:
		return o.Format()
	case *tensor.Blocks:
		return unblockedFormat(o)
	}
	return joinFormat(formatsOf(piecesOf(o)))
}

// unblockedFormat is the format in which a blocked tensor is stored without blocks: a
// matrix by rows or columns, whichever its blocks are in; else CSF in their order.
func unblockedFormat(b *tensor.Blocks) tensor.Format {
	if b.Rank() == 0 {
		return tensor.Format{}
	}
	var order []int
	for _, axis := range b.Blocked().Format().Order() {
		if axis < b.Rank() {
			order = append(order, axis)
		}
	}
	f := tensor.CSF(b.Rank())
	if b.Rank() == 2 {
		f = tensor.CSR
	}
	f, err := f.WithOrder(order)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

func formatsOf(parts []*tensor.Tensor) []tensor.Format {
	var formats []tensor.Format
	for _, t := range parts {
		formats = append(formats, t.Format())
	}
	return formats
}

// joinFormat is the format in which parts are stored as one: theirs if it is the same
// for all, else CSF in the order of the first.
func joinFormat(formats []tensor.Format) tensor.Format {
	first := formats[0]
	if !slices.ContainsFunc(formats, func(f tensor.Format) bool { return f != first }) || first.Rank() == 0 {
		return first
	}
	f, err := tensor.CSF(first.Rank()).WithOrder(first.Order())
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

// mirrors is what the compiler is told of each structure.
var mirrors = map[tensor.Structure]ir.Mirror{
	tensor.SymmetricLower:     {Kind: ir.Symmetric},
	tensor.SymmetricUpper:     {Kind: ir.Symmetric, Upper: true},
	tensor.HermitianLower:     {Kind: ir.Hermitian},
	tensor.HermitianUpper:     {Kind: ir.Hermitian, Upper: true},
	tensor.SkewSymmetricLower: {Kind: ir.Skew},
	tensor.SkewSymmetricUpper: {Kind: ir.Skew, Upper: true},
}

// forms are the operands that are not stored as one tensor of all their elements.
func (d *declarations) forms() map[string]ir.Form {
	var all map[string]ir.Form
	for i := range d.list {
		if form, ok := d.list[i].form(); ok {
			if all == nil {
				all = map[string]ir.Form{}
			}
			all[d.list[i].name] = form
		}
	}
	return all
}

func (r *declaration) form() (ir.Form, bool) {
	formats, structure := r.parts, r.structure
	switch t := r.example.(type) {
	case *tensor.Tensor:
		structure = t.Structure()
		formats = []tensor.Format{t.Format()}
	case *tensor.Parts:
		formats = formatsOf(t.Parts())
	case nil:
		if structure != tensor.General {
			formats = []tensor.Format{r.says.Format}
		}
	}
	if structure == tensor.General && len(formats) < 2 {
		return ir.Form{}, false
	}
	if f := formats[0]; structure != tensor.General && !f.IsDense() && slices.Contains(f.Levels(), tensor.D) {
		return ir.Form{}, false // its rows reach beyond the triangle, and mirrored make whole rows of others
	}
	form := ir.Form{}
	for _, f := range formats {
		form.Pieces = append(form.Pieces, ir.Piece{Format: f, Mirror: mirrors[structure]})
	}
	return form, true
}

// takePattern enters what operand i tells another one to store: where that is in pieces, all
// of them.
func (k *Kernel) takePattern(ctx context.Context, i int, vals values) error {
	o := k.operands[i]
	of := o.Source.StoredOf
	at := slices.IndexFunc(k.operands, func(o *ir.Operand) bool { return o.Source == of })
	var pieces []*tensor.Tensor
	for _, t := range k.operands[at].Pieces { // it stands before, and is there
		pieces = append(pieces, vals[t.ID])
	}
	whole, err := k.session.plainOperand(ctx, pieces[0])
	if len(pieces) > 1 {
		whole, err = k.session.joined(ctx, pieces, o.Source.Format)
	}
	if err != nil {
		return err
	}
	p, err := k.pattern(ctx, i, whole)
	vals[o.Pieces[0].ID] = p
	return err
}

// typesOf gives examples of the tensors that an operand is stored as, for the types of their
// index arrays; nil where there is none.
func (d *declarations) typesOf(t *lang.Tensor, form ir.Form) []*tensor.Tensor {
	example := d.example(t.Name)
	if of := t.StoredOf; of != nil {
		// The index arrays are the same, unless it is stored in pieces.
		if example = d.example(of.Name); d.forms()[of.Name].Pieces != nil {
			example = emptyTensor(of.Format, of.DType)
		}
	}
	types := make([]*tensor.Tensor, max(1, len(form.Pieces)))
	copy(types, piecesOf(example))
	return types
}

// take checks an argument for an operand and enters the tensors that it is stored as.
func (k *Kernel) take(ctx context.Context, o *ir.Operand, arg tensor.Operand, vals values) error {
	t := o.Source
	if missing(arg) {
		return fmt.Errorf("operand %s is missing: pass it in Args", t.Name)
	}
	form, formed := k.plan.Options.Forms[t.Name]
	if b, ok := arg.(*tensor.Blocks); ok {
		whole, err := k.session.unblocked(ctx, b, t.Format)
		if err != nil {
			return err
		}
		arg = whole
	}
	if one, ok := arg.(*tensor.Tensor); ok && !formed {
		return k.takeOne(ctx, o, one, vals)
	}
	arg, err := k.session.sortedOperand(ctx, arg)
	if err != nil {
		return err
	}
	pieces := piecesOf(arg)
	if !formed {
		whole, err := k.session.joined(ctx, pieces, t.Format)
		if err != nil {
			return err
		}
		return k.takeOne(ctx, o, whole, vals)
	}
	if err := checkPieces(t, form, pieces); err != nil {
		return err
	}
	for i, piece := range pieces {
		if err := checkOperand(t, form.Pieces[i].Format, piece); err != nil {
			return err
		}
		vals[o.Pieces[i].ID] = piece
	}
	return nil
}

// takeOne enters an argument that is one tensor.
func (k *Kernel) takeOne(ctx context.Context, o *ir.Operand, arg *tensor.Tensor, vals values) error {
	arg, err := k.session.plainOperand(ctx, arg)
	if err != nil {
		return err
	}
	vals[o.Pieces[0].ID] = arg
	return checkOperand(o.Source, o.Source.Format, arg)
}

// checkPieces compares the number of pieces and their structure with what the kernel was
// compiled for.
func checkPieces(t *lang.Tensor, form ir.Form, pieces []*tensor.Tensor) error {
	if len(pieces) != len(form.Pieces) {
		return fmt.Errorf("operand %s has %d parts, but the kernel was compiled for %d: declare them with lacuna.FormatParts, or make one tensor of them with Expand",
			t.Name, len(pieces), len(form.Pieces))
	}
	for i, piece := range pieces {
		if want := form.Pieces[i].Mirror; mirrors[piece.Structure()] != want {
			return fmt.Errorf("operand %s has the structure %s, but the kernel was compiled for %s: declare it with lacuna.FormatTriangle, or store the whole matrix with Expand",
				t.Name, piece.Structure(), structureOf(want))
		}
	}
	return nil
}

// structureOf is the structure that a mirror stands for.
func structureOf(m ir.Mirror) tensor.Structure {
	for s, mirror := range mirrors {
		if mirror == m {
			return s
		}
	}
	return tensor.General
}

// checkOperand compares an argument, or a piece of it, with what the kernel was compiled
// for.
func checkOperand(t *lang.Tensor, format tensor.Format, arg *tensor.Tensor) error {
	switch {
	case arg.Rank() != t.Rank:
		return fmt.Errorf("operand %s has rank %d, but the program uses it with %d indices", t.Name, arg.Rank(), t.Rank)
	case arg.DType() != t.DType:
		return fmt.Errorf("operand %s holds %s, but the kernel was compiled for %s: declare its type with lacuna.Format, or convert it", t.Name, arg.DType(), t.DType)
	case arg.Format() != format:
		return fmt.Errorf("operand %s is stored as %s, but the kernel was compiled for %s: declare its format with lacuna.Format, or convert it", t.Name, arg.Format(), format)
	case !format.IsDense() && t.HasFill && !arg.Fill().Same(t.Fill.Convert(t.DType)):
		return fmt.Errorf("operand %s has fill %s, but the kernel was compiled for fill %s: declare its fill with lacuna.Fill", t.Name, arg.Fill(), t.Fill)
	}
	return nil
}
