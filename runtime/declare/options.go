package declare

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Option declares something about a program. What each says to users stands in package lacuna.
type Option func(*Declarations)

// Format declares how an operand is stored and its element type.
func Format(name string, f tensor.Format, dt tensor.DType) Option {
	return func(d *Declarations) {
		says := &d.of(name).says
		says.Rank, says.Format, says.HasFormat = f.Rank(), f, true
		says.DType, says.HasDType = dt, true
		d.of(name).parts, d.of(name).structure = nil, tensor.General
	}
}

// FormatTriangle declares an operand of which one triangle is stored.
func FormatTriangle(name string, f tensor.Format, dt tensor.DType, s tensor.Structure) Option {
	return func(d *Declarations) {
		if f.Rank() != 2 {
			d.fail(fmt.Errorf("%s is declared as a triangle (%s) of rank %d: only a matrix has triangles", name, s, f.Rank()))
			return
		}
		Format(name, f, dt)(d)
		d.of(name).structure = s
	}
}

// FormatParts declares an operand that is stored in parts.
func FormatParts(name string, dt tensor.DType, formats ...tensor.Format) Option {
	formats = slices.Clone(formats)
	return func(d *Declarations) {
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

// Operand declares an operand by example.
func Operand(name string, t tensor.Operand) Option {
	return func(d *Declarations) { d.operand(name, t) }
}

// Assume declares what an operand is expected to store.
func Assume(name string, s *tensor.Statistics) Option {
	return func(d *Declarations) {
		if s == nil {
			d.fail(fmt.Errorf("the statistics that are assumed of %s are nil", name))
			return
		}
		d.of(name).assumed = s
	}
}

// Result declares how a result is stored.
func Result(name string, f tensor.Format) Option {
	return func(d *Declarations) {
		r := d.of(name)
		r.says.Rank, r.says.Format, r.says.HasFormat = f.Rank(), f, true
		r.result = true
	}
}

// ResultType declares the element type of a result.
func ResultType(name string, dt tensor.DType) Option {
	return func(d *Declarations) {
		r := d.of(name)
		r.says.DType, r.says.HasDType = dt, true
		r.result = true
	}
}

// Shape declares the extents of a result.
func Shape(name string, extents ...int64) Option {
	shape := slices.Clone(extents)
	return func(d *Declarations) {
		r := d.of(name)
		r.says.Shape = shape
		r.result = true
	}
}

// Fill declares the fill value of an operand or a result.
func Fill(name string, v tensor.Scalar) Option {
	return func(d *Declarations) {
		if !v.DType().Valid() {
			d.fail(fmt.Errorf("the fill of %s is the zero Scalar, which is no value: make one with tensor.Float or its kin", name))
			return
		}
		d.of(name).fill = v
	}
}

// StrictIEEE makes products with an implicit zero honest.
func StrictIEEE() Option { return func(d *Declarations) { d.strict = true } }

// AsWritten keeps the order of computing in which the program is written.
func AsWritten() Option { return func(d *Declarations) { d.asWritten = true } }

// Only names the results that are wanted; without names it is that of the last statement.
func Only(names ...string) Option {
	return func(d *Declarations) {
		if d.some = true; len(names) > 0 {
			d.wanted = slices.Clone(names)
			slices.Sort(d.wanted)
		}
	}
}

// Schedule says how statements run, in the language of schedules.
func Schedule(text string) Option { return func(d *Declarations) { d.schedule += text + "\n" } }

// Tuned takes the program that tuning has kept.
func Tuned() Option { return func(d *Declarations) { d.tuned = true } }
