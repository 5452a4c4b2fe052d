// Command aot compares kernels compiled ahead of time with those of a session: how long a product of
// a matrix and a vector takes, how long a call of a tiny one, and how long building takes.
//
//	go run -C bench ./aot
//
// Both sides run in turn, in one process, on one thread; ratios are of minima and medians.
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/tensor"
)

const program = "y(i) = A(i,j)*x(j)"

// The structures of lacuna.h.
type (
	array struct {
		data          unsafe.Pointer
		len, cap, typ int64
	}
	level       struct{ pointers, indices array }
	tensorOfABI struct {
		rank    int64
		_       unsafe.Pointer // format
		extents *int64
		levels  *level
		values  array
		_       unsafe.Pointer // fill
	}
	args struct {
		abi, count                    int64
		tensors                       *tensorOfABI
		allocate, release, user, stop uintptr
		tensor                        int64
		message                       uintptr
	}
)

func main() {
	dir, err := os.MkdirTemp("", "lacuna-bench-")
	check(err)
	defer os.RemoveAll(dir)
	run := load(dir)
	speed(run, 4000, 8)
	speed(run, 100000, 10)
	speed(run, 1000000, 10)
	calls(run)
	building(dir)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func formats() []lacuna.Option {
	return []lacuna.Option{lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64)}
}

// load builds a shared library and opens it.
func load(dir string) uintptr {
	u, err := lacuna.Build(context.Background(), program, lacuna.BuildOptions{Name: "spmv"}, formats()...)
	check(err)
	path := filepath.Join(dir, "libspmv.so")
	data, err := u.File(path)
	check(err)
	check(aot.WriteFile(path, data))
	handle, err := purego.Dlopen(path, purego.RTLD_NOW)
	check(err)
	run, err := purego.Dlsym(handle, "spmv")
	check(err)
	return run
}

// matrix has so many entries in each row, at random columns.
func matrix(n, perRow int) (a, x *tensor.Tensor) {
	r := rand.New(rand.NewPCG(1, 2))
	rows, columns := make([]int64, 0, n*perRow), make([]int64, 0, n*perRow)
	values, vector := make([]float64, 0, n*perRow), make([]float64, n)
	for i := range n {
		vector[i] = r.Float64()
		begin := r.IntN(max(1, n-50*perRow))
		for k := range perRow {
			rows, columns = append(rows, int64(i)), append(columns, int64(begin+k*(1+r.IntN(3))%max(1, n-begin)))
			values = append(values, r.Float64())
		}
	}
	a, err := tensor.FromCoords([]int64{int64(n), int64(n)}, tensor.CSR, [][]int64{rows, columns}, tensor.ArrayOf(values))
	check(err)
	x, err = tensor.FromDense([]int64{int64(n)}, tensor.Dense(1), tensor.ArrayOf(vector))
	check(err)
	return a, x
}

func arrayOf(a tensor.Array) array {
	if !a.DType().Valid() {
		return array{}
	}
	return array{data: a.Pointer(), len: int64(a.Len()), typ: int64(a.DType())}
}

// pack makes the arguments of a call, with memory for the result.
func pack(a, x *tensor.Tensor, y []float64) *args {
	shape, n, m := a.Shape(), x.Shape(), make([]int64, 1)
	levels := make([]level, 2)
	levels[1] = level{arrayOf(a.LevelAt(1).Pos), arrayOf(a.LevelAt(1).Crd)}
	tensors := []tensorOfABI{
		{rank: 2, extents: &shape[0], levels: &levels[0], values: arrayOf(a.Values())},
		{rank: 1, extents: &n[0], values: arrayOf(x.Values())},
		{rank: 1, extents: &m[0], values: array{data: unsafe.Pointer(&y[0]), cap: int64(len(y))}},
	}
	return &args{abi: aot.ABIVersion, count: 3, tensors: &tensors[0]}
}

func call(run uintptr, p *args) {
	if status, _, _ := purego.SyscallN(run, uintptr(unsafe.Pointer(p))); int32(status) != 0 {
		log.Fatalf("status %d", int32(status))
	}
}

