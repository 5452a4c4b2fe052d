// Package examples runs the example programs: what they print to standard
// output must be what stands here. Times go to standard error, which is free.
package examples

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
)

// out stands for a folder of the test.
const out = "{out}"

var runs = []struct {
	name    string
	example string
	args    []string
	want    string // standard output
	fails   string // part of standard error, if the program is to fail
	llvm    bool   // it prints this where there is an LLVM
}{
	{
		name: "spmv", example: "spmv", args: []string{"testdata/small.mtx"},
		want: `
A: testdata/small.mtx: 4x5 f64 CSR, 5 stored, fill 0
y: 4 f64 D, 4 stored, fill 0
y(0) = 3
y(1) = 3
y(2) = 0
y(3) = 9
`,
	},
	{
		name: "gopackage", example: "gopackage",
		want: `
A x = [20 300 4]
A^2: 3x3 f64 CSR, 3 stored, fill 0
A^3: 3x3 f64 CSR, 3 stored, fill 0
its diagonal: 24 24 24
SpMV: the index j has one extent in x(j) and another in A(i,j)
`,
	},
	{
		name: "spmv without a file", example: "spmv", args: []string{"testdata/missing.mtx"},
		fails: "testdata/missing.mtx",
	},
	{
		name: "tensor", example: "tensor", args: []string{"testdata/small.tns"},
		want: `
T: testdata/small.tns: 3x3x4 f64 CSF, 6 stored, fill 0
M: 3x4 f64 D, 12 stored, fill 0
        19        50        93       148
        24        48        80       120
       4.5         4       1.5        -3
`,
	},
	{
		name: "semiring", example: "semiring", args: []string{"-lattice"},
		want: `
j: ⊤, by whole dimension
i: W, by entries

j: ⊤, by whole dimension

Ahlen      0
Beckum     3
Coesfeld   1
Dülmen     4
Emsdetten  7
Füchtorf   inf
`,
	},
	{
		name: "pagerank of a file", example: "pagerank", args: []string{"-file", "testdata/packages.txt"},
		want: `
5 packages, 6 dependencies
  1  0.468347  libc
  2  0.156207  libui
  3  0.156207  shell
  4  0.109619  app
  5  0.109619  tool
`,
	},
	{
		name: "pagerank of an invented archive", example: "pagerank", args: []string{"-synthetic", "1000"},
		want: `
1000 packages, 1996 dependencies
  1  0.066488  p0
  2  0.058819  p1
  3  0.038319  p2
  4  0.028185  p3
  5  0.023582  p4
  6  0.019642  p5
  7  0.017432  p6
  8  0.014536  p7
  9  0.014483  p8
 10  0.012192  p9
`,
	},
	{
		name: "gpu", example: "gpu", args: []string{"-n", "9", "-engine", "simulated"},
		want: `
81 points, 369 entries
the middle is at 7.309844
`,
	},
	{
		name: "ratings", example: "ratings", args: []string{"testdata/ratings.csv"},
		want: `
0.573  Alien, Heidi
0.819  Alien, Brazil
4.25  Alien
2.00  Heidi
4.00  Brazil
`,
	},
	{
		name: "ratings of nobody", example: "ratings", args: []string{"testdata/missing.csv"},
		fails: "testdata/missing.csv",
	},
	{
		name: "build", example: "build", args: []string{out}, llvm: true,
		want: `
c/spmv.h
c/spmv.o
kernels/invoke_linux.go
kernels/invoke_other.go
kernels/spmv_kernel.go
kernels/spmv_kernel_linux_amd64.syso
kernels/spmv_stubs_linux.go
kernels/spmv_stubs_linux_amd64.s
kernels/spmv_stubs_other.go
kernels/support.go
plain/spmv.go
`,
	},
	{
		name: "pagerank of nothing", example: "pagerank", args: []string{"-file", os.DevNull},
		fails: "the list holds no package",
	},
	{
		name: "statistics of the license", example: "statistics", args: []string{"../LICENSE"},
		want: `
paragraphs                               33
different words                         441
stored, percent                         7.6
words                                  1589
words in a paragraph, median           34.0
   nine in ten have at most           110.2
   the longest has                      155
words that a paragraph repeats           91
words in most paragraphs                  8
words that make up half of the text      32

word          times   most median  gradient
the             100     14    2.0    -96.40
or               69      8    1.0    -65.40
of               67      7    1.0    -63.40
and              46      5    1.0    -42.40
to               40      7    1.0    -36.40
`,
	},
	{
		name: "statistics of nothing", example: "statistics", args: []string{os.DevNull},
		fails: "the text has no words",
	},
}

