package binsparse

import (
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Structure says which part of a matrix is stored, and what the rest is.
type Structure uint8

// The structures of the specification. Each stores one triangle with the
// diagonal; the entry (j,i) of the other is made of the entry (i,j).
const (
	General            Structure = iota // everything is stored
	SymmetricLower                      // a(j,i) = a(i,j)
	SymmetricUpper                      //
	HermitianLower                      // a(j,i) is the conjugate of a(i,j), which is complex
	HermitianUpper                      //
	SkewSymmetricLower                  // a(j,i) = -a(i,j)
	SkewSymmetricUpper                  //
)

var structures = [...]string{
	"general", "symmetric_lower", "symmetric_upper", "hermitian_lower", "hermitian_upper", "skew_symmetric_lower", "skew_symmetric_upper",
}

// String is the name in the descriptor; General, which has none there, is
// "general".
func (s Structure) String() string {
	if int(s) >= len(structures) {
		return "unknown"
	}
	return structures[s]
}

func parseStructure(name string) (Structure, bool) {
	for s, known := range structures {
		if known == name {
			return Structure(s), true
		}
	}
	return General, false
}

// structureNames lists the structures for a message.
func structureNames() string { return strings.Join(structures[1:], ", ") }

func (s Structure) hermitian() bool { return s == HermitianLower || s == HermitianUpper }
func (s Structure) skew() bool      { return s == SkewSymmetricLower || s == SkewSymmetricUpper }
func (s Structure) lower() bool {
	return s == SymmetricLower || s == HermitianLower || s == SkewSymmetricLower
}

// checkStructure reports a structure that the shape or the type of the values
// does not allow.
func (d *Descriptor) checkStructure() error {
	switch {
	case d.Structure == General:
		return nil
	case len(d.Shape) != 2 || d.Shape[0] != d.Shape[1]:
		return errorf("structure %v is for square matrices, but the shape is %v", d.Structure, d.Shape)
	case d.Structure.hermitian() && !d.DataTypes[valuesName].Elem.IsComplex():
		return errorf("structure %v is for complex values, but data_types says %s", d.Structure, d.DataTypes[valuesName])
	}
	return nil
}

// expand returns the whole matrix of which t holds one triangle, in the same
// format.
func expand(t *tensor.Tensor, s Structure, build Builder) (*tensor.Tensor, error) {
	if err := checkFill(t.Fill(), s); err != nil {
		return nil, err
	}
	coords, values, err := t.ToCoords()
	if err != nil {
		return nil, tensorError(err)
	}
	e := &expansion{structure: s, rows: coords[0], cols: coords[1], values: values, fill: t.Fill()}
	for _, kind := range t.Format().Levels() {
		e.blocks = e.blocks || kind == tensor.D
	}
	if err := e.classify(); err != nil {
		return nil, err
	}
	if err := e.mirror(); err != nil {
		return nil, err
	}
	whole, err := build(t.Shape(), t.Format(), [][]int64{e.rows, e.cols}, e.values, tensor.WithFill(t.Fill()))
	if err != nil {
		return nil, tensorError(err)
	}
	return whole, nil
}

// checkFill reports a fill that the mirror image of a gap would not have.
func checkFill(fill tensor.Scalar, s Structure) error {
	_, imag := fill.Bits()
	switch {
	case s.skew() && !fill.IsZero():
		return datasetErrorf(fillName, "it is %v: the fill of a skew-symmetric matrix is 0", fill)
	case s.hermitian() && tensor.FromBits(fill.DType().Real(), imag, 0).Bool():
		return datasetErrorf(fillName, "it is %v: the fill of a hermitian matrix is real", fill)
	}
	return nil
}

// expansion mirrors the entries of a triangle.
type expansion struct {
	structure  Structure
	rows, cols []int64
	values     tensor.Array
	fill       tensor.Scalar
	blocks     bool  // dense blocks reach into the other triangle, where they hold nothing
	kept       []int // entries of the triangle, where not all are; else nil
	off        int   // how many of them are off the diagonal
}

// classify finds the entries of the triangle and checks those that are not, and
// those of the diagonal.
func (e *expansion) classify() error {
	for p, i := range e.rows {
		j := e.cols[p]
		switch {
		case i == j:
			if msg := e.structure.checkDiagonal(e.values.Scalar(p)); msg != "" {
				return datasetErrorf(valuesName, "element %d, at (%d,%d), is %v: %s", p, i, j, e.values.Scalar(p), msg)
			}
		case (i > j) == e.structure.lower():
			e.off++
		case !e.blocks:
			return errorf("structure is %v, but an entry at (%d,%d) is stored", e.structure, i, j)
		default:
			if v := e.values.Scalar(p); !v.IsZero() && !v.Same(e.fill) {
				return datasetErrorf(valuesName, "element %d, at (%d,%d), is %v: structure %v has nothing there", p, i, j, v, e.structure)
			}
			if e.kept == nil {
				e.kept = upTo(p)
			}
			continue
		}
		if e.kept != nil {
			e.kept = append(e.kept, p)
		}
	}
	return nil
}

// upTo is 0, …, n-1, and not nil.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// checkDiagonal says what is wrong with value v on the diagonal; "" if nothing is.
func (s Structure) checkDiagonal(v tensor.Scalar) string {
	switch {
	case s.skew() && !v.IsZero():
		return "the diagonal of a skew-symmetric matrix is zero"
	case s.hermitian() && imag(v.Complex128()) != 0:
		return "the diagonal of a hermitian matrix is real"
	}
	return ""
}

// mirror drops what is not of the triangle and appends the mirror images.
func (e *expansion) mirror() error {
	if e.kept == nil {
		e.kept = upTo(len(e.rows))
	}
	n := len(e.kept)
	values, err := tensor.MakeArray(e.values.DType(), n+e.off)
	if err != nil {
		return err
	}
	rows, cols := make([]int64, n, n+e.off), make([]int64, n, n+e.off)
	size := e.values.DType().Size()
	from, to := e.values.Raw(), values.Raw()
	at := n
	for k, p := range e.kept {
		rows[k], cols[k] = e.rows[p], e.cols[p]
		copy(to[k*size:], from[p*size:(p+1)*size])
		if rows[k] == cols[k] {
			continue
		}
		rows, cols = append(rows, cols[k]), append(cols, rows[k])
		image := to[at*size : (at+1)*size]
		copy(image, from[p*size:])
		switch {
		case e.structure.skew():
			negated, ok := negate(e.values.Scalar(p))
			if !ok {
				return datasetErrorf(valuesName, "element %d is %v, whose negative %v cannot hold: the matrix is skew-symmetric", p, e.values.Scalar(p), e.values.DType())
			}
			values.SetScalar(at, negated)
		case e.structure.hermitian():
			image[size-1] ^= 0x80 // the sign of the imaginary part
		}
		at++
	}
	e.rows, e.cols, e.values = rows, cols, values
	return nil
}

// negate returns -v; ok is false if v's type does not have it. Minus true is
// still not zero, so true.
func negate(v tensor.Scalar) (_ tensor.Scalar, ok bool) {
	dt := v.DType()
	lo, hi := v.Bits()
	switch {
	case dt == tensor.Bool || dt.IsInteger() && v.IsZero():
		return v, true
	case dt.IsInteger():
		n := tensor.Int(dt, -v.Int64())
		return n, dt.IsSigned() && n.Int64() == -v.Int64() && n != v
	case dt.Compute() == tensor.Float32 || dt == tensor.Complex64:
		return tensor.FromBits(dt, lo^1<<31, hi^1<<31), true
	}
	return tensor.FromBits(dt, lo^1<<63, hi^1<<63), true
}
