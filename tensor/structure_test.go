package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// matrixFormats are the formats that structures are tried in.
var matrixFormats = []Format{CSR, CSC, DCSR, DCSC, COO, COOC, Dense(2), mustFormat([]LevelKind{S, D}, nil), mustFormat([]LevelKind{D, D}, []int{1, 0})}

// structuredTypes are the element types that a structure is for.
func structuredTypes(s Structure) []DType {
	switch s {
	case HermitianLower, HermitianUpper:
		return []DType{Complex64, Complex128}
	case SkewSymmetricLower, SkewSymmetricUpper:
		return []DType{Int8, Int64, Float16, BFloat16, Float32, Float64, Complex128}
	}
	return []DType{Bool, Uint8, Int64, Float16, Float64, Complex64}
}

// drawTriangle draws the entries of one triangle, without duplicates, and the whole
// matrix that they mean.
func drawTriangle(t *rapid.T, s Structure) (n int64, dt DType, coords [][]int64, values Array, whole map[[2]int64]Scalar) {
	n = rapid.Int64Range(0, 5).Draw(t, "n")
	dt = rapid.SampledFrom(structuredTypes(s)).Draw(t, "type")
	whole = map[[2]int64]Scalar{}
	coords = [][]int64{{}, {}}
	var list []Scalar
	for i := range n {
		for j := range n {
			if !s.Stores(i, j) || rapid.Bool().Draw(t, "leave out") {
				continue
			}
			re, im := rapid.IntRange(-3, 3).Draw(t, "re"), 0
			if dt.IsComplex() {
				im = rapid.IntRange(-3, 3).Draw(t, "im")
			}
			if i == j {
				switch s {
				case HermitianLower, HermitianUpper:
					im = 0
				case SkewSymmetricLower, SkewSymmetricUpper:
					re, im = 0, 0
				}
			}
			x := Complex(dt, complex(float64(re), float64(im)))
			if dt == Bool || dt.IsUnsigned() {
				x = Int(dt, int64(max(re, 0)))
			}
			coords[0], coords[1], list = append(coords[0], i), append(coords[1], j), append(list, x)
			whole[[2]int64{i, j}] = x
			if i != j {
				image := x
				switch s {
				case HermitianLower, HermitianUpper:
					image = Complex(dt, complex(real(x.Complex128()), -imag(x.Complex128())))
				case SkewSymmetricLower, SkewSymmetricUpper:
					image = Complex(dt, -x.Complex128())
				}
				whole[[2]int64{j, i}] = image
			}
		}
	}
	values, _ = MakeArray(dt, len(list))
	for p, x := range list {
		values.SetScalar(p, x)
	}
	return n, dt, coords, values, whole
}

// checkWhole compares a square matrix with what it should mean.
func checkWhole(t *rapid.T, a *Tensor, want map[[2]int64]Scalar) {
	t.Helper()
	if err := validate(a); err != nil {
		t.Fatalf("%v breaks the rules: %v", a, err)
	}
	dense, err := a.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	n := a.shape[0]
	for i := range n {
		for j := range n {
			x, ok := want[[2]int64{i, j}]
			if !ok {
				x = a.fill
			}
			if got := a.At(i, j); !got.equals(x) {
				t.Fatalf("%v at (%d,%d) is %v, want %v", a, i, j, got, x)
			}
			if got := dense.Scalar(int(i*n + j)); !got.equals(x) {
				t.Fatalf("%v densely at (%d,%d) is %v, want %v", a, i, j, got, x)
			}
		}
	}
}

func TestStructuresMeanTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Structure(rapid.IntRange(1, int(numStructures)-1).Draw(t, "structure"))
		n, _, coords, values, whole := drawTriangle(t, s)
		format := drawAnyFormat(t, 2)
		half, err := FromCoords([]int64{n, n}, format, coords, values)
		if err != nil {
			t.Fatal(err)
		}
		a, err := half.WithStructure(s)
		if err != nil {
			t.Fatal(err)
		}
		checkWhole(t, a, whole)

		full, err := a.Expand()
		if err != nil {
			t.Fatal(err)
		}
		if full.structure != General || full.format != format.Standard() {
			t.Fatalf("expanded to %v", full)
		}
		checkWhole(t, full, whole)
		back, err := full.Triangle(s)
		if err != nil {
			t.Fatal(err)
		}
		if back.structure != s {
			t.Fatalf("%v is not %v", back, s)
		}
		checkWhole(t, back, whole)

		other := drawAnyFormat(t, 2)
		for what, f := range map[string]func() (*Tensor, error){
			"converted": func() (*Tensor, error) { return a.Convert(other) },
			"pruned":    func() (*Tensor, error) { return a.Prune() },
		} {
			b, err := f()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if b.structure != s {
				t.Fatalf("%s to %v", what, b)
			}
			if err := b.checkStructure(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			checkWhole(t, b, whole)
		}
		transposed := map[[2]int64]Scalar{}
		for at, x := range whole {
			transposed[[2]int64{at[1], at[0]}] = x
		}
		b, err := a.Transpose(nil)
		if err != nil {
			t.Fatal(err)
		}
		if b.structure != s.Transposed() || b.checkStructure() != nil {
			t.Fatalf("transposed to %v", b)
		}
		checkWhole(t, b, transposed)
		flat, err := a.Reshape([]int64{n * n, 1}, COO)
		if err != nil {
			t.Fatal(err)
		}
		for at, x := range whole {
			if got := flat.At(at[0]*n+at[1], 0); !got.equals(x) {
				t.Fatalf("reshaped at %v: %v, want %v", at, got, x)
			}
		}
		twice, err := Concat(0, COO, a, a)
		if err != nil {
			t.Fatal(err)
		}
		for at, x := range whole {
			if got := twice.At(at[0]+n, at[1]); !got.equals(x) {
				t.Fatalf("concatenated at %v: %v, want %v", at, got, x)
			}
		}
	})
}

