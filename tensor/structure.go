package tensor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// Structure says which part of a matrix is stored, and how the rest follows. A tensor
// with a structure other than General means the whole matrix: [Tensor.At] and
// [Tensor.ToDense] answer for all of it, and so does an expression that reads it. What
// lists or counts what is stored ([Tensor.NNZ], [Tensor.ToCoords], [Tensor.Values])
// speaks of the stored triangle alone. [Tensor.Expand] stores the whole.
//
// The names are those of binsparse. With A the stored triangle, diagonal included:
//
//	symmetric        A(j,i) = A(i,j)
//	hermitian        A(j,i) = conj(A(i,j)); the diagonal is real
//	skew_symmetric   A(j,i) = -A(i,j); the diagonal is 0
type Structure uint8

// The structures. Lower is the triangle of rows i and columns j with i >= j.
const (
	General Structure = iota // everything is stored
	SymmetricLower
	SymmetricUpper
	HermitianLower
	HermitianUpper
	SkewSymmetricLower
	SkewSymmetricUpper
	numStructures
)

// structureNames holds binsparse's name of each structure; "general" has none there.
var structureNames = [numStructures]string{
	General:            "general",
	SymmetricLower:     "symmetric_lower",
	SymmetricUpper:     "symmetric_upper",
	HermitianLower:     "hermitian_lower",
	HermitianUpper:     "hermitian_upper",
	SkewSymmetricLower: "skew_symmetric_lower",
	SkewSymmetricUpper: "skew_symmetric_upper",
}

// String returns binsparse's name, such as "symmetric_lower", or "general".
func (s Structure) String() string {
	if s >= numStructures {
		return fmt.Sprintf("Structure(%d)", uint8(s))
	}
	return structureNames[s]
}

// ParseStructure reads what String writes, in either case and with hyphens or blanks for
// underscores; "" is General. The error is a [*ParseError].
func ParseStructure(text string) (Structure, error) {
	name := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(text)))
	if name == "" {
		return General, nil
	}
	if i := slices.Index(structureNames[:], name); i >= 0 {
		return Structure(i), nil
	}
	return General, &ParseError{
		Text: text, Msg: "unknown structure",
		Hint: didYouMean(name, structureNames[:], "the structures are "+strings.Join(structureNames[:], ", ")),
	}
}

// Lower reports whether the stored triangle is that on and below the diagonal.
func (s Structure) Lower() bool {
	return s == SymmetricLower || s == HermitianLower || s == SkewSymmetricLower
}

// Upper reports whether the stored triangle is that on and above the diagonal.
func (s Structure) Upper() bool { return s != General && s < numStructures && !s.Lower() }

// Transposed is the structure of the transpose whose stored triangle is the transpose of
// the stored triangle: lower becomes upper and the reverse.
func (s Structure) Transposed() Structure {
	switch {
	case s.Lower():
		return s + 1
	case s.Upper():
		return s - 1
	}
	return s
}

// Stores reports whether a matrix of this structure may store an element at row i and
// column j.
func (s Structure) Stores(i, j int64) bool {
	return s == General || i == j || s.Lower() == (i > j)
}

// Mirror is the element at (j,i) of a matrix whose element at (i,j) is x. For General
// there is no such rule: it returns x.
func (s Structure) Mirror(x Scalar) Scalar {
	switch s {
	case HermitianLower, HermitianUpper:
		return x.conjugate()
	case SkewSymmetricLower, SkewSymmetricUpper:
		return x.negate()
	}
	return x
}

// equals reports whether two values of one type are equal, where NaN equals NaN.
func (x Scalar) equals(y Scalar) bool {
	if x.dt == Bool || x.dt.IsInteger() {
		return x == y
	}
	return x.Complex128() == y.Complex128() || x.IsNaN() && y.IsNaN()
}

// conjugate is x with the opposite imaginary part, x itself for real types.
func (x Scalar) conjugate() Scalar {
	x.hi ^= x.dt.imaginarySign()
	return x
}