var scripts = []struct {
	name string
	args []string
	want string // standard output
	file string // and what is in the last argument after that
}{
	{
		name: "labels", args: []string{"../tensor/file/testdata/small.h5ad", "kind"},
		want: `
G: 3x4 f32 D
  a       9  0  0  7
  b       0  5  5  2
  (none)  0  0  0  0
n: 3 i64 D
  a       2
  b       2
  (none)  1
`,
	},
	{
		name: "edges", args: []string{"testdata/edges.csv", out + "/two.csv"},
		file: `
i0,i1,value
0,2,6
1,3,15
`,
	},
	{
		name: "sums", args: []string{"../tensor/file/testdata/small.h5ad", out + "/rows.csv", out + "/columns.csv"},
		file: `
9
5
5
9
`,
	},
	{
		name: "spmv", args: []string{"testdata/small.mtx"},
		want: `
y: 4 f64 D
  3  3  0  9
tensor A: CSR f64
tensor x: D f64
tensor y: D f64
forall i
  where t0 = sum over j
    forall j
      t0 sum= (A(i,j) * x(j))
  y(i) = t0
`,
	},
}

// TestScripts runs the examples for the command line.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "../cmd/lacuna").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	ran := map[string]bool{}
	for _, s := range scripts {
		ran["shell/"+s.name+".sh"] = true
		t.Run(s.name, func(t *testing.T) {
			args, dir := []string{"shell/" + s.name + ".sh"}, t.TempDir()
			for _, a := range s.args {
				args = append(args, strings.ReplaceAll(a, out, dir))
			}
			cmd := exec.Command("sh", args...)
			cmd.Env = append(os.Environ(), "LACUNA_CACHE=off", "PATH="+bin+":"+os.Getenv("PATH"))
			text, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(s.want, "\n"), string(text)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if s.file == "" {
				return
			}
			text, err = os.ReadFile(args[len(args)-1])
			if diff := cmp.Diff(strings.TrimPrefix(s.file, "\n"), string(text)); diff != "" || err != nil {
				t.Errorf("file (-want +got): %v\n%s", err, diff)
			}
		})
	}
	all, err := filepath.Glob("shell/*.sh")
	if err != nil || len(all) != len(ran) {
		t.Errorf("%d of the scripts %v are run", len(ran), all)
	}
}

func TestExamples(t *testing.T) {
	programs, err := filepath.Glob("*/main.go")
	if err != nil || len(programs) == 0 {
		t.Fatal("found no examples", err)
	}
	build, built := []string{"build", "-ldflags=-s -w", "-o", t.TempDir()}, map[string]bool{}
	for i, p := range programs {
		if example := filepath.Dir(p); !testengine.Thin(2, i) { // to link one takes longer than to run it
			build, built[example] = append(build, "./"+example), true
		}
	}
	if out, err := exec.Command("go", build...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	ran := map[string]bool{}
	for _, r := range runs {
		if ran[r.example] = true; !built[r.example] {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := slices.Clone(r.args)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], out, t.TempDir())
			}
			cmd := exec.Command(filepath.Join(build[3], r.example), args...)
			cmd.Env = append(os.Environ(), "LACUNA_CACHE=off")
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			if r.fails != "" {
				if err == nil || !strings.Contains(stderr.String(), r.fails) {
					t.Fatalf("got %v with\n%swant a failure with %q", err, stderr.String(), r.fails)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			if r.llvm && strings.Contains(stderr.String(), "without LLVM") {
				t.Skip(stderr.String())
			}
			if diff := cmp.Diff(strings.TrimPrefix(r.want, "\n"), stdout.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
	for _, p := range programs {
		if !ran[filepath.Dir(p)] {
			t.Errorf("no test runs %s", p)
		}
	}
}
