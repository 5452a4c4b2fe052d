// Package convert stores tensors otherwise: in another format, shape or order, several as one, sorted and whole. Kernels for
// the two formats do it where that pays, which may give entries other coordinates (mapped.go); what no kernel is for falls back to package tensor.
// Tensors that a device has are converted there.
package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	lowerconvert "github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Service converts for one session. It is safe for concurrent use.
type Service struct {
	*invoke.Target
	// Always uses kernels whether or not they pay.
	Always bool
	// Notice is told what the processor does instead of the device; without it, that is a *HostError.
	Notice func(note string)
	// Data is for tests: paths are chosen as for other data.
	Data func(lowerconvert.Data) lowerconvert.Data

	kernels kernels
	copies  copies
}

// Convert stores a tensor in another format: see lacuna's Session.Convert.
func (s *Service) Convert(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	return s.begin(s.Options.Resident).named(ctx, t, format, t.Name())
}

// conversion is one conversion, of one or more kernels.
type conversion struct {
	*Service
	options runtime.Options // of runs of its kernels
	latest  *invoke.Kernel  // the kernel run last, nil if none was worth it
	begun   bool            // one kernel has been worth it: so are the others
	// unordered says that entries are most likely in no order, so that what sorts them can be
	// compiled ahead.
	unordered bool
	// keep leaves elements of dense blocks stored that equal the fill.
	keep bool
	// prune leaves out what equals the fill.
	prune bool
	// resident leaves what becomes of a tensor on the device.
	resident bool
	// mapping, where it has a map, is where entries go: the conversion is of one tensor by one kernel.
	mapping mapping
}

// begin is a conversion that leaves its result here or on the device.
func (s *Service) begin(resident bool) *conversion {
	return &conversion{Service: s, options: s.Options.Here(), resident: resident}
}

// remote is a conversion by kernels alone, which leaves its result on the device.
func (s *Service) remote() *conversion {
	c := s.begin(true)
	c.begun = true
	return c
}

// named converts a tensor, by kernels or without, and names the result.
func (c *conversion) named(ctx context.Context, t *tensor.Tensor, format tensor.Format, name string) (*tensor.Tensor, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if format.Allows(t.Format()) { // arrays are shared, and none is read
		return t.Convert(format, tensor.WithName(name))
	}
	c.begun = c.begun || c.placed(t) // it is not brought here for what the device can do
	convert := c.convert
	switch {
	case t.Format().Extended() || format.Extended():
		convert = func(context.Context, *tensor.Tensor, tensor.Format) (*tensor.Tensor, error) {
			return nil, fallback("kernels convert no levels of kinds that are registered")
		}
	case !t.IsCanonical() || format.Relaxed():
		convert = c.sortedList
	}
	out, err := convert(ctx, t, format)
	if errors.Is(err, errFallback) {
		if why := reasonOf(err); why != "" {
			if err := c.onHost(fmt.Sprintf("convert %s to %s", t.Format(), format), why, t); err != nil {
				return nil, err
			}
		}
		if c.keep {
			return c.keepStored(t, format, tensor.WithName(name))
		}
		out, err := t.Convert(format, c.within(tensor.WithName(name))...)
		return out, runtime.Refused(fmt.Sprintf("to convert %s to %s", t.Format(), format), err)
	}
	if err != nil {
		return nil, err
	}
	return renamed(replaced(out, out.WithAttributesOf(t)), name)
}

// convert stores a tensor in another format.
func (c *conversion) convert(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	if t.Rank() == 0 || t.Rank() != format.Rank() || t.Format() == format {
		return nil, errFallback
	}
	for _, n := range t.Dims() {
		if n == 0 && bytesAway(t) > 0 { // positions
			return Empty(t.Shape(), format, t.DType(), tensor.WithFill(t.Fill()))
		}
		if n == 0 {
			return nil, errFallback
		}
	}
	c.options.Resident = c.resident
	return c.kernel(ctx, t, format, lowerconvert.Stored)
}

// keepStored converts a tensor without dropping what its dense blocks hold beyond
// the fill: it goes by the coordinates of every stored element.
func (s *Service) keepStored(from *tensor.Tensor, format tensor.Format, opts ...tensor.Option) (*tensor.Tensor, error) {
	what := fmt.Sprintf("the coordinates of all that %s stores", from.Format())
	if err := runtime.Admits(what, from.NNZ()*int64(from.Rank()), tensor.Int64, s.Options); err != nil {
		return nil, err
	}
	coords, values, err := from.ToCoords()
	if err != nil {
		return nil, err
	}
	out, err := tensor.FromCoords(from.Shape(), format, coords, values, s.within(append(opts, tensor.WithFill(from.Fill()))...)...)
	return out, runtime.Refused(fmt.Sprintf("to convert %s to %s", from.Format(), format), err)
}

// within adds the session's memory limit to options of package tensor.
func (s *Service) within(opts ...tensor.Option) []tensor.Option {
	return append(slices.Clip(opts), tensor.WithMemoryLimit(s.Options.MemoryLimit))
}

// Step runs a convert step of a plan. It also returns the kernel that has run last, nil if none was worth it.
func (s *Service) Step(ctx context.Context, p *ir.Convert, from *tensor.Tensor) (*tensor.Tensor, *invoke.Kernel, error) {
	c := s.begin(s.Options.Resident)
	to, err := c.step(ctx, p, from)
	return to, c.latest, err
}

func (c *conversion) step(ctx context.Context, p *ir.Convert, from *tensor.Tensor) (*tensor.Tensor, error) {
	if p.From.Format.IsDense() && p.To.FillKnown {
		var err error
		if from, err = from.Convert(from.Format(), tensor.WithFill(p.To.Fill), tensor.WithName(p.From.Name)); err != nil {
			return nil, err
		}
	}
	c.keep = p.Keeps()
	if p.Assigns {
		return c.result(ctx, p, from)
	}
	return c.named(ctx, from, p.To.Format, p.From.Name)
}

// result makes a result of an operand that a statement only stores again. Nothing but the arrays
// is the operand's.
func (c *conversion) result(ctx context.Context, p *ir.Convert, from *tensor.Tensor) (*tensor.Tensor, error) {
	view := from
	if p.Axes != nil {
		var err error
		if view, err = from.Transpose(p.Axes); err != nil {
			return nil, err
		}
		defer view.Release()
	}
	return c.named(ctx, view, p.To.Format, p.To.Name)
}
