// Sparse measures operations on sparse matrices against libraries and C loops,
// and prints the tables as Markdown. A suite is a list of operations: "results"
// has those with sparse results, "reductions" has reductions, scans and quantiles.
//
//	go run -C bench ./sparse                              everything with sparse results
//	go run -C bench ./sparse -inputs unif -operations add,csc
//	go run -C bench ./sparse -suite reductions
//
// Each side is a process of its own that reads the same matrices from files and
// answers requests to run an operation; ours is this program again. So every
// side has its own memory, which is measured too, and one that takes too long
// can be stopped. For an operation and an input the sides take turns, three
// short bursts each, and every result is compared with the others' first.
// bench/sparse.sh and bench/reduce.sh run it and write files under bench/results.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// settings are the flags.
type settings struct {
	suite      suite
	seconds    float64       // how long to repeat an operation, in all bursts together
	limit      time.Duration // for one request: what takes longer is stopped
	inputs     []string
	operations []string
	python     string
}

// oursArg makes this program the process of our side.
const oursArg = "-side"

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench/sparse: ")
	if len(os.Args) == 4 && os.Args[1] == oursArg {
		if err := serve(os.Args[2], os.Args[3], os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	s := settings{}
	flag.Float64Var(&s.seconds, "seconds", 0.5, "how long to repeat one operation on one input, for each side")
	flag.DurationVar(&s.limit, "limit", 30*time.Second, "what takes longer is stopped")
	chosen := flag.String("suite", suites[0].name, "the `suite` of operations: "+strings.Join(names(suites, func(s suite) string { return s.name }), ", "))
	chosenInputs := flag.String("inputs", "", "inputs, all if empty")
	chosenOperations := flag.String("operations", "", "operations, all if empty")
	flag.StringVar(&s.python, "python", "python3", "a `python` with SciPy")
	flag.Parse()
	k := slices.IndexFunc(suites, func(s suite) bool { return s.name == *chosen })
	if k < 0 {
		log.Fatalf("there is no suite %q", *chosen)
	}
	s.suite = suites[k]
	s.inputs = list(*chosenInputs, names(s.suite.inputs, func(in matrixInput) string { return in.name }))
	s.operations = list(*chosenOperations, names(s.suite.operations, func(o operation) string { return o.name }))
	if err := run(s, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// list splits what the user chose; all is the default.
func list(chosen string, all []string) []string {
	if chosen == "" {
		return all
	}
	return strings.Split(chosen, ",")
}

func names[T any](list []T, name func(T) string) []string {
	var out []string
	for _, x := range list {
		out = append(out, name(x))
	}
	return out
}

// run measures everything that the settings choose and prints the report. A
// wrong result does not stop it, but makes it an error.
func run(s settings, out io.Writer) (err error) {
	if err := known(s); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-sparse")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	sides, err := newSides(dir, s.python, s.suite)
	if err != nil {
		return err
	}
	rep := report{suite: s.suite, limit: s.limit, sides: sides}
	for _, in := range s.suite.inputs {
		if !slices.Contains(s.inputs, in.name) {
			continue
		}
		log.Printf("making %s", in.name)
		facts, err := in.write(dir, s.suite)
		if err != nil {
			return err
		}
		rep.inputs = append(rep.inputs, facts)
		rep.rows = append(rep.rows, measureInput(s, facts, sides)...)
		for _, side := range sides {
			side.stop()
		}
		// Only one input is on the disk at a time.
		files, err := filepath.Glob(filepath.Join(dir, in.name+".*"))
		for _, f := range files {
			err = errors.Join(err, os.Remove(f))
		}
		if err != nil {
			return err
		}
	}
	rep.print(out)
	return rep.wrong()
}

// known checks the names that the user chose.
func known(s settings) error {
	for _, name := range s.inputs {
		if !slices.ContainsFunc(s.suite.inputs, func(in matrixInput) bool { return in.name == name }) {
			return fmt.Errorf("there is no input %q", name)
		}
	}
	for _, name := range s.operations {
		if !slices.ContainsFunc(s.suite.operations, func(o operation) bool { return o.name == name }) {
			return fmt.Errorf("there is no operation %q", name)
		}
	}
	return nil
}
