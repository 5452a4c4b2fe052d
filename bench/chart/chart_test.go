package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const wide = `# Sparse results, 2026-01-02

| side | version |
| --- | --- |
| lacuna | engine cpu |

## Times

| operation | input | entries of the result | lacuna 1t | lacuna 2t | 1t / 2t | SciPy | fastest peer / lacuna 1t |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
| A+B | unif | 12 | 2.00 | 1.00 | 2.00 | 1,000 | 500 SciPy |
| A+B | lap | 12 | 4.00 |  |  | 8.00 [1] | 2.00 SciPy |
| C | lap | 12 |  |  |  | 8.00 | |

## Least times

| operation | input | lacuna 1t | SciPy |
| --- | --- | ---: | ---: |
| A+B | unif | 1 | 1 |
`

const long = `# CPU, 2026-01-02
### SpMV, a: the first

| side | median ms | least ms |
| --- | ---: | ---: |
| C 1t | 2 | 1 |
| lacuna 1t | 1 | 1 |
### SpMV, b

| side | median ms | least ms |
| --- | ---: | ---: |
| C 1t | 4 | 1 |
| SciPy | 8 | 1 |
`

func TestReadTables(t *testing.T) {
	c, err := read(wide)
	if err != nil {
		t.Fatal(err)
	}
	if want := []dot{{0, 0, 0.5}, {0, 1, 500}, {0, 1, 2}}; !slices.Equal(c.dots, want) || !slices.Equal(c.sides, []string{"lacuna 2t", "SciPy"}) || c.unit != ours {
		t.Errorf("%+v, want the dots %v", c, want)
	}
	if c, err = read(long); err != nil {
		t.Fatal(err)
	}
	if want := []dot{{0, 0, 0.5}, {1, 1, 2}}; !slices.Equal(c.dots, want) || !slices.Equal(c.rows, []string{"SpMV, a", "SpMV, b"}) || c.unit != "C 1t" {
		t.Errorf("%+v, want the dots %v", c, want)
	}
	if _, err := read("# Nothing\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"); err == nil {
		t.Error("a page without times has a chart")
	}
}

// TestResultsHaveCharts draws the pages that the README and the scripts draw.
func TestResultsHaveCharts(t *testing.T) {
	for _, page := range []string{"cpu-2026-11-21", "sparse-2026-11-22", "reduce-2026-11-22"} {
		out := filepath.Join(t.TempDir(), page+".svg")
		if err := run([]string{"../results/" + page + ".md", "-o", out}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(out)
		if err != nil || !strings.Contains(string(text), ">SciPy") {
			t.Errorf("%s: %v, or SciPy is not in the chart", page, err)
		}
	}
	if err := run([]string{"../results/cpu-2026-11-21.md", "-o", filepath.Join(t.TempDir(), "a.txt")}); err == nil {
		t.Error("a chart is written as text")
	}
}