// TestMirroredFill: across the diagonal of an element that is not stored is the fill with its sign.
// The stored triangle is what it is without the other, and says nothing of the whole.
func TestTriangle(t *testing.T) {
	lower := must(FromCoords([]int64{2, 2}, CSR, [][]int64{{0, 1}, {0, 0}}, ArrayOf([]float64{2, 2})))
	a := must(must(lower.WithStructure(SymmetricLower)).WithAttributes(Attributes{Properties: Iso}))
	if x := a.triangle(); x.Structure() != General || x.Attributes() != (Attributes{}) || x.At(0, 1).Float64() != 0 || x.At(1, 0).Float64() != 2 {
		t.Errorf("the triangle is %v, with %v", x.Structure(), x.Attributes())
	}
}

func TestMirroredFill(t *testing.T) {
	half := must(FromCoords([]int64{2, 2}, CSR, [][]int64{{1}, {0}}, ArrayOf([]float64{0})))
	a := must(half.WithStructure(SkewSymmetricLower))
	if x := a.At(0, 1); !x.Same(Float(Float64, math.Copysign(0, -1))) {
		t.Errorf("the mirrored element is %v, want -0", x)
	}
	a = must(half.Transpose(nil))
	if x := must(must(a.Prune()).WithStructure(SkewSymmetricUpper)).At(1, 0); !x.Same(Zero(Float64)) {
		t.Errorf("across from nothing is %v, want the fill 0", x)
	}
}

