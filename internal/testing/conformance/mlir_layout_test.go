package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// part is what an axis of a stored tensor holds of a dimension.
type part int

const (
	whole part = iota
	quotient
	remainder
)

// axis is one axis of a stored tensor.
type axis struct {
	dim   int
	part  part
	block int64
}

// layout is a format as MLIR writes it, "i,j -> j:dense, i:compressed". Where
// levels hold quotients and remainders of dimensions, as blocks do, the stored
// tensor has an axis for each: first the whole dimensions and quotients, then
// the remainders.
type layout struct {
	dims   []string
	axes   []axis
	kinds  []string // MLIR's name of each level
	format tensor.Format
	shape  []int64 // of the stored tensor
}

var levelText = regexp.MustCompile(`^(\w+)(?: (floordiv|mod) (\d+))?:(\w+)(\([^)]*\)|\[[^\]]*\])?$`)

// parseLayout reads a format of tensors of a shape; "dense" is row-major.
func parseLayout(t *testing.T, text string, shape []int64) layout {
	t.Helper()
	var l layout
	if text == "dense" {
		l.format, l.shape = tensor.Dense(len(shape)), shape
		for k := range shape {
			l.dims, l.axes, l.kinds = append(l.dims, fmt.Sprintf("d%d", k)), append(l.axes, axis{dim: k}), append(l.kinds, "dense")
		}
		return l
	}
	dims, levels, _ := strings.Cut(text, " -> ")
	l.dims = strings.Split(dims, ",")
	var stored []axis
	var nonunique []bool
	for _, s := range splitLevels(levels) {
		m := levelText.FindStringSubmatch(s)
		if m == nil {
			t.Fatalf("level %q of %q", s, text)
		}
		x := axis{dim: slices.Index(l.dims, m[1]), part: map[string]part{"": whole, "floordiv": quotient, "mod": remainder}[m[2]]}
		if x.dim < 0 {
			t.Fatalf("level %q of %q", s, text)
		}
		if m[3] != "" {
			x.block = int64(atoi(m[3]))
		}
		stored = append(stored, x)
		l.kinds = append(l.kinds, m[4])
		nonunique = append(nonunique, strings.Contains(m[5], "nonunique"))
	}
	l.axes = slices.SortedFunc(slices.Values(stored), func(a, b axis) int {
		if (a.part == remainder) != (b.part == remainder) {
			return int(a.part) - int(b.part)
		}
		return a.dim - b.dim
	})
	for _, x := range l.axes {
		n := shape[x.dim]
		switch x.part {
		case quotient:
			n = (n + x.block - 1) / x.block
		case remainder:
			n = x.block
		}
		l.shape = append(l.shape, n)
	}
	var err error
	if l.format, err = levelFormat(l.kinds, nonunique, order(stored, l.axes)); err != nil {
		t.Fatal(err)
	}
	return l
}

// splitLevels splits at the commas between levels, not those inside brackets.
func splitLevels(s string) []string {
	var list []string
	depth, start := 0, 0
	for i, r := range s {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[start:i]))
				start = i + 1
			}
		}
	}
	return append(list, strings.TrimSpace(s[start:]))
}

// order is the axis that each level stores.
func order(stored, axes []axis) []int {
	out := make([]int, len(stored))
	for k, x := range stored {
		out[k] = slices.Index(axes, x)
	}
	return out
}

// levelFormat spells MLIR's levels. loose_compressed and structured levels have
// no counterpart: they become compressed, which changes no value.
func levelFormat(kinds []string, nonunique []bool, order []int) (tensor.Format, error) {
	last := -1
	for k, kind := range kinds {
		if kind != "dense" {
			last = k
		}
	}
	levels := make([]tensor.LevelKind, len(kinds))
	for k, kind := range kinds {
		switch {
		case k > last:
			levels[k] = tensor.D
		case kind == "dense":
			levels[k] = tensor.C
		case k == last || nonunique[k]:
			levels[k] = tensor.S
		default:
			levels[k] = tensor.DC
		}
	}
	return tensor.FormatOf(levels, order)
}

// split turns coordinates of dimensions, one entry after the other, into those
// of the stored tensor, one axis after the other.
func (l layout) split(coords [][]int64) [][]int64 {
	out := make([][]int64, len(l.axes))
	for _, c := range coords {
		for k, x := range l.axes {
			n := c[x.dim]
			switch x.part {
			case quotient:
				n /= x.block
			case remainder:
				n %= x.block
			}
			out[k] = append(out[k], n)
		}
	}
	return out
}

// blockOf is the block size of a dimension, 0 for one that is not split.
func (l layout) blockOf(dim int) int64 {
	for _, x := range l.axes {
		if x.dim == dim && x.part != whole {
			return x.block
		}
	}
	return 0
}

// indices are those of the stored tensor at the given ones of its dimensions.
// Where dimension i is split into blocks of n, they are ib and i-n*ib, and the
// program sums over ib: at all blocks but one i-n*ib is outside the block.
func (l layout) indices(of []string) []string {
	list := make([]string, len(l.axes))
	for k, x := range l.axes {
		switch i := of[x.dim]; x.part {
		case whole:
			list[k] = i
		case quotient:
			list[k] = i + "b"
		case remainder:
			list[k] = fmt.Sprintf("%s-%d*%sb", i, x.block, i)
		}
	}
	return list
}
