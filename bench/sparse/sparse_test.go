package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func TestLaplacian(t *testing.T) {
	e := laplacian(3, 0)
	if got, want := len(e.val), 9+2*12; got != want {
		t.Errorf("%d entries of a 3 x 3 grid, want %d", got, want)
	}
	sums := make([]float64, e.n)
	for p, v := range e.val {
		sums[e.row[p]] += v
	}
	// The rim to the north and west conducts nothing, that to the east and south does.
	if want := []float64{0, 0, 1, 0, 0, 1, 1, 1, 2}; !slices.Equal(sums, want) {
		t.Errorf("sums of rows %v, want %v", sums, want)
	}
}

func TestUniform(t *testing.T) {
	a, err := uniform(50, 7, 3).csr()
	if err != nil {
		t.Fatal(err)
	}
	if got := a.NNZ(); got != 50*7 {
		t.Errorf("%d entries, want %d: columns of a row must differ", got, 50*7)
	}
}

func TestInputsAreDeterministic(t *testing.T) {
	for _, make := range []func(k uint64) *entries{
		func(k uint64) *entries { return uniform(20, 3, k) },
		func(k uint64) *entries { return laplacian(5, k) },
		func(k uint64) *entries { return rmat(5, 4, k) },
	} {
		if a, b := make(2), make(2); !slices.Equal(a.col, b.col) || !slices.Equal(a.val, b.val) {
			t.Error("the same operand differs from itself")
		}
		if a, b := make(1), make(2); slices.Equal(a.val, b.val) {
			t.Error("different operands are the same")
		}
	}
}

func TestBelow(t *testing.T) {
	e := &entries{n: 3}
	e.add(0, 0, 5)
	e.add(0, 2, 5)
	e.add(2, 0, 5)
	e.add(1, 0, 5)
	a, err := e.csr()
	if err != nil {
		t.Fatal(err)
	}
	l, err := below(a)
	if err != nil {
		t.Fatal(err)
	}
	var got [][2]int64
	eachEntry(l, func(i, j int64, v float64) {
		got = append(got, [2]int64{i, j})
		if v != 1 {
			t.Errorf("(%d,%d) is %v, want 1", i, j, v)
		}
	})
	if want := [][2]int64{{1, 0}, {2, 0}}; !slices.Equal(got, want) {
		t.Errorf("entries %v, want %v", got, want)
	}
}

func TestSummarize(t *testing.T) {
	a, err := rmat(6, 4, 0).csr()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := summarize(a)
	if err != nil {
		t.Fatal(err)
	}
	if rows.nnz != a.NNZ() || !rows.sorted || rows.pattern == 0 {
		t.Errorf("summary %+v of %v", rows, a)
	}
	c, err := a.Convert(tensor.CSC)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := summarize(c)
	if err != nil {
		t.Fatal(err)
	}
	if d := columns.differs(rows, false); d != "" {
		t.Errorf("by columns: %s", d)
	}
}

func TestDiffers(t *testing.T) {
	of := func(list ...[3]float64) summary {
		s := summary{sorted: true, nnz: int64(len(list))}
		for _, e := range list {
			s.add(uint64(e[0]), uint64(e[1]), e[2])
		}
		return s
	}
	want := of([3]float64{0, 1, 2}, [3]float64{3, 2, -2})
	for _, c := range []struct {
		what       string
		got        summary
		anyPattern bool
		text       string
	}{
		{"another order", of([3]float64{3, 2, -2}, [3]float64{0, 1, 2}), false, ""},
		{"rounding", of([3]float64{0, 1, 2 + 1e-12}, [3]float64{3, 2, -2}), false, ""},
		{"values exchanged", of([3]float64{0, 1, -2}, [3]float64{3, 2, 2}), false, "other values"},
		{"transposed", of([3]float64{1, 0, 2}, [3]float64{2, 3, -2}), false, "another pattern"},
		{"a zero more", of([3]float64{0, 1, 2}, [3]float64{3, 2, -2}, [3]float64{3, 3, 0}), false, "3 entries, not 2"},
		{"a zero more, which may be", of([3]float64{0, 1, 2}, [3]float64{3, 2, -2}, [3]float64{3, 3, 0}), true, ""},
		{"an infinite one more", of([3]float64{0, 1, 2}, [3]float64{3, 2, -2}, [3]float64{3, 3, math.Inf(1)}), true, ""},
		{"not a number", of([3]float64{0, 1, math.NaN()}, [3]float64{3, 2, -2}), false, "other values"},
	} {
		if d := c.got.differs(want, c.anyPattern); !strings.HasPrefix(d, c.text) || (d == "") != (c.text == "") {
			t.Errorf("%s: %q, want %q", c.what, d, c.text)
		}
	}
}

// TestServe lets our side do every operation but those of dense matrices on a small graph, with one and two
// threads, and checks those results that the inputs fix.
func TestServe(t *testing.T) {
	if _, err := runtime.CPU(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	in := matrixInput{name: "small", make: func(k uint64) *entries { return rmat(5, 4, k) }}
	if _, err := in.write(dir, suites[0]); err != nil {
		t.Fatal(err)
	}
	var requests strings.Builder
	var asked []string
	for _, op := range slices.Concat(operations, reductions) {
		if slices.Contains(op.sides, ours) && !slices.Contains(op.inputs, "dense") {
			requests.WriteString("check " + op.name + " 1 0\ncheck " + op.name + " 2 0\ntime " + op.name + " 1 0.001\n")
			asked = append(asked, op.name)
		}
	}
	var out strings.Builder
	if err := serve(dir, "small", strings.NewReader(requests.String()), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if !strings.HasPrefix(lines[0], "ready ") || len(lines) != 1+5*len(asked) {
		t.Fatalf("answers:\n%s", out.String())
	}
	a, err := in.make(0).csr()
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := summarize(a)
	if err != nil {
		t.Fatal(err)
	}
	for k, name := range asked {
		answers := lines[1+5*k : 6+5*k]
		for _, line := range []string{answers[0], answers[2], answers[4]} {
			if !strings.HasPrefix(line, name+" small ") {
				t.Errorf("%s: answer %q", name, line)
			}
		}
		one, err := parseSummary(answers[1])
		if err != nil {
			t.Fatal(name, err)
		}
		two, err := parseSummary(answers[3])
		if err != nil {
			t.Fatal(name, err)
		}
		one.peakKB, two.peakKB = 0, 0
		if one != two {
			t.Errorf("%s: one thread %+v, two %+v", name, one, two)
		}
		if name == "csc" || strings.HasPrefix(name, "coo") {
			if d := one.differs(matrix, false); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	}
}

func TestNumber(t *testing.T) {
	for ms, want := range map[float64]string{1234.5: "1234", 99.96: "100.0", 12.34: "12.3", 1.234: "1.23", 0.012345: "0.0123", 0: "0"} {
		if got := number(ms); got != want {
			t.Errorf("number(%v) = %q, want %q", ms, got, want)
		}
	}
}
