package conformance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// TestTACOAsGoSource runs the vectors of TestTACO that compute something as plain Go: all kernels in one package, and a program
// that reads the operands of each from files and writes its result to one.
func TestTACOAsGoSource(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package of some hundred kernels")
	}
	g := newGoProgram(t)
	cases := map[string]tacoCase{}
	for _, c := range tacoCases(t) {
		if c.Kind != "compute" {
			continue
		}
		t.Run(c.ID+"/build", func(t *testing.T) {
			c.skip(t)
			expr, args, opts := c.program(t)
			g.add(t, strings.ReplaceAll(c.ID, "-", "_"), expr, args, opts)
			cases[c.ID] = c
		})
	}
	if len(cases) < 200 {
		t.Fatalf("only %d vectors", len(cases))
	}
	g.run(t)
	for id, c := range cases {
		t.Run(id, func(t *testing.T) {
			got, err := file.Read(filepath.Join(g.dir, strings.ReplaceAll(id, "-", "_")+"-"+c.Output.Name+".bsp.h5"))
			if err != nil {
				t.Fatal(err)
			}
			checkDense(t, got, c.Expect.Dense)
			c.checkStorage(t, c.Output.Format.Levels, got)
		})
	}
}

// TestMLIRAsGoSource runs the vectors of TestMLIR that compute something as plain Go. Those that insert entries one after the other are
// left out: each of their runs needs the result of the one before.
func TestMLIRAsGoSource(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package of a hundred kernels")
	}
	g := newGoProgram(t)
	later := map[string]func(t *testing.T){}
	for _, c := range mlirCases(t) {
		if strings.HasPrefix(c.Operation, "insert ") {
			continue
		}
		t.Run(c.ID+"/build", func(t *testing.T) {
			n := 0
			c.run(t, func(t *testing.T, program string, args lacuna.Args, opts []lacuna.Option, check func(t *testing.T, by string, got *tensor.Tensor)) {
				n++
				id := fmt.Sprintf("%s_%d", c.ID, n)
				g.add(t, id, program, args, opts)
				later[id] = func(t *testing.T) {
					var as []file.Option
					if c.Expected.DType != "" {
						as = append(as, file.As(c.Expected.dtype(t)))
					}
					got, err := file.Read(filepath.Join(g.dir, id+"-"+resultName(program)+".bsp.h5"), as...)
					if err != nil {
						t.Fatal(err)
					}
					check(t, "Go", got)
				}
			})
		})
	}
	if len(later) < 75 {
		t.Errorf("only %d programs", len(later))
	}
	g.run(t)
	for id, f := range later {
		t.Run(id, f)
	}
}

// goProgram is a module with a package of kernels and a program that calls each.
type goProgram struct {
	dir   string
	calls bytes.Buffer
}

func newGoProgram(t *testing.T) *goProgram {
	t.Helper()
	g := &goProgram{dir: t.TempDir()}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/lacuna-sparse/lacuna"
	text := strings.Replace(string(mod), "module "+module+"\n", "module example.com/use\n", 1)
	g.write(t, "go.mod", []byte(text+fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, root)))
	g.write(t, "go.sum", sum)
	return g
}

func (g *goProgram) write(t *testing.T, name string, data []byte) {
	t.Helper()
	path := filepath.Join(g.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

var (
	signature = regexp.MustCompile(`(?m)^func Run_\w+\(ctx context.Context(.*)\) \((.*), err error\) \{$`)
	parameter = regexp.MustCompile(`(\w+)_\d+ \*tensor\.Tensor`)
)

// add writes a kernel, its operands, and its call.
func (g *goProgram) add(t *testing.T, id, expr string, args lacuna.Args, opts []lacuna.Option) {
	t.Helper()
	k := lacuna.GoKernel{Func: "Run_" + id, Source: expr, Options: opts}
	for name, x := range args {
		k.Options = append(k.Options, lacuna.Operand(name, x))
		if err := file.Write(filepath.Join(g.dir, id+"-"+name+"-in.bsp.h5"), x.(*tensor.Tensor)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := lacuna.BuildGoSource(t.Context(), "kernels", k)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	g.write(t, filepath.Join("kernels", "kernel_"+id+".go"), text)
	m := signature.FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s: no function in\n%s", expr, text)
	}
	var results, in, out []string
	for i, r := range parameter.FindAllSubmatch(m[2], -1) {
		results = append(results, fmt.Sprintf("r%d", i))
		out = append(out, fmt.Sprintf("write(%q, r%d)", id+"-"+string(r[1]), i))
	}
	for _, p := range parameter.FindAllSubmatch(m[1], -1) {
		name := string(p[1])
		in = append(in, fmt.Sprintf("read(%q, tensor.DType(%d))", id+"-"+name+"-in", args[name].DType())) // files have halves as f32
	}
	fmt.Fprintf(&g.calls, "\t{\n\t\t%s, err := kernels.%s(%s)\n\t\tcheck(err)\n\t\t%s\n\t}\n", strings.Join(results, ", "), k.Func,
		strings.Join(append([]string{"context.Background()"}, in...), ", "), strings.Join(out, "\n\t\t"))
}

const goProgramText = `package main

import (
	"context"
	"log"

	"example.com/use/kernels"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

func read(name string, dt tensor.DType) *tensor.Tensor {
	t, err := file.Read(name+".bsp.h5", file.As(dt))
	check(err)
	return t
}

func write(name string, t *tensor.Tensor) { check(file.Write(name+".bsp.h5", t)) }

func check(err error) {
	if err != nil {
		log.Panic(err)
	}
}

func main() {
`

// run builds and runs the program; with GOSOURCE_WASM=1 as WebAssembly, by Node.
func (g *goProgram) run(t *testing.T) {
	t.Helper()
	g.write(t, "main.go", []byte(goProgramText+g.calls.String()+"}\n"))
	use, env := []string{"./use"}, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOPROXY=off")
	if os.Getenv("GOSOURCE_WASM") != "" {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		use, env = []string{filepath.Join(strings.TrimSpace(string(root)), "lib/wasm/go_js_wasm_exec"), "./use"}, append(env, "GOOS=js", "GOARCH=wasm")
	}
	for _, args := range [][]string{{"go", "build", "-mod=mod", "-o", "use", "."}, use} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = g.dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
