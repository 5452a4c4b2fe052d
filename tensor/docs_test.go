package tensor

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// This file checks docs/formats.md.

// TestFormatsPage checks what docs/formats.md says against the package: its
// tables of names and of physical levels, and its listings of arrays, one for each line
// "FORMAT of EXAMPLE" in the listing.
func TestFormatsPage(t *testing.T) {
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)

	rows := 0
	for line := range strings.SplitSeq(section(t, page, "## Names"), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || !strings.Contains(cells[1], "`") {
			continue
		}
		rows++
		rank, err := strconv.Atoi(strings.TrimSpace(cells[2]))
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		want, err := ParseFormat(unquote(cells[3]), rank)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		for name := range strings.SplitSeq(cells[1], ",") {
			if got, err := ParseFormat(unquote(name), rank); err != nil || got != want {
				t.Errorf("%s: %s reads as %v %v, %v", line, name, got.Levels(), got.Order(), err)
			}
		}
	}
	if rows < 15 {
		t.Errorf("only %d rows in the table of names", rows)
	}

	physical := 0
	for line := range strings.SplitSeq(section(t, page, "## The physical view"), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		physical++
		f, err := ParseFormat(unquote(cells[1]), -1)
		if err != nil {
			t.Error(err)
		}
		var names []string
		for _, l := range f.Physical() {
			names = append(names, l.String())
		}
		if got := strings.Join(names, ", "); got != strings.TrimSpace(cells[2]) {
			t.Errorf("%s: %s", line, got)
		}
	}
	if physical < 5 {
		t.Errorf("only %d rows in the table of physical levels", physical)
	}

	listings := 0
	for _, block := range strings.Split(page, "```")[1:] {
		first, _, _ := strings.Cut(strings.TrimPrefix(block, "\n"), "\n")
		format, example, ok := strings.Cut(first, " of ")
		if !ok {
			continue
		}
		listings++
		if got, want := strings.TrimSpace(block), listing(t, format, example); got != want {
			t.Errorf("the page has\n%s\nthe tensor has\n%s", got, want)
		}
	}
	if listings < 9 {
		t.Errorf("only %d listings", listings)
	}
}

// TestBlocksOnFormatsPage checks the arrays of the page's blocked matrix.
func TestBlocksOnFormatsPage(t *testing.T) {
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	a, err := FromCoords([]int64{4, 5}, CSR, [][]int64{{0, 0, 1, 3, 3}, {1, 4, 0, 0, 4}}, ArrayOf([]float64{1, 2, 3, 4, 5}))
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Blocked([]int64{2, 3}, BSR)
	if err != nil {
		t.Fatal(err)
	}
	if want := arrayLines(b); !strings.Contains(section(t, string(text), "## Blocks"), want) {
		t.Errorf("the page does not have\n%s", want)
	}
}

// section is the part of a page under a heading.
func section(t *testing.T, page, heading string) string {
	_, rest, ok := strings.Cut(page, heading+"\n")
	if !ok {
		t.Fatalf("the page has no section %q", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

func unquote(cell string) string { return strings.Trim(strings.TrimSpace(cell), "`") }

// listing prints the arrays of an example of the page in a format.
func listing(t *testing.T, format, example string) string {
	examples := map[string]struct {
		shape  []int64
		coords [][]int64
		values []float64
	}{
		"A": {[]int64{4, 5}, [][]int64{{0, 0, 1, 3, 3}, {1, 4, 0, 0, 4}}, []float64{1, 2, 3, 4, 5}},
		"M": {[]int64{3, 4}, [][]int64{{0, 0, 0, 2, 2, 2, 2}, {1, 1, 3, 0, 3, 3, 3}}, []float64{1, 2, 3, 4, 5, 6, 7}},
		"T": {[]int64{2, 3, 4}, [][]int64{{0, 0, 0, 1}, {0, 0, 2, 2}, {1, 3, 0, 2}}, []float64{1, 2, 3, 4}},
	}
	x, ok := examples[example]
	if !ok {
		t.Fatalf("unknown example %q", example)
	}
	f, err := ParseFormat(format, len(x.shape))
	if err != nil {
		t.Fatal(err)
	}
	a, err := FromCoords(x.shape, f, x.coords, ArrayOf(x.values))
	if err != nil {
		t.Fatal(err)
	}
	return format + " of " + example + "\n" + arrayLines(a)
}

// arrayLines prints the arrays of a tensor, one on a line.
func arrayLines(a *Tensor) string {
	var lines []string
	line := func(name string, a Array) {
		s := fmt.Sprintf("%-10s", name)
		for i := range a.Len() {
			s += " " + a.Scalar(i).String()
		}
		lines = append(lines, s)
	}
	for k := range a.Rank() {
		if indices, ok := a.Indices(k); ok {
			line(crdName(k), indices)
		}
		if pointers, ok := a.Pointers(k); ok {
			line(posName(k+1), pointers)
		}
	}
	line("values", a.Values())
	return strings.Join(lines, "\n")
}
