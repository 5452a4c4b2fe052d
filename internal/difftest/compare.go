package difftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/cmplx"
	"sort"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/oracle"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Compare runs the case in every session and checks that all agree with the
// oracle, and with each other to the bit. A nil error means agreement.
func (c *Case) Compare(ctx context.Context, sessions ...*lacuna.Session) error {
	want, nonFinite, wantErr := c.judge()
	var first *tensor.Tensor
	for _, s := range sessions {
		opts := []lacuna.Option{lacuna.Shape("R", c.Shape...)}
		if nonFinite {
			opts = append(opts, lacuna.StrictIEEE())
		}
		if c.HasFormat {
			opts = append(opts, lacuna.Result("R", c.Format))
		}
		got, err := s.Eval(ctx, c.Text, c.Operands, opts...)
		switch {
		case isEmptyReduction(wantErr) && isEmptyReduction(err):
			continue
		case wantErr != nil:
			return fmt.Errorf("%s: oracle says %v, engine %s says %v", c, wantErr, s.Engine().Name(), err)
		case err != nil:
			return fmt.Errorf("%s\nengine %s: %w", c, s.Engine().Name(), err)
		}
		if err := c.check(got, want); err != nil {
			return fmt.Errorf("%s\nengine %s: %w", c, s.Engine().Name(), err)
		}
		if first == nil {
			first = got
		} else if d := tensor.Diff(first, got); d != "" {
			return fmt.Errorf("%s\nengine %s differs from %s: %s", c, s.Engine().Name(), sessions[0].Engine().Name(), d)
		}
	}
	return nil
}

// judge evaluates the case with the oracle.
func (c *Case) judge() (*oracle.Dense, bool, error) {
	file, err := lang.Parse(c.Text)
	if err != nil {
		return nil, false, err
	}
	decls := map[string]lang.Decl{"R": {Rank: len(c.Shape), Shape: c.Shape, Result: true}}
	shapes := map[string][]int64{}
	for name, t := range c.Operands {
		fill := t.Fill()
		decls[name] = lang.Decl{Rank: t.Rank(), DType: t.DType(), HasDType: true, Format: t.Format(), HasFormat: true, Fill: &fill}
		shapes[name] = t.Shape()
	}
	p, err := lang.Check(file, decls)
	if err != nil {
		return nil, false, err
	}
	ext, err := lang.Bind(p, shapes)
	if err != nil {
		return nil, false, err
	}
	out, nonFinite, err := oracle.Eval(p, c.Operands, ext)
	if err != nil {
		return nil, nonFinite, err
	}
	return out["R"], nonFinite, nil
}

// check compares a result with the oracle's, element by element.
func (c *Case) check(got *tensor.Tensor, want *oracle.Dense) error {
	if fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape) {
		return fmt.Errorf("shape %v, want %v", got.Shape(), want.Shape)
	}
	dense, err := got.ToDense()
	if err != nil {
		return err
	}
	for i, w := range want.Values {
		g := oracle.FromScalar(dense.Scalar(i))
		if !c.same(got.DType(), g, w) {
			return fmt.Errorf("element %d is %v, want %v (format %s, fill %s)", i, dense.Scalar(i), w.Scalar(got.DType()), got.Format(), got.Fill())
		}
	}
	return nil
}

// same compares two values: exactly where the case is exact, within the
// rounding of a few hundred operations where it is not. NaN equals NaN.
func (c *Case) same(dt tensor.DType, g, w oracle.Value) bool {
	if !dt.IsFloat() && !dt.IsComplex() {
		return g.B == w.B && g.I == w.I
	}
	if cmplx.IsNaN(w.C) {
		return cmplx.IsNaN(g.C)
	}
	if g.C == w.C {
		return true
	}
	eps := map[tensor.DType]float64{tensor.Float16: 1e-2, tensor.Float32: 1e-4, tensor.Float64: 1e-11, tensor.Complex128: 1e-11}[dt]
	if c.DType == tensor.Float16 {
		eps = 1e-2
	}
	if c.DType == tensor.Float32 {
		eps = max(eps, 1e-4)
	}
	return cmplx.Abs(g.C-w.C) <= eps*math.Max(1, cmplx.Abs(w.C))
}

// String describes the case so that a person can repeat it.
func (c *Case) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s    shape %v", c.Text, c.Shape)
	if c.HasFormat {
		fmt.Fprintf(&b, " format %s", c.Format)
	}
	var names []string
	for name := range c.Operands {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		t := c.Operands[name]
		coords, vals, err := t.ToCoords()
		if err != nil {
			fmt.Fprintf(&b, "\n  %s: %v", name, err)
			continue
		}
		fmt.Fprintf(&b, "\n  %s: %s %s %v fill %s coords %v values", name, t.DType(), t.Format(), t.Shape(), t.Fill(), coords)
		for i := 0; i < vals.Len(); i++ {
			fmt.Fprintf(&b, " %s", vals.Scalar(i))
		}
	}
	return b.String()
}

// isInternal reports whether an error is the compiler's own mistake.
func isInternal(err error) bool {
	var internal *lacuna.InternalError
	return errors.As(err, &internal)
}

// isEmptyReduction reports whether an error says that a reduction has no value.
func isEmptyReduction(err error) bool {
	var e *lang.Error
	return errors.As(err, &e) && e.Code == lang.ErrEmptyReduction
}
