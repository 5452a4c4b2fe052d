// Memory measures the peak memory of one CSR SpMV with many entries, and prints
// it beside the size of its arrays.
//
//	go run -C bench ./memory                      100 million entries
//	go run -C bench ./memory -entries 10000000
//
// It is a program of its own because the peak (VmHWM in /proc/self/status) is
// that of a process. The matrix is built as arrays and handed to tensor.New, as
// by someone who cares: nothing is stored twice.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("memory: ")
	entries := flag.Int("entries", 100_000_000, "entries of the matrix")
	perRow := flag.Int("row", 10, "entries of a row")
	engine := flag.String("engine", runtime.CPUName, "engine")
	flag.Parse()
	if *entries < 1 || *perRow < 1 || *entries%*perRow != 0 || *entries > 1<<31 {
		log.Fatal("-entries must be a positive multiple of -row, and at most 2^31")
	}
	if err := run(*entries, *perRow, *engine); err != nil {
		log.Fatal(err)
	}
}

func run(entries, perRow int, engine string) error {
	var steps []step
	note := func(name string, start time.Time) error {
		peak, err := peakMemory()
		steps = append(steps, step{name, time.Since(start), peak})
		return err
	}
	start := time.Now()
	e, err := runtime.EngineByName(engine, nil)
	if err != nil {
		return err
	}
	session := lacuna.NewSession(lacuna.WithEngine(e))
	k, err := session.Compile(context.Background(), "y(i) = sum_j A(i,j) * x(j)",
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		return err
	}
	if err := note("engine loaded, kernel compiled", start); err != nil {
		return err
	}

	start = time.Now()
	pos, crd, vals, x := arrays(entries, perRow)
	if err := note("arrays made", start); err != nil {
		return err
	}
	start = time.Now()
	n := int64(len(x))
	a, err := tensor.New([]int64{n, n}, tensor.CSR,
		[]tensor.Level{{}, {Pos: tensor.ArrayOf(pos), Crd: tensor.ArrayOf(crd)}}, tensor.ArrayOf(vals))
	if err != nil {
		return err
	}
	xt, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(x))
	if err != nil {
		return err
	}
	if err := note("tensors made (checked)", start); err != nil {
		return err
	}
	var y *tensor.Tensor
	for _, name := range []string{"first run", "second run"} {
		start = time.Now()
		y, err = k.Run(context.Background(), lacuna.Args{"A": a, "x": xt})
		if err != nil {
			return err
		}
		if err := note(name, start); err != nil {
			return err
		}
	}
	report(steps, a, xt, y)
	return nil
}

// step is one thing done and the peak memory after it.
type step struct {
	name string
	took time.Duration
	peak int64
}

// arrays makes a square matrix whose row i has its entries from column i on, a
// step apart, wrapping around.
func arrays(entries, perRow int) (pos, crd []uint32, vals, x []float64) {
	rows := entries / perRow
	pos, crd, vals, x = make([]uint32, rows+1), make([]uint32, entries), make([]float64, entries), make([]float64, rows)
	stride := max(rows/perRow, 1)
	for i := range rows {
		x[i] = float64(i % 10)
		row := crd[i*perRow : (i+1)*perRow]
		// The columns are first + k*stride; the first is chosen so that the last
		// is still in range and they ascend.
		first := i % max(rows-(perRow-1)*stride, 1)
		for k := range row {
			row[k] = uint32(first + k*stride)
			vals[i*perRow+k] = 1
		}
		pos[i+1] = uint32((i + 1) * perRow)
	}
	return pos, crd, vals, x
}

func report(steps []step, a, x, y *tensor.Tensor) {
	operands, result := a.Bytes()+x.Bytes(), y.Bytes()
	fmt.Printf("## Peak memory\n\nCSR SpMV, %s; operands %.1f MB, result %.1f MB, together %.1f MB. Peak is VmHWM.\n\n",
		a, mb(operands), mb(result), mb(operands+result))
	fmt.Println("| after | took | peak MB | peak / arrays |")
	fmt.Println("| --- | ---: | ---: | ---: |")
	for _, s := range steps {
		fmt.Printf("| %s | %v | %.1f | %.3f |\n", s.name, s.took.Round(time.Millisecond), mb(s.peak), float64(s.peak)/float64(operands+result))
	}
	fmt.Println()
}

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }

// peakMemory is the largest resident size of this process so far, in bytes.
func peakMemory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			var kb int64
			if _, err := fmt.Sscanf(value, "%d kB", &kb); err != nil {
				return 0, err
			}
			return kb << 10, nil
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmHWM")
}
