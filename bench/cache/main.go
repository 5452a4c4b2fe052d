// Command cache measures what the cache of compiled kernels on disk saves:
//
//	cache -lacuna bin/lacuna -n 50
//
// For whole processes it runs the command line on a small problem, for first calls
// itself: a child compiles a program, runs it, and says how long that took from its
// first statement on. All sides take turns. It prints tables of medians and of the
// least, in milliseconds. See bench/cache.sh.
package main

import (
	"bytes"
	"context"
	"debug/elf"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/internal/object"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// program is one that is measured, on a sparse matrix of 100 rows and columns and on
// dense operands.
type program struct {
	name, source string
	sparse       []string           // names of operands in CSR
	dense        map[string][]int64 // shapes of the others
	result       string             // C, if it is in CSR
}

var programs = []program{
	{"SpMV", "y(i) = A(i,j)*x(j)", []string{"A"}, map[string][]int64{"x": {100}}, ""},
	{"SpGEMM", "C(i,k) = A(i,j)*B(j,k)", []string{"A", "B"}, nil, "C"},
	{"SDDMM", "C(i,j) = A(i,j)*P(i,k)*Q(j,k)", []string{"A"}, map[string][]int64{"P": {100, 16}, "Q": {100, 16}}, "C"},
	{"softmax", "Y(i,j) = exp(X(i,j) - max_k X(i,k)) / sum_k exp(X(i,k) - max_l X(i,l))", nil, map[string][]int64{"X": {100, 100}}, ""},
}

// arguments are the operands as the command line has them.
func (p program) arguments() []string {
	var list []string
	for _, name := range p.sparse {
		list = append(list, name+"=random(100,100,density=0.05):CSR")
	}
	for name, shape := range p.dense {
		list = append(list, name+"=random("+strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ","), "[]")+")")
	}
	if p.result != "" {
		list = append(list, p.result+":CSR")
	}
	return list
}

// child is the variable by which a child knows the program it is to run.
const child = "LACUNA_BENCH_CHILD"

func main() {
	if n, err := strconv.Atoi(os.Getenv(child)); err == nil {
		firstCall(programs[n])
		return
	}
	binary := flag.String("lacuna", "bin/lacuna", "the command line")
	n := flag.Int("n", 50, "repetitions")
	flag.Parse()
	dir, err := os.MkdirTemp("", "lacuna-cache")
	check(err)
	defer os.RemoveAll(dir)

	self, err := os.Executable()
	check(err)
	times("Whole processes: `lacuna eval` on matrices of 100 rows", *n, dir, func(p int, env []string) float64 {
		cmd := exec.Command(*binary, append([]string{"eval", programs[p].source}, programs[p].arguments()...)...)
		cmd.Env = env
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			log.Fatalf("%v: %s", err, out)
		}
		return time.Since(start).Seconds() * 1e3
	})
	times("First calls: from the first statement of a process to the result of `Compile` and `Run`", *n, dir, func(p int, env []string) float64 {
		cmd := exec.Command(self)
		cmd.Env = append(env, child+"="+strconv.Itoa(p))
		out, err := cmd.Output()
		check(err)
		ms, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		check(err)
		return ms
	})
	links(*n)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// times measures every program on every side and prints a table.
