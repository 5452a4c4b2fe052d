package invoke

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// The types of index arrays, which kernels are specialised for.

// IndexTypes spells the widths of a tensor's index arrays.
func IndexTypes(t *tensor.Tensor) string {
	var b strings.Builder
	for _, l := range t.Levels() {
		fmt.Fprintf(&b, "%s/%s,", l.Pos.DType(), l.Crd.DType())
	}
	return b.String()
}

// wide is the extent from which coordinates need more than 32 bits.
const wide = 1 << 32

// CoordinateType is the type of the coordinates of an axis of the given extent.
func CoordinateType(extent int64) tensor.DType {
	if extent > wide {
		return tensor.Uint64
	}
	return tensor.Uint32
}
