package tensor

import (
	"fmt"
	"math/bits"
	"strings"
)

// Property is a set of facts about a tensor's elements or entries. They are claims: who
// makes the tensor states them, [Tensor.CheckAttributes] checks them, and operations carry
// those that stay true.
type Property uint16

// The properties. All but Iso are of square matrices.
const (
	// Symmetric says A(j,i) = A(i,j).
	Symmetric Property = 1 << iota
	// Hermitian says A(j,i) = conj(A(i,j)), of complex elements.
	Hermitian
	// SkewSymmetric says A(j,i) = -A(i,j).
	SkewSymmetric
	// PatternSymmetric says that (j,i) is stored where (i,j) is.
	PatternSymmetric
	// LowerTriangular says that elements above the diagonal equal the fill.
	LowerTriangular
	// UpperTriangular says that elements below the diagonal equal the fill.
	UpperTriangular
	// Iso says that all stored values are the same.
	Iso
	// DiagonalKnown says that Attributes.Diagonal is set.
	DiagonalKnown
	lastProperty = DiagonalKnown
)

// propertyNames holds the name of each property, by its bit.
var propertyNames = [...]string{
	"symmetric", "hermitian", "skew-symmetric", "pattern-symmetric",
	"lower-triangular", "upper-triangular", "iso", "diagonal-known",
}

// String lists the names of the properties, "none" if there is none.
func (p Property) String() string {
	if p == 0 {
		return "none"
	}
	var names []string
	for rest := p; rest != 0; rest &= rest - 1 {
		bit := bits.TrailingZeros16(uint16(rest))
		if bit < len(propertyNames) {
			names = append(names, propertyNames[bit])
		} else {
			names = append(names, fmt.Sprintf("Property(%#x)", uint16(1)<<bit))
		}
	}
	return strings.Join(names, " ")
}

// Has reports whether p has all of q.
func (p Property) Has(q Property) bool { return p&q == q }

// Attributes are what is claimed of a tensor. The zero Attributes claim nothing.
type Attributes struct {
	Properties Property
	// Diagonal is the number of entries stored on the diagonal, where
	// Properties has DiagonalKnown; else 0.
	Diagonal int64
}

// String lists the properties, and the number of diagonal entries where it is known.
func (a Attributes) String() string {
	s := (a.Properties &^ DiagonalKnown).String()
	if !a.Properties.Has(DiagonalKnown) {
		return s
	}
	s += fmt.Sprintf(" diagonal=%d", a.Diagonal)
	return strings.TrimPrefix(s, "none ")
}

// Attributes are what is claimed of the tensor. Of a tensor with a [Structure],
// properties of elements (the symmetries) speak of the whole matrix, those of what is
// stored (Iso, DiagonalKnown) of the stored triangle.
//
// Operations carry them so: Convert keeps all, but those that depend on what is stored
// (PatternSymmetric, Iso, DiagonalKnown) are dropped where the number of D levels
// changes and where a format has flags; Prune keeps all but PatternSymmetric and DiagonalKnown, which explicit zeros
// may have made true; Transpose maps lower to upper; Expand, Triangle and WithStructure
// drop all; so does every operation not named here, and every result of an expression.
func (t *Tensor) Attributes() Attributes { return t.attributes }

// WithAttributes returns the tensor with claims about it, in place of those it had. The
// arrays are shared and the entries are not looked at: that is CheckAttributes. A claim
// that cannot be of this shape or element type is an error.
func (t *Tensor) WithAttributes(a Attributes) (*Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	if !a.Properties.Has(DiagonalKnown) {
		a.Diagonal = 0
	}
	if err := t.attributesFit(a); err != nil {
		return nil, named(err, t.name)
	}
	return t.with(func(out *Tensor) { out.attributes = a }), nil
}

// WithAttributesOf returns the tensor with those claims about from that hold of it too,
// where t is from in another format: for conversions that [Tensor.Convert] did not make.
func (t *Tensor) WithAttributesOf(from *Tensor) *Tensor {
	if from == nil {
		return t
	}
	kept := from.attributes
	if t.format.SparseRank() != from.format.SparseRank() || t.format.Relaxed() || from.format.Relaxed() {
		kept = kept.without(PatternSymmetric | Iso | DiagonalKnown)
	}
	return t.with(func(out *Tensor) { out.attributes = kept })
}

// attributesFit checks claims against shape and element type.
func (t *Tensor) attributesFit(a Attributes) error {
	square := len(t.shape) == 2 && t.shape[0] == t.shape[1]
	switch {
	case a.Properties >= lastProperty<<1:
		return tensorError("there is no property %v", a.Properties)
	case a.Properties&^Iso != 0 && !square:
		return tensorError("%v: the shape is %s, these are properties of square matrices", a.Properties&^Iso, shapeString(t.shape))
	case a.Properties.Has(Hermitian) && !t.DType().IsComplex():
		return tensorError("hermitian: the elements are %v; Hermitian matrices are complex", t.DType())
	case a.Diagonal < 0:
		return tensorError("%d diagonal entries are claimed: the number is 0 or more", a.Diagonal)
	}
	return nil
}

// CheckAttributes compares the tensor's claims with its entries; the error names the
// first that does not hold and an element that shows it.
func (t *Tensor) CheckAttributes() error {
	if err := t.Pin(); err != nil {
		return err
	}
	defer t.Unpin()
	return named(t.checkClaims(), t.name)
}

