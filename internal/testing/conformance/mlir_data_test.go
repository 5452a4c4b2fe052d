package conformance

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// mlirNumber decodes a number, a name of one, or a pair of the two parts of a
// complex number.
func mlirNumber(t *testing.T, raw json.RawMessage) complex128 {
	t.Helper()
	var pair []json.RawMessage
	if json.Unmarshal(raw, &pair) == nil {
		return complex(number(t, pair[0]), number(t, pair[1]))
	}
	return complex(number(t, raw), 0)
}

// mlirScalar decodes a number of a type.
func mlirScalar(t *testing.T, raw json.RawMessage, dt tensor.DType) tensor.Scalar {
	t.Helper()
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil && dt.IsInteger() {
		return tensor.Int(dt, n)
	}
	if dt.IsComplex() {
		return tensor.Complex(dt, mlirNumber(t, raw))
	}
	return tensor.Float(dt, number(t, raw))
}

// mlirValues decodes numbers.
func mlirValues(t *testing.T, raw []json.RawMessage, dt tensor.DType) tensor.Array {
	t.Helper()
	out, err := tensor.MakeArray(dt, len(raw))
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range raw {
		out.SetScalar(i, mlirScalar(t, r, dt))
	}
	return out
}

// dtype is the element type; complex ones are named after their parts.
func (x *mlirTensor) dtype(t *testing.T) tensor.DType {
	t.Helper()
	switch x.DType {
	case "":
		return tensor.Float64
	case "c64x2":
		return tensor.Complex128
	case "c32x2":
		return tensor.Complex64
	}
	return dtype(t, x.DType)
}

// width is the type of an index array of so many bits; 0 is our choice.
func width(t *testing.T, bits int) tensor.DType {
	t.Helper()
	if bits == 0 {
		return tensor.Invalid
	}
	return dtype(t, fmt.Sprintf("u%d", bits))
}

// readMatrixMarket reads a file that is written on one line: the header, then
// entries, which start at "entries (1-based):" and are separated by semicolons.
func readMatrixMarket(t *testing.T, text string, f tensor.Format) *tensor.Tensor {
	t.Helper()
	header, rest, _ := strings.Cut(text, ";")
	_, list, _ := strings.Cut(rest, ":")
	entries := strings.Split(list, ";")
	size := 0
	for i, e := range entries {
		entries[i] = strings.TrimSpace(e)
		for _, n := range strings.Fields(e)[:2] {
			size = max(size, atoi(n))
		}
	}
	text = fmt.Sprintf("%s\n%d %d %d\n%s\n", header, size, size, len(entries), strings.Join(entries, "\n"))
	a, err := file.ReadFrom("case.mtx", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if a, err = a.Convert(f); err != nil {
		t.Fatal(err)
	}
	return a
}

// generate evaluates a generator at every coordinate: a formula in the indices,
// which it may name itself as in "B(k,j)=4*k+j", or "v except (coordinate)=w".
func generate(t *testing.T, text string, letters []string, shape []int64, dt tensor.DType) tensor.Array {
	t.Helper()
	if m := regexp.MustCompile(`^\w+\(([\w,]+)\)=([^=].*)$`).FindStringSubmatch(text); m != nil {
		letters, text = strings.Split(m[1], ","), m[2]
	}
	text, except, _ := strings.Cut(text, " except ")
	at, other, _ := strings.Cut(except, "=")
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	out, err := tensor.MakeArray(dt, int(n))
	if err != nil {
		t.Fatal(err)
	}
	for p := range n {
		coord := map[string]int64{}
		var tuple []string
		for axis, rest := len(shape)-1, p; axis >= 0; axis-- {
			tuple = slices.Insert(tuple, 0, strconv.FormatInt(rest%shape[axis], 10))
			if axis < len(letters) {
				coord[letters[axis]] = rest % shape[axis]
			}
			rest /= shape[axis]
		}
		formula := text
		if at == "("+strings.Join(tuple, ",")+")" {
			formula = other
		}
		out.SetScalar(int(p), tensor.Int(tensor.Int64, formulaValue(t, formula, coord)).Convert(dt))
	}
	return out
}

// formulaValue evaluates integers, indices, "*", "+" and "==".
func formulaValue(t *testing.T, s string, coord map[string]int64) int64 {
	t.Helper()
	for _, op := range []string{"==", "+", "*"} {
		a, b, found := strings.Cut(s, op)
		if !found {
			continue
		}
		x, y := formulaValue(t, a, coord), formulaValue(t, b, coord)
		switch op {
		case "+":
			return x + y
		case "*":
			return x * y
		}
		if x == y {
			return 1
		}
		return 0
	}
	s = strings.TrimSpace(s)
	if v, ok := coord[s]; ok {
		return v
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatalf("generator: %v", err)
	}
	return n
}