func TestStructureRefused(t *testing.T) {
	matrix := func(shape []int64, dt DType, i, j int64, x Scalar) *Tensor {
		values, _ := MakeArray(dt, 1)
		values.SetScalar(0, x)
		a, err := FromCoords(shape, CSR, [][]int64{{i}, {j}}, values, WithName("A"))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	square := []int64{3, 3}
	for _, c := range []struct {
		a    *Tensor
		s    Structure
		want string
	}{
		{matrix([]int64{3, 4}, Float64, 0, 0, One(Float64)), SymmetricLower, `tensor "A": symmetric_lower: the shape is 3x4`},
		{matrix(square, Float64, 1, 2, One(Float64)), SymmetricLower, "an entry is stored at (1,2), outside the triangle"},
		{matrix(square, Float64, 2, 1, One(Float64)), SymmetricUpper, "an entry is stored at (2,1), outside the triangle"},
		{matrix(square, Float64, 2, 1, One(Float64)), HermitianLower, "Hermitian matrices are complex"},
		{matrix(square, Uint8, 2, 1, One(Uint8)), SkewSymmetricLower, "which have no negatives"},
		{matrix(square, Float64, 1, 1, One(Float64)), SkewSymmetricLower, "the element at (1,1) on the diagonal is 1: it must be 0"},
		{matrix(square, Complex64, 1, 1, Complex(Complex64, 1i)), HermitianLower, "the element at (1,1) on the diagonal is 0+1i: it must be real"},
		{matrix(square, Float64, 1, 1, Float(Float64, math.NaN())), Structure(99), "there is no structure Structure(99)"},
	} {
		if got, err := c.a.WithStructure(c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v of %v gives %v, %v; want %q", c.s, c.a, got, err, c.want)
		}
	}
	lop := matrix(square, Float64, 1, 2, One(Float64))
	if _, err := lop.Triangle(SymmetricLower); err == nil || !strings.Contains(err.Error(), "the element at (1,2) is 1, that at (2,1) is 0") {
		t.Errorf("Triangle of a matrix that is not symmetric: %v", err)
	}
	values := ArrayOf([]float64{2})
	a, err := FromCoords(square, CSR, [][]int64{{1}, {1}}, values, WithFill(One(Float64)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.WithStructure(SkewSymmetricLower); err == nil {
		t.Error("a skew-symmetric matrix with the fill 1 is accepted")
	}
}

func TestParseStructure(t *testing.T) {
	for s := range numStructures {
		for _, text := range []string{s.String(), strings.ToUpper(s.String()), strings.ReplaceAll(s.String(), "_", "-")} {
			if got, err := ParseStructure(text); err != nil || got != s {
				t.Errorf("%q reads as %v, %v", text, got, err)
			}
		}
	}
	if s, err := ParseStructure(""); s != General || err != nil {
		t.Errorf("the empty text reads as %v, %v", s, err)
	}
	if _, err := ParseStructure("symetric_lower"); err == nil || !strings.Contains(err.Error(), `did you mean "symmetric_lower"`) {
		t.Errorf("a misspelling gives %v", err)
	}
}

// bruteAttributes computes what holds of a matrix from its dense elements.
func bruteAttributes(a *Tensor) Property {
	n := a.shape[0]
	p := Symmetric | LowerTriangular | UpperTriangular
	if a.DType().IsComplex() {
		p |= Hermitian
	}
	if a.DType() != Bool && !a.DType().IsUnsigned() {
		p |= SkewSymmetric
	}
	for i := range n {
		for j := range n {
			x, y := a.At(i, j).Complex128(), a.At(j, i).Complex128()
			if x != y {
				p &^= Symmetric
			}
			if x != complex(real(y), -imag(y)) {
				p &^= Hermitian
			}
			if x != -y {
				p &^= SkewSymmetric
			}
			if x != a.fill.Complex128() && i < j {
				p &^= LowerTriangular
			}
			if x != a.fill.Complex128() && i > j {
				p &^= UpperTriangular
			}
		}
	}
	return p
}

func TestAttributes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 3).Draw(t, "n")
		dt := rapid.SampledFrom([]DType{Bool, Int32, Float64, Complex128}).Draw(t, "type")
		fill := Int(dt, rapid.Int64Range(0, 1).Draw(t, "fill"))
		var coords [2][]int64
		var list []Scalar
		diagonal := int64(0)
		stored := map[string]bool{}
		for i := range n {
			for j := range n {
				if rapid.Bool().Draw(t, "stored") {
					coords[0], coords[1] = append(coords[0], i), append(coords[1], j)
					list = append(list, Int(dt, rapid.Int64Range(0, 1).Draw(t, "v")))
					stored[fmt.Sprint(i, j)] = true
					if i == j {
						diagonal++
					}
				}
			}
		}
		values, _ := MakeArray(dt, len(list))
		for p, x := range list {
			values.SetScalar(p, x)
		}
		a, err := FromCoords([]int64{n, n}, rapid.SampledFrom(matrixFormats[:6]).Draw(t, "format"), coords[:], values, WithFill(fill))
		if err != nil {
			t.Fatal(err)
		}
		want := bruteAttributes(a) | DiagonalKnown | Iso | PatternSymmetric
		for p := range coords[0] {
			if !stored[fmt.Sprint(coords[1][p], coords[0][p])] {
				want &^= PatternSymmetric
			}
			if !list[p].Same(list[0]) {
				want &^= Iso
			}
		}
		got, err := a.FindAttributes()
		if err != nil || got.Properties != want || got.Diagonal != diagonal {
			t.Fatalf("%v: found %v, %v; want %v, diagonal %d", a, got, err, want, diagonal)
		}
		// What is found can be claimed, and whatever an operation keeps still holds.
		b, err := a.WithAttributes(got)
		if err != nil {
			t.Fatal(err)
		}
		other := rapid.SampledFrom(matrixFormats).Draw(t, "other")
		for what, f := range map[string]func() (*Tensor, error){
			"itself":     func() (*Tensor, error) { return b, nil },
			"converted":  func() (*Tensor, error) { return b.Convert(other) },
			"pruned":     func() (*Tensor, error) { return b.Prune() },
			"transposed": func() (*Tensor, error) { return b.Transpose(nil) },
			"reshaped":   func() (*Tensor, error) { return b.Reshape([]int64{n * n}, CSF(1)) },
		} {
			c, err := f()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if err := c.CheckAttributes(); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		// What is not found is refused.
		for bit := Property(1); bit <= lastProperty; bit <<= 1 {
			if want.Has(bit) || bit == Hermitian && !dt.IsComplex() {
				continue
			}
			c, err := a.WithAttributes(Attributes{Properties: bit})
			if err != nil {
				t.Fatal(err)
			}
			if c.CheckAttributes() == nil {
				t.Fatalf("%v passes as %v", a, bit)
			}
		}
	})
}

func TestAttributesText(t *testing.T) {
	a, err := FromCoords([]int64{2, 2}, CSR, [][]int64{{0}, {1}}, ArrayOf([]float64{3}), WithName("A"))
	if err != nil {
		t.Fatal(err)
	}
	a, err = a.WithAttributes(Attributes{Properties: UpperTriangular | DiagonalKnown | Symmetric, Diagonal: 0})
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Attributes().String(); got != "symmetric upper-triangular diagonal=0" {
		t.Errorf("attributes print as %q", got)
	}
	want := `tensor "A": it is claimed to be symmetric, but the element at (0,1) is 3 and that at (1,0) is 0`
	if err := a.CheckAttributes(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	vector, _ := FromCoords([]int64{2}, CSF(1), [][]int64{{0}}, ArrayOf([]float64{3}))
	if _, err := vector.WithAttributes(Attributes{Properties: Symmetric}); err == nil {
		t.Error("a vector is claimed to be symmetric")
	}
	if _, err := vector.WithAttributes(Attributes{Properties: Iso}); err != nil {
		t.Error(err)
	}
}
