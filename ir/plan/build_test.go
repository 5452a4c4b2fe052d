package plan

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// arithmetic is an evaluator of a few functions on real numbers.
func arithmetic(fn string, typ tensor.DType, args []tensor.Scalar) (tensor.Scalar, bool) {
	x := args[0].Float64()
	y := args[len(args)-1].Float64()
	switch fn {
	case "+":
		return tensor.Float(tensor.Float64, x+y).Convert(typ), true
	case "-":
		return tensor.Float(tensor.Float64, x-y).Convert(typ), true
	case "*":
		return tensor.Float(tensor.Float64, x*y).Convert(typ), true
	case "/":
		return tensor.Float(tensor.Float64, x/y).Convert(typ), true
	case "max":
		return tensor.Float(tensor.Float64, math.Max(x, y)).Convert(typ), true
	case "neg":
		return tensor.Float(tensor.Float64, -x).Convert(typ), true
	case "exp":
		return tensor.Float(tensor.Float64, math.Exp(x)).Convert(typ), true
	}
	return tensor.Scalar{}, false
}

var testAlgebra = ir.Algebra{Eval: arithmetic}

// declared reads declarations, "A:CSR x:D y:D[f64]", where D and S are vectors; a
// result is marked with =, "=C:CSR".
func declared(t *testing.T, text string) map[string]lang.Decl {
	t.Helper()
	decls := map[string]lang.Decl{}
	for _, field := range strings.Fields(text) {
		name, format, _ := strings.Cut(field, ":")
		format, dtype, typed := strings.Cut(strings.TrimSuffix(format, "]"), "[")
		rank := -1
		if format == "D" || format == "S" {
			rank = 1
		}
		f, err := tensor.ParseFormat(format, rank)
		if err != nil {
			t.Fatal(err)
		}
		d := lang.Decl{Rank: f.Rank(), Format: f, HasFormat: true}
		if typed {
			if d.DType, err = tensor.ParseDType(dtype); err != nil {
				t.Fatal(err)
			}
			d.HasDType = true
		}
		if rest, ok := strings.CutPrefix(name, "="); ok {
			name, d.Result = rest, true
		}
		decls[name] = d
	}
	return decls
}

func checked(t *testing.T, text, declarations string) *lang.Program {
	t.Helper()
	file, err := lang.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := lang.Check(file, declared(t, declarations))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// normalFormOf normalises a program of one statement.
func normalFormOf(t *testing.T, text, declarations string) (*normalForm, error) {
	t.Helper()
	p := checked(t, text, declarations)
	s := p.Stmts[0]
	tensors := map[*lang.Tensor]*ir.Tensor{}
	for _, x := range p.Tensors {
		tensors[x] = &ir.Tensor{Name: x.Name, Rank: x.Rank, DType: x.DType, Format: x.Format, Fill: x.Fill, FillKnown: x.FillKnown}
	}
	result := &ir.Tensor{Name: s.LHS.Tensor.Name, Rank: s.LHS.Tensor.Rank, DType: s.LHS.Tensor.DType, Format: s.LHS.Tensor.Format}
	return normalize(s, nil, func(x *lang.Tensor) *ir.Tensor { return tensors[x] }, result, arithmetic, spreading{})
}

func mustNormalForm(t *testing.T, text, declarations string) *normalForm {
	t.Helper()
	nf, err := normalFormOf(t, text, declarations)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return nf
}

// describe writes a normal form: the value, then each reduction.
func (nf *normalForm) describe() string {
	lines := []string{ir.ExprString(nf.value)}
	for _, r := range nf.reduces {
		line := fmt.Sprintf("t%d %s over", r.Temp.ID, r.Fold)
		for _, v := range r.Vars {
			line += " " + v.Name
		}
		if r.In != nil {
			line += " in " + ir.ExprString(r.In)
		}
		lines = append(lines, line+": "+ir.ExprString(r.Body))
	}
	return strings.Join(lines, "\n")
}

// TestNormalForm pins how reductions are written through the primitive folds.
// Each fold binds variables of its own, also where one reduction of the
// language becomes several and where their bodies hold further reductions.
func TestNormalForm(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"y(i) = sum_j A(i,j)*x(j) + 1", "(t0 + 1)\nt0 sum over j: (A(i,j) * x(j))"},
		{"y(i) = norm_j A(i,j)", "sqrt(t0)\nt0 sum over j: square(A(i,j))"},
		{"y(i) = mean_j A(i,j)", "(t0 / f64(|j|))\nt0 sum over j: A(i,j)"},
		{"y(i) = mean_{j in A} A(i,j)", "where((f64(t1) == 0), nan, (t0 / f64(t1)))\n" +
			"t0 sum over j in A(i,j): A(i,j)\nt1 sum over j2 in A(i,j2): 1"},
		{"y = var_{i,j} A(i,j)", "(t2 / (f64(|i|) * f64(|j|)))\n" +
			"t0 sum over i j: A(i,j)\nt1 sum over i2 j2: (A(i2,j2) - (t0 / (f64(|i|) * f64(|j|))))\nt2 sum over i3 j3: square((A(i3,j3) - ((t0 / (f64(|i|) * f64(|j|))) + (t1 / (f64(|i|) * f64(|j|))))))"},
		// What does not depend on j is shared, what does is copied with its variables.
		{"y = var_j (sum_i A(i,j) + sum_k x(k))", "(t6 / f64(|j|))\n" +
			"t0 sum over i: A(i,j)\nt1 sum over k: x(k)\nt2 sum over j: (t0 + t1)\n" +
			"t3 sum over i2: A(i2,j2)\nt4 sum over j2: ((t3 + t1) - (t2 / f64(|j|)))\nt5 sum over i3: A(i3,j3)\nt6 sum over j3: square(((t5 + t1) - ((t2 / f64(|j|)) + (t4 / f64(|j|)))))"},
		// A copy does not take a name that is in use.
		{"y(j2) = var_j (A(j,j2) + j)", "(t2 / f64(|j|))\n" +
			"t0 sum over j: (A(j,j2) + f64(j))\nt1 sum over j3: ((A(j3,j2) + f64(j3)) - (t0 / f64(|j|)))\nt2 sum over j4: square(((A(j4,j2) + f64(j4)) - ((t0 / f64(|j|)) + (t1 / f64(|j|)))))"},
	} {
		got := mustNormalForm(t, test.text, "A:CSR x:D").describe()
		if got != test.want {
			t.Errorf("%s is\n%s\nwant\n%s", test.text, got, test.want)
		}
	}
}

