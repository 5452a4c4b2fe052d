//go:build (linux || darwin) && (amd64 || arm64)

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// compiled are the programs whose compilation is measured, on operands that
// fix only their formats.
var compiled = []struct {
	name, src string
	formats   map[string]tensor.Format
	opts      []lacuna.Option
}{
	{"SpMV", spmvProgram, map[string]tensor.Format{"A": tensor.CSR, "x": tensor.Dense(1)}, nil},
	{"SpMM", "Y(i,k) = sum_j A(i,j) * X(j,k)", map[string]tensor.Format{"A": tensor.CSR, "X": tensor.Dense(2)}, nil},
	{"SDDMM", "C(i,j) = S(i,j) * sum_k A(i,k) * B(j,k)",
		map[string]tensor.Format{"S": tensor.CSR, "A": tensor.Dense(2), "B": tensor.Dense(2)},
		[]lacuna.Option{lacuna.Result("C", tensor.CSR)}},
	{"A+B", "C(i,j) = A(i,j) + B(i,j)", map[string]tensor.Format{"A": tensor.CSR, "B": tensor.CSR},
		[]lacuna.Option{lacuna.Result("C", tensor.CSR)}},
	{"SpGEMM", "C(i,j) = sum_k A(i,k) * B(k,j)", map[string]tensor.Format{"A": tensor.CSR, "B": tensor.CSR},
		[]lacuna.Option{lacuna.Result("C", tensor.CSR)}},
	{"MTTKRP", "M(i,r) = sum_{j,k} T(i,j,k) * B(j,r) * C(k,r)",
		map[string]tensor.Format{"T": tensor.CSF(3), "B": tensor.Dense(2), "C": tensor.Dense(2)}, nil},
	{"triangles", "s = sum_{i,j,k} L(i,j) * L(j,k) * L(i,k)", map[string]tensor.Format{"L": tensor.CSR}, nil},
	{"transpose", "C(j,i) = A(i,j)", map[string]tensor.Format{"A": tensor.CSR}, []lacuna.Option{lacuna.Result("C", tensor.CSR)}},
	{"largest of rows", "y(i) = max_j A(i,j)", map[string]tensor.Format{"A": tensor.CSR}, nil},
	{"logcumsumexp", "B(i,j) = logcumsumexp_j A(i,j)", map[string]tensor.Format{"A": tensor.Dense(2)}, nil},
}

// tiny returns a tensor of extent 3 in every dimension with ones on its diagonal,
// or everywhere if it is dense.
func tiny(f tensor.Format) (*tensor.Tensor, error) {
	shape, size := make([]int64, f.Rank()), 1
	for k := range shape {
		shape[k], size = 3, 3*size
	}
	values := make([]float64, size)
	for i := range values {
		if f.IsDense() || i%((size-1)/2) == 0 {
			values[i] = 1
		}
	}
	return tensor.FromDense(shape, f, tensor.ArrayOf(values))
}

func tinyArgs(formats map[string]tensor.Format) (operands, error) {
	args := operands{}
	for name, f := range formats {
		t, err := tiny(f)
		if err != nil {
			return nil, err
		}
		args[name] = t
	}
	return args, nil
}

// options declares args and adds what a program asks for.
func options(args operands, opts []lacuna.Option) []lacuna.Option {
	var all []lacuna.Option
	for name, t := range args {
		all = append(all, lacuna.Operand(name, t))
	}
	return append(all, opts...)
}

// stateOfCache says what a process knows of programs that it has not compiled itself.
type stateOfCache struct {
	name, engine, cache string
	used                bool // LLVM has compiled something before
	optimised           bool // what counts is when the code is there that later runs have
}

func benchCompile(_ context.Context, s settings) error {
	kept, err := os.MkdirTemp("", "kernels")
	if err != nil {
		return err
	}
	defer os.RemoveAll(kept)
	states := []stateOfCache{
		{"interp", runtime.InterpName, "off", false, false},
		{"cpu, LLVM's first program", runtime.CPUName, "off", false, false},
		{"cpu, nothing known", runtime.CPUName, "off", true, false},
		{"cpu, nothing known, until the code is optimised", runtime.CPUName, "off", true, true},
		{"cpu, kernels on disk", runtime.CPUName, kept, false, false},
	}
	var sides []side
	for i, c := range compiled {
		for _, state := range states {
			sides = append(sides, side{c.name + " | " + state.name, func() (cost, error) { return compileChild(state, i) }})
		}
		if _, err := compileChild(states[len(states)-1], i); err != nil { // puts them there
			return err
		}
		args, err := tinyArgs(c.formats)
		if err != nil {
			return err
		}
		warm := lacuna.NewSession()
		sides = append(sides, timed(c.name+" | cpu, held by the session", func() error {
			_, err := warm.Eval(context.Background(), c.src, args.args(), c.opts...)
			return err
		}))
	}
	times, err := interleave(s.budget, sides)
	if err != nil {
		return err
	}
	fmt.Print("## Compilation\n\nProgram text to the first result, of a few elements, in a new process that has opened LLVM where it needs it;\n" +
		"where there are two processors, code that is compiled in a hurry runs first, and optimised code later. *Held by the session* is the same program again.\n\n")
	var rows [][]string
	for i, side := range sides {
		rows = append(rows, append([]string{side.name}, times[i].cells()...))
	}
	table(append([]string{"kernel", "what"}, costHeader...), rows)
	return compileParts(s)
}