// negate is -x, in wrapping arithmetic for integers. The caller sees to it that x is no
// Bool.
func (x Scalar) negate() Scalar {
	if x.dt.IsInteger() {
		return Int(x.dt, -int64(x.lo))
	}
	x.lo ^= x.dt.realSign()
	x.hi ^= x.dt.imaginarySign()
	return x
}

// realSign is the sign bit of a real part in Scalar.lo, for types of floating point.
func (t DType) realSign() uint64 {
	if t.Compute().Real().Size() == 4 {
		return 1 << 31
	}
	return 1 << 63
}

// imaginarySign is the sign bit of an imaginary part in Scalar.hi, 0 for real types.
func (t DType) imaginarySign() uint64 {
	if t.IsComplex() {
		return t.realSign()
	}
	return 0
}

// Structure is which part of a matrix the tensor stores.
func (t *Tensor) Structure() Structure { return t.structure }

// WithStructure returns the tensor, which stores one triangle of a square matrix, as the
// whole matrix: the arrays are shared. It is an error if the structure does not fit the
// shape, the element type or the fill, and if something is stored that it forbids: an
// entry outside the triangle (in dense blocks, one that differs from the fill), an
// imaginary part on the diagonal of a Hermitian matrix, anything but 0 on that of a
// skew-symmetric one. Every entry is looked at once. Of a tensor that has a structure
// already, this says what it stores, not what it means: to go from one triangle to the
// other use Expand and Triangle. WithStructure(General) takes the stored triangle as the
// whole.
func (t *Tensor) WithStructure(s Structure) (*Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	if s == t.structure {
		return t.Share(), nil
	}
	out := t.with(func(out *Tensor) { out.structure, out.attributes = s, Attributes{} })
	if s == General {
		return out, nil
	}
	if err := out.checkStructure(); err != nil {
		out.Release()
		return nil, named(err, t.name)
	}
	return out, nil
}

// checkStructure checks what WithStructure documents.
func (t *Tensor) checkStructure() error {
	if err := t.structureFits(t.structure); err != nil {
		return err
	}
	triangle := t.triangle()
	defer triangle.Release()
	e, err := triangle.valueEntries()
	if err != nil {
		return tensorError("%v", err)
	}
	for p := range e.n {
		i, j := int64(e.cols[0].At(p)), int64(e.cols[1].At(p))
		if !t.structure.Stores(i, j) {
			return tensorError("%v: an entry is stored at (%d,%d), outside the triangle", t.structure, i, j)
		}
		if i != j {
			continue
		}
		if x := e.values.Scalar(p); !t.structure.Mirror(x).equals(x) {
			return tensorError("%v: the element at (%d,%d) on the diagonal is %v: it must be %s", t.structure, i, i, x, diagonalOf(t.structure))
		}
	}
	return nil
}

// structureFits checks a structure against shape, type and fill.
func (t *Tensor) structureFits(s Structure) error {
	skew := s == SkewSymmetricLower || s == SkewSymmetricUpper
	switch {
	case s >= numStructures:
		return tensorError("there is no structure %v", s)
	case len(t.shape) != 2 || t.shape[0] != t.shape[1]:
		return tensorError("%v: the shape is %s, the structure is for square matrices", s, shapeString(t.shape))
	case (s == HermitianLower || s == HermitianUpper) && !t.DType().IsComplex():
		return tensorError("%v: the elements are %v; Hermitian matrices are complex (for real elements say symmetric)", s, t.DType())
	case skew && (t.DType() == Bool || t.DType().IsUnsigned()):
		return tensorError("%v: the elements are %v, which have no negatives", s, t.DType())
	case !s.Mirror(t.fill).equals(t.fill):
		return tensorError("%v: the fill is %v: it must be %s", s, t.fill, diagonalOf(s))
	}
	return nil
}

// diagonalOf says what diagonal elements of a structure are.
func diagonalOf(s Structure) string {
	if s == HermitianLower || s == HermitianUpper {
		return "real"
	}
	return "0"
}