// TestFoldsBindOwnVariables checks the invariant behind TestNormalForm, and that
// copies share the extent of the variable that they stand for.
func TestFoldsBindOwnVariables(t *testing.T) {
	nf := mustNormalForm(t, "y = var_i (var_j (A(i,j) * mean_{k in A} A(j,k)))", "A:CSR")
	seen, names := map[*ir.Index]bool{}, map[string]bool{}
	for _, r := range nf.reduces {
		for _, v := range r.Vars {
			if seen[v] || names[v.Name] {
				t.Errorf("two folds bind %s", v.Name)
			}
			seen[v], names[v.Name] = true, true
			if original := nf.indices[v.ID]; original.Name[0] != v.Name[0] {
				t.Errorf("%s has the extent of %s", v.Name, original.Name)
			}
		}
	}
	if len(nf.reduces) < 8 {
		t.Errorf("%d folds, want nested variances to be written out", len(nf.reduces))
	}
}

// TestTooManyAccesses counts copies as well: a variance reads its body three times.
func TestTooManyAccesses(t *testing.T) {
	sum := func(n int) string {
		var terms []string
		for k := range n {
			terms = append(terms, fmt.Sprintf("x(i+%d)", k+1))
		}
		return strings.Join(terms, " + ")
	}
	for _, test := range []struct {
		text string
		ok   bool
	}{
		{"y = sum_i (" + sum(maxAccesses-1) + ")", true},
		{"y = sum_i (" + sum(maxAccesses+1) + ")", false},
		{"y = var_i (" + sum(maxAccesses/3-1) + ")", true},
		{"y = var_i (" + sum(maxAccesses/3+1) + ")", false},
		{"y = " + strings.Repeat("var_i x(i) + ", maxVariances-1) + "var_i x(i)", true},
		{"y = " + strings.Repeat("var_i x(i) + ", maxVariances) + "var_i x(i)", false},
	} {
		_, err := normalFormOf(t, test.text, "x:D")
		if (err == nil) != test.ok || err != nil && !strings.Contains(err.Error(), "split it") {
			t.Errorf("%.20s… (%d bytes): error %v, want one: %t", test.text, len(test.text), err, !test.ok)
		}
	}
}

// TestBoundInside: `in A` does not say which coordinates are meant where an index of A is bound further inside, by a median as by a sum.
func TestBoundInside(t *testing.T) {
	for _, inner := range []string{"sum", "median"} {
		for _, outer := range []string{"sum", "median"} {
			text := "y(i) = " + outer + "_{j in A} (where(stored(B(i,j)), 0, 1) + " + inner + "_k A(k,j))"
			_, err := New(t.Context(), checked(t, text, "A:CSR B:CSR"), ir.Options{}, arithmetic)
			var e *lang.Error
			if !errors.As(err, &e) || e.Code != lang.ErrUnsupported || !strings.Contains(e.Msg, "index k of A is bound further inside") {
				t.Errorf("%s gives %v, want code %s", text, err, lang.ErrUnsupported)
			}
		}
	}
}
