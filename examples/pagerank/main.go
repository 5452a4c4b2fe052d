// Pagerank ranks Debian packages by what depends on them.
//
//	go run ./examples/pagerank                    the packages that apt knows
//	go run ./examples/pagerank -file dump.txt     a file as `apt-cache dumpavail` prints it
//	go run ./examples/pagerank -synthetic 10000   an invented archive
//
// A package hands its rank on to the packages it depends on, in equal parts.
// One power iteration is a program of four statements, which is compiled once
// and run until the ranks settle.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// step is one power iteration. A(i,j) is 1 where package j depends on package
// i, and deg(j) says on how many it does. The rank of packages that depend on
// nothing goes to all packages alike.
const step = `
	share(j) = r(j)/max(deg(j), 1)
	idle = sum_j where(deg(j) == 0, r(j), 0)
	next(i) = 0.15/n + 0.85*(sum_j A(i,j)*share(j) + idle/n)
	change = sum_i abs(next(i) - r(i))`

func main() {
	log.SetFlags(0)
	file := flag.String("file", "", "read the packages from this `file`, not from apt")
	synthetic := flag.Int("synthetic", 0, "invent `N` packages")
	flag.Parse()
	if err := run(context.Background(), *file, *synthetic); err != nil {
		log.Fatal("pagerank: ", err)
	}
}

func run(ctx context.Context, file string, synthetic int) error {
	dump, err := list(file, synthetic)
	if err != nil {
		return err
	}
	names, from, to := parse(string(dump))
	if len(names) == 0 {
		return errors.New("the list holds no package")
	}
	fmt.Printf("%d packages, %d dependencies\n", len(names), len(from))
	ranks, err := rank(ctx, int64(len(names)), from, to)
	if err != nil {
		return err
	}
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ranks[b], ranks[a]) })
	for k, i := range order[:min(10, len(order))] {
		fmt.Printf("%3d  %.6f  %s\n", k+1, ranks[i], names[i])
	}
	return nil
}

// rank computes the PageRank of a graph of n nodes with the given edges.
func rank(ctx context.Context, n int64, from, to []int64) ([]float64, error) {
	ones := tensor.ArrayOf(slices.Repeat([]float64{1}, len(from)))
	A, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, [][]int64{to, from}, ones)
	if err != nil {
		return nil, err
	}
	r, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(slices.Repeat([]float64{1 / float64(n)}, int(n))))
	if err != nil {
		return nil, err
	}
	deg, err := lacuna.Eval(ctx, "deg(j) = sum_i A(i,j)", lacuna.Args{"A": A}, lacuna.Result("deg", tensor.Dense(1)))
	if err != nil {
		return nil, err
	}
	args := lacuna.Args{"A": A, "deg": deg, "r": r, "n": tensor.ScalarTensor(tensor.Float(tensor.Float64, float64(n)))}
	start := time.Now()
	kernel, err := lacuna.Compile(ctx, step, lacuna.Operand("A", A), lacuna.Operand("deg", deg),
		lacuna.Operand("r", r), lacuna.Operand("n", args["n"]))
	if err != nil {
		return nil, err
	}
	compiled := time.Now()
	for steps := 1; ; steps++ {
		out, err := kernel.RunAll(ctx, args)
		if err != nil {
			return nil, err
		}
		r = out["next"]
		args["r"] = r
		if out["change"].At().Float64() < 1e-10 || steps == 200 {
			fmt.Fprintf(os.Stderr, "compiled in %v, then %d steps of %v each\n", compiled.Sub(start).Round(time.Millisecond),
				steps, (time.Since(compiled) / time.Duration(steps)).Round(time.Microsecond))
			return tensor.View[float64](r.Values()), nil
		}
	}
}

// list gives the packages, as `apt-cache dumpavail` prints them.
func list(file string, synthetic int) ([]byte, error) {
	if file != "" {
		return os.ReadFile(file)
	}
	if synthetic == 0 {
		return exec.Command("apt-cache", "dumpavail").Output()
	}
	var text []byte
	for i := range synthetic {
		text = fmt.Appendf(text, "Package: p%d\nDepends: p%d (>= 1), p%d | none\n\n", i, i/2, i/3)
	}
	return text, nil
}

// parse reads the packages, and an edge from each to every package it depends
// on: of alternatives the first, and only what is a package itself.
func parse(dump string) (names []string, from, to []int64) {
	number, needs := map[string]int64{}, []map[string]bool{}
	for line := range strings.Lines(dump) {
		switch field, value, _ := strings.Cut(strings.TrimSpace(line), ": "); {
		case field == "Package":
			number[value] = int64(len(names))
			names, needs = append(names, value), append(needs, map[string]bool{})
		case (field == "Depends" || field == "Pre-Depends") && len(needs) > 0:
			for need := range strings.SplitSeq(value, ",") {
				name := strings.TrimSpace(need) + " "
				needs[len(needs)-1][name[:strings.IndexAny(name, " (|:")]] = true
			}
		}
	}
	for j, set := range needs {
		for _, name := range slices.Sorted(maps.Keys(set)) {
			if i, ok := number[name]; ok && i != int64(j) {
				from, to = append(from, int64(j)), append(to, i)
			}
		}
	}
	return names, from, to
}