func times(title string, n int, dir string, run func(p int, env []string) float64) {
	fmt.Printf("## %s\n\n| program | no cache | empty cache | known kernel | interpreter | no cache / known |\n| --- | ---: | ---: | ---: | ---: | ---: |\n", title)
	for p := range programs {
		known, empty := filepath.Join(dir, "known"), filepath.Join(dir, "empty")
		sides := []string{"LACUNA_CACHE=off", "LACUNA_CACHE=" + empty, "LACUNA_CACHE=" + known, "LACUNA_LLVM=none"}
		ms := make([][]float64, len(sides))
		run(p, append(os.Environ(), sides[2]))
		for range n {
			for s, env := range sides {
				check(os.RemoveAll(empty))
				ms[s] = append(ms[s], run(p, append(os.Environ(), env)))
			}
		}
		fmt.Printf("| %s | %s | %s | %s | %s | %.1f |\n", programs[p].name, summary(ms[0]), summary(ms[1]), summary(ms[2]), summary(ms[3]), median(ms[0])/median(ms[2]))
	}
	fmt.Println()
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// summary is the median, and the least in parentheses.
func summary(list []float64) string {
	return fmt.Sprintf("%.2f (%.2f)", median(list), slices.Min(list))
}

// firstCall compiles and runs a program, and prints the milliseconds that took.
func firstCall(p program) {
	args := lacuna.Args{}
	for _, name := range p.sparse {
		values := make([]float64, 100*100)
		for i := 0; i < len(values); i += 17 {
			values[i] = float64(i)
		}
		args[name] = operand([]int64{100, 100}, tensor.CSR, values)
	}
	for name, shape := range p.dense {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		args[name] = operand(shape, tensor.Dense(len(shape)), make([]float64, n))
	}
	var opts []lacuna.Option
	if p.result != "" {
		opts = append(opts, lacuna.Result(p.result, tensor.CSR))
	}
	start := time.Now()
	if _, err := lacuna.Eval(context.Background(), p.source, args, opts...); err != nil {
		log.Fatal(err)
	}
	fmt.Println(time.Since(start).Seconds() * 1e3)
	runtime.Flush()
}

func operand(shape []int64, f tensor.Format, values []float64) *tensor.Tensor {
	t, err := tensor.FromDense(shape, f, tensor.ArrayOf(values))
	check(err)
	return t
}

// links compares our loader of objects with LLVM's linker, on the objects of the
// programs.
func links(n int) {
	fmt.Print("## From an object to a function: our loader and LLVM's\n\n| program | bytes | ours | LLVM's | LLVM's / ours |\n| --- | ---: | ---: | ---: | ---: |\n")
	l, err := llvm.Load("")
	check(err)
	for _, p := range programs {
		data := objectOf(l, p)
		var ours, theirs []float64
		for range n {
			start := time.Now()
			code, err := object.Load(data, llvm.RuntimeSymbol)
			check(err)
			ours = append(ours, time.Since(start).Seconds()*1e3)
			check(code.Close())
			start = time.Now()
			module, err := l.Link(data)
			check(err)
			_, err = module.Func(entry(data)) // LLVM links when it is asked for a function
			check(err)
			theirs = append(theirs, time.Since(start).Seconds()*1e3)
			check(module.Close())
		}
		fmt.Printf("| %s | %d | %s | %s | %.1f |\n", p.name, len(data), summary(ours), summary(theirs), median(theirs)/median(ours))
	}
	fmt.Println()
}

// objectOf is the machine code of a program.
func objectOf(l *llvm.LLVM, p program) []byte {
	var opts []lacuna.Option
	for _, name := range p.sparse {
		opts = append(opts, lacuna.Format(name, tensor.CSR, tensor.Float64))
	}
	for name, shape := range p.dense {
		opts = append(opts, lacuna.Format(name, tensor.Dense(len(shape)), tensor.Float64))
	}
	if p.result != "" {
		opts = append(opts, lacuna.Result(p.result, tensor.CSR))
	}
	k, err := lacuna.Compile(context.Background(), p.source, opts...)
	check(err)
	text, err := k.Explain("llvm")
	check(err)
	text, _, _ = strings.Cut(text, "\nsource_filename") // the first step will do
	data, err := l.EmitObject(text, llvm.Options{})
	check(err)
	return data
}

// entry is a function of an object.
func entry(data []byte) string {
	f, err := elf.NewFile(bytes.NewReader(data))
	check(err)
	symbols, err := f.Symbols()
	check(err)
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && elf.ST_BIND(s.Info) == elf.STB_GLOBAL {
			return s.Name
		}
	}
	log.Fatal("the object has no function")
	return ""
}
