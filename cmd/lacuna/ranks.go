package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/mpi"
	"github.com/lacuna-sparse/lacuna/runtime/dist/nccl"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// rankFlags is what the flags say about the ranks that run a program.
type rankFlags struct {
	n    int    // of this process; 0: one, or those that mpirun has started
	text string // of the grid
	grid *placement.Grid

	flags *pflag.FlagSet // nil of a command that runs on one rank alone
}

// register adds the flags.
func (g *rankFlags) register(cmd *cobra.Command) {
	g.flags = cmd.Flags()
	g.flags.IntVar(&g.n, "ranks", 0, "run on `N` ranks of this process, which share the work as operands are placed; mpirun starts others")
	g.flags.StringVar(&g.text, "grid", "", "how many ranks there are along each axis that placements name, such as `r=2,c=2`")
}

func (g *rankFlags) parse() (err error) {
	if g.flags != nil && g.flags.Changed("ranks") && (g.n < 1 || g.n > 1024) {
		return cli.Usagef("--ranks %d: expected a number of ranks from 1 to 1024", g.n)
	}
	if g.n > 0 && mpi.Launched() {
		return cli.Usagef("--ranks %d is for ranks of one process, and mpirun has started several: leave it out", g.n)
	}
	if g.text == "" {
		return nil
	}
	if g.grid, err = placement.ParseGrid(g.text); err != nil {
		return cli.Usagef("--grid: %s", err)
	}
	if g.n == 0 && !mpi.Launched() {
		g.n = g.grid.Ranks()
	}
	return nil
}

// several reports whether there are ranks.
func (g *rankFlags) several() bool { return g.n > 0 || mpi.Launched() }

// on is the grid of so many ranks, over which tensors are placed as layouts say.
func (g *rankFlags) on(n int, layouts []placement.Layout) (*placement.Grid, error) {
	if g.grid == nil {
		return placement.GridFor(layouts, n)
	}
	if g.grid.Ranks() != n {
		return nil, cli.Usagef("--grid %s is for %d ranks, and there are %d", g.grid, g.grid.Ranks(), n)
	}
	return g.grid, nil
}

// onRanks runs the program on several ranks. Only the first has results.
func (e *evaluation) onRanks(ctx context.Context, engine runtime.Engine) (out lacuna.Outputs, t timing, err error) {
	switch {
	case e.stream != nil:
		return nil, t, fmt.Errorf("%s does not fit in memory, and ranks do not read in slices", e.stream.name)
	case e.tuned || len(e.schedule) > 0:
		return nil, t, cli.Usagef("--tuned and --schedule are for one rank")
	}
	run := &rankRun{e: e, options: dist.Options{Results: map[string]dist.Result{}, Strict: e.strict}, layouts: map[string]placement.Layout{}, read: map[string]*dist.Tensor{}, drawing: e.drawing}
	if err := run.declare(); err != nil {
		return nil, t, err
	}
	start := time.Now()
	switch {
	case runtime.OnGrids(engine) && os.Getenv(nccl.EnvVar) != "off":
		err = run.onGPUs(ctx)
	case e.app.group != nil:
		err = run.on(ctx, e.app.group, run.session(engine, e.app.group.Processors()))
	default:
		session := run.session(engine, goruntime.GOMAXPROCS(0)/e.ranks.n)
		err = ranks.Run(ctx, e.ranks.n, ranks.Faults{}, func(ctx context.Context, t transport.Transport) error { return run.on(ctx, t, session) })
	}
	if e.timed && run.sent != nil && err == nil {
		run.printTraffic(e.app)
	}
	return run.out, timing{first: time.Since(start)}, err
}

// onGPUs runs the program on ranks that have a GPU each, or share those that there are.
func (run *rankRun) onGPUs(ctx context.Context) error {
	gpus, err := nccl.Devices()
	if err != nil {
		return err
	}
	on := func(ctx context.Context, g *nccl.Group) error {
		engine, err := g.Engine()
		if err != nil {
			return err
		}
		if run.e.timed && g.Rank() == 0 {
			run.e.app.Notice("values go from GPU to GPU by " + g.Carrier())
		}
		return run.on(ctx, g, run.session(engine, goruntime.GOMAXPROCS(0)/g.Size(), exec.WithResidentResults()))
	}
	if below := run.e.app.group; below != nil {
		if n := mpi.LocalSize(); n > gpus {
			return cli.Usagef("mpirun has started %d processes on this machine, which has %d GPUs, and NCCL wants one for each: start fewer, or set %s=off to send through the host's memory", n, gpus, nccl.EnvVar)
		}
		g, err := nccl.Join(ctx, below, mpi.LocalRank())
		if missing := (*nccl.NotFoundError)(nil); errors.As(err, &missing) {
			return fmt.Errorf("%w; or set %s=off to send through the host's memory", err, nccl.EnvVar)
		}
		if err != nil {
			return err
		}
		run.e.app.gpus = g
		return on(ctx, g)
	}
	ordinals := make([]int, run.e.ranks.n)
	for r := range ordinals {
		ordinals[r] = r % gpus
	}
	groups, err := nccl.Open(ctx, ordinals...)
	if err != nil {
		return err
	}
	return ranks.Each(ctx, groups, on)
}

