package show

import (
	"bufio"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// What is printed whole; of anything longer, only both ends.
const (
	wholeRows    = 20  // of a matrix
	wholeColumns = 12  // of a matrix
	wholeVector  = 100 // elements
	wholeEntries = 40  // of a list
	lineWidth    = 80
)

// Tensor prints a result: a line that describes it and its elements,
// those of a long one abbreviated. Small matrices are drawn as such, with a dot
// for what is not stored; vectors stored densely as a row; all else as a list
// of coordinates and values, in storage order.
func Tensor(w *bufio.Writer, name string, t *tensor.Tensor) { Named(w, name, t, nil) }

// AxisNames are the names of coordinates along axes, such as labels that were summed by; nil of an axis that has none.
type AxisNames [][]string

// Of are the names along an axis.
func (n AxisNames) Of(axis int) []string {
	if axis < len(n) {
		return n[axis]
	}
	return nil
}

// any reports whether an axis has names.
func (n AxisNames) any() bool {
	return slices.ContainsFunc(n, func(names []string) bool { return names != nil })
}

// Named is [Tensor] with the names along axes that have some.
func Named(w *bufio.Writer, name string, t *tensor.Tensor, names AxisNames) {
	if t.Rank() == 0 {
		fmt.Fprintf(w, "%s = %s  (%s)\n", name, formatExact(t.At()), t.DType())
		return
	}
	fmt.Fprintf(w, "%s: %s\n", name, Describe(t))
	shape := t.Shape()
	switch {
	case cli.Elements(shape) == 0:
	case names.any() && t.Rank() <= 2 && t.Format().IsDense():
		printMatrix(w, t, names)
	case t.Rank() == 1 && t.Format().IsDense():
		printVector(w, t)
	case t.Rank() == 2 && (t.Format().IsDense() || shape[0] <= wholeRows && shape[1] <= wholeColumns):
		printMatrix(w, t, names)
	default:
		printEntries(w, t, names)
	}
}

// Describe is the line above a tensor.
func Describe(t *tensor.Tensor) string {
	s := fmt.Sprintf("%s %s %s", cli.FormatShape(t.Shape()), t.DType(), t.Format())
	if t.Format().IsDense() {
		return s
	}
	return fmt.Sprintf("%s, %s stored (%s), fill %s", s, units.FormatCount(t.NNZ()), percentage(t), t.Fill())
}

// percentage says which part of the elements is stored.
func percentage(t *tensor.Tensor) string {
	total := cli.Elements(t.Shape())
	if total == 0 {
		return "of none"
	}
	return fmt.Sprintf("%.3g%%", 100*float64(t.NNZ())/total)
}

// formatValue writes a number for reading: eight digits of a float.
func formatValue(v tensor.Scalar) string {
	switch {
	case v.DType().IsComplex():
		c := v.Complex128()
		im := formatFloat(imag(c))
		if !strings.HasPrefix(im, "-") {
			im = "+" + im
		}
		return formatFloat(real(c)) + im + "i"
	case v.DType().IsFloat():
		return formatFloat(v.Float64())
	}
	return v.String()
}

// formatFloat writes a float with at most eight digits, and without an exponent
// where that is as short.
func formatFloat(x float64) string {
	if !(math.Abs(x) < plainFloat) { // infinite and nan too
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', 8, 64)), "+")
	}
	short := strconv.FormatFloat(x, 'g', 8, 64)
	if exact := strconv.FormatFloat(x, 'f', -1, 64); len(exact) <= max(len(short), 9) {
		return exact
	}
	return short
}

// plainFloat is the size from which floats are written with an exponent.
const plainFloat = 1e15

// formatExact writes a number with all its digits.
func formatExact(v tensor.Scalar) string {
	if x := v.Float64(); v.DType() == tensor.Float64 && 1 <= math.Abs(x) && math.Abs(x) < plainFloat {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return v.String()
}

// ends lists which of n things to print if whole may be: all, or both ends
// with a -1 between them.
func ends(n, whole int64) []int64 {
	var list []int64
	head, tail := n, int64(0)
	if n > whole {
		head, tail = whole/2, whole/4
	}
	for i := range head {
		list = append(list, i)
	}
	if head < n {
		list = append(list, -1)
	}
	for i := n - tail; i < n; i++ {
		list = append(list, i)
	}
	return list
}

// gap stands for what is left out.
const gap = "…"

// printVector prints a dense vector in lines.
func printVector(w *bufio.Writer, t *tensor.Tensor) {
	list := ends(t.Dims()[0], wholeVector)
	if len(list) < int(t.Dims()[0]) {
		list = ends(t.Dims()[0], wholeVector/4)
	}
	var cells []string
	width := 0
	for _, i := range list {
		cell := gap
		if i >= 0 {
			cell = formatValue(t.At(i))
		}
		cells = append(cells, cell)
		width = max(width, len([]rune(cell)))
	}
	perLine := max(1, (lineWidth-1)/(width+2))
	for len(cells) > 0 {
		n := min(perLine, len(cells))
		printRow(w, cells[:n], width)
		cells = cells[n:]
	}
}

// printRow prints cells, aligned on the right.
func printRow(w *bufio.Writer, cells []string, width int) {
	for _, c := range cells {
		fmt.Fprintf(w, "  %*s", width, c)
	}
	w.WriteByte('\n')
}

// printMatrix draws a matrix, or a vector as a column, with a name before each row and over each column if there are any.
func printMatrix(w *bufio.Writer, t *tensor.Tensor, names AxisNames) {
	stored := storedAt(t)
	rows, columns := ends(t.Dims()[0], wholeRows), []int64{0}
	if t.Rank() == 2 {
		columns = ends(t.Dims()[1], wholeColumns)
	}
	width, wide := 1, 0
	lines, heads := make([][]string, len(rows)), make([]string, len(rows))
	if list := names.Of(1); list != nil {
		over := make([]string, len(columns))
		for n, j := range columns {
			over[n] = gap
			if j >= 0 {
				over[n] = shortenEnd(cli.Printable(list[j]))
			}
			width = max(width, len([]rune(over[n])))
		}
		lines, heads = append([][]string{over}, lines...), append([]string{""}, heads...)
	}
	first := len(lines) - len(rows)
	for n, i := range rows {
		n += first
		if list := names.Of(0); list != nil && i >= 0 {
			heads[n] = "  " + shortenEnd(cli.Printable(list[i]))
			wide = max(wide, len([]rune(heads[n])))
		}
		for _, j := range columns {
			cell := "."
			switch {
			case i < 0 || j < 0:
				cell = gap
			case t.Rank() == 1:
				cell = formatValue(t.At(i))
			case stored == nil || stored[[2]int64{i, j}]:
				cell = formatValue(t.At(i, j))
			}
			width = max(width, len([]rune(cell)))
			lines[n] = append(lines[n], cell)
		}
	}
	for n, cells := range lines {
		fmt.Fprintf(w, "%-*s", wide, heads[n])
		printRow(w, cells, width)
	}
}

// Labels are the labels of a column in the order of their numbers, the first few if there are many.
func Labels(labels []string) string {
	const most = 8
	var list []string
	for _, l := range labels[:min(most, len(labels))] {
		if l = shortenEnd(cli.Printable(l)); strings.Contains(l, ",") {
			l = strconv.Quote(l)
		}
		list = append(list, l)
	}
	if more := len(labels) - most; more > 0 {
		list = append(list, fmt.Sprintf("… %s more", units.FormatCount(int64(more))))
	}
	return strings.Join(list, ", ")
}

// shortenEnd cuts a long label.
func shortenEnd(label string) string {
	const longest = 24
	if r := []rune(label); len(r) > longest {
		return string(r[:longest-1]) + gap
	}
	return label
}

// storedAt is the set of coordinates that a small matrix stores; nil means all.
func storedAt(t *tensor.Tensor) map[[2]int64]bool {
	if t.Format().IsDense() {
		return nil
	}
	stored := map[[2]int64]bool{}
	for p := range t.NNZ() {
		c := coordinate(t, p)
		stored[[2]int64{c[0], c[1]}] = true
	}
	return stored
}

// printEntries lists coordinates, or what they are called, and values.
func printEntries(w *bufio.Writer, t *tensor.Tensor, names AxisNames) {
	list := ends(t.NNZ(), wholeEntries)
	if int64(len(list)) < t.NNZ() {
		list = ends(t.NNZ(), wholeEntries/2)
	}
	places := make([]string, len(list))
	width := 0
	for n, p := range list {
		if p < 0 {
			places[n] = gap
			continue
		}
		var parts []string
		for axis, c := range coordinate(t, p) {
			if list := names.Of(axis); list != nil {
				parts = append(parts, shortenEnd(cli.Printable(list[c])))
			} else {
				parts = append(parts, strconv.FormatInt(c, 10))
			}
		}
		places[n] = "(" + strings.Join(parts, ",") + ")"
		width = max(width, len([]rune(places[n])))
	}
	for n, p := range list {
		if p < 0 {
			fmt.Fprintf(w, "  %s\n", gap)
			continue
		}
		fmt.Fprintf(w, "  %-*s  %s\n", width, places[n], formatValue(t.Values().Scalar(int(p))))
	}
}

// coordinate is the coordinate, by axis, of the stored value at a position.
func coordinate(t *tensor.Tensor, position int64) []int64 {
	coord := make([]int64, t.Rank())
	for axis, c := range t.Window().Coords(int(position), int(position)+1) {
		coord[axis] = c[0]
	}
	return coord
}

// Shorten cuts a long name at its front: the end says more.
func Shorten(name string) string {
	const longest = 32
	if r := []rune(name); len(r) > longest {
		return gap + string(r[len(r)-longest+1:])
	}
	return name
}
