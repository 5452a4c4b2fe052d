//go:build linux && (amd64 || arm64)

// Dist compares products on ranks with PETSc's, both on MPI, with one thread a rank: the time of one product, what is sent for it, and the
// results.
//
//	go run -C bench ./dist                        all matrices, 1, 2 and 4 ranks, as Markdown
//	go run -C bench ./dist -side 300 -ranks 2     smaller ones
//	go run -C bench ./dist -simulate -ranks 16,64,256,1024 -chart scaling.png
//	go run -C bench ./dist -overlap -ranks 2 -scale 15
//
// -simulate does not measure but simulates how products scale on a network: see simulation. -overlap measures what it gains to compute while messages travel, without MPI.
//
// It needs Open MPI and petsc4py (on Debian: apt-get install openmpi-bin python3-petsc4py), which use the same library of MPI. The
// matrices are cut into blocks of rows, as PETSc does, and the vectors alike. Sides take turns, several times; a table has the medians.
// PETSc gets its matrix assembled, and we the plan inspected: neither is in the times.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings are the flags.
type settings struct {
	side, columns, times, turns int
	ranks                       []int
	python, engine, only        string
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench/dist: ")
	if folder := os.Getenv(rankVar); folder != "" {
		if err := playRank(folder); err != nil {
			log.Fatal(err)
		}
		return
	}
	var s settings
	flag.IntVar(&s.side, "side", 1000, "the matrices have the square of `N` rows")
	flag.IntVar(&s.columns, "columns", 64, "of the dense matrix in products with one")
	flag.IntVar(&s.times, "times", 10, "products in a row that are timed as one")
	flag.IntVar(&s.turns, "turns", 5, "how often the two sides take turns")
	flag.StringVar(&s.python, "python", "/usr/bin/python3", "a `python` with petsc4py")
	flag.StringVar(&s.engine, "engine", "auto", "of our side")
	sim := simulation{}
	simulate := flag.Bool("simulate", false, "simulate a network")
	overlapped := flag.Bool("overlap", false, "compare products that wait for messages with those that do not")
	chart := flag.String("chart", "", "the picture that -simulate draws, a .png `file`")
	flag.IntVar(&sim.scale, "scale", 18, "simulated matrices have 2 to `N` rows")
	flag.StringVar(&sim.only, "only", "", "the `name` of one product to simulate, such as SpMV, or a part of a row's first two columns, such as \"A·x | uniform\"")
	flag.IntVar(&sim.degree, "degree", 16, "entries in a row of simulated matrices")
	flag.Float64Var(&sim.net.latency, "latency", 2e-6, "of the simulated network, in `seconds`")
	flag.Float64Var(&sim.net.message, "message", 0.5e-6, "`seconds` that a message costs beside its bytes")
	flag.Float64Var(&sim.net.bandwidth, "bandwidth", 12.5e9, "of a rank's link, in bytes a second")
	flag.Float64Var(&sim.seconds, "seconds", 0.5, "processor time that a kernel is run for at least")
	ranks := flag.String("ranks", "1,2,4", "numbers of ranks")
	flag.Parse()
	for _, text := range strings.Split(*ranks, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			log.Fatalf("-ranks %q: want numbers, such as 1,2,4", *ranks)
		}
		s.ranks = append(s.ranks, n)
	}
	if *overlapped {
		for _, n := range s.ranks {
			o := overlap{sim.scale, sim.degree, s.times, s.turns}
			if err := o.run(context.Background(), os.Stdout, n); err != nil {
				log.Fatal(err)
			}
		}
		return
	}
	if *simulate {
		if sim.ranks = s.ranks; slices.Max(sim.ranks) > 1<<10 {
			log.Fatal("-ranks: 1024 at most are simulated")
		}
		if err := sim.run(context.Background(), os.Stdout, *chart); err != nil {
			log.Fatal(err)
		}
		return
	}
	s.only = sim.only
	if err := run(context.Background(), s); err != nil {
		log.Fatal(err)
	}
}

// outcome is what one side has measured.
type outcome struct {
	Seconds         []float64
	Messages, Bytes int64
	Beside          int64 // bytes of ours that are no values: the ranks agree that patterns are as they were
}

func (o outcome) median() float64 {
	slices.Sort(o.Seconds)
	return o.Seconds[len(o.Seconds)/2]
}

