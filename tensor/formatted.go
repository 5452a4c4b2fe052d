package tensor

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// shown is how many rows, columns or entries Formatted prints of a larger tensor.
const shown = 10

// Formatted is the tensor for package fmt, with its elements: %v prints a vector or a matrix of which the first rows and columns are
// shown, with a dot where nothing is stored, and of other tensors the first entries; %+v prints all entries, one a line. A
// precision is that of the numbers, as in %.3v. Tensors themselves print what [Tensor.String] says.
func Formatted(t *Tensor) fmt.Formatter { return formatted{t} }

type formatted struct{ t *Tensor }

// Format implements fmt.Formatter.
func (f formatted) Format(s fmt.State, verb rune) {
	if verb != 'v' && verb != 's' {
		fmt.Fprintf(s, "%%!%c(tensor)", verb)
		return
	}
	if err := f.t.Pin(); err != nil {
		fmt.Fprintf(s, "(%v)", err)
		return
	}
	defer f.t.Unpin()
	fmt.Fprintln(s, f.t)
	number := func(x Scalar) string { return x.String() }
	if digits, ok := s.Precision(); ok && (f.t.DType().IsFloat() || f.t.DType().IsComplex()) {
		number = func(x Scalar) string {
			if x.dt.IsComplex() {
				return fmt.Sprintf("%.*g", digits, x.Complex128())
			}
			return fmt.Sprintf("%.*g", digits, x.Float64())
		}
	}
	switch {
	case s.Flag('+'):
		f.entries(s, number, f.t.NNZ())
	case (f.t.Rank() == 1 || f.t.Rank() == 2) && f.t.IsCanonical():
		f.grid(s, number)
	default:
		f.entries(s, number, shown)
	}
}

// entries prints the first entries.
func (f formatted) entries(w io.Writer, number func(Scalar) string, most int64) {
	coords, values, err := f.t.ToCoords()
	if err != nil {
		fmt.Fprintf(w, "(%v)", err)
		return
	}
	for i := range values.n {
		if int64(i) == most {
			fmt.Fprintf(w, "… %d more\n", int64(values.n)-most)
			return
		}
		at := make([]string, len(coords))
		for axis := range coords {
			at[axis] = fmt.Sprint(coords[axis][i])
		}
		fmt.Fprintf(w, "(%s) %s\n", strings.Join(at, ","), number(values.Scalar(i)))
	}
}

// grid prints the first rows and columns.
func (f formatted) grid(w io.Writer, number func(Scalar) string) {
	rows, cols := int64(1), f.t.shape[f.t.Rank()-1]
	if f.t.Rank() == 2 {
		rows = f.t.shape[0]
	}
	cells := make([][]string, min(rows, shown))
	width := 1
	for i := range cells {
		for j := range min(cols, shown) {
			at := []int64{int64(i), j}[2-f.t.Rank():]
			cell := "."
			if x, stored := f.t.lookUp(at...); stored {
				cell = number(x)
			}
			width = max(width, utf8.RuneCountInString(cell))
			cells[i] = append(cells[i], cell)
		}
	}
	for _, row := range cells {
		for j, cell := range row {
			if j > 0 {
				io.WriteString(w, " ")
			}
			fmt.Fprintf(w, "%*s", width, cell)
		}
		if cols > shown {
			io.WriteString(w, " …")
		}
		io.WriteString(w, "\n")
	}
	if rows > shown {
		io.WriteString(w, "…\n")
	}
}
