package interop

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// encoding is a parsed #sparse_tensor.encoding.
type encoding struct {
	dims               []string
	levels             []mlirLevel
	posWidth, crdWidth int // bits; 0 where MLIR's index type is meant
}

// encodingReader reads the text of an encoding. Since encodings are short, and written by
// programs, the first thing that is not understood is the error.
type encodingReader struct {
	text string
	rest string
}

func (r *encodingReader) fail(format string, args ...any) error {
	return &tensor.ParseError{
		Text: r.text, Msg: "not an encoding that can be read",
		Hint: fmt.Sprintf(format, args...) + fmt.Sprintf(" (at character %d)", len(r.text)-len(r.rest)),
	}
}

// skip takes blanks, and then a text if it is next.
func (r *encodingReader) skip(text string) bool {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	rest, ok := strings.CutPrefix(r.rest, text)
	if ok {
		r.rest = rest
	}
	return ok
}

// want is skip for what has to be there.
func (r *encodingReader) want(text string) error {
	if !r.skip(text) {
		return r.fail("%q is expected", text)
	}
	return nil
}

// word takes letters, digits and underscores.
func (r *encodingReader) word() string {
	r.skip("")
	end := strings.IndexFunc(r.rest, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
	if end < 0 {
		end = len(r.rest)
	}
	word := r.rest[:end]
	r.rest = r.rest[end:]
	return word
}

// parseEncoding reads "#sparse_tensor.encoding<{ map = …, posWidth = 32, crdWidth = 32 }>"
// of a tensor with so many dimensions.
func parseEncoding(text string, dims int) (*encoding, error) {
	r := &encodingReader{text: text, rest: text}
	e := &encoding{}
	r.skip("#sparse_tensor.encoding")
	if err := r.want("<"); err != nil {
		return nil, err
	}
	if err := r.want("{"); err != nil {
		return nil, err
	}
	for {
		if r.skip("}") {
			break
		}
		key := r.word()
		if err := r.want("="); err != nil {
			return nil, err
		}
		var err error
		switch key {
		case "map":
			err = e.readMap(r)
		case "posWidth":
			e.posWidth, err = r.width()
		case "crdWidth":
			e.crdWidth, err = r.width()
		default:
			err = r.fail("the key %q is not supported: there are map, posWidth and crdWidth", key)
		}
		if err != nil {
			return nil, err
		}
		r.skip(",")
	}
	if err := r.want(">"); err != nil {
		return nil, err
	}
	r.skip("")
	switch {
	case r.rest != "":
		return nil, r.fail("something follows the encoding")
	case e.levels == nil && dims > 0:
		return nil, r.fail("there is no map")
	case len(e.dims) != dims:
		return nil, r.fail("the map has %d dimensions, the tensor %d", len(e.dims), dims)
	}
	return e, nil
}

// width reads a width in bits.
func (r *encodingReader) width() (int, error) {
	width, err := strconv.Atoi(r.word())
	if err != nil || !slices.Contains([]int{0, 8, 16, 32, 64}, width) {
		return 0, r.fail("a width is 0, 8, 16, 32 or 64 bits")
	}
	return width, nil
}

// readMap reads "(d0, d1) -> (d0 : dense, d1 : compressed)"; names of levels, as in
// "{l0, l1} (d0, d1) -> (l0 = d0 : dense, l1 = d1 : compressed)", are passed over.
func (e *encoding) readMap(r *encodingReader) error {
	if r.skip("{") {
		for r.word() != "" {
			r.skip(",")
		}
		if err := r.want("}"); err != nil {
			return err
		}
	}
	if err := r.want("("); err != nil {
		return err
	}
	for !r.skip(")") {
		name := r.word()
		if name == "" || slices.Contains(e.dims, name) || len(e.dims) == tensor.MaxRank {
			return r.fail("the names of at most %d different dimensions are expected", tensor.MaxRank)
		}
		e.dims = append(e.dims, name)
		r.skip(",")
	}
	if err := r.want("->"); err != nil {
		return err
	}
	if err := r.want("("); err != nil {
		return err
	}
	for !r.skip(")") {
		if len(e.levels) == tensor.MaxRank {
			return r.fail("there are more than %d levels", tensor.MaxRank)
		}
		l, err := e.readLevel(r)
		if err != nil {
			return err
		}
		e.levels = append(e.levels, l)
		r.skip(",")
	}
	return nil
}

// readLevel reads "d0 floordiv 2 : compressed(nonunique)".
func (e *encoding) readLevel(r *encodingReader) (l mlirLevel, err error) {
	name := r.word()
	if r.skip("=") {
		name = r.word()
	}
	if l.dim = slices.Index(e.dims, name); l.dim < 0 {
		return l, r.fail("%q is no dimension", name)
	}
	switch {
	case r.skip("floordiv"):
		l.part = quotient
	case r.skip("mod"):
		l.part = remainder
	}
	if l.part != whole {
		if l.block, err = strconv.ParseInt(r.word(), 10, 64); err != nil || l.block < 1 {
			return l, r.fail("the divisor must be a number from 1 on")
		}
	}
	if err := r.want(":"); err != nil {
		return l, err
	}
	l.Unique, l.Ordered = true, true
	kind := r.word()
	if l.Kind = kindNamed(kind); l.Kind == 0 {
		return l, r.fail("levels that are %q are not supported: there are dense, compressed and singleton", kind)
	}
	if !r.skip("(") {
		return l, nil
	}
	for !r.skip(")") {
		switch property := r.word(); property {
		case "nonunique":
			l.Unique = false
		case "nonordered":
			l.Ordered = false
		case "soa":
			l.soa = true
		default:
			return l, r.fail("the property %q is not supported: there are nonunique, nonordered and soa", property)
		}
		r.skip(",")
	}
	if l.soa && !l.Branchless() {
		return l, r.fail("only singletons can be soa")
	}
	return l, nil
}

// kindNamed is the kind of level of a name, 0 for none.
func kindNamed(name string) tensor.PhysicalKind {
	for k := range tensor.PhysicalKind(math.MaxUint8) {
		if name != "" && k.Properties().Name == name {
			return k
		}
	}
	return 0
}

// run is the last level of the segment that level k begins: a compressed level with its
// singletons, or one level.
func (e *encoding) run(k int) int {
	for k+1 < len(e.levels) && e.levels[k+1].Branchless() {
		k++
	}
	return k
}

// checkBuffers checks that every level has the buffers that it should have, of the width
// that the encoding says.
func (e *encoding) checkBuffers(m *MLIR) error {
	if len(m.Positions) != len(e.levels) || len(m.Coordinates) != len(e.levels) {
		return tensor.Errorf(-1, "the encoding has %d levels, with positions of %d and coordinates of %d: they must be as many", len(e.levels), len(m.Positions), len(m.Coordinates))
	}
	for k := 0; k < len(e.levels); {
		last := e.run(k)
		for l := k; l <= last; l++ {
			if l > k+1 && e.levels[l].soa != e.levels[k+1].soa {
				return tensor.Errorf(l, "some singletons of a run are soa and some are not")
			}
			interleaved := l > k && !e.levels[l].soa
			if err := e.checkBuffer(l, "positions", m.Positions[l], e.posWidth, e.levels[l].HasPos()); err != nil {
				return err
			}
			if err := e.checkBuffer(l, "coordinates", m.Coordinates[l], e.crdWidth, e.levels[l].HasCrd() && !interleaved); err != nil {
				return err
			}
		}
		k = last + 1
	}
	return nil
}

func (e *encoding) checkBuffer(k int, what string, a tensor.Array, width int, wanted bool) error {
	if width == 0 {
		width = 64
	}
	switch {
	case (a.DType() != tensor.Invalid) != wanted && wanted:
		return tensor.Errorf(k, "%s_%d are missing", what, k)
	case (a.DType() != tensor.Invalid) != wanted:
		return tensor.Errorf(k, "%s_%d are given, but level %d has none", what, k, k)
	case wanted && !a.DType().IsInteger():
		return tensor.Errorf(k, "%s_%d have the element type %v: it must be an integer type", what, k, a.DType())
	case wanted && a.DType().Size()*8 != width:
		return tensor.Errorf(k, "%s_%d are %v, but the encoding says %d bits", what, k, a.DType(), width)
	}
	return nil
}

// axes returns which axis each level stores, and their extents: those of dimensions or
// their quotients first, then those of remainders. Each dimension must be stored whole or
// as one quotient and one remainder.
func (e *encoding) axes(shape []int64) (order []int, extents []int64, err error) {
	quotients, remainders := make([]int64, len(shape)), make([]int64, len(shape)) // divisors; -1 for whole
	for k, l := range e.levels {
		side := quotients
		if l.part == remainder {
			side = remainders
		}
		if side[l.dim] != 0 {
			return nil, nil, tensor.Errorf(k, "dimension %s is stored twice", e.dims[l.dim])
		}
		if side[l.dim] = l.block; l.part == whole {
			side[l.dim] = -1
		}
	}
	extents = slices.Clone(shape)
	place := make([]int, len(shape)) // of each remainder
	for d := range shape {
		q, r := quotients[d], remainders[d]
		switch {
		case shape[d] < 0:
			return nil, nil, tensor.Errorf(-1, "axis %d has the size %d: sizes are 0 or more", d, shape[d])
		case q == 0, q < 0 && r != 0, q > 0 && q != r:
			return nil, nil, tensor.Errorf(-1, "the levels do not store dimension %s once: they must have it whole, or its floordiv and its mod by one number", e.dims[d])
		case q > 0:
			extents[d] = shape[d] / q
			if shape[d]%q != 0 {
				extents[d]++
			}
			place[d] = len(extents)
			extents = append(extents, q)
		}
	}
	for _, l := range e.levels {
		axis := l.dim
		if l.part == remainder {
			axis = place[l.dim]
		}
		order = append(order, axis)
	}
	if len(extents) > math.MaxUint8 {
		return nil, nil, tensor.Errorf(-1, "there are too many levels")
	}
	return order, extents, nil
}
