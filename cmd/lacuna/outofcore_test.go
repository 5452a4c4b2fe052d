//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// This file tests --memory with all commands that have it, from arguments to files (internal/operand/outofcore.go, stream.go, panels.go).

// Programs whose tensors do not fit in memory have the same results, bit by bit, and are refused where files are not allowed. Nothing but
// results stays behind.
func TestOutOfCore(t *testing.T) {
	dir := t.TempDir()
	lacuna := func(args ...string) (string, int) {
		var out, errs bytes.Buffer
		status := runContext(context.Background(), args, &out, &errs)
		return out.String() + errs.String(), status
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, source := range map[string]string{
		"A.bsp.h5": "random(3000,3000,density=0.004,seed=1):CSR",
		"B.bsp.h5": "random(3000,3000,density=0.004,seed=2):CSR",
		"A.mtx":    "random(3000,3000,density=0.004,seed=1)",
		"T.tns":    "random(60,50,40,density=0.2,seed=3)",
		"x.npy":    "random(3000,density=1,seed=4):D",
		"X.npy":    "random(3000,5,density=1,seed=5):D",
	} {
		if msg, status := lacuna("convert", source, "-o", in(name)); status != 0 {
			t.Fatal(msg)
		}
	}
	A, B, x, X := "A="+in("A.bsp.h5")+":CSR", "B="+in("B.bsp.h5")+":CSR", "x="+in("x.npy"), "X="+in("X.npy")
	const limit = "64KiB"
	for _, c := range []struct {
		what    string
		refused bool // with a limit and no files
		result  string
		args    []string
	}{
		{"product with a vector", false, "y.npy", []string{"eval", "y(i) = sum_j A(i,j)*x(j)", A, x}},
		{"row sums", false, "r.npy", []string{"eval", "r(i) = sum_j A(i,j)", A}},
		{"product with a few vectors", true, "Y.npy", []string{"eval", "Y(i,k) = sum_j A(i,j)*X(j,k)", A, X}},
		{"sum", true, "C.bsp.h5", []string{"eval", "C(i,j) = A(i,j) + B(i,j)", A, B, "C:CSR"}},
		{"product", true, "P.bsp.h5", []string{"eval", "P(i,k) = A(i,j)*B(j,k)", A, B, "P:CSR"}},
		{"product by columns", true, "Q.bsp.h5", []string{"eval", "Q(i,k) = sum_j A(i,j)*B(j,k)", strings.Replace(A, "CSR", "CSC", 1), strings.Replace(B, "CSR", "CSC", 1), "Q:CSC"}},
		{"square", true, "S.bsp.h5", []string{"eval", "S(i,k) = 2*A(i,j)*A(j,k)", A, "S:CSR"}},
		{"largest terms", true, "M.bsp.h5", []string{"eval", "M(i,k) = max_j (A(i,j)*B(j,k))", A, B, "M:CSR"}},
		{"transpose", true, "D.bsp.h5", []string{"eval", "D(j,i) = A(i,j)", A, "D:CSR"}},
		{"two statements", true, "E.bsp.h5", []string{"eval", "C(i,j) = A(i,j) + B(i,j); E(i,j) = C(i,j)*x(j)", A, B, x, "E:CSC"}},
		{"columns", true, "F.bsp.h5", []string{"convert", in("A.bsp.h5"), "--format", "CSC"}},
		{"text", false, "G.bsp.h5", []string{"convert", in("A.mtx"), "--format", "CSR"}},
		{"tensor", false, "H.bsp.h5", []string{"convert", in("T.tns"), "--format", "CSF"}},
		{"to text", false, "I.mtx", []string{"convert", in("B.bsp.h5")}},
	} {
		t.Run(c.what, func(t *testing.T) {
			once := func(dest string, more ...string) (string, int) {
				return lacuna(append(append(c.args, "-o", dest), more...)...)
			}
			if msg, status := once(in(c.result)); status != 0 {
				t.Fatal(msg)
			}
			out := filepath.Join(t.TempDir(), c.result)
			if msg, status := once(out, "--memory", limit); status != 0 {
				t.Fatal(msg)
			}
			want, err1 := os.ReadFile(in(c.result))
			got, err2 := os.ReadFile(out)
			if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Errorf("the results differ (%v, %v)", err1, err2)
			}
			if list, err := os.ReadDir(filepath.Dir(out)); err != nil || len(list) != 1 {
				t.Errorf("beside the result: %v, %v", list, err)
			}
			if !c.refused || c.args[0] != "eval" {
				return
			}
			if msg, status := once(out, "--memory-limit", limit); status == 0 || !strings.Contains(msg, "limit is 64.0 KiB") {
				t.Errorf("with a limit: status %d, %s", status, msg)
			}
		})
	}
}

