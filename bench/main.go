//go:build (linux || darwin) && (amd64 || arm64)

// Bench measures Lacuna and what it is compared with, in one run, by turns.
//
//	go run -C bench .                      everything but memory, as Markdown
//	go run -C bench . spmv -matrices unif  CSR SpMV against C and SciPy
//	go run -C bench . compile              text to first result, and its parts
//	go run -C bench . first                process start to first result
//	go run -C bench . calls                a run on tensors of nine elements
//
// Nothing here is a test: times are printed, never compared with a limit. All
// sides of a comparison run in turn, in an order that changes each round, so
// that a busy machine hits all of them; the tables give the median and the
// least of many rounds. ./bench/memory measures peak memory, and bench/run.sh
// runs everything and writes a file under bench/results.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"
)

// settings are the flags.
type settings struct {
	budget   time.Duration // for each table
	matrices []string
	python   string
}

// benchmark prints one part of the report.
type benchmark struct {
	name string
	run  func(context.Context, settings) error
}

// benchmarks are the parts, in the order in which all of them run.
var benchmarks = []benchmark{
	{"spmv", benchSpMV},
	{"compile", benchCompile},
	{"first", benchFirst},
	{"calls", benchCalls},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	if len(os.Args) > 2 && os.Args[1] == childArg {
		child := func() error { return firstResult(os.Args[2]) }
		if len(os.Args) > 4 {
			child = func() error { return compileOnce(os.Args[2], os.Args[3], os.Args[4] == "true", os.Args[5] == "true") }
		}
		if err := child(); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	var names []string
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		names, args = append(names, args[0]), args[1:]
	}
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	var s settings
	flags.DurationVar(&s.budget, "time", 10*time.Second, "how long to measure for each table")
	chosen := flags.String("matrices", strings.Join(matrixNames(), ","), "matrices for spmv")
	flags.StringVar(&s.python, "python", "python3", "a `python` with SciPy")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s.matrices = strings.Split(*chosen, ",")
	for _, name := range names {
		if !slices.ContainsFunc(benchmarks, func(b benchmark) bool { return b.name == name }) {
			return fmt.Errorf("there is no benchmark %q", name)
		}
	}
	for _, b := range benchmarks {
		if len(names) > 0 && !slices.Contains(names, b.name) {
			continue
		}
		if err := b.run(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	return nil
}
