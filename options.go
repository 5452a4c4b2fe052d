package lacuna

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Option declares something about a program. The order of options does not
// matter, but that of two that say the same thing of one tensor: the later holds.
type Option func(*declarations)

// declarations are what the options of one Compile say, by tensor. They are all
// that a look-up of a compiled kernel needs, so making them and their key is
// cheap; what they amount to is worked out when there is none.
type declarations struct {
	list   []declaration
	strict bool
	// asWritten: see AsWritten.
	asWritten bool
	err       error
	few       [8]declaration // memory of list
}

// declaration is what the options say about one tensor.
type declaration struct {
	name   string
	says   lang.Decl // but for Fill
	fill   tensor.Scalar
	result bool // something was said that only results need
	// example is the operand itself, nil if there is none yet.
	example tensor.Operand
	// parts are the formats of an operand in parts, nil for one that is not.
	parts []tensor.Format
	// structure is that of a matrix of which one triangle is stored.
	structure tensor.Structure
}

func newDeclarations() *declarations {
	d := &declarations{}
	d.list = d.few[:0]
	return d
}

// of returns the declaration of a name, to be filled in.
func (d *declarations) of(name string) *declaration {
	for i := range d.list {
		if d.list[i].name == name {
			return &d.list[i]
		}
	}
	d.list = append(d.list, declaration{name: name, says: lang.Decl{Rank: lang.AnyRank}})
	return &d.list[len(d.list)-1]
}

// operand declares an operand by example.
func (d *declarations) operand(name string, t tensor.Operand) {
	if missing(t) {
		d.fail(fmt.Errorf("operand %s is nil or a zero value: pass a tensor", name))
		return
	}
	d.of(name).example = t
}

// fail keeps the first error.
func (d *declarations) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// Format declares how an operand is stored and its element type. For a tensor
// that the program assigns, see Result.
func Format(name string, f tensor.Format, dt tensor.DType) Option {
	return func(d *declarations) {
		says := &d.of(name).says
		says.Rank, says.Format, says.HasFormat = f.Rank(), f, true
		says.DType, says.HasDType = dt, true
		d.of(name).parts, d.of(name).structure = nil, tensor.General
	}
}

// FormatTriangle declares an operand that is a square matrix of which one triangle is
// stored ([tensor.Tensor.WithStructure]), how that is stored, and its element type.
func FormatTriangle(name string, f tensor.Format, dt tensor.DType, s tensor.Structure) Option {
	return func(d *declarations) {
		if f.Rank() != 2 {
			d.fail(fmt.Errorf("%s is declared as a triangle (%s) of rank %d: only a matrix has triangles", name, s, f.Rank()))
			return
		}
		Format(name, f, dt)(d)
		d.of(name).structure = s
	}
}

// FormatParts declares an operand that is stored in parts ([tensor.Parts]): the
// format of each, and the element type of all. Where the operand is needed as one
// tensor it is stored as CSF, in the order of the first part.
func FormatParts(name string, dt tensor.DType, formats ...tensor.Format) Option {
	formats = slices.Clone(formats)
	return func(d *declarations) {
		if len(formats) == 0 {
			d.fail(fmt.Errorf("%s is declared in parts, but with no format: give that of each part", name))
			return
		}
		for _, f := range formats {
			if f.Rank() != formats[0].Rank() {
				d.fail(fmt.Errorf("%s is declared with parts of rank %d and %d: they must have one rank", name, formats[0].Rank(), f.Rank()))
				return
			}
		}
		r := d.of(name)
		r.says.Rank, r.says.Format, r.says.HasFormat = formats[0].Rank(), joinFormat(formats), true
		r.says.DType, r.says.HasDType = dt, true
		r.parts, r.structure = formats, tensor.General
	}
}

// Operand declares an operand by example: its format, or those of its parts, the triangle
// that it stores of a symmetric matrix, its type and fill.
func Operand(name string, t tensor.Operand) Option {
	return func(d *declarations) { d.operand(name, t) }
}