// rankRun is a run of a program on ranks.
type rankRun struct {
	e       *evaluation
	options dist.Options
	layouts map[string]placement.Layout // of operands

	// What rank 0 has in the end.
	out  lacuna.Outputs
	sent []sent

	bytes int64                   // that this process has read of files of which each reads a part
	read  map[string]*dist.Tensor // what all have read where places are chosen, as it lies on the ranks of line
	line  *dist.Rank

	proposing sync.Once // of a process
	proposal  *dist.Proposal
	failed    error
	drawing   *drawing // what inspect shows; nil: nothing
}

// sent is what a rank has sent, and in how many messages.
type sent struct {
	dist.Sent
	Messages int64
	Read     int64 // bytes of files of which each rank reads a part
}

// session is that of a rank, or of several which share this process's threads: so many each, where nobody has said how many.
func (run *rankRun) session(engine runtime.Engine, each int, more ...exec.SessionOption) *exec.Session {
	threads := run.e.threads
	if threads == 0 {
		threads = max(1, each)
	}
	return exec.NewSession(append(more, exec.WithEngine(engine), exec.WithThreads(threads), exec.WithMemoryLimit(run.e.limit), exec.WithNotice(run.e.app.Notice))...)
}

// declare takes what arguments and flags say of operands and results.
func (run *rankRun) declare() error {
	e := run.e
	of := func(name string, f func(*dist.Result)) {
		r := run.options.Results[name]
		f(&r)
		run.options.Results[name] = r
	}
	for _, o := range e.operands {
		rank := -1
		if u := e.program.uses[o.Name]; u != nil {
			rank = u.rank
		}
		if t, ok := e.args[o.Name].(*tensor.Tensor); ok {
			rank = t.Rank()
		} else if e.args[o.Name] != nil {
			return fmt.Errorf("%s is stored in parts: on ranks it is one tensor, which its placement cuts", o.Name)
		}
		var l *placement.Layout
		if o.Qual.Layout != "" {
			parsed, err := placement.Parse(o.Qual.Layout, rank)
			if err != nil {
				return cli.Usagef("%s: %s", o.Name, err)
			}
			if l = &parsed; parsed.Auto && o.Source == nil && e.args[o.Name] == nil {
				l = nil // where a result is follows from how the program is cut
			}
		}
		if o.Source != nil || e.args[o.Name] != nil {
			if l != nil {
				run.layouts[o.Name] = *l
			}
			continue
		}
		f, given, err := o.Qual.FormatFor(rank)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
		of(o.Name, func(r *dist.Result) { r.Format, r.HasFormat, r.DType, r.Layout = f, given, o.Qual.DType, l })
	}
	for name, shape := range e.shapes {
		of(name, func(r *dist.Result) { r.Shape = shape })
	}
	for name, fill := range e.fills {
		if e.args[name] == nil {
			of(name, func(r *dist.Result) { r.Fill = &fill })
		}
	}
	return nil
}

// gridFor is the grid of so many ranks, and where the operands are that were placed by nobody.
func (run *rankRun) gridFor(ctx context.Context, n int) (*placement.Grid, *dist.Proposal, error) {
	var layouts []placement.Layout
	auto := false // of any operand
	for _, o := range run.e.operands {
		if l, ok := run.layouts[o.Name]; ok && l.Auto {
			auto = true
		} else if ok {
			layouts = append(layouts, l)
		} else if r := run.options.Results[o.Name]; r.Layout != nil {
			layouts = append(layouts, *r.Layout)
		}
	}
	if auto || len(layouts) == 0 {
		run.proposing.Do(func() { run.proposal, run.failed = run.propose(ctx, n, layouts) })
		if run.failed != nil {
			return nil, nil, run.failed
		}
		return run.proposal.Grid, run.proposal, nil
	}
	grid, err := run.e.ranks.on(n, layouts)
	return grid, nil, err
}

