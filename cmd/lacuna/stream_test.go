package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStream compares what is computed from slices of a matrix with what is computed from all of it, by rows and by columns. Values are whole
// numbers, sums of which do not depend on their order.
func TestStream(t *testing.T) {
	defer func(n int64) { sliceEntries = n }(sliceEntries)
	sliceEntries = 700
	dir := t.TempDir()
	lacuna := func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		status := runContext(context.Background(), args, &out, &errs)
		return out.String(), errs.String(), status
	}
	labels := "kind,n\n"
	for i := range 300 {
		labels += fmt.Sprintf("%c,%d\n", 'a'+i*i%7, i)
	}
	table := filepath.Join(dir, "labels.csv")
	if err := os.WriteFile(table, []byte(labels), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"CSR", "CSC"} {
		path := filepath.Join(dir, format+".h5ad")
		if _, errs, status := lacuna("convert", "random(300,60,density=0.2,dtype=i32):"+format, "-o", path); status != 0 {
			t.Fatal(errs)
		}
		row, column := 300, 60
		operands := []string{"A=" + path, fmt.Sprintf("x=range(%d)", column), fmt.Sprintf("w=range(%d)", row), "c=" + table + ":entry=kind", "--engine", "interp"}
		for _, c := range []struct{ program, refused string }{
			{"y(i) = A(i,j)", ""},
			{"y(j) = A(i,j)", ""},
			{"s = sum_{i,j} A(i,j)^2", ""},
			{"y(i) = A(i,j)*x(j); z(j) = A(i,j)*w(i); s = sum_i y(i)", ""},
			{"y(j) = max_i A(i,j); z(i) = min_j A(i,j); n = count_{i,j} A(i,j)", ""},
			{"y(j) = any_i (A(i,j) > 8); z(j) = all_i (A(i,j) > 0)", ""},
			{"B(j,i) = 2*A(i,j)", ""},
			{"t(i) = A(i,j); u(j) = A(i,j)*t(i)", ""},
			{"s = sum_i (max_j A(i,j))", "CSC"},
			{"s = sum_j (max_i A(i,j))", "CSR"},
			{"y(j) = sum_i A(i,j) + 1", "CSR"},
			{"y(j) = mean_i A(i,j)", "CSR"},
			{"s = sum_{i,j} i*A(i,j)", "CSR"},
			{"y(i) = sum_j (A(i,j) + w(i)*w(j+1))", "CSR CSC"},
			{"G(c(i),j) += A(i,j)", "CSC"},
			{"n(c(i)) += A(i,j)*w(i)", "CSC"},
			{"D(i) = A(i,i)", "CSR CSC"},
		} {
			t.Run(format+" "+c.program, func(t *testing.T) {
				args := append([]string{"eval", c.program}, operands...)
				for _, name := range []string{"x", "w", "c"} { // only what the program reads
					if !strings.Contains(c.program, name+"(") {
						args = dropOperand(args, name)
					}
				}
				want, errs, status := lacuna(args...)
				if status != 0 && c.refused != "CSR CSC" {
					t.Fatal(errs)
				}
				got, errs, status := lacuna(append(args, "--memory-limit", "56KiB")...)
				if strings.Contains(c.refused, format) {
					if status != 1 || !strings.Contains(errs, "does not fit in memory, and") {
						t.Errorf("status %d, %s%s", status, errs, got)
					}
					return
				}
				if status != 0 {
					t.Fatal(errs)
				}
				if !strings.Contains(errs, "it is read in slices") {
					t.Errorf("not read in slices: %s", errs)
				}
				if got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// dropOperand leaves out the argument for a name.
func dropOperand(args []string, name string) []string {
	var list []string
	for _, a := range args {
		if !strings.HasPrefix(a, name+"=") {
			list = append(list, a)
		}
	}
	return list
}
