//go:build (linux || darwin) && (amd64 || arm64)

package main

import (
	"context"
	"fmt"
	goruntime "runtime"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// batch is how many calls are timed together, since one is too short.
const batch = 2000

// call is something small that is called over and over.
type call struct {
	name string
	f    func() error
}

func benchCalls(ctx context.Context, s settings) error {
	interp := runtime.Interp()
	native, err := runtime.CPU()
	if err != nil {
		return err
	}
	var calls []call
	for _, e := range []runtime.Engine{native, interp} {
		more, err := smallCalls(ctx, e)
		if err != nil {
			return err
		}
		calls = append(calls, more...)
	}
	var sides []side
	for _, c := range calls {
		sides = append(sides, timed(c.name, func() error {
			for range batch {
				if err := c.f(); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	times, err := interleave(s.budget, sides)
	if err != nil {
		return err
	}
	fmt.Printf("## Calls on small tensors\n\nOperands are 3 x 3 or of length 3, one thread. Nanoseconds of one call, over\n%d batches of %d.\n\n", times[0].rounds(), batch)
	var rows [][]string
	for i, c := range calls {
		objects, bytes, err := allocations(c.f)
		if err != nil {
			return err
		}
		per := func(d time.Duration) string { return fmt.Sprint(d.Nanoseconds() / batch) }
		rows = append(rows, []string{c.name, per(times[i].median()), per(times[i].least()), per(times[i].cpuTime()),
			fmt.Sprintf("%.0f", objects), fmt.Sprintf("%.0f", bytes)})
	}
	table([]string{"call", "engine", "median ns", "least ns", "cpu ns", "allocations", "bytes"}, rows)
	return nil
}

// smallCalls are the calls measured on one engine. Their names end in a table
// cell with the engine's.
func smallCalls(ctx context.Context, e runtime.Engine) ([]call, error) {
	var calls []call
	name := func(what string) string { return what + " | " + e.Name() }
	session := lacuna.NewSession(lacuna.WithEngine(e), lacuna.WithThreads(1))
	for _, c := range compiled {
		args, err := tinyArgs(c.formats)
		if err != nil {
			return nil, err
		}
		k, err := session.Compile(context.Background(), c.src, options(args, c.opts)...)
		if err != nil {
			return nil, err
		}
		operands := args.args()
		calls = append(calls, call{name("Kernel.Run, " + c.name), func() error {
			_, err := k.Run(ctx, operands)
			return err
		}})
	}
	args, err := tinyArgs(compiled[0].formats)
	if err != nil {
		return nil, err
	}
	operands := args.args()
	into, err := intoRun(e, spmvProgram, args, make([]float64, 3), 1)
	if err != nil {
		return nil, err
	}
	calls = append(calls,
		call{name("Session.Eval, SpMV"), func() error {
			_, err := session.Eval(ctx, spmvProgram, operands)
			return err
		}},
		call{name("Executable.RunInto, SpMV, result given"), into})
	if e.Name() == runtime.CPUName {
		loops, err := loopsRun(spmvProgram, args, make([]float64, 3), 3)
		if err != nil {
			return nil, err
		}
		calls = append(calls, call{name("generated function, SpMV"), loops})
	}
	return calls, nil
}

// allocations counts what one call allocates on the Go heap.
func allocations(f func() error) (objects, bytes float64, err error) {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	for range batch {
		if err := f(); err != nil {
			return 0, 0, err
		}
	}
	goruntime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / batch, float64(after.TotalAlloc-before.TotalAlloc) / batch, nil
}
