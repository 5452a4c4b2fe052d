package difftest

import (
	"fmt"
	"math"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A shape is a program whose operands are single letters: products with a shared
// index that is reduced, in every order of storage. These are what workspaces
// and conversions are for.
type shape struct {
	text string
	// needs says what the element type must be like.
	needs func(tensor.DType) bool
	// undefined says that it has no value where k has no values.
	undefined bool
}

func anyNumber(tensor.DType) bool       { return true }
func ordered(dt tensor.DType) bool      { return !dt.IsComplex() }
func summable(dt tensor.DType) bool     { return dt != tensor.Bool && !dt.IsComplex() }
func accumulates(dt tensor.DType) bool  { return sumType(dt) == dt } // R = …; R += … is of one type
func subtractable(dt tensor.DType) bool { return dt != tensor.Bool }

var shapes = []shape{
	{"R(i,j) = A(i,k)*B(k,j)", anyNumber, false},
	{"R(i,j) = A(i,k)*B(j,k)", anyNumber, false},
	{"R(i,j) = A(k,i)*B(k,j)", anyNumber, false},
	{"R(j,i) = A(i,k)*B(k,j)", anyNumber, false},
	{"R(i,j) = A(i,k)*A(k,j)", anyNumber, false},
	{"R(i,j) = A(k,i)*A(k,j)", anyNumber, false},
	{"R(i,j) = A(i,k)*B(k,j) + C(i,j)", anyNumber, false},
	{"R(i,j) = C(i,j) - A(i,k)*B(k,j)", subtractable, false},
	{"R(i,j) = C(i,j)*(A(i,k)*B(k,j))", anyNumber, false},
	{"R(i,j) = x(i)*A(i,k)*B(k,j)*y(j)", anyNumber, false},
	{"R(i,j) = where(C(i,j) != 0, A(i,k)*B(k,j), 0)", subtractable, false},
	{"R(i,j) = A(i,k)*B(k,l)*C(l,j)", anyNumber, false},
	{"R(i,j) = A(i,k)*B(k,j) + C(i,l)*D(l,j)", anyNumber, false},
	{"R(i,j) = A(i,k)*B(k,j)*C(i,k)", anyNumber, false},
	{"R(i,j) = min_k (A(i,k) + B(k,j))", ordered, true},
	{"R(i,j) = max_k (A(i,k)*B(k,j))", ordered, true},
	{"R(i,j) = any_k (A(i,k) and B(k,j))", anyNumber, false},
	{"R(i,j) = count_k (A(i,k)*B(k,j))", anyNumber, false},
	{"R(i,j) = prod_k (A(i,k) + B(k,j))", anyNumber, false},
	{"R(i,j) = logsumexp_k (A(i,k) + B(k,j))", summable, false},
	{"R(i,j) = argmax_k (A(i,k)*B(k,j))", ordered, true},
	{"R(i,j) = argmin_k (A(i,k) - B(k,j))", summable, true},
	{"R(i,j) = mean_k (A(i,k)*B(k,j))", anyNumber, false},
	{"R(i,j) = sum_{k in A} (A(i,k)*B(k,j))", anyNumber, false},
	{"R(i,j) = sum_{k in B} (A(i,k) + B(k,j))", anyNumber, false},
	{"R(i,j) = max_{k in A} (A(i,k)*B(k,j))", ordered, false},
	{"R(i,j) = sum_k (A(i,k) + B(k,j))", anyNumber, false},
	{"R(i,j) = sum_k (where(A(i,k) > B(k,j), A(i,k), B(k,j)))", ordered, false},
	{"R(i,j) = k*A(i,k)*B(k,j)", subtractable, false},
	{"R(i,j,l) = T(i,j,k)*B(k,l)", anyNumber, false},
	{"R(i,l) = T(i,j,k)*B(j,l)*C(k,l)", anyNumber, false},
	{"R(j,l) = T(k,j,i)*U(k,i,l)", anyNumber, false},
	{"R(j,i,l) = T(i,k,j)*B(l,k)", anyNumber, false},
	{"R(i) = A(i,k)*x(k)", anyNumber, false},
	{"R(j) = A(k,j)*x(k)", anyNumber, false},
	{"R(j) = A(k,j)*x(k) + y(j)", anyNumber, false},
	{"R(j,i) = T(k,i,j)*x(k)", anyNumber, false},
	{"R(j,i) = T(k,i,j)", anyNumber, false},
	{"R(k,i,j) = T(i,j,k)", anyNumber, false},
	{"R(k,i,j) = T(i,j,k) + U(j,k,i)", anyNumber, false},
	{"R = A(i,k)*B(k,j)*C(j,i)", anyNumber, false},
	{"R = A(i,j)*B(j,k)*C(i,k)", anyNumber, false},
	{"R = sum_{i,j} (A(i,j)*(sum_k (B(i,k)*C(k,j))))", anyNumber, false},
	{"R(i) = sum_j (sum_k (A(i,j)*B(j,k)*C(i,k)))", anyNumber, false},
	{"R(i) = max_k (A(i,k)*x(k))", ordered, true},
	{"R(i,j) = C(i,j)*(A(i,k)*B(j,k))", anyNumber, false},
	{"R(i,j) = max_k (A(i,k)*B(j,k))", ordered, true},
	{"R(i,j) = argmax_k (A(i,k)*B(j,k))", ordered, true},
	{"R(i,j) = prod_k (A(i,k)*B(j,k))", anyNumber, false},
	{"R(i,j) = logsumexp_k (A(i,k)*B(j,k))", summable, false},
	{"R(i,j) = A(i,k)*B(j,k)*x(k)", anyNumber, false},
	{"R(i,j) = any_k (A(i,k) and B(j,k) and x(k))", anyNumber, false},
	{"R(i,j,l) = T(i,j,k)*U(i,l,k)", anyNumber, false},
	{"R(i+1,j) = A(i,k)*B(k,j)", anyNumber, false},
	{"R(i,2*j) = A(i,k)*B(k,j)", anyNumber, false},
	{"R(1,j) = A(i,k)*B(k,j)", anyNumber, false},
	{"R(i,i) = A(i,k)*B(k,i)", anyNumber, false},
	{"R(i,j) = A(i,k)*B(k,j); R(i,j) += C(i,j)", anyNumber, false},
	{"R(i,j,l) = T(i,j,l); R(i,j,l) += U(i,j,k)*B(k,l)", accumulates, false},
	{"R(i,j,l) = T(l,j,i); R(l,i,j) += R(i,j,l)", anyNumber, false},
	{"R(i,j) = where(C(i,j) != 0 or D(j,i) != 0, A(i,k)*B(k,j), 0)", subtractable, false},
	{"R(i,j) = (C(i,j) + D(i,j))*(A(i,k)*B(k,j)) + E(i,j)", anyNumber, false},
	{"R(i,j) = where(C(i,j) > 0 and not D(i,j) > 0, A(i,k)*B(k,j), E(i,j))", ordered, false},
	{"R(i,j) = max(C(i,j), sum_k (A(i,k)*B(k,j)), D(i,j))", ordered, false},
	{"S(i,j) = A(i,k)*B(k,j); Q(j,i) = A(i,k)*C(k,j); R(i,j) = S(i,j) + Q(j,i)*S(j,i)", anyNumber, false},
	{"Q(i) = A(i,k)*x(k); S(i,j) = Q(i)*A(i,j); R(j) = S(i,j)*Q(i)", anyNumber, false},
	{"R(i,j,k,l) = A(i,j)*B(k,l)", anyNumber, false},
	{"R(k,i,l,j) = A(i,j)*B(k,l) + V(i,j,k,l)", anyNumber, false},
	{"R(i,j,k,l) = V(i,j,k,l) + W(l,k,j,i)", anyNumber, false},
	{"R(l,k,j,i) = V(i,j,k,l)", anyNumber, false},
	{"R(j,k,l) = V(i,j,k,l)*x(i)", anyNumber, false},
	{"R(i,j,m,n) = V(i,j,k,l)*W(k,l,m,n)", anyNumber, false},
	{"R(i,j,l,m) = T(i,j,k)*U(k,l,m)", anyNumber, false},
	{"R(i,m,l) = V(i,j,k,l)*B(j,m)*C(k,m)", anyNumber, false},
	{"R(i,j,k,l,m) = V(i,j,k,l)*x(m)", anyNumber, false},
	{"R(m,l,k,j,i) = V(i,j,k,l)*B(l,m)", anyNumber, false},
	{"R(i,j,k,l,m,n) = T(i,j,k)*U(l,m,n)", anyNumber, false},
	{"R(n,j,k,l,m,i) = F(i,j,k,l,m,n) + T(i,j,k)*U(l,m,n)", anyNumber, false},
	{"R(i,l) = F(i,j,k,l,m,n)*T(j,k,m)", anyNumber, false},
	{"R(k) = max_{i,j,l} V(i,j,k,l)", ordered, false}, // never over nothing: see product
	{"R(i,j) = any_{k,l} (V(i,k,j,l) and B(k,l))", anyNumber, false},
	{"S(i,k) = A(i,l)*B(l,k); R(i,j) = S(i,k)*C(k,j)", anyNumber, false},
	{"S(k,i) = A(i,l)*B(l,k); R(i,j) = S(k,i)*S(k,j)", anyNumber, false},
}

// chains are operators whose repeated use folds many operands, with the value
// that changes nothing.
var chains = []struct {
	text    string // of two terms
	neutral float64
	needs   func(tensor.DType) bool
}{
	{"%s + %s", 0, anyNumber},
	{"%s * %s", 1, anyNumber},
	{"min(%s, %s)", math.Inf(1), isReal},
	{"max(%s, %s)", math.Inf(-1), isReal},
	{"(%s or %s)", 0, boolean},
	{"(%s and %s)", 1, boolean},
}

func isReal(dt tensor.DType) bool  { return dt.IsFloat() }
func boolean(dt tensor.DType) bool { return dt == tensor.Bool }

// chain writes a program that folds many operands, most of them with the fill
// that changes nothing.
func (g *generator) chain() {
	c := pick(g, chains...)
	for !c.needs(g.dtype) {
		c = pick(g, chains[:2]...)
	}
	for _, v := range []string{"i", "j"} {
		g.extents[v] = int64(pick(g, 3, 4, 1, 6, 9))
	}
	if neutral := tensor.Float(tensor.Float64, c.neutral).Convert(g.dtype); g.chance(80) {
		g.fill = &neutral
	}
	defer func() { g.fill = nil }()
	terms := []string{"A(i,j)", "B(j,i)", "C(i,j)", "D(i,j)", "E(j,i)", "F(i,j)", "G(i,j)", "x(i)", "y(j)"}
	text := terms[0]
	n := 3 + g.intn(5)
	for range n {
		text = fmt.Sprintf(c.text, text, pick(g, terms...))
	}
	g.shapeOperands(text)
	g.shapeResult("R(i,j)")
	g.lines = append(g.lines, "R(i,j) = "+text)
}

// product writes one of the shapes.
func (g *generator) product(name string) {
	if g.chance(12) {
		g.chain()
		return
	}
	sh := pick(g, shapes...)
	for !sh.needs(g.dtype) {
		sh = shapes[g.intn(4)]
	}
	for _, v := range indexNames {
		g.extents[v] = int64(pick(g, 3, 4, 1, 2, 6, 9, 5, 14, 19))
		if isHigh(sh.text) {
			g.extents[v] = int64(pick(g, 2, 3, 1, 4))
		}
		if g.chance(4) && !strings.Contains(sh.text, "max_{i") {
			g.extents[v] = 0
		}
	}
	g.fit(sh.text)
	for _, stmt := range strings.Split(sh.text, "; ") {
		left, right, _ := strings.Cut(stmt, "=")
		g.shapeOperands(right)
		g.shapeResult(strings.TrimSuffix(left, "+"))
		g.lines = append(g.lines, stmt)
	}
	_, free, _ := strings.Cut(sh.text[:strings.Index(sh.text, "=")], "(")
	if sh.undefined && g.extents["k"] == 0 && g.extents["i"] > 0 && (g.extents["j"] > 0 || !strings.Contains(free, "j")) {
		g.Refused = lang.ErrEmptyReduction
	}
}

// isHigh reports whether a text has a tensor of rank 4 or more, whose extents must be few
// for the oracle, which is dense.
func isHigh(text string) bool {
	high := false
	letters(text, func(_ string, indices []string) { high = high || len(indices) > 3 })
	return high
}

// fit gives indices that stand at one place of a tensor the same extent.
func (g *generator) fit(text string) {
	for range indexNames { // until nothing changes
		first := map[string][]string{}
		letters(text, func(name string, indices []string) {
			if first[name] == nil {
				first[name] = indices
			}
			for axis, v := range indices {
				w := first[name][axis]
				n, plain := g.extents[v]
				if m, ok := g.extents[w]; plain && ok {
					g.extents[v], g.extents[w] = min(m, n), min(m, n)
				}
			}
		})
	}
}

// letters calls f for every tensor of a text with one-letter names.
func letters(text string, f func(name string, indices []string)) {
	for p, c := range text {
		letter := c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter || p+1 == len(text) || text[p+1] != '(' || p > 0 && !strings.ContainsRune(" *(", rune(text[p-1])) {
			continue
		}
		end := strings.Index(text[p:], ")") + p
		f(string(c), strings.Split(text[p+2:end], ","))
	}
}

func (g *generator) shapeOperands(text string) {
	letters(text, func(name string, indices []string) {
		if g.Operands[name] != nil || g.Results[name].Shape != nil {
			return
		}
		dims := make([]int64, len(indices))
		for axis, v := range indices {
			dims[axis] = g.extents[v]
		}
		g.operand(name, dims, g.dtype)
	})
}

// shapeResult declares the result, of any format, the dense one included.
func (g *generator) shapeResult(text string) {
	name := strings.TrimSpace(text)[:1]
	d := Result{}
	letters(text, func(_ string, indices []string) {
		for _, x := range indices {
			n := int64(2)
			switch {
			case strings.HasSuffix(x, "+1"):
				n = g.extents[x[:1]] + 1
			case strings.HasPrefix(x, "2*"):
				n = 2 * g.extents[x[2:]]
			case x != "1":
				n = g.extents[x]
			}
			d.Shape = append(d.Shape, n)
		}
	})
	if len(d.Shape) > 0 && !g.chance(25) {
		d.Format, d.HasFormat = g.inAnyOrder(g.sparser(len(d.Shape))), true
	}
	g.Results[name] = d
}