func (t *Tensor) checkClaims() error {
	found, err := t.findAttributes(t.attributes.Properties)
	if err != nil {
		return err
	}
	claimed := t.attributes
	for bit := Property(1); bit <= lastProperty; bit <<= 1 {
		if claimed.Properties.Has(bit) && !found.Properties.Has(bit) {
			return tensorError("it is claimed to be %v, but %s", bit, found.against[bits.TrailingZeros16(uint16(bit))])
		}
	}
	if claimed.Properties.Has(DiagonalKnown) && claimed.Diagonal != found.Diagonal {
		return tensorError("%d entries are claimed to be stored on the diagonal, there are %d", claimed.Diagonal, found.Diagonal)
	}
	return nil
}

// FindAttributes goes over the entries and returns all that can be claimed of the tensor.
func (t *Tensor) FindAttributes() (Attributes, error) {
	if err := t.Pin(); err != nil {
		return Attributes{}, err
	}
	defer t.Unpin()
	want := Iso
	if len(t.shape) == 2 && t.shape[0] == t.shape[1] {
		want = lastProperty<<1 - 1
	}
	if !t.DType().IsComplex() {
		want &^= Hermitian
	}
	found, err := t.findAttributes(want)
	return found.Attributes, named(err, t.name)
}

// finding is what holds of a tensor, and what speaks against the rest.
type finding struct {
	Attributes
	against [len(propertyNames)]string
}

// drop says why properties do not hold.
func (f *finding) drop(p Property, format string, args ...any) {
	f.Properties &^= p
	for rest := p; rest != 0; rest &= rest - 1 {
		f.against[bits.TrailingZeros16(uint16(rest))] = fmt.Sprintf(format, args...)
	}
}

// findAttributes tells which of the wanted properties hold.
func (t *Tensor) findAttributes(want Property) (finding, error) {
	f := finding{Attributes: Attributes{Properties: want}}
	stored := t.triangle()
	defer stored.Release()
	if want.Has(Iso) {
		stored.findIso(&f)
	}
	if want&^Iso == 0 {
		return f, nil
	}
	e, err := stored.elementEntries()
	if err != nil {
		return f, tensorError("%v", err)
	}
	for p := range e.n {
		if e.cols[0].At(p) == e.cols[1].At(p) {
			f.Diagonal++
		}
	}
	if !want.Has(DiagonalKnown) {
		f.Diagonal = 0
	}
	whole, err := t.Canonical()
	if err != nil {
		return f, err
	}
	return f, whole.findSymmetries(&f)
}

// findIso compares all stored values with the first.
func (t *Tensor) findIso(f *finding) {
	for p := 1; p < t.values.n; p++ {
		if x, first := t.values.Scalar(p), t.values.Scalar(0); !x.Same(first) {
			f.drop(Iso, "stored value %d is %v and the first is %v", p, x, first)
			return
		}
	}
}

// findSymmetries compares every entry of a whole matrix with its mirror image.
func (t *Tensor) findSymmetries(f *finding) error {
	e, err := t.elementEntries()
	if err != nil {
		return tensorError("%v", err)
	}
	check := func(p Property, s Structure, i, j int64, x, image Scalar) {
		if f.Properties.Has(p) && !s.Mirror(x).equals(image) {
			f.drop(p, "the element at (%d,%d) is %v and that at (%d,%d) is %v", i, j, x, j, i, image)
		}
	}
	if f.Properties.Has(SkewSymmetric) && (t.DType() == Bool || t.DType().IsUnsigned()) {
		f.drop(SkewSymmetric, "elements of type %v have no negatives", t.DType())
	}
	for p := range e.n {
		i, j := int64(e.cols[0].At(p)), int64(e.cols[1].At(p))
		x := e.values.Scalar(p)
		if !x.Same(t.fill) {
			switch {
			case i < j && f.Properties.Has(LowerTriangular):
				f.drop(LowerTriangular, "the element at (%d,%d) is %v", i, j, x)
			case i > j && f.Properties.Has(UpperTriangular):
				f.drop(UpperTriangular, "the element at (%d,%d) is %v", i, j, x)
			}
		}
		if f.Properties&(Symmetric|Hermitian|SkewSymmetric|PatternSymmetric) == 0 {
			continue
		}
		image, stored := t.lookUp(j, i)
		if f.Properties.Has(PatternSymmetric) && !stored {
			f.drop(PatternSymmetric, "(%d,%d) is stored and (%d,%d) is not", i, j, j, i)
		}
		check(Symmetric, SymmetricLower, i, j, x, image)
		check(Hermitian, HermitianLower, i, j, x, image)
		check(SkewSymmetric, SkewSymmetricLower, i, j, x, image)
	}
	// Elements that are not stored mirror each other if the fill mirrors itself.
	if elements, ok := product(t.shape); !ok || int64(e.n) < elements {
		check(Hermitian, HermitianLower, 0, 0, t.fill, t.fill)
		check(SkewSymmetric, SkewSymmetricLower, 0, 0, t.fill, t.fill)
	}
	return nil
}

// transposed are the attributes of the transpose of a matrix.
func (a Attributes) transposed() Attributes {
	p := a.Properties &^ (LowerTriangular | UpperTriangular)
	if a.Properties.Has(LowerTriangular) {
		p |= UpperTriangular
	}
	if a.Properties.Has(UpperTriangular) {
		p |= LowerTriangular
	}
	a.Properties = p
	return a
}

// without are the attributes less some properties.
func (a Attributes) without(p Property) Attributes {
	a.Properties &^= p
	if p.Has(DiagonalKnown) {
		a.Diagonal = 0
	}
	return a
}
