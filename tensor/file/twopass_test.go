package file

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// matrixText lists n entries of a square matrix without duplicates: by rows, by
// columns or shuffled.
func matrixText(field, sym, order string, side, n int) string {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	type entry struct {
		i, j  int
		value string
	}
	var entries []entry
	seen := map[[2]int]bool{}
	for len(entries) < n {
		e := entry{i: rng.IntN(side), j: rng.IntN(side)}
		if sym != "general" && e.i <= e.j || seen[[2]int{e.i, e.j}] {
			continue
		}
		seen[[2]int{e.i, e.j}] = true
		switch field {
		case "integer":
			e.value = fmt.Sprint(rng.IntN(200) - 100)
		case "real":
			e.value = fmt.Sprint(rng.NormFloat64())
		case "complex":
			e.value = fmt.Sprint(rng.NormFloat64(), " ", rng.NormFloat64())
		}
		entries = append(entries, e)
	}
	switch order {
	case "rows":
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(a.i-b.i, a.j-b.j) })
	case "columns":
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Or(a.j-b.j, a.i-b.i) })
	}
	var lines strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&lines, "%d %d %s\n", e.i+1, e.j+1, e.value)
	}
	return fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s %s\n%d %d %d\n", field, sym, side, side, n) + lines.String()
}

// TestTwoPasses compares files read in two passes with the same read in one, of
// which other tests tell that it is right.
func TestTwoPasses(t *testing.T) {
	for _, field := range []string{"real", "integer", "complex", "pattern"} {
		for _, sym := range []string{"general", "symmetric", "skew-symmetric", "hermitian"} {
			if sym == "hermitian" && field != "complex" || sym == "skew-symmetric" && field == "pattern" {
				continue
			}
			for _, order := range []string{"rows", "columns", "none"} {
				text := matrixText(field, sym, order, 40, 100)
				for _, format := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.DCSR, tensor.COO, tensor.COOC} {
					for _, dt := range []tensor.DType{0, tensor.Float32, tensor.Bool, tensor.Int16, tensor.BFloat16, tensor.Complex64, tensor.Uint64} {
						opts := []Option{Format(format), As(dt)}
						want, wantErr := ReadFrom("a.mtx", strings.NewReader(text), append(opts, twoPassFrom(1e6))...)
						got, err := ReadFrom("a.mtx", strings.NewReader(text), append(opts, twoPassFrom(1))...)
						if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
							t.Errorf("%s %s %s %v %v: %v, want %v", field, sym, order, format, dt, err, wantErr)
						}
						if err == nil && !tensor.Equal(got, want) {
							t.Errorf("%s %s %s %v %v: %s", field, sym, order, format, dt, tensor.Diff(got, want))
						}
					}
				}
			}
		}
	}
}

// TestTwoPassesAreTaken makes sure that the comparisons above compare something, and
// that what two passes are not for is found out.
func TestTwoPassesAreTaken(t *testing.T) {
	big := fmt.Sprintf("%%%%MatrixMarket matrix coordinate real general\n%d %d 2\n1 1 1\n2 2 2\n", int64(1)<<32+1, 3)
	for _, tt := range []struct {
		name, text string
		format     tensor.Format
		want       bool
	}{
		{"rows", matrixText("real", "general", "rows", 40, 100), tensor.CSR, true},
		{"any order", matrixText("real", "general", "none", 40, 100), tensor.CSC, true},
		{"symmetric", matrixText("real", "symmetric", "none", 40, 100), tensor.CSR, true},
		{"dense", matrixText("real", "general", "rows", 40, 100), tensor.Dense(2), false},
		{"wide indices", big, tensor.COO, false},
		{"most rows empty", "%%MatrixMarket matrix coordinate real general\n1000 1000 1\n1 1 1\n", tensor.COO, false},
		{"duplicates", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 1 2\n2 2 2\n", tensor.CSR, false},
		{"an index 0", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n0 2 2\n", tensor.CSR, false},
		{"too few", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", tensor.CSR, false},
		{"too many", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 2 1\n2 2 1\n", tensor.CSR, false},
	} {
		in, h, spec := openMTX(t, strings.NewReader(tt.text))
		c := newCompressor(in, h.shape, spec, h.entries, tt.format)
		taken := false
		if c != nil {
			m, err := c.read(in, in.consumed, h.shape, h.lines, h.entries)
			taken = m != nil
			if !taken && err != errOdd {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		if taken != tt.want {
			t.Errorf("%s: read in two passes: %v", tt.name, taken)
		}
	}
}

// openMTX reads the header of a Matrix Market file.
func openMTX(t *testing.T, r io.Reader) (*input, *mtxHeader, *entrySpec) {
	t.Helper()
	cfg, err := newConfig([]Option{twoPassFrom(1)})
	if err != nil {
		t.Fatal(err)
	}
	in, err := open("a.mtx", r, cfg)
	if err != nil {
		t.Fatal(err)
	}
	h, err := readMTXHeader(in)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := h.entrySpec(in)
	if err != nil {
		t.Fatal(err)
	}
	return in, h, spec
}

// TestFileChangesBetweenPasses: whatever the second pass finds, the result is a matrix
// or an error.
func TestFileChangesBetweenPasses(t *testing.T) {
	const head = "%%MatrixMarket matrix coordinate real general\n3 3 4\n"
	first := head + "1 1 1\n1 2 1\n2 2 1\n3 3 1\n"
	for _, second := range []string{
		"3 1 1\n3 2 1\n3 2 1\n3 3 1\n",
		"1 1 1\n1 2 1\n1 3 1\n1 3 1\n",
		"1 1 1\n1 1 1\n2 2 1\n3 3 1\n",
		"2 1 1\n2 2 1\n2 2 1\n3 3 1\n",
		"1 1 1\n1 2 1\n2 2 1\n      \n",
	} {
		in, h, spec := openMTX(t, strings.NewReader(first))
		c := newCompressor(in, h.shape, spec, h.entries, tensor.CSR)
		if err := c.count(in, in.consumed, 3, h.lines, h.entries); err != nil {
			t.Fatal(err)
		}
		in.file = strings.NewReader(head + second)
		err := c.fill(in, in.consumed, h.lines, h.entries)
		if err == nil && c.sortRows() {
			_, err = c.matrix(in, h.shape)
			if !errors.Is(err, errChanged) {
				t.Errorf("%q: %v", second, err)
			}
		}
	}
}

// TestSortRows sorts rows longer than those that scratch memory is spent on.
func TestSortRows(t *testing.T) {
	for _, n := range []int{longRow, longRow + 1} {
		s := rowSorter[uint16]{}
		for i := range n {
			s.crd = append(s.crd, uint32((i*7919+5)%n))
			s.values = append(s.values, uint16((i*7919+5)%n))
		}
		if s.sort() {
			t.Fatalf("%d distinct coordinates are said to repeat", n)
		}
		for i := range n {
			if s.crd[i] != uint32(i) || s.values[i] != uint16(i) {
				t.Fatalf("element %d of %d is %d with value %d", i, n, s.crd[i], s.values[i])
			}
		}
		s.crd[0] = 7
		if !s.sort() {
			t.Errorf("a repeat in %d coordinates is not found", n)
		}
	}
}
