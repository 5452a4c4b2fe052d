package plan

import (
	"testing"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func format(t *testing.T, text string, rank int) tensor.Format {
	t.Helper()
	f, err := tensor.ParseFormat(text, rank)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestLinesOf tells formats apart by how they hold lines.
func TestLinesOf(t *testing.T) {
	for _, test := range []struct {
		format string
		rank   int
		axes   []int
		want   ir.Lines
	}{
		{"D", 2, []int{1}, ir.Planes},
		{"D", 2, []int{0}, ir.Planes},
		{"D", 3, []int{0, 2}, ir.Apart},
		{"D", 3, []int{1, 0}, ir.Apart},
		{"D-D-D[0,2,1]", 3, []int{0, 2}, ir.Planes},
		{"CSR", 2, []int{1}, ir.Segments},
		{"CSR", 2, []int{0}, ir.Apart},
		{"CSC", 2, []int{0}, ir.Segments},
		{"CSR", 2, []int{0, 1}, ir.Apart},
		{"COO", 2, []int{0, 1}, ir.Segments},
		{"COO", 2, []int{1, 0}, ir.Apart},
		{"COO", 2, []int{1}, ir.Apart},
		{"DCSR", 2, []int{1}, ir.SparseSegments},
		{"S", 1, []int{0}, ir.Segments},
		{"S-D", 2, []int{1}, ir.Apart},
		{"C-C-S", 3, []int{2}, ir.Segments},
		{"C-DC-S", 3, []int{2}, ir.SparseSegments},
		{"DC-S-S", 3, []int{1, 2}, ir.SparseSegments},
		{"DC-C-S", 3, []int{2}, ir.Apart},
	} {
		if got := ir.LinesOf(format(t, test.format, test.rank), test.axes); got != test.want {
			t.Errorf("%s along %v: %d, want %d", test.format, test.axes, got, test.want)
		}
	}
}

// TestNamesOfOwn: what the planner makes has names that no tensor of the program has: statistics are found by them.
func TestNamesOfOwn(t *testing.T) {
	text := "line_1(i,j) = A_4(i,j)*2; y(i) = median_j (line_1(i,j)*A(i,j)) + median_j (orders_3(i,j)*A(j,i)); z(j) = A(i,j)*x(i)"
	plan := planOf(t, text, "A:CSR A_4:CSR orders_3:CSC x:S =line_1:CSR =z:S", ir.Options{})
	seen, made := map[string]bool{}, 0
	for _, x := range plan.Tensors {
		if seen[x.Name] {
			t.Errorf("two tensors are called %s", x.Name)
		}
		seen[x.Name] = true
		if x.Source == nil && x.Work == nil {
			made++
		}
	}
	if made < 5 {
		t.Errorf("the planner made %d tensors of its own, want lines, medians and a conversion", made)
	}
}

// TestLayouts checks where scans and statistics want what is stored otherwise.
func TestLayouts(t *testing.T) {
	zero, one := tensor.Zero(tensor.Float64), tensor.One(tensor.Float64)
	sum := &ir.Scan{Axes: []int{0}, Fold: ir.FoldSum, Typ: tensor.Float64}
	lse := &ir.Scan{Axes: []int{1}, Op: lang.LogCumSumExp, Fold: ir.FoldLogSumExp, Typ: tensor.Float64}
	for _, test := range []struct {
		scan   *ir.Scan
		from   string
		fill   *tensor.Scalar
		stored bool
		want   string
	}{
		{sum, "D", &zero, false, "D"},
		{sum, "COO", &zero, false, "DCSC"}, // what has no entries stays out
		{sum, "COO", &one, false, "D"},
		{sum, "COO", nil, false, "D"},
		{sum, "COO", &one, true, "DCSC"},
		{sum, "CSR", &zero, false, "D"}, // rather than columns that are copied to rows
		{sum, "CSC", &zero, false, "CSC"},
		{lse, "CSR", &zero, false, "CSR"},
		{lse, "DCSR", &zero, false, "D"},
	} {
		kept := []int{1 - test.scan.Axes[0]}
		got := scanLayout(test.scan, format(t, test.from, 2), test.fill, kept, test.stored)
		if want := format(t, test.want, 2); got != want {
			t.Errorf("%s of %s: %s, want %s", test.scan, test.from, got, want)
		}
	}
	median := &ir.Statistic{Axes: []int{0}}
	for from, want := range map[string]string{"COO": "DCSC", "CSC": "CSC", "CSR": "CSC", "DCSC": "DCSC", "D": "D-D[1,0]"} {
		if got := statisticLayout(median, format(t, from, 2), &zero, []int{1}, false); got != format(t, want, 2) {
			t.Errorf("median of %s: %s, want %s", from, got, want)
		}
	}
}
