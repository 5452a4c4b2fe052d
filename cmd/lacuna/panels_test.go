//go:build linux

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// What is a product whose rows follow from those of a factor, and too large, is computed by panels of rows; what is not, is not.
func TestPanels(t *testing.T) {
	dir := t.TempDir()
	args := []string{}
	for _, name := range []string{"A", "B", "D"} {
		path := filepath.Join(dir, name+".bsp.h5")
		var errs bytes.Buffer
		if status := runContext(context.Background(), []string{"convert", "random(100,100,density=0.1,seed=1):CSR", "-o", path}, &errs, &errs); status != 0 {
			t.Fatal(&errs)
		}
		args = append(args, name+"="+path+":CSR")
	}
	A, B, D := args[0], args[1], args[2]
	for _, c := range []struct {
		panels bool
		args   []string
	}{
		{true, []string{"C(i,k) = A(i,j)*B(j,k)", A, B}},
		{true, []string{"C(i,k) = A(i,j)*B(j,k)", A, B, "C:CSR"}},
		{true, []string{"C(i,k) = 3*A(i,j)*A(j,k)", A}},
		{true, []string{"C(i,k) = B(j,k)*A(i,j)", A, B}},
		{true, []string{"C(i,k) = A(i,j)*B(j,k)", A + ":CSC", B + ":CSC", "C:CSC"}},
		{false, []string{"C(i,k) = A(i,j)*B(j,k)", A, B, "C:CSC"}},
		{false, []string{"C(i,k) = A(i,j)*B(j,k)", A, B, "C:D"}},
		{false, []string{"C(k,i) = A(i,j)*B(j,k)", A, B}},
		{false, []string{"C(i,k) = A(j,i)*B(j,k)", A, B}},
		{false, []string{"C(i,k) = A(i,j)*B(j,k)*D(k,k)", A, B, D}},
		{false, []string{"C(i,k) = A(i,k)*B(k,i)", A, B}},
		{false, []string{"C(i,k) = cumsum_i (A(i,j)*B(j,k))", A, B}},
		{false, []string{"C(i,k) = A(i,j)*B(j,k); E(i,k) = C(i,k)", A, B}},
		{false, []string{"C(i,k) = A(i,j)*B(j,k)", A, B, "--as-written"}},
	} {
		for k, a := range c.args {
			c.args[k] = strings.Replace(a, ":CSR:CSC", ":CSC", 1)
		}
		for _, large := range []bool{true, false} {
			memory := "1GiB"
			if large {
				memory = "64KiB"
			}
			var out, errs bytes.Buffer
			more := []string{"--memory", memory, "--engine", "interp", "--time", "--repeat", "1", "-o", filepath.Join(dir, "out.bsp.h5")}
			if status := runContext(context.Background(), append(append([]string{"eval"}, c.args...), more...), &out, &errs); status != 0 {
				t.Errorf("%q: %s", c.args, &errs)
			}
			// A program is run again for its time, a product in panels is not.
			if got := !strings.Contains(errs.String(), "first run"); got != (c.panels && large) {
				t.Errorf("%q with %s: in panels: %v\n%s", c.args, memory, got, &errs)
			}
		}
	}
}