// speed compares the two on one matrix.
func speed(run uintptr, n, perRow int) {
	a, x := matrix(n, perRow)
	y := make([]float64, n)
	p := pack(a, x, y)
	session := lacuna.NewSession(lacuna.WithThreads(1))
	k, err := session.Compile(context.Background(), program, formats()...)
	check(err)
	var ahead, jit []time.Duration
	repeat := 2_000_000 / (n * perRow)
	repeat = max(1, repeat)
	for range 60 {
		ahead = append(ahead, timed(repeat, func() { call(run, p) }))
		jit = append(jit, timed(repeat, func() {
			_, err := k.Run(context.Background(), lacuna.Args{"A": a, "x": x})
			check(err)
		}))
	}
	out, err := k.Run(context.Background(), lacuna.Args{"A": a, "x": x})
	check(err)
	if !slices.Equal(tensor.View[float64](out.Values()), y) {
		log.Fatal("the results differ")
	}
	slices.Sort(ahead)
	slices.Sort(jit)
	fmt.Printf("SpMV %d rows, %d entries: ahead of time %v, session %v; ratio of minima %.3f, of medians %.3f\n", n, a.NNZ(), ahead[0], jit[0],
		float64(ahead[0])/float64(jit[0]), float64(ahead[len(ahead)/2])/float64(jit[len(jit)/2]))
}

func timed(repeat int, f func()) time.Duration {
	start := time.Now()
	for range repeat {
		f()
	}
	return time.Since(start) / time.Duration(repeat)
}

// calls measures a call that has next to nothing to compute.
func calls(run uintptr) {
	a, x := matrix(3, 1)
	p := pack(a, x, make([]float64, 3))
	best := time.Hour
	for range 200 {
		best = min(best, timed(1000, func() { call(run, p) }))
	}
	fmt.Printf("call of a 3×3 product through purego: %v\n", best)
}

// building measures whole processes.
func building(dir string) {
	lacunaPath := filepath.Join(dir, "lacuna")
	out, err := exec.Command("go", "build", "-o", lacunaPath, "./cmd/lacuna").CombinedOutput()
	if err != nil {
		log.Fatalf("%v\n%s", err, out)
	}
	best, total := time.Hour, time.Duration(0)
	cpu := time.Hour
	const runs = 20
	for range runs {
		cmd := exec.Command(lacunaPath, "build", program, "A:CSR", "-o", filepath.Join(dir, "spmv.o"))
		start := time.Now()
		check(cmd.Run())
		took := time.Since(start)
		best, total = min(best, took), total+took
		cpu = min(cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	fmt.Printf("lacuna build to .o: least %v, mean %v, least processor time %v\n", best, total/runs, cpu)

	file := `
[[kernel]]
name = "spmv"
program = "y(i) = A(i,j)*x(j)"
operands = { A = ["CSR", "CSC", "COO", "DCSR", "DCSC"] }
types = ["f32", "f64", "i32", "i64", "c128"]
[[kernel]]
name = "add"
program = "C(i,j) = A(i,j) + B(i,j)"
operands = { A = ["CSR", "DCSR", "COO"], B = ["CSR", "DCSR", "COO"] }
types = ["f32", "f64", "i32", "i64", "c128"]
[[kernel]]
name = "hadamard"
program = "C(i,j) = A(i,j) * B(i,j)"
operands = { A = ["CSR", "DCSR"], B = ["CSR", "D"] }
types = ["f32", "f64", "i32", "i64", "c128"]
[[kernel]]
name = "rowsum"
program = "y(i) = sum_j A(i,j)"
operands = { A = ["CSR", "COO"] }
types = ["f32", "f64", "i32", "i64", "c128"]
`
	path := filepath.Join(dir, "lacuna.toml")
	check(os.WriteFile(path, []byte(file), 0o644))
	for _, what := range []string{"at first", "again"} {
		cmd := exec.Command(lacunaPath, "build", "-f", path, "-o", filepath.Join(dir, "libkernels.a"))
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			log.Fatalf("%v\n%s", err, out)
		}
		fmt.Printf("library of 100 kernels, %s: %v, processor time %v\n", what, time.Since(start), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
}
