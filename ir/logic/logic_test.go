package logic

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// operand describes one of a test: its format, and statistics of uniform data.
type operand struct {
	format tensor.Format
	stats  *tensor.Statistics
	dtype  tensor.DType
}

// uniform is an operand with as many entries of a coordinate of its first axis.
func uniform(f tensor.Format, each float64, extents ...float64) operand {
	s := &tensor.Statistics{Entries: extents[0] * each, Finite: true, Exponent: 1, NonNegative: true}
	for _, x := range extents {
		d := min(x, s.Entries)
		s.Axes = append(s.Axes, tensor.AxisStatistics{Extent: x, NonEmpty: d, Longest: 2 * s.Entries / d, Squares: 1.1 * s.Entries * s.Entries / d})
	}
	return operand{f, s, tensor.Float64}
}

func dense(extents ...float64) operand {
	s := &tensor.Statistics{Entries: 1, Finite: true, Exponent: 1, NonNegative: true}
	for _, x := range extents {
		s.Entries *= x
	}
	for _, x := range extents {
		s.Axes = append(s.Axes, tensor.AxisStatistics{Extent: x, NonEmpty: x, Longest: s.Entries / x, Squares: s.Entries * s.Entries / x})
	}
	return operand{tensor.Dense(len(extents)), s, tensor.Float64}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// optimise optimises a program for operands; the results are dense.
func optimise(t testing.TB, text string, operands map[string]operand, change func(*Options)) (*lang.Program, *Result) {
	t.Helper()
	file, err := lang.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	decls, stats := map[string]lang.Decl{}, map[string]*tensor.Statistics{}
	for name, o := range operands {
		decls[name] = lang.Decl{Rank: o.format.Rank(), Format: o.format, HasFormat: true, DType: o.dtype, HasDType: true}
		stats[name] = o.stats.Rounded()
	}
	p, err := lang.Check(file, decls)
	if err != nil {
		t.Fatal(err)
	}
	opts := Options{
		Statistics: stats,
		Stores: func() (map[*lang.Tensor]Stored, bool) {
			all := map[*lang.Tensor]Stored{}
			for _, t := range p.Tensors {
				if t.Result {
					all[t] = Stored{tensor.Dense(t.Rank), tensor.Zero(t.DType)}
				}
			}
			return all, true
		},
		Check: func(f *lang.File, more map[string]lang.Decl) (*lang.Program, error) {
			all := map[string]lang.Decl{}
			for name, d := range more {
				all[name] = d
			}
			for name, d := range decls {
				all[name] = d
			}
			return lang.Check(f, all)
		},
	}
	if change != nil {
		change(&opts)
	}
	return p, Optimise(file, p, opts)
}

// chosen is the optimised program as text.
func chosen(t testing.TB, text string, operands map[string]operand) string {
	p, r := optimise(t, text, operands, nil)
	if r == nil {
		return p.String()
	}
	if r.Program == nil {
		t.Fatalf("%s: %v", text, r.Notes)
	}
	return r.Program.String()
}

const n = 20000

var (
	csr       = uniform(tensor.CSR, 16, n, n)
	csc       = uniform(tensor.CSC, 16, n, n)
	vec       = dense(n)
	sparseVec = must(tensor.FormatOf([]tensor.LevelKind{tensor.S}, []int{0}))
	cube      = uniform(tensor.CSF(3), 1000, 1000, 1000, 1000)
	power     = operand{tensor.CSR, &tensor.Statistics{Entries: 65000, Finite: true, Exponent: 1, NonNegative: true, Axes: []tensor.AxisStatistics{
		{Extent: 8192, NonEmpty: 5000, Longest: 700, Squares: 4e6}, {Extent: 8192, NonEmpty: 5000, Longest: 700, Squares: 4e6}}}, tensor.Float64}
)

// programs are those whose order is golden.
var programs = []struct {
	text     string
	operands map[string]operand
}{
	{"y(i) = A(i,j)*B(j,k)*x(k)", map[string]operand{"A": csr, "B": csr, "x": vec}},
	{"s = R(i,j)*R(j,k)*R(k,l)", map[string]operand{"R": power}},
	{"s = sum_{i,j} (A(i,j) - sum_k U(i,k)*V(j,k))^2", map[string]operand{"A": csr, "U": dense(n, 16), "V": dense(n, 16)}},
	{"Y(i,k) = A(i,j)*X(j,f)*W(f,k)", map[string]operand{"A": csr, "X": dense(n, 128), "W": dense(128, 8)}},
	{"H(i,f) = max(sum_j A(i,j)*sum_k X(j,k)*W(k,f), 0)", map[string]operand{"A": csr, "X": dense(n, 128), "W": dense(128, 8)}},
	{"M(i,r) = sum_j B(j,r)*sum_k T(i,j,k)*C(k,r)", map[string]operand{"T": cube, "B": dense(1000, 16), "C": dense(1000, 16)}},
	{"y(i) = (A(i,j)+B(i,j))*x(j)", map[string]operand{"A": csr, "B": csc, "x": vec}},
	// What has nothing to choose, or does not pay, stays.
	{"y(i) = A(i,j)*x(j)", map[string]operand{"A": csr, "x": vec}},
	{"s = R(i,j)*R(j,k)*R(i,k)", map[string]operand{"R": power}},
	{"y(i) = A(i,j)*B(j,k)*x(k)", map[string]operand{"A": uniform(tensor.CSR, 2, 10, 10), "B": uniform(tensor.CSR, 2, 10, 10), "x": dense(10)}},
	// The other association, where the weights are wide.
	{"Y(i,k) = A(i,j)*X(j,f)*W(f,k)", map[string]operand{"A": csr, "X": dense(n, 8), "W": dense(8, 64)}},
	{"y(l) = x(i)*A(i,j)*B(j,k)*A(k,l)", map[string]operand{"A": csr, "B": csr, "x": vec}},
	{"s = x(i)*A(i,j)*B(j,k)*y(k)", map[string]operand{"A": csr, "B": csr, "x": vec, "y": vec}},
	{"s = sum_{i,j} where(stored(A(i,j)), sum_k U(i,k)*V(j,k), 0)", map[string]operand{"A": csr, "U": dense(n, 16), "V": dense(n, 16)}},
	{"y(i) = 0.85*sum_j (A(i,j)*B(j,k)*x(k)) + 0.15*x(i)", map[string]operand{"A": csr, "B": csr, "x": vec}},
	// Once for both statements.
	{"y(i) = A(i,j)*B(j,k)*x(k); z(i) = C(i,j)*B(j,k)*x(k)", map[string]operand{"A": csr, "B": csr, "C": csr, "x": vec}},
	{"y(i) = A(i,j)*B(j,k)*x(k); x(i) = y(i); z(i) = A(i,j)*B(j,k)*x(k)", map[string]operand{"A": csr, "B": csr, "x": vec}},
	// Once for several factors, where that makes it cheaper.
	{"s = R(i,j)*R(i,k)*R(i,l)", map[string]operand{"R": power}},
	{"s = R(i,j)*R(j,k)*R(i,l)*R(j,m)", map[string]operand{"R": power}},
	{"s = R(i,j)*R(i,k)*R(l,i)", map[string]operand{"R": power}},
	// What an iteration would look up twice is multiplied before.
	{"y(i) = A(i,j)*w(j)*x(j)", map[string]operand{"A": csr, "w": vec, "x": vec}},
	{"y(i) = d(i)*A(i,j)*x(j)", map[string]operand{"A": csr, "d": vec, "x": vec}},
	{"y(i) = A(j,i)*w(j)*x(j)", map[string]operand{"A": csr, "w": vec, "x": vec}},
	{"y(i) = 0.85*sum_j (A(j,i)*w(j)*x(j)) + 0.15*w(i)", map[string]operand{"A": csr, "w": vec, "x": vec}},
	// A sparse vector that is looked up at each entry of a larger operand is spread, unless it has few entries, and where loops over its entries do.
	{"y(i) = A(i,j)*x(j)", map[string]operand{"A": csr, "x": uniform(sparseVec, 0.25, n)}},
	{"y(i) = A(i,j)*x(j)", map[string]operand{"A": csr, "x": uniform(sparseVec, 0.0005, n)}},
	{"y(i) = A(i,j)*x(j)", map[string]operand{"A": csc, "x": uniform(sparseVec, 0.25, n)}},
	// Sums with columns are made by themselves, unless a sparse operand says that few elements are needed.
	{"G(i,r) = sum_j (A(i,j) - sum_k U(i,k)*V(j,k))*V(j,r)", map[string]operand{"A": csr, "U": dense(n, 16), "V": dense(n, 16)}},
	{"H(i,f) = max(sum_j A(i,j)*X(j,f), 0)", map[string]operand{"A": csr, "X": dense(n, 16)}},
	{"Y(i,j) = M(i,j)*exp(sum_k U(i,k)*W(k,j))", map[string]operand{"M": uniform(tensor.CSR, 2, 2000, 2000), "U": dense(2000, 16), "W": dense(16, 2000)}},
	// Rows of an intermediate that a sparse operand has alone are needed.
	{"H(i,f) = m(i)*max(sum_j A(i,j)*sum_k X(j,k)*W(k,f), 0)", map[string]operand{"m": uniform(sparseVec, 0.01, n), "A": csr, "X": dense(n, 128), "W": dense(128, 8)}},
	{"H(i,f) = m(i)*max(sum_j A(i,j)*sum_k X(j,k)*W(k,f), 0)", map[string]operand{"m": uniform(sparseVec, 0.9, n), "A": csr, "X": dense(n, 128), "W": dense(128, 8)}},
	{"H(i,f) = where(stored(m(i)), max(sum_j A(i,j)*sum_k X(j,k)*W(k,f), 0), 0)", map[string]operand{"m": uniform(sparseVec, 0.01, n), "A": csr, "X": dense(n, 128), "W": dense(128, 8)}},
	// Functions of sums are computed for four elements at once.
	{"y(i) = sigmoid(sum_j A(i,j)*x(j))", map[string]operand{"A": csr, "x": vec}},
	{"g(j) = sum_i A(i,j)*(sigmoid(sum_k A(i,k)*x(k)) - y(i))", map[string]operand{"A": csr, "x": vec, "y": vec}},
	{"Y(i,f) = sum_j A(i,j)*tanh(sum_k X(j,k)*W(k,f))", map[string]operand{"A": csr, "X": dense(n, 16), "W": dense(16, 8)}},
	// What stands inside a factor has an order of its own.
	{"y(i) = A(i,j)*exp(sum_{k,l} (B(j,k)*B(k,l)*x(l)))", map[string]operand{"A": csr, "B": csr, "x": vec}},
	// Roots of what is not negative are numbers.
	{"Y(i,f) = sum_j R(i,j)*X(j,f)/(sqrt(sum_k R(i,k))*sqrt(sum_l R(j,l)))", map[string]operand{"R": power, "X": dense(8192, 16)}},
	// The zero of a gap has no sign: where that tells, intermediates store what sums do.
	{"y(i) = 1/(2*sum_{j,k} (A(i,j)*B(j,k)*x(k)))", map[string]operand{"A": csr, "B": csr, "x": vec}},
	{"y(i) = 1/(-2*sum_{j,k} (A(i,j)*B(j,k)*x(k)))", map[string]operand{"A": csr, "B": csr, "x": vec}},
	{"y(i) = exp(-2*sum_{j,k} (A(i,j)*B(j,k)*x(k)))", map[string]operand{"A": csr, "B": csr, "x": vec}},
	// Other operators.
	{"d(i) = min_j (A(i,j) + min_k (B(j,k) + x(k)))", map[string]operand{"A": dense(2000, 2000), "B": dense(2000, 2000), "x": dense(2000)}},
	{"h(i,j) = max(exp(A(i,j)), sum_k X(j,k)*x(k))", map[string]operand{"A": dense(2000, 2000), "X": dense(2000, 2000), "x": dense(2000)}},
}

// TestChosenOrders compares the orders that are chosen with testdata/orders.golden. -update writes it.
func TestChosenOrders(t *testing.T) {
	var b strings.Builder
	for _, p := range programs {
		fmt.Fprintf(&b, "# %s\n%s\n\n", strings.ReplaceAll(p.text, "\n", "; "), chosen(t, p.text, p.operands))
	}
	path := filepath.Join("testdata", "orders.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("other orders than in %s:\n%s", path, got)
	}
}

// TestRefusals keeps as written what cannot be proved to mean the same, whatever it costs.
func TestRefusals(t *testing.T) {
	inf, huge := csr, csr
	s := *csr.stats
	s.Finite = false
	inf.stats = &s
	h := *csr.stats
	h.Exponent = 900
	huge.stats = &h
	narrow := vec
	narrow.dtype = tensor.Float16
	short := csr
	short.dtype = tensor.Int32
	for _, c := range []struct {
		why, text string
		operands  map[string]operand
	}{
		{"an operand is not finite", "y(i) = A(i,j)*B(j,k)*x(k)", map[string]operand{"A": inf, "B": csr, "x": vec}},
		{"a product may overflow", "y(i) = A(i,j)*B(j,k)*x(k)", map[string]operand{"A": huge, "B": huge, "x": vec}},
		{"stored elements only", "y(i) = sum_{j in A} (A(i,j)*sum_{k in B} (B(j,k)*x(k)))", map[string]operand{"A": csr, "B": csr, "x": vec}},
		{"a scan", "y(i) = sum_j A(i,j)*sum_k cumsum_k (B(j,k)*x(k))", map[string]operand{"A": csr, "B": csr, "x": vec}},
		{"a gather", "y(i) = A(i,j)*B(j,k)*x(p(k))", map[string]operand{"A": csr, "B": csr, "x": vec, "p": {vec.format, vec.stats, tensor.Int64}}},
		{"an offset", "y(i) = A(i,j)*B(j,k)*x(k+1)", map[string]operand{"A": csr, "B": csr, "x": vec}},
		{"a diagonal", "y(i) = A(i,j)*B(j,j)*C(j,k)*x(k)*D(k,k)", map[string]operand{"A": csr, "B": csr, "C": csr, "D": csr, "x": vec}},
		{"a quotient, which may be infinite", "y(i) = A(i,j)*B(j,k)*(x(k)/z(k))", map[string]operand{"A": csr, "B": csr, "x": vec, "z": vec}},
		{"narrow floats", "y(i) = x(i)*sum_j x(j)*sum_k x(k)", map[string]operand{"x": narrow}},
		{"narrow integers wrap", "y(i) = sum_j A(i,j)*B(j,k)*C(k,l)", map[string]operand{"A": short, "B": short, "C": short}},
		{"no law", "y(i) = prod_j (A(i,j)*prod_k (B(j,k)*x(k)))", map[string]operand{"A": csr, "B": csr, "x": vec}},
		{"a minimum of products", "y(i) = min_j (A(i,j)*min_k (B(j,k)*x(k)))", map[string]operand{"A": csr, "B": csr, "x": vec}},
		{"min-plus of sparse operands with gaps of 0", "y(i) = min_j (A(i,j)+min_k (B(j,k)+x(k)))", map[string]operand{"A": csr, "B": csr, "x": vec}},
	} {
		if _, r := optimise(t, c.text, c.operands, nil); r != nil {
			t.Errorf("%s: %s is reordered: %s", c.why, c.text, r.File)
		}
	}
}

// TestUnknownResults keeps as written what stores nobody knows what.
func TestUnknownResults(t *testing.T) {
	_, r := optimise(t, "y(i) = A(i,j)*B(j,k)*x(k)", map[string]operand{"A": csr, "B": csr, "x": vec}, func(o *Options) {
		o.Stores = func() (map[*lang.Tensor]Stored, bool) { return nil, false }
	})
	if r == nil || r.Program != nil || !strings.Contains(strings.Join(r.Notes, "; "), "how y is stored is not known") {
		t.Errorf("got %+v, want the program as it is written, and a note", r)
	}
}

// TestUnsoundOrders keeps as written, and tells so, what has become a program that does not check or computes something of another type.
func TestUnsoundOrders(t *testing.T) {
	for want, spoil := range map[string]func(*lang.Program) error{
		"the program runs as written: refused": func(*lang.Program) error { return errors.New("refused") },
		"the program runs as written: another order has other types": func(p *lang.Program) error {
			for _, x := range p.Tensors {
				if x.Name == "y" {
					x.DType = tensor.Float32
				}
			}
			return nil
		},
	} {
		_, r := optimise(t, "y(i) = A(i,j)*B(j,k)*x(k)", map[string]operand{"A": csr, "B": csr, "x": vec}, func(o *Options) {
			check := o.Check
			o.Check = func(f *lang.File, decls map[string]lang.Decl) (*lang.Program, error) {
				p, err := check(f, decls)
				if err == nil {
					err = spoil(p)
				}
				return p, err
			}
		})
		if r == nil || r.Program != nil || !slices.Contains(r.Notes, want) {
			t.Errorf("got %+v, want the program as it is written, and the note %q", r, want)
		}
	}
}

// TestTooManyFactors keeps as written, and tells so, what has more factors than are searched.
func TestTooManyFactors(t *testing.T) {
	text := "y(i) = A(i,j)" + strings.Repeat("*x(j)", cost.MostFactors)
	_, r := optimise(t, text, map[string]operand{"A": csr, "x": vec}, nil)
	if r == nil || r.Program != nil || !strings.Contains(strings.Join(r.Notes, "; "), "a product of 65 factors over 2 indices is computed as written") {
		t.Errorf("got %+v, want the program as it is written, and a note", r)
	}
}

// TestSparseResults has intermediates store what the sums that they stand for do, where the result tells.
func TestSparseResults(t *testing.T) {
	for _, c := range []struct {
		text, format string // of the intermediate
		operands     map[string]operand
	}{
		{"C(i,l) = A(i,j)*B(j,k)*X(k,l)", "CSR", map[string]operand{"A": csr, "B": csr, "X": uniform(tensor.CSR, 1, n, 4)}},
		{"C(i,l) = A(i,j)*X(j,k)*B(l,k)", "S-D", map[string]operand{"A": uniform(tensor.CSR, 8, 2000, 2000), "X": dense(2000, 400), "B": uniform(tensor.CSR, 8, 400, 400)}},
		{"C(i,l) = A(i,j)*(X(j,k)/2)*B(l,k)", "CSR", map[string]operand{"A": uniform(tensor.CSR, 8, 2000, 2000), "X": uniform(tensor.CSR, 380, 2000, 400), "B": uniform(tensor.CSR, 8, 400, 400)}},
	} {
		p, r := optimise(t, c.text, c.operands, func(o *Options) {
			stores := o.Stores
			o.Stores = func() (map[*lang.Tensor]Stored, bool) {
				all, ok := stores()
				for t := range all {
					all[t] = Stored{tensor.CSR, tensor.Zero(tensor.Float64)}
				}
				return all, ok
			}
		})
		if r == nil || len(r.Intermediates) != 1 {
			t.Fatalf("%s is not reordered", p)
		}
		for _, x := range r.Program.Tensors {
			if x.Name == r.Intermediates[0] && x.Format.String() != c.format {
				t.Errorf("%s: %s is stored as %s", c.text, x.Name, x.Format)
			}
		}
	}
}

// TestSearchTime bounds the time of a search: chains of three and of 64 matrices.
func TestSearchTime(t *testing.T) {
	for _, c := range []struct {
		factors int
		most    time.Duration
	}{{3, time.Millisecond}, {10, 200 * time.Millisecond}, {64, 50 * time.Millisecond}} {
		text, operands := "y(i0) = ", map[string]operand{"x": vec}
		for k := range c.factors - 1 {
			text += fmt.Sprintf("A%d(i%d,i%d)*", k, k, k+1)
			operands[fmt.Sprintf("A%d", k)] = csr
		}
		text += fmt.Sprintf("x(i%d)", c.factors-1)
		best := time.Duration(math.MaxInt64)
		var made int
		for range 5 {
			begin := time.Now()
			_, r := optimise(t, text, operands, nil)
			best = min(best, time.Since(begin))
			if r == nil || r.Program == nil {
				t.Fatalf("a chain of %d is not reordered", c.factors)
			}
			made = len(r.Intermediates)
		}
		if made != c.factors-2 {
			t.Errorf("a chain of %d has %d intermediates, want %d vectors", c.factors, made, c.factors-2)
		}
		t.Logf("%d factors: %v, with parsing and checking", c.factors, best)
		if best > 20*c.most { // an order of magnitude for loaded machines: figures are in docs/optimiser.md
			t.Errorf("a chain of %d takes %v, want about %v", c.factors, best, c.most)
		}
	}
}

// TestInlined computes a result that nobody asks for as a part of what reads it, where that costs less and means the same.
func TestInlined(t *testing.T) {
	operands := map[string]operand{"A": csr, "B": csr, "M": uniform(tensor.CSR, 2, n, n), "U": dense(n, 16), "x": vec}
	for _, c := range []struct{ text, want string }{
		{"C(i,k) = A(i,j)*B(j,k); y(i) = C(i,k)*x(k)", "t1(j) = sum_k (B(j,k)*x(k)); y(i) = sum_j (A(i,j)*t1(j))"},
		{"P(i,k) = U(i,f)*U(k,f); y(i) = sum_k M(i,k)*P(i,k)", "y(i) = sum_{k,f} (M(i,k)*U(i,f)*U(k,f))"},
		{"C(i,k) = A(i,j)*B(j,k); D(i,l) = C(i,k)*A(k,l); y(i) = max(D(i,l)*x(l), 0)", "t1(k) = sum_l (A(k,l)*x(l)); t2(j) = sum_k (B(j,k)*t1(k)); y(i) = max(sum_j (A(i,j)*t2(j)), 0.0)"},
		// Here it would be something else, or costs more.
		{"C(i,k) = A(i,j)*B(j,k); A(i,j) = M(i,j); y(i) = C(i,k)*x(k)", ""},
		{"C(i,k) = A(i,j)*B(j,k); y(i) = C(i,k)*x(k); z = C(i,k)", ""},
		{"z(i) = A(i,j)*x(j); y(i,k) = exp(z(i))*M(i,k)", ""},
		{"z(i) = A(i,j)*x(j); y(i,k) = z(i)*exp(M(i,k))", ""},
		{"z(i) = A(i,j)*x(j); z(2) = 1; y(i) = M(i,j)*z(j)", ""},
		{"z(i) = A(i,j)*x(j); y(i) = M(i,j)*z(j+1)", ""},
	} {
		p, r := optimise(t, c.text, operands, func(o *Options) { o.Wanted = []string{"y"} })
		switch {
		case c.want == "" && r == nil:
		case c.want == "":
			t.Errorf("%s became %s", p, r.File)
		case r == nil || r.Program == nil:
			t.Errorf("%s stays", p)
		default:
			if got := strings.ReplaceAll(strings.TrimSpace(r.Program.String()), "\n", "; "); got != c.want {
				t.Errorf("%s:\ngot  %s\nwant %s", c.text, got, c.want)
			}
		}
		if _, r := optimise(t, c.text, operands, nil); c.want != "" && r != nil && r.Program != nil && len(r.Program.Stmts) < len(p.Stmts) {
			t.Errorf("%s became %s, though all results are asked for", p, r.File)
		}
	}
}

// TestPredicted compares iterations that are estimated with those that loops have: a sum that stands in a product is computed where the other factors store
// something, and one that depends on nothing around it once.
func TestPredicted(t *testing.T) {
	small := dense(n, 16)
	for _, test := range []struct {
		text     string
		operands map[string]operand
		want     float64
	}{
		{"C(i,j) = S(i,j)*sum_k U(i,k)*V(j,k)", map[string]operand{"S": csr, "U": small, "V": small}, 16 * 16 * n},
		{"C(i,j) = where(stored(S(i,j)), sum_k U(i,k)*V(j,k), 0)", map[string]operand{"S": csr, "U": small, "V": small}, 16 * 16 * n},
		{"H(i,k) = sum_j A(i,j)*sum_f U(j,f)*W(f,k)", map[string]operand{"A": csr, "U": small, "W": dense(16, 8)}, (1 + 16) * 16 * 8 * n},
		{"y(i) = x(i)*sum_k v(k)", map[string]operand{"x": vec, "v": dense(1000)}, 1000},
	} {
		p, _ := optimise(t, test.text, test.operands, nil)
		stats := map[string]*tensor.Statistics{}
		for name, o := range test.operands {
			stats[name] = o.stats
		}
		stores := func() (map[*lang.Tensor]Stored, bool) {
			return map[*lang.Tensor]Stored{p.Stmts[0].LHS.Tensor: {tensor.Dense(2), tensor.Zero(tensor.Float64)}}, true
		}
		if got := Predict(p, Options{Statistics: stats, Stores: stores})[0].Iterations; got < test.want/1.5 || got > 1.5*test.want {
			t.Errorf("%s: %g iterations, want about %g", test.text, got, test.want)
		}
	}
}
