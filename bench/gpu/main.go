// Command gpu measures kernels on a GPU, on matrices that peers.py reads too:
//
//	gpu -dir DIR -gen              writes the matrices
//	gpu -dir DIR -case spmv/unif   measures a case
//	gpu -dir DIR -gpus 1,2         measures the cases of ranks.go on one GPU and on two
//
// It prints a line for each case, its name and then keys with values; times are in milliseconds:
//
//	wall, least      the median and the least time of a whole Kernel.Run, with the allocation of its
//	                 result, its launches and the wait for the last of them
//	device, dleast   the same between events in the stream, before the run and after it, as peers
//	                 are measured
//	first            the first call of the kernel, with its compilation
//	known            the first call in another context: the machine code comes from the disk
//	moved            bytes: each operand and the result once
//
// Operands and results stay in the device's memory. Where operands together are smaller than
// twice the device's cache, runs take turns with several copies of them.
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
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("dir", "/tmp/gpu", "directory of the matrices")
	gen := flag.Bool("gen", false, "write the matrices")
	names := flag.String("case", "", "the cases to measure, separated by commas; all if empty")
	engine := flag.String("engine", runtime.CUDAName, "the engine")
	scale := flag.Float64("scale", 1, "fraction of the sizes")
	gpus := flag.String("gpus", "", "the numbers of GPUs to run on together, separated by commas")
	list := flag.Bool("list", false, "list the cases")
	seconds := flag.Float64("seconds", 1, "time for each case, twice: for the whole run and on the device")
	flag.BoolVar(&debug.TraceCompilation, "trace", debug.TraceCompilation, "print what was compiled when, and how long it took")
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
	if *gpus != "" {
		if err := onRanks(*dir, *names, *gpus, *scale, *seconds); err != nil {
			log.Fatal(err)
		}
		return
	}
	e, err := runtime.EngineByName(*engine, nil)
	if err != nil {
		log.Fatal(err)
	}
	var d *device
	if *engine == runtime.CUDAName {
		if d, err = openDevice(); err != nil {
			log.Fatal(err)
		}
		defer d.close()
	}
	for _, c := range cases {
		if *names != "" && !slices.Contains(strings.Split(*names, ","), c.name) {
			continue
		}
		if err := measure(e, d, c, *dir, *scale, *seconds); err != nil {
			fmt.Printf("%s failed: %v\n", c.name, err)
		}
	}
}

// Two of these and what is in a GPU's cache of one run is no more when its operands come again.
const cacheBytes = 100 << 20

// measure measures a case, for about the given time.
func measure(e runtime.Engine, d *device, c bench, dir string, scale, seconds float64) error {
	ctx := context.Background()
	args, err := c.args(dir, scale)
	if err != nil {
		return err
	}
	s := session(e)
	total := int64(0)
	for _, t := range args {
		total += size(t)
	}
	turns := make([]lacuna.Args, copies(total))
	for i := range turns {
		if turns[i], err = onDevice(ctx, s, args); err != nil {
			return err
		}
	}
	start := time.Now()
	run, err := c.compile(s, args)
	if err != nil {
		return err
	}
	out, err := run(ctx, turns[0])
	if err != nil {
		return err
	}
	first := time.Since(start)
	bytes := c.bytes(args, out)
	release(out, turns[0])
	runtime.Flush() // the kernels of the first runs are compiled again
	walls, err := repeat(seconds, func(i int) (time.Duration, error) {
		start := time.Now()
		out, err := run(ctx, turns[i%len(turns)])
		if err != nil {
			return 0, err
		}
		t := time.Since(start)
		release(out, turns[i%len(turns)])
		return t, nil
	})
	if err != nil {
		return err
	}
	fmt.Printf("%s wall %.4f least %.4f moved %d first %.1f", c.name, ms(median(walls)), ms(walls[0]), bytes, ms(first))
	defer fmt.Println()
	if d == nil {
		return nil
	}
	known, times, err := d.measure(ctx, c, args, len(turns), seconds)
	if err != nil {
		return err
	}
	fmt.Printf(" known %.1f device %.4f dleast %.4f", ms(known), ms(median(times)), ms(times[0]))
	return nil
}

func session(e runtime.Engine) *lacuna.Session {
	return lacuna.NewSession(lacuna.WithEngine(e), lacuna.WithResidentResults(), lacuna.WithConversionKernels())
}

// copies is how many copies of operands take turns.
func copies(bytes int64) int64 {
	if bytes >= cacheBytes {
		return 1
	}
	return min((2*cacheBytes+bytes-1)/max(bytes, 1), 32)
}

// onDevice brings operands to the session's device.
func onDevice(ctx context.Context, s *lacuna.Session, args map[string]*tensor.Tensor) (lacuna.Args, error) {
	on := lacuna.Args{}
	for name, t := range args {
		d, err := s.ToDevice(ctx, t)
		if err != nil {
			return nil, err
		}
		on[name] = d
	}
	return on, nil
}

// compile compiles the case; running it is what is measured.
func (c bench) compile(s *lacuna.Session, args map[string]*tensor.Tensor) (func(context.Context, lacuna.Args) (*tensor.Tensor, error), error) {
	if c.text == "" {
		return func(ctx context.Context, on lacuna.Args) (*tensor.Tensor, error) {
			return s.Convert(ctx, on["A"].(*tensor.Tensor), c.to)
		}, nil
	}
	options := slices.Clone(c.options)
	for name, t := range args {
		options = append(options, lacuna.Format(name, t.Format(), t.DType()))
	}
	k, err := s.Compile(context.Background(), c.text, options...)
	if err != nil {
		return nil, err
	}
	return k.Run, nil
}

// release frees what the device has of a result and not of an operand: conversions share arrays.
func release(out *tensor.Tensor, of lacuna.Args) {
	operands := map[tensor.Remote]bool{}
	for _, t := range of {
		eachRemote(t.(*tensor.Tensor), func(r tensor.Remote) { operands[r] = true })
	}
	eachRemote(out, func(r tensor.Remote) {
		if d, ok := r.(*runtime.Resident); ok && !operands[r] {
			d.Free()
		}
	})
}

func eachRemote(t *tensor.Tensor, visit func(tensor.Remote)) {
	_, _ = t.MapArrays(func(a tensor.Array) (tensor.Array, error) { // the visits do not fail
		if r := a.Remote(); r != nil {
			visit(r)
		}
		return a, nil
	})
}

// repeat makes runs until their times come to the given one, at least three and at most a
// thousand, and returns the times from the least on.
func repeat(seconds float64, run func(i int) (time.Duration, error)) ([]time.Duration, error) {
	var times []time.Duration
	for total := time.Duration(0); len(times) < 3 || total.Seconds() < seconds && len(times) < 1000; {
		t, err := run(len(times))
		if err != nil {
			return nil, err
		}
		total += t
		times = append(times, t)
	}
	slices.Sort(times)
	return times, nil
}

func median(sorted []time.Duration) time.Duration { return sorted[len(sorted)/2] }

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