// run prints a table.
func run(ctx context.Context, s settings) error {
	dir, err := os.MkdirTemp("", "dist")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("## Products on ranks, beside PETSc\n\nMatrices of %d rows; one thread a rank; medians of %d turns of %d products. Bytes are those that all ranks send for one product.\n\n", s.side*s.side, s.turns, s.times)
	fmt.Println("| product | matrix | ranks | Lacuna | PETSc | PETSc / Lacuna | Lacuna sends | beside values | PETSc sends |")
	fmt.Println("|---|---|---:|---:|---:|---:|---:|---:|---:|")
	for _, m := range matrices {
		if err := m.write(dir, s.side, s.columns); err != nil {
			return err
		}
		for _, columns := range []int{0, s.columns} {
			product := "A·x"
			if columns > 0 {
				product = fmt.Sprintf("A·X, %d columns", columns)
			}
			for _, n := range s.ranks {
				if !strings.Contains(product+" | "+m.name, s.only) {
					continue
				}
				if err := s.compare(ctx, dir, m, product, columns, n); err != nil {
					return fmt.Errorf("%s on %d ranks: %w", m.name, n, err)
				}
			}
		}
	}
	return nil
}

// compare measures one product and prints its row.
func (s settings) compare(ctx context.Context, dir string, m matrix, product string, columns, n int) error {
	rows := s.side * s.side
	self, err := os.Executable()
	if err != nil {
		return err
	}
	task := task{Folder: dir, Rows: rows, Columns: columns, Times: s.times, Rounds: 1, Engine: s.engine}
	text, err := json.Marshal(task)
	if err != nil {
		return err
	}
	var ours, theirs outcome
	for range s.turns {
		if err := s.start(ctx, &ours, n, []string{rankVar + "=" + string(text)}, self); err != nil {
			return err
		}
		if err := s.start(ctx, &theirs, n, petscPlace(), s.python, filepath.Join(s.script(), "petsc.py"), dir, fmt.Sprint(rows), fmt.Sprint(columns), fmt.Sprint(s.times), "1"); err != nil {
			return err
		}
	}
	if err := same(filepath.Join(dir, "ours"), filepath.Join(dir, "petsc")); err != nil {
		return err
	}
	a, b := ours.median(), theirs.median()
	fmt.Printf("| %s | %s | %d | %s | %s | %.2f | %d | %d | %d |\n", product, m.name, n, duration(a), duration(b), b/a, ours.Bytes, ours.Beside, theirs.Bytes)
	return nil
}

// start runs one side and adds what it has measured.
func (s settings) start(ctx context.Context, into *outcome, n int, env []string, command ...string) error {
	ctx, stop := context.WithTimeout(ctx, 10*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "mpirun.openmpi", append([]string{"--allow-run-as-root", "--oversubscribe", "-n", fmt.Sprint(n)}, command...)...)
	cmd.Env = append(append(os.Environ(), "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"), env...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", command[0], err, &errs)
	}
	var o outcome
	if err := json.Unmarshal(out, &o); err != nil {
		return fmt.Errorf("%s prints %q: %w", command[0], out, err)
	}
	into.Seconds = append(into.Seconds, o.Seconds...)
	into.Messages, into.Bytes, into.Beside = o.Messages, o.Bytes, o.Beside
	return nil
}

// script is the folder with petsc.py: go run -C bench starts in the folder above it.
func (settings) script() string {
	for _, folder := range []string{"dist", "bench/dist", "."} {
		if _, err := os.Stat(filepath.Join(folder, "petsc.py")); err == nil {
			return folder
		}
	}
	return "dist"
}

// petscPlace tells petsc4py where Debian has PETSc.
func petscPlace() []string {
	found, _ := filepath.Glob("/usr/lib/petscdir/petsc*/*-real")
	if os.Getenv("PETSC_DIR") != "" || len(found) == 0 {
		return nil
	}
	return []string{"PETSC_DIR=" + found[len(found)-1]}
}

// same compares what rank 0 has of the two results. Sums of rows are added in the same order on both sides, or in lanes.
func same(ours, theirs string) error {
	a, err := floats(ours)
	if err != nil {
		return err
	}
	b, err := floats(theirs)
	if err != nil {
		return err
	}
	if len(a) != len(b) || len(a) == 0 {
		return fmt.Errorf("the results have %d and %d elements", len(a), len(b))
	}
	for k := range a {
		if math.Abs(a[k]-b[k]) > 1e-12*(1+math.Abs(b[k])) {
			return fmt.Errorf("element %d is %v here and %v there", k, a[k], b[k])
		}
	}
	return nil
}

func duration(seconds float64) string {
	return time.Duration(seconds * 1e9).Round(time.Microsecond).String()
}