// What --memory does not go with is said.
func TestOutOfCoreRefused(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"--memory goes without --memory-limit", []string{"--memory", "1MiB", "--memory-limit", "1MiB"}},
		{"--memory is for one rank", []string{"--memory", "1MiB", "--ranks", "2"}},
		{"--memory: ", []string{"--memory", "much"}},
		{"no such file or directory", []string{"--memory", "1MiB", "-o", "/no/such/directory/y.npy"}},
	} {
		var out, errs bytes.Buffer
		status := runContext(context.Background(), append([]string{"eval", "y(i) = x(i)", "x=[1,2]"}, c.args...), &out, &errs)
		if status == 0 || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: status %d, %s", c.args, status, &errs)
		}
	}
}

// A program or a conversion that is interrupted while its results go to files ends soon, and leaves none.
func TestOutOfCoreInterrupted(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, source := range map[string]string{"A.bsp.h5": "random(200000,200000,nnz=1000000,seed=1):CSR", "B.bsp.h5": "random(200000,200000,nnz=1000000,seed=2):CSR"} {
		var errs bytes.Buffer
		if status := runContext(context.Background(), []string{"convert", source, "-o", in(name)}, &errs, &errs); status != 0 {
			t.Fatal(&errs)
		}
	}
	for _, args := range [][]string{
		{"eval", "P(i,l) = A(i,j)*B(j,k)*A(k,l)", "A=" + in("A.bsp.h5") + ":CSR", "B=" + in("B.bsp.h5") + ":CSR", "P:CSR", "--engine", "interp"},
		{"eval", "P(i,k) = A(i,j)*B(j,k)", "A=" + in("A.bsp.h5") + ":CSR", "B=" + in("B.bsp.h5") + ":CSR", "P:CSR", "--engine", "interp"},
		{"convert", "random(3000,3000,density=0.9,seed=1)", "--format", "CSC"},
	} {
		out := t.TempDir()
		ctx, stop := context.WithCancel(context.Background())
		var stopped time.Time
		after := 300 * time.Millisecond
		if args[0] == "convert" { // which soon finds that it has too little memory
			after = 50 * time.Millisecond
		}
		timer := time.AfterFunc(after, func() { stopped = time.Now(); stop() })
		var errs bytes.Buffer
		status := runContext(ctx, append(args, "--memory", "256KiB", "-o", filepath.Join(out, "P.bsp.h5")), &errs, &errs)
		if timer.Stop() {
			t.Fatalf("%s ended before it was interrupted: status %d, %s", args[0], status, &errs)
		}
		<-ctx.Done()
		if took := time.Since(stopped); took > 10*time.Second {
			t.Errorf("%s ends %v after it was interrupted", args[0], took)
		}
		for wait := 0; ; wait++ { // what goes on to no effect may just make a file whose name it takes away
			list, err := os.ReadDir(out)
			if err == nil && len(list) == 0 {
				break
			}
			if wait == 100 {
				t.Errorf("%s: files are left: %v, %v", args[0], list, err)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if status != 130 {
			t.Errorf("%s: status %d: %s", args[0], status, &errs)
		}
	}
}