// Result declares how a result is stored. A name that is also passed as an
// operand is updated: its old value is read, and it keeps its format, type and
// fill.
func Result(name string, f tensor.Format) Option {
	return func(d *declarations) {
		r := d.of(name)
		r.says.Rank, r.says.Format, r.says.HasFormat = f.Rank(), f, true
		r.result = true
	}
}

// ResultType declares the element type of a result.
func ResultType(name string, dt tensor.DType) Option {
	return func(d *declarations) {
		r := d.of(name)
		r.says.DType, r.says.HasDType = dt, true
		r.result = true
	}
}

// Shape declares the extents of a result that its operands do not fix; -1
// leaves one open.
func Shape(name string, extents ...int64) Option {
	shape := slices.Clone(extents)
	return func(d *declarations) {
		r := d.of(name)
		r.says.Shape = shape
		r.result = true
	}
}

// Fill declares the fill value of an operand or a result.
func Fill(name string, v tensor.Scalar) Option {
	return func(d *declarations) {
		if !v.DType().Valid() {
			d.fail(fmt.Errorf("the fill of %s is the zero Scalar, which is no value: make one with tensor.Float or its kin", name))
			return
		}
		d.of(name).fill = v
	}
}

// StrictIEEE makes products with an implicit zero honest: 0*inf and 0*nan are
// nan, as in dense arithmetic, at the cost of visiting every coordinate.
// Without it an implicit zero annihilates.
func StrictIEEE() Option { return func(d *declarations) { d.strict = true } }

// apply adds what options say.
func (d *declarations) apply(opts []Option) error {
	for _, o := range opts {
		if o == nil {
			return errors.New("an option is nil: leave it out")
		}
		o(d)
	}
	return d.err
}

// makePlain puts operands given as examples, and formats of operands, in the form in
// which kernels take them.
func (d *declarations) makePlain(ctx context.Context, s *Session) error {
	for i := range d.list {
		r := &d.list[i]
		if r.says.Format.Relaxed() {
			if r.result {
				return fmt.Errorf("result %s is declared as %s, but results are sorted and have one entry per coordinate: declare %s, and convert it",
					r.name, r.says.Format, r.says.Format.Standard())
			}
			r.says.Format = r.says.Format.Standard()
		}
		if r.example == nil {
			continue
		}
		var err error
		if r.example, err = s.sortedOperand(ctx, r.example); err != nil {
			return err
		}
	}
	return nil
}

// decls works out what is declared, for a program: an error if options
// contradict operands.
func (d *declarations) decls(file *lang.File) (map[string]lang.Decl, error) {
	assigned := map[string]bool{}
	for _, n := range file.Names() {
		assigned[n.Name] = n.Assigned
	}
	all := make(map[string]lang.Decl, len(d.list))
	for i := range d.list {
		decl, err := d.list[i].decl(assigned[d.list[i].name])
		if err != nil {
			return nil, err
		}
		all[d.list[i].name] = decl
	}
	return all, nil
}

// decl is the declaration as package lang takes it. assigned says that the
// program assigns the tensor.
func (r *declaration) decl(assigned bool) (lang.Decl, error) {
	decl := r.says
	if r.fill.DType().Valid() {
		decl.Fill = &r.fill
	}
	t := r.example
	if t == nil {
		// A fill alone does not tell results from operands, the program does.
		fillAlone := decl.Fill != nil && !decl.HasFormat && !decl.HasDType
		decl.Result = r.result || assigned && fillAlone
		return decl, nil
	}
	stored := formatOf(t)
	f, dt := stored, t.DType()
	if decl.HasFormat {
		f = decl.Format
	}
	if decl.HasDType {
		dt = decl.DType
	}
	if f != stored || dt != t.DType() {
		return decl, fmt.Errorf("%s is declared as %s %s, but the operand of that name is stored as %s %s: convert it, or give the result another name",
			r.name, f, dt, stored, t.DType())
	}
	fill := t.Fill()
	if decl.Fill != nil && !decl.Fill.Convert(dt).Same(fill) {
		// What a dense tensor is outside its extents is the reader's choice.
		if assigned || !stored.IsDense() {
			return decl, fmt.Errorf("%s is declared with the fill %s, but the operand of that name has the fill %s: leave the declaration out, or make the operand with tensor.WithFill",
				r.name, decl.Fill, fill)
		}
		fill = *decl.Fill
	}
	decl.Rank, decl.Format, decl.HasFormat = t.Rank(), stored, true
	decl.DType, decl.HasDType, decl.Fill = t.DType(), true, &fill
	return decl, nil
}