// Expand stores the whole of a matrix of which one triangle is stored, in the same format
// and with the same fill; a General tensor is returned as it is. Entries of the triangle
// come first at their coordinates, so explicit zeros off the diagonal are mirrored too.
func (t *Tensor) Expand() (*Tensor, error) {
	return t.derived(nil, func(options) (*Tensor, error) { return t.expand() })
}

func (t *Tensor) expand() (*Tensor, error) {
	if t.structure == General {
		return t, nil
	}
	stored := t.triangle()
	defer stored.Release()
	triangle, err := stored.standard()
	if err != nil {
		return nil, err
	}
	e, err := triangle.valueEntries()
	if err != nil {
		return nil, tensorError("%v", err)
	}
	off, err := column.Choose(e.n, func(p int) bool { return e.cols[0].At(p) != e.cols[1].At(p) })
	if err != nil {
		return nil, tensorError("%v", err)
	}
	other, err := e.at(off)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	slices.Reverse(other.cols)
	if t.structure != SymmetricLower && t.structure != SymmetricUpper {
		for p := range other.n {
			other.values.SetScalar(p, t.structure.Mirror(other.values.Scalar(p)))
		}
	}
	whole, err := joined(t.shape, nil, []entries{e, other}, 0, nil)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	var o options
	o.name = t.name
	o.keepIndexTypes(triangle.format, t.shape, whole.n, triangle)
	return assemble(whole, t.shape, triangle.format, t.fill, &o)
}

// Canonical returns the tensor as kernels take it: in a standard format (see
// [Format.Standard]) and expanded (see Expand). It is t itself if that is so already.
func (t *Tensor) Canonical() (*Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	if t.IsCanonical() {
		return t, nil
	}
	out := t
	var err error
	if t.structure != General {
		out, err = t.expand()
	} else {
		out, err = t.standard()
	}
	return out, named(err, t.name)
}

// IsCanonical reports whether the tensor is in a standard format and has no structure.
func (t *Tensor) IsCanonical() bool { return t.structure == General && !t.format.Relaxed() }

// triangle is the stored triangle as a tensor of its own.
func (t *Tensor) triangle() *Tensor {
	return t.with(func(out *Tensor) { out.structure, out.attributes = General, Attributes{} })
}

// Triangle stores one triangle of a whole matrix that has the symmetry s, in the same
// format: what [Tensor.Expand] undoes. An element whose mirror image is not what s says
// is an error; NaN mirrors NaN. A matrix with a structure is expanded first.
func (t *Tensor) Triangle(s Structure) (*Tensor, error) {
	return t.derived(nil, func(options) (*Tensor, error) { return t.fold(s) })
}

func (t *Tensor) fold(s Structure) (*Tensor, error) {
	whole, err := t.Canonical()
	if err != nil || s == General {
		return whole, err
	}
	if err := whole.structureFits(s); err != nil {
		return nil, err
	}
	e, err := whole.valueEntries()
	if err != nil {
		return nil, tensorError("%v", err)
	}
	for p := range e.n {
		i, j := int64(e.cols[0].At(p)), int64(e.cols[1].At(p))
		x, image := e.values.Scalar(p), whole.At(j, i)
		if mirrored := s.Mirror(x); i == j && !mirrored.equals(image) {
			return nil, tensorError("not %v: the element at (%d,%d), on the diagonal, is %v: it would have to be its own mirror image %v", s, i, j, x, mirrored)
		} else if !mirrored.equals(image) {
			return nil, tensorError("not %v: the element at (%d,%d) is %v, that at (%d,%d) is %v", s, i, j, x, j, i, image)
		}
	}
	list, err := column.Choose(e.n, func(p int) bool { return s.Stores(int64(e.cols[0].At(p)), int64(e.cols[1].At(p))) })
	if err != nil {
		return nil, tensorError("%v", err)
	}
	half, err := e.at(list)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	o := options{name: t.name}
	o.keepIndexTypes(whole.format, t.shape, half.n, whole)
	out, err := assemble(half, t.shape, whole.format, t.fill, &o)
	if err != nil {
		return nil, err
	}
	out.structure = s
	return out, nil
}