// compileParts measures the steps of compiling SpMV one by one.
func compileParts(s settings) error {
	l, err := llvm.Load("")
	if err != nil {
		return err
	}
	args, err := tinyArgs(compiled[0].formats)
	if err != nil {
		return err
	}
	decls := declare(args)
	var (
		file    *lang.File
		program *lang.Program
		compute *ir.Compute
		kernel  *emit.Kernel
		text    string
		object  []byte
		module  *llvm.Module
	)
	// Each step uses what the one before made in the same round.
	steps := []side{
		timed("parse", func() (err error) { file, err = lang.Parse(spmvProgram); return }),
		timed("check", func() (err error) { program, err = lang.Check(file, decls); return }),
		timed("plan", func() (err error) { compute, err = plan(program); return }),
		timed("lower", func() (err error) { kernel, err = lowerStep(compute, args); return }),
		timed("verify", func() error { return kernel.Program.Verify(lib.Lookup) }),
		timed("cache key", func() error { _ = runtime.KeyOf(runtime.Interp(), kernel.Program); return nil }),
		timed("emit LLVM IR", func() (err error) {
			var funcs []*loop.Func
			for _, st := range kernel.Program.Stages {
				if st.Func != nil {
					funcs = append(funcs, st.Func)
				}
			}
			text, err = cpu.Emit("bench", funcs, lib.Lookup)
			return
		}),
		timed("LLVM: optimise, make an object", func() (err error) { object, err = l.EmitObject(text, llvm.Options{}); return }),
		timed("LLVM: link", func() (err error) { module, err = l.Link(object); return }),
		timed("LLVM: free", func() error { return module.Close() }),
	}
	times := make([]samples, len(steps))
	_, err = interleave(s.budget/2, []side{timed("SpMV", func() error {
		for i, step := range steps {
			c, err := step.run()
			if err != nil {
				return fmt.Errorf("%s: %w", step.name, err)
			}
			times[i].add(c)
		}
		return nil
	})})
	if err != nil {
		return err
	}
	fmt.Print("The parts of the cold compilation of SpMV:\n\n")
	var rows [][]string
	for i, step := range steps {
		times[i].sort()
		rows = append(rows, append([]string{step.name}, times[i].cells()...))
	}
	table(append([]string{"step"}, costHeader...), rows)
	return nil
}

// compileChild compiles a program in a process of its own, and returns what it says that took.
func compileChild(state stateOfCache, program int) (cost, error) {
	self, err := os.Executable()
	if err != nil {
		return cost{}, err
	}
	c := exec.Command(self, childArg, state.engine, strconv.Itoa(program), strconv.FormatBool(state.used), strconv.FormatBool(state.optimised))
	c.Env = append(os.Environ(), "LACUNA_CACHE="+state.cache)
	out, err := c.CombinedOutput()
	if err != nil {
		return cost{}, errors.Join(err, errors.New(strings.TrimSpace(string(out))))
	}
	var wall, cpu int64
	_, err = fmt.Sscan(string(out), &wall, &cpu)
	return cost{time.Duration(wall), time.Duration(cpu)}, err
}

// compileOnce is what the process of compileChild does.
func compileOnce(engine, program string, used, optimised bool) error {
	i, err := strconv.Atoi(program)
	if err != nil {
		return err
	}
	c := compiled[i]
	args, err := tinyArgs(c.formats)
	if err != nil {
		return err
	}
	e, err := runtime.EngineByName(engine, nil)
	if err != nil {
		return err
	}
	if os.Getenv("LACUNA_CACHE") == "off" && engine == runtime.CPUName {
		if _, err := llvm.Load(""); err != nil {
			return err
		}
	}
	if used {
		x, err := tiny(tensor.Dense(1))
		if err != nil {
			return err
		}
		if _, err := lacuna.NewSession(lacuna.WithEngine(e)).Eval(context.Background(), "y(i) = exp(x(i))", lacuna.Args{"x": x}); err != nil {
			return err
		}
		runtime.Flush()
	}
	took, err := costOf(func() error {
		_, err := lacuna.NewSession(lacuna.WithEngine(e)).Eval(context.Background(), c.src, args.args(), c.opts...)
		if optimised {
			runtime.Flush()
		}
		return err
	})
	if err != nil {
		return err
	}
	runtime.Flush()
	fmt.Println(int64(took.wall), int64(took.cpu))
	return nil
}

// childArg makes this program a child process that ends with its first result; with the number
// of a program besides, whether LLVM shall have been used before and whether optimised code counts, it prints what that took.
const childArg = "-first-result"

// firstResult makes one result and is done. The engine "none" does not even
// do that: it is what starting a process costs.
func firstResult(engine string) error {
	if engine == "none" {
		return nil
	}
	e, err := runtime.EngineByName(engine, nil)
	if err != nil {
		return err
	}
	args, err := tinyArgs(compiled[0].formats)
	if err != nil {
		return err
	}
	_, err = lacuna.NewSession(lacuna.WithEngine(e)).Eval(context.Background(), spmvProgram, args.args())
	return err
}

func benchFirst(_ context.Context, s settings) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var sides []side
	for _, engine := range []string{"none", runtime.InterpName, runtime.CPUName} {
		sides = append(sides, timed(engine, func() error {
			out, err := exec.Command(self, childArg, engine).CombinedOutput()
			if err != nil {
				return errors.Join(err, errors.New(strings.TrimSpace(string(out))))
			}
			return nil
		}))
	}
	times, err := interleave(s.budget, sides)
	if err != nil {
		return err
	}
	fmt.Printf("## First result\n\nA new process from its start to its end, with the result of one SpMV on 3 x 3 in\nbetween; *none* only starts and ends. %d rounds.\n\n", times[0].rounds())
	var rows [][]string
	for i, side := range sides {
		rows = append(rows, []string{side.name, millis(times[i].median()), millis(times[i].least()),
			millis(times[i].median() - times[0].median())})
	}
	table([]string{"engine", "median ms", "least ms", "more than none, ms"}, rows)
	return nil
}