// declared reports whether something was said of a name.
func (d *declarations) declared(name string) bool {
	return slices.ContainsFunc(d.list, func(r declaration) bool { return r.name == name })
}

// drop forgets what was said of a name.
func (d *declarations) drop(name string) {
	d.list = slices.DeleteFunc(d.list, func(r declaration) bool { return r.name == name })
}

// example is the operand of a name, or nil.
func (d *declarations) example(name string) tensor.Operand {
	for i := range d.list {
		if d.list[i].name == name {
			return d.list[i].example
		}
	}
	return nil
}

// keys holds memory for keys.
var keys = sync.Pool{New: func() any { return new([]byte) }}

// appendKey appends bytes that tell a program and its declarations from any other.
// Everything of no fixed length comes with it.
func (d *declarations) appendKey(b []byte, src string) []byte {
	slices.SortFunc(d.list, func(x, y declaration) int { return strings.Compare(x.name, y.name) })
	b = appendString(b, src)
	b = append(b, flags(d.strict, d.asWritten), byte(len(d.list)), byte(len(d.list)>>8))
	for i := range d.list {
		b = d.list[i].appendKey(b)
	}
	return b
}

func (r *declaration) appendKey(b []byte) []byte {
	b = appendString(b, r.name)
	says := &r.says
	b = append(b, flags(says.HasFormat, says.HasDType, says.Shape != nil, r.result, r.example != nil), byte(says.DType), byte(says.Rank))
	b = says.Format.AppendKey(b)
	b = appendScalar(b, r.fill)
	b = binary.AppendUvarint(b, uint64(len(says.Shape)))
	for _, n := range says.Shape {
		b = binary.AppendVarint(b, n)
	}
	b = append(b, byte(len(r.parts)), byte(r.structure))
	for _, f := range r.parts {
		b = f.AppendKey(b)
	}
	switch t := r.example.(type) {
	case *tensor.Tensor:
		b = appendTensor(append(b, 0), t)
	case *tensor.Blocks:
		b = append(formatOf(t).AppendKey(append(b, 255)), byte(t.DType()))
		b = appendScalar(b, t.Fill())
	case *tensor.Parts:
		parts := t.Parts()
		b = append(b, byte(len(parts)))
		for _, t := range parts {
			b = appendTensor(b, t)
		}
	}
	return b
}

// appendTensor appends what a kernel depends on of an operand.
func appendTensor(b []byte, t *tensor.Tensor) []byte {
	b = append(t.Format().AppendKey(b), byte(t.DType()), byte(t.Structure()))
	b = appendScalar(b, t.Fill())
	return appendIndexTypes(b, t)
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendScalar(b []byte, v tensor.Scalar) []byte {
	lo, hi := v.Bits()
	b = append(b, byte(v.DType()))
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, lo), hi)
}

// appendIndexTypes appends the widths of a tensor's index arrays.
func appendIndexTypes(b []byte, t *tensor.Tensor) []byte {
	for k := range t.Rank() {
		l := t.LevelAt(k)
		b = append(b, byte(l.Pos.DType()), byte(l.Crd.DType()))
	}
	return b
}

// flags packs truth values.
func flags(list ...bool) (b byte) {
	for i, f := range list {
		if f {
			b |= 1 << i
		}
	}
	return b
}