// propose chooses where operands are, and the grid if nobody speaks of it.
func (run *rankRun) propose(ctx context.Context, n int, layouts []placement.Layout) (*dist.Proposal, error) {
	var grid *placement.Grid
	var err error
	if len(layouts) > 0 || run.e.ranks.grid != nil {
		if grid, err = run.e.ranks.on(n, layouts); err != nil {
			return nil, err
		}
	}
	args := map[string]*dist.Tensor{}
	for name, operand := range run.e.args {
		whole, ok := operand.(*tensor.Tensor)
		if !ok {
			continue
		}
		t, err := dist.Whole(whole)
		if err != nil {
			return nil, err
		}
		if l := run.layouts[name]; len(layouts) > 0 && !l.Auto { // beside what is placed, what is not is there on every rank
			if t.Placement, err = place(l, grid, whole, run.e.args); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		args[name] = t
	}
	for name, t := range run.read {
		somewhere := *t
		somewhere.Placement = nil
		args[name] = &somewhere
	}
	return dist.Propose(ctx, run.e.program.file.String(), args, n, grid, run.options, func(name string, axes ...int) ([]int64, error) {
		if run.read[name] == nil {
			return args[name].Count(axes...), nil
		}
		return run.line.Total(ctx, false, args[name].Count(axes...)...)
	})
}

// on is what one rank does.
func (run *rankRun) on(ctx context.Context, t transport.Transport, session *exec.Session) error {
	if err := run.shares(ctx, t, session); err != nil {
		return err
	}
	grid, proposal, err := run.gridFor(ctx, t.Size())
	if err != nil {
		return err
	}
	r, err := dist.New(ctx, session, t, grid)
	if err != nil {
		return err
	}
	args := map[string]*dist.Tensor{}
	for _, o := range run.e.withStarts() {
		whole, ok := run.e.args[o.Name].(*tensor.Tensor)
		if read := run.read[o.Name]; read != nil {
			if args[o.Name], err = r.Place(ctx, read, proposal.Placements[o.Name]); err != nil {
				return err
			}
			delete(run.read, o.Name) // its memory
			continue
		}
		if !ok && o.Source != nil {
			if args[o.Name], err = run.share(ctx, r, o); err != nil {
				return err
			}
			continue
		}
		if !ok {
			continue
		}
		var p *placement.Placement
		if proposal != nil {
			p = proposal.Placements[o.Name]
		} else if p, err = place(run.layouts[o.Name], grid, whole, run.e.args); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
		if args[o.Name], err = r.Cut(whole, p); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	options := run.options // which several ranks share
	options.Chosen = proposal
	k, err := r.Compile(ctx, run.e.program.file.String(), args, options)
	if err != nil {
		return err
	}
	defer k.Close()
	results, err := k.Run(ctx, args)
	if err != nil {
		return err
	}
	all, err := run.tellSent(ctx, t, r) // what follows is for showing results
	if err != nil {
		return err
	}
	if run.drawing != nil {
		run.drawing.add(r, args, results)
	}
	out, written, err := run.deliver(ctx, t, r, results)
	if err != nil || r.Rank() != 0 {
		return err
	}
	run.out, run.sent, run.e.written = out, all, written
	if run.drawing != nil {
		run.drawing.sent, run.drawing.notes, run.drawing.proposal = all, k.Notes(), proposal
	}
	if proposal != nil && run.e.timed {
		run.e.app.Notice(proposal.String())
	}
	for _, note := range k.Notes() {
		if strings.Contains(note, "cannot be cut") || run.e.timed {
			run.e.app.Notice(note)
		}
	}
	return nil
}

// tellSent tells rank 0 what each rank has sent so far.
func (run *rankRun) tellSent(ctx context.Context, t transport.Transport, r *dist.Rank) ([]sent, error) {
	mine := sent{Sent: r.Sent(), Read: run.bytes}
	if run.line != nil {
		mine.Reading += run.line.Sent().Total()
	}
	for _, to := range t.Sent() {
		mine.Messages += to.Messages
	}
	out := make([][]byte, t.Size())
	var err error
	if out[0], err = json.Marshal(mine); err != nil {
		return nil, err
	}
	in, err := t.Exchange(ctx, out)
	if err != nil || t.Rank() != 0 {
		return nil, err
	}
	all := make([]sent, len(in))
	for k, b := range in {
		if err := json.Unmarshal(b, &all[k]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// place is what a layout means for a tensor.
func place(l placement.Layout, grid *placement.Grid, t *tensor.Tensor, args lacuna.Args) (*placement.Placement, error) {
	return l.On(grid, described(t, args))
}

// described is what layouts ask of a tensor.
func described(t *tensor.Tensor, args lacuna.Args) placement.Tensor {
	return placement.Tensor{Shape: t.Shape(), Weights: func(axis int) ([]int64, error) { return dist.Weights(t, axis) }, List: listed(args)}
}

// printTraffic tells what each rank has sent.
func (run *rankRun) printTraffic(a *app) {
	a.Stdout.Flush()
	w := tabwriter.NewWriter(a.Stderr, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "rank\tmessages\tvalues\tsums\tinspection\tagreement\treading\tread of files in parts\t")
	for r, s := range run.sent {
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r, s.Messages, units.FormatBytes(s.Values), units.FormatBytes(s.Combination), units.FormatBytes(s.Inspection), units.FormatBytes(s.Agreement),
			units.FormatBytes(s.Reading), units.FormatBytes(s.Read))
	}
	w.Flush()
}
