package show

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// valueStats describes the stored values of a tensor. For complex numbers min
// and max are of the modulus.
type valueStats struct {
	min, max             float64
	nan, inf, zero, fill int64
}

// valuesOf looks at every stored value.
func valuesOf(t *tensor.Tensor) valueStats {
	s := valueStats{min: math.Inf(1), max: math.Inf(-1)}
	values := t.Values()
	for i := range values.Len() {
		v := values.Scalar(i)
		x := v.Float64()
		if v.DType().IsComplex() {
			c := v.Complex128()
			x = math.Hypot(real(c), imag(c))
		}
		switch {
		case v.IsNaN():
			s.nan++
		case math.IsInf(x, 0):
			s.inf++
		}
		if v.IsZero() {
			s.zero++
		}
		if v.Same(t.Fill()) {
			s.fill++
		}
		if !v.IsNaN() {
			s.min, s.max = min(s.min, x), max(s.max, x)
		}
	}
	return s
}

// describe writes the statistics on one line.
func (s valueStats) describe(dt tensor.DType) string {
	if s.min > s.max {
		if s.nan > 0 {
			return fmt.Sprintf("all nan (%s)", units.FormatCount(s.nan))
		}
		return "none"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s to %s", formatFloat(s.min), formatFloat(s.max))
	if dt.IsComplex() {
		b.WriteString(" in modulus")
	}
	for _, n := range []struct {
		count int64
		name  string
	}{{s.zero, "zero"}, {s.nan, "nan"}, {s.inf, "infinite"}} {
		if n.count > 0 {
			fmt.Fprintf(&b, ", %s %s", units.FormatCount(n.count), n.name)
		}
	}
	return b.String()
}

// sliceLengths says how many entries stand at each coordinate of an axis, of
// size n, given the coordinates of all entries on it.
func sliceLengths(coords []int64, n int64) tensor.FibreStats {
	s := tensor.FibreStats{Fibres: n, Mean: math.NaN()}
	if n == 0 {
		return s
	}
	s.Min = math.MaxInt64
	squares := 0.0
	occupied := int64(0)
	count := func(length int64) {
		occupied++
		s.Min, s.Max = min(s.Min, length), max(s.Max, length)
		squares += float64(length) * float64(length)
	}
	for sorted := slices.Sorted(slices.Values(coords)); len(sorted) > 0; {
		length, _ := slices.BinarySearch(sorted, sorted[0]+1)
		count(int64(length))
		sorted = sorted[length:]
	}
	if s.Empty = n - occupied; s.Empty > 0 {
		s.Min = 0
	}
	s.Mean = float64(len(coords)) / float64(n)
	if s.Mean > 0 {
		s.CV = math.Sqrt(max(0, squares/float64(n)-s.Mean*s.Mean)) / s.Mean
	}
	return s
}

// statsHeader is the head of the tables that statsRow fills.
func statsHeader(what string) string {
	return fmt.Sprintf("%-24s %14s %12s %10s %10s %10s %8s\n", what, "count", "empty", "min", "mean", "max", "CV")
}

// statsRow is a line of a table.
func statsRow(label string, s tensor.FibreStats) string {
	mean := "-"
	if !math.IsNaN(s.Mean) {
		mean = fmt.Sprintf("%.4g", s.Mean)
		if s.Mean == math.Trunc(s.Mean) {
			mean = units.FormatCount(int64(s.Mean))
		}
	}
	return fmt.Sprintf("%-24s %14s %12s %10s %10s %10s %8.3g\n", label, units.FormatCount(s.Fibres), units.FormatCount(s.Empty),
		units.FormatCount(s.Min), mean, units.FormatCount(s.Max), s.CV)
}

// axisName names an axis as people do.
func axisName(axis, rank int) string {
	if rank == 2 {
		return []string{"row", "column"}[axis]
	}
	return fmt.Sprintf("slice of axis %d", axis)
}

// Axes prints how many entries each row, column or slice has.
func Axes(ctx context.Context, a *cli.Env, shape []int64, coords [][]int64) error {
	a.Printf("\n%s", statsHeader("entries per"))
	for axis, n := range shape {
		s, err := cli.Await(ctx, func() (tensor.FibreStats, error) { return sliceLengths(coords[axis], n), nil })
		if err != nil {
			return err
		}
		a.Printf("%s", statsRow(axisName(axis, len(shape)), s))
	}
	return nil
}

// Levels prints the lengths of the fibres of each level.
func Levels(a *cli.Env, t *tensor.Tensor) error {
	a.Printf("\n%s", statsHeader(fmt.Sprintf("levels of %s", t.Format())))
	order := t.Format().Order()
	for k, level := range t.Levels() {
		s, err := t.FibreLengths(k)
		if err != nil {
			return err
		}
		a.Printf("%s", statsRow(fmt.Sprintf("%d: %s, axis %d", k, level.LevelType, order[k]), s))
	}
	return nil
}

// Summary prints what can be said on one line each.
func Summary(ctx context.Context, a *cli.Env, src fmt.Stringer, t *tensor.Tensor) error {
	values, err := cli.Await(ctx, func() (valueStats, error) { return valuesOf(t), nil })
	if err != nil {
		return err
	}
	line := func(what, format string, args ...any) {
		a.Printf("%-8s %s\n", what, fmt.Sprintf(format, args...))
	}
	line("tensor", "%s", src)
	if st, err := os.Stat(src.String()); err == nil && st.Mode().IsRegular() {
		line("file", "%s", units.FormatBytes(st.Size()))
	}
	line("shape", "%s", cli.FormatShape(t.Shape()))
	line("type", "%s", t.DType())
	line("stored", "%s of %s elements (%s), as %s in %s of memory", units.FormatCount(t.NNZ()), cli.FormatElements(t.Shape()),
		percentage(t), t.Format(), units.FormatBytes(t.Bytes()))
	if t.Format().IsDense() {
		line("entries", "%s that are not %s (%.3g%%)", units.FormatCount(t.NNZ()-values.fill), t.Fill(),
			100*float64(t.NNZ()-values.fill)/max(1, cli.Elements(t.Shape())))
	} else {
		line("fill", "%s", t.Fill())
	}
	line("values", "%s", values.describe(t.DType()))
	return nil
}
