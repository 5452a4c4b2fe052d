package file

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// writeTNS writes a FROSTT file. The plain dialect is what most programs read,
// but it says neither sizes nor that values are complex: where that would lose
// something, and where the caller asks for it, the extended dialect is written.
func writeTNS(out *output, t *tensor.Tensor) error {
	t, err := t.Canonical()
	if err != nil {
		return err
	}
	if t.Format().IsDense() && t.Rank() > 0 {
		sparse, err := t.Convert(tensor.Coordinates(t.Rank()))
		if err != nil {
			return err
		}
		t = sparse
	}
	if err := needZeroFill(t, "a .tns file"); err != nil {
		return err
	}
	values := t.Values()
	dialect := out.cfg.dialect
	if dialect == DetectDialect {
		dialect = ExtendedTNS
		if plainSuffices(t) {
			dialect = PlainTNS
		}
	}
	switch {
	case dialect == ExtendedTNS:
		if _, err := fmt.Fprintf(out.w, "%d %d\n", t.Rank(), values.Len()); err != nil {
			return err
		}
		if t.Rank() > 0 {
			if _, err := fmt.Fprintln(out.w, joinSizes(t.Shape())); err != nil {
				return err
			}
		}
	case t.DType().IsComplex():
		return errors.New("the plain .tns dialect has no complex values: write the extended one")
	}
	return (&entryText{t.Window, valueAppender(values), values.Len()}).write(out)
}

// plainSuffices reports whether a plain file would be read back as it was: every
// size is the largest index, and there are enough fields on a line that it is not
// mistaken for an extended one.
func plainSuffices(t *tensor.Tensor) bool {
	if t.Rank() < 2 || t.NNZ() == 0 || t.DType().IsComplex() {
		return false
	}
	largest := make([]int64, t.Rank())
	window, n := t.Window(), t.Values().Len()
	for lo := 0; lo < n; lo += chunkEntries {
		for k, c := range window.Coords(lo, min(n, lo+chunkEntries)) {
			largest[k] = max(largest[k], slices.Max(c)+1)
		}
	}
	return slices.Equal(largest, t.Shape())
}
