// Mutate makes deliberate mistakes in the compiler and tells which of them its tests find.
//
//	go run ./scripts/mutate -n 100 -seed 1 >docs/mutation.md
//
// All mistakes are compiled into one set of test binaries, each behind a switch that the environment turns on (an
// overlay; no file of the tree changes), as in Untch, Offutt and Harrold 1993, "Mutation analysis using mutant
// schemata". All tests run once without a mistake, which records the places where one would have made a difference
// to a value, and in which test: only that can find it ("weak mutation", Howden 1982). Then each mistake is turned on, and those
// tests run under -short, quickest package first, until one fails. For what they do not find, -long runs them again
// without -short.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"
)

// areas are the packages in which mistakes are made, the same number in each.
var areas = [][]string{
	{"ir", "ir/plan", "ir/logic", "ir/loop"},
	{"lower", "lower/convert", "lower/gpu", "lower/gpu/coop"},
	{"codegen/cpu", "codegen/interp", "codegen/llvm", "codegen/ptx", "codegen/aot"},
	{"runtime", "runtime/ondisk", "runtime/exec", "runtime/convert"},
	{"tensor"},
}

var (
	count = flag.Int("n", 100, "number of mistakes")
	seed  = flag.Uint64("seed", 1, "seed of their choice")
	long  = flag.Bool("long", false, "run what -short does not find without it")
	limit = flag.Duration("limit", 3*time.Minute, "time for one mistake, after which it counts as not found")
	stop  = flag.Duration("stop", 0, "time after the record when no further mistake is begun; 0: none")
	where = flag.String("suites", ".", "regular expression of the packages whose tests run")
	dir   = flag.String("dir", "", "folder for the binaries and records, kept; empty: a temporary one")
	list  = flag.Bool("list", false, "only list the mistakes")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run() error {
	work := *dir
	if work == "" {
		var err error
		if work, err = os.MkdirTemp("", "mutate"); err != nil {
			return err
		}
		defer os.RemoveAll(work)
	}
	mutants, err := choose(areas, *count, *seed)
	if err != nil {
		return err
	}
	suites, err := build(work, mutants)
	if err != nil {
		return err
	}
	if *list {
		for _, m := range mutants {
			fmt.Println(m)
		}
		return nil
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	for _, s := range suites {
		if err := s.record(mutants); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "recorded %s: %d tests, %.0f s\n", s.pkg, len(s.tests), s.total().Seconds())
	}
	began := time.Now()
	for i, m := range mutants {
		if *stop > 0 && time.Since(began) > *stop || len(interrupted) > 0 {
			mutants = mutants[:i]
			break
		}
		m.judge(suites)
		fmt.Fprintf(os.Stderr, "%d/%d %s: %s\n", i+1, len(mutants), m, m.verdict())
	}
	report(mutants)
	return nil
}

// report writes the page.
func report(mutants []*mutant) {
	short, all, reached := 0, 0, 0
	var rows strings.Builder
	for _, m := range mutants {
		if m.short != "" {
			short++
		}
		if m.short != "" || m.long != "" {
			all++
		}
		if m.reached {
			reached++
		}
		fmt.Fprintf(&rows, "| %d | %s:%d | %s | %s |\n", m.id, m.file, m.line, strings.ReplaceAll(m.what, "|", "\\|"), m.verdict())
	}
	fmt.Printf("# Deliberate mistakes\n\nMade by `go run ./scripts/mutate -n %d -seed %d -long=%v -suites %q`.\n\n", *count, *seed, *long, *where)
	fmt.Printf("Of %d mistakes %d make a difference to a value in some test. The tests under `-short` find %d", len(mutants), reached, short)
	if *long {
		fmt.Printf("; with what is found only without it, %d", all)
	}
	fmt.Printf(".\n\n| | place | mistake | found by |\n|---|---|---|---|\n%s", rows.String())
}
