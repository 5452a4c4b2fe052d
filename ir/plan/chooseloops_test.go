package plan

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestScatterTop: which reductions may accumulate straight into the result.
func TestScatterTop(t *testing.T) {
	for _, test := range []struct {
		text string
		want bool
	}{
		{"y(i) = sum_j A(i,j)*x(j)", true},
		{"y(i) = max_j A(i,j)", true},
		{"y(i) = sum_j A(i,j) + 1", false},     // more than the reduction
		{"y(i) = argmax_j A(i,j)", false},      // the state is a pair
		{"y(i) = sum_{j in A} A(i,j)", false},  // rows that store nothing differ from sums of zeros
		{"y(i+1) = sum_j A(i,j)*x(j)", false},  // y(0) is not a sum over nothing
		{"y(i) = count_j A(i,j)", false},       // declared f64, counted in i64
		{"y(i) = f64(count_j A(i,j))", false},  // the conversion comes after the fold
		{"y(i) = mean_j A(i,j)", false},        // so does the division
		{"y(i) = -(sum_j A(i,j)*x(j))", false}, // and the sign
	} {
		nf := mustNormalForm(t, test.text, "A:CSR x:D =y:D[f64]")
		s := &scheduler{normalForm: nf, alg: testAlgebra}
		if got := s.scatterTop() != nil; got != test.want {
			t.Errorf("%s scatters: %t, want %t", test.text, got, test.want)
		}
	}
}

// TestScheduleGrids: on grids loops that cannot be cut are worse than a conversion.
func TestScheduleGrids(t *testing.T) {
	for _, test := range []struct {
		text           string
		format         string // of the result
		plain, grids   int    // conversions
		scatters, cuts bool   // whether results are accumulated, without and on grids
	}{
		{"y(j) = sum_i A(i,j)", "D", 0, 1, true, false},
		{"y(j) = sum_i A(i,j)*x(i)", "D", 0, 1, true, false},
		{"y(i) = sum_j A(i,j)*x(j)", "D", 0, 0, false, false},
		{"y(j) = sum_i A(i,j)", "S", 0, 1, false, false}, // not through a workspace
	} {
		decls := "A:CSR x:D =y:" + test.format + "[f64]"
		plain, _ := mustNormalForm(t, test.text, decls).schedule(testAlgebra, ir.Options{}, nil)
		grids, _ := mustNormalForm(t, test.text, decls).schedule(testAlgebra, ir.Options{Grids: true}, nil)
		if len(plain.convert) != test.plain || len(grids.convert) != test.grids {
			t.Errorf("%s into %s: %d and %d conversions, want %d and %d", test.text, test.format,
				len(plain.convert), len(grids.convert), test.plain, test.grids)
		}
		if plain.accumulate != test.scatters || grids.accumulate != test.cuts {
			t.Errorf("%s into %s accumulates %t, on grids %t; want %t, %t", test.text, test.format,
				plain.accumulate, grids.accumulate, test.scatters, test.cuts)
		}
	}
}

// testLeaves gives the supports of accesses.
type testLeaves map[*ir.Access]ir.Support

func (l testLeaves) Access(a *ir.Access) ir.Support { return l[a] }
func (l testLeaves) Index(*ir.Index) ir.Support     { return ir.Everywhere() }
func (l testLeaves) Temp(t *ir.Temp) ir.Behaviour   { return testAlgebra.TempBehaviour(t, l) }

// TestTempBehaviour: a reduction's result is where its body is, with the closed
// form of its background elsewhere; restricted to what a tensor stores, it is
// there where the tensor is.
func TestTempBehaviour(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"y(i) = sum_j A(i,j)*x(j)", "#0 else 0"},
		{"y(i) = sum_j B(i,j)", "#1 else where((|j| > 0), (1 * f64(|j|)), 0)"},
		{"y(i) = max_j (A(i,j) + B(i,j))", "#0 ∪ #1 else 1"},
		{"y(i) = prod_j (A(i,j) * B(i,j))", "#0 else where((|j| > 0), pow(0, f64(|j|)), 1)"},
		{"y(i) = sum_j x(j)", "⊤ else unknown"},
		{"y(i) = sum_{j in A} (A(i,j) + B(i,j))", "#0 else 0"},
		{"y(i) = max_{j in B} (B(i,j) + x(j))", "#1 else -inf"},
		{"y(i) = argmin_{j in A} A(i,j)", "#0 else -1"},
		{"y(i) = logsumexp_{j in A} A(i,j)", "#0 else -inf"},
		{"y(i) = sum_j (A(i,j) * max_k B(j,k))", "#0 else 0"},
	} {
		nf := mustNormalForm(t, test.text, "A:CSR B:CSR x:D")
		leaves := testLeaves{}
		nf.eachAccess(func(a *ir.Access) {
			switch a.Tensor.Name {
			case "A":
				leaves[a] = ir.Support{Set: ir.AtomOf(0), Background: &ir.Literal{Value: tensor.Float(tensor.Float64, 0), Gap: true}}
			case "B":
				leaves[a] = ir.Support{Set: ir.AtomOf(1), Background: &ir.Literal{Value: tensor.Float(tensor.Float64, 1), Gap: true}}
			default:
				leaves[a] = ir.Everywhere()
			}
		})
		last := nf.reduces[len(nf.reduces)-1]
		if got := testAlgebra.TempBehaviour(last.Temp, leaves).Value.String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
}

// TestConversionsWinClearly: an operand is stored again where that is clearly better than to read it as it is, and not where estimates are too close to tell.
func TestConversionsWinClearly(t *testing.T) {
	const rows, entries = 20_000, 16
	for _, test := range []struct {
		skew  float64 // of columns: without the doubt a conversion costs 0.99 and 0.74 of what the best loops without do
		grids bool
		want  int
	}{{4, false, 0}, {16, false, 1}, {4, true, 1}} {
		axis := tensor.AxisStatistics{Extent: rows, NonEmpty: rows, Longest: 4 * entries, Squares: rows * entries * entries}
		columns := axis
		columns.Squares *= test.skew
		triangle := &tensor.Statistics{Entries: rows * entries, Axes: []tensor.AxisStatistics{axis, columns}}
		options := ir.Options{Sizes: map[string]*tensor.Statistics{"L": triangle}, Alternatives: true, Grids: test.grids}
		c, err := mustNormalForm(t, "t = sum_{i,j,k} L(i,j)*L(i,k)*L(k,j)", "L:CSR").schedule(testAlgebra, options, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.convert) != test.want {
			t.Errorf("%+v: %d accesses read what is stored again, of %v", test, len(c.convert), c.nests)
		}
	}
}
