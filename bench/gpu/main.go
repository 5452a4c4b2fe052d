// Command gpu measures kernels on a GPU, on matrices that peers.py reads too:
//
//	gpu -dir DIR -gen              writes the matrices
//	gpu -dir DIR -case spmv/unif   measures a case
//
// It prints a line for each case: its name, the median and the least time of a run in
// milliseconds, and the bytes that the run must move. Operands and results stay in the
// device's memory; a time is that of a whole Kernel.Run, with its launches and the wait
// for the last of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "/tmp/gpu", "directory of the matrices")
	gen := flag.Bool("gen", false, "write the matrices")
	names := flag.String("case", "", "the cases to measure, separated by commas; all if empty")
	engine := flag.String("engine", "cuda", "the engine")
	scale := flag.Float64("scale", 1, "fraction of the sizes")
	list := flag.Bool("list", false, "list the cases")
	seconds := flag.Float64("seconds", 1, "time for each case")
	flag.Parse()
	if *list {
		for _, c := range cases {
			fmt.Println(c.name)
		}
		return
	}
	if *gen {
		if err := generate(*dir, *scale); err != nil {
			log.Fatal(err)
		}
		return
	}
	e, err := runtime.EngineByName(*engine, nil)
	if err != nil {
		log.Fatal(err)
	}
	s := lacuna.NewSession(lacuna.WithEngine(e), lacuna.WithResidentResults())
	for _, c := range cases {
		if *names != "" && !slices.Contains(strings.Split(*names, ","), c.name) {
			continue
		}
		if err := measure(s, c, *dir, *scale, *seconds); err != nil {
			fmt.Printf("%s failed: %v\n", c.name, err)
		}
	}
}

// measure runs a case until the time is over, at least three times after one to warm up.
func measure(s *lacuna.Session, c bench, dir string, scale, seconds float64) error {
	ctx := context.Background()
	args, err := c.args(dir, scale)
	if err != nil {
		return err
	}
	options := append([]lacuna.Option(nil), c.options...)
	on := lacuna.Args{}
	for name, t := range args {
		d, err := s.ToDevice(ctx, t)
		if err != nil {
			return err
		}
		on[name] = d
		options = append(options, lacuna.Format(name, t.Format(), t.DType()))
	}
	start := time.Now()
	k, err := s.Compile(c.text, options...)
	if err != nil {
		return err
	}
	var out *tensor.Tensor
	if out, err = k.Run(ctx, on); err != nil {
		return err
	}
	first := time.Since(start)
	bytes := c.bytes(args, out)
	lacuna.Release(out)
	var times []time.Duration
	for total := time.Duration(0); len(times) < 3 || total.Seconds() < seconds && len(times) < 1000; {
		start := time.Now()
		result, err := k.Run(ctx, on)
		if err != nil {
			return err
		}
		d := time.Since(start)
		lacuna.Release(result)
		total += d
		times = append(times, d)
	}
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
	fmt.Printf("%s %.4f %.4f %d first %.1f\n", c.name, ms(times[len(times)/2]), ms(times[0]), bytes, ms(first))
	return nil
}
