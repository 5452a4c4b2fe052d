package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/show"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// evaluation is one run of the command eval.
type evaluation struct {
	app *app
	wishes
	ranks   rankFlags
	outputs []string
	engineFlags
	memory  string
	large   operand.MemoryFlag
	spill   *operand.OutOfCore // what --memory has opened; nil: nothing
	timed   bool
	profile bool     // print what each step took
	tuned   bool     // take what tuning has kept
	drawing *drawing // what inspect shows of a run on ranks; nil: nothing
	repeat  int
	settle  bool // repeat is a least number

	program  *program
	operands []operand.Operand
	writes   []operand.Destination
	written  []string // the paths of those that ranks have written, each its part
	limit    int64
	session  *lacuna.Session // nil: a new one
	args     lacuna.Args
	labels   map[string][]string        // what the values of an operand stand for, if it is a column of labels
	declared map[string][]lacuna.Option // how results are to be stored
	stream   *stream                    // the operand that does not fit in memory; nil: all do
	names    map[string]show.AxisNames  // the labels along axes of results
	starts   map[string]tensor.Scalar   // what sums by labels start with, of those that were given a value for it
	options  []lacuna.Option
}

var engines = []string{runtime.AutoName, runtime.InterpName, runtime.CPUName, runtime.CUDAName}

func checkEngine(name string) error {
	if slices.Contains(engines, name) {
		return nil
	}
	return cli.Usagef("unknown engine %q%s (engines are %s)", name, cli.DidYouMean(name, engines), strings.Join(engines, ", "))
}

func newEval(a *app) *cobra.Command {
	e := &evaluation{app: a}
	cmd := &cobra.Command{
		Annotations: map[string]string{onRanks: "yes"},
		Use:         "eval PROGRAM [NAME=FILE | NAME=random(…) | NAME=NUMBER | NAME:FORMAT]…",
		Short:       "Run a program on tensors and print or write its results",
		Long: `Eval compiles a program for the tensors it is given and runs it.

Operands:
  A=web.mtx              a file: .mtx, .tns, .npy, .npz, .h5, .h5ad, .csv, .parquet, also with .gz
  A=web.mtx:CSR[f32]     stored as CSR, with elements of type f32
  x=data.npz:entry=x     one array of an archive; lacuna inspect lists them
  c=cells.h5ad:entry=obs/cell_type   labels, to sum by: G(c(i),j) += A(i,j)
  B=random(1000,1000,density=0.01,seed=1)
  n=range(10)            0, 1, … 9
  A=web.mtx:CSR:stored=symmetric_lower   one triangle of a symmetric matrix
  T=t.tns:stored=mmcsf   in parts: mmcsf or hbcsf
  alpha=0.5              a number
  q=[0.25,0.5,0.99]      a vector; [[1,2],[3,4]] is a matrix
  y:CSR[f32]             no value: how the result y is stored
  A=web.mtx:CSR over (r by entries)   placed so over ranks, with --ranks or mpirun

Results are printed, abbreviated where they are long, unless -o says where to write
them.`,
		Example: `  lacuna eval 'y(i) = sum_j A(i,j)*x(j)' A=web.mtx:CSR x=x.npy -o y.npy
  lacuna eval 'C(i,k) = A(i,j)*B(j,k)' A=a.mtx:CSR B=b.mtx:CSR C:CSR -o C=c.mtx
  lacuna eval 'y(i) = sum_j A(i,j)*x(j)' 'A=web.mtx:CSR over (r)' 'x=x.npy:over (r)' --ranks 4
  lacuna eval 's = sum_{i,j} A(i,j)^2' 'A=random(1000,1000,density=0.01)' --time`,
		Args:              cli.Arguments(1, -1, "a program and its operands"),
		ValidArgsFunction: completeOperand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.parse(cmd, args); err != nil {
				return err
			}
			return cli.Advise(e.run(cmd.Context()), "eval")
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&e.outputs, "output", "o", nil, "write the last result to `FILE`, or another as NAME=FILE; may be repeated")
	e.registerEngine(cmd)
	e.large.Register(cmd)
	f.BoolVar(&e.tuned, "tuned", false, "run as lacuna tune --save has kept, if it has")
	f.BoolVar(&e.timed, "time", false, "print how long reading, compiling, the first run and later ones took")
	f.BoolVar(&e.profile, "profile", false, "run twice, and print what each step of the second run took beside what was estimated")
	f.IntVar(&e.repeat, "repeat", 5, "with --time: run `N` times after the first and take the median; without it at least 5 times, and 50 ms")
	e.wishes.register(cmd)
	e.ranks.register(cmd)
	return cmd
}

// registerEngine adds the flags about what runs the program.
func (e *evaluation) registerEngine(cmd *cobra.Command) {
	f := cmd.Flags()
	e.engineFlags.register(cmd)
	f.StringVar(&e.memory, "memory-limit", "", "what a run may allocate, such as 2GiB; without it three quarters of what is free")
}

// compilation is what the program is compiled for: its operands, and what is said of results.
func (e *evaluation) compilation() []lacuna.Option {
	opts := make([]lacuna.Option, 0, len(e.args)+len(e.options))
	for name, value := range e.args {
		opts = append(opts, lacuna.Operand(name, value))
	}
	return append(opts, e.options...)
}

// parse reads the arguments.
func (e *evaluation) parse(cmd *cobra.Command, args []string) (err error) {
	switch {
	case e.repeat < 1:
		return cli.Usagef("--repeat %d: want 1 or more", e.repeat)
	case e.profile && e.timed:
		return cli.Usagef("--profile goes without --time: it runs the program twice, and watches")
	case cmd.Flags().Changed("repeat") && !e.timed:
		return cli.Usagef("--repeat goes with --time")
	case e.large.Text != "" && e.memory != "":
		return cli.Usagef("--memory goes without --memory-limit: the one has what does not fit in files, the other refuses it")
	case e.large.Text != "" && e.ranks.several():
		return cli.Usagef("--memory is for one rank")
	}
	if err := cmp.Or(e.engineFlags.check(), checkEngine(e.engine)); err != nil {
		return err
	}
	e.settle = !cmd.Flags().Changed("repeat")
	if e.memory != "" {
		if e.limit, err = units.ParseBytes(e.memory); err != nil {
			return cli.Usagef("--memory-limit: %s", err)
		}
	}
	if err := e.wishes.parse(); err != nil {
		return err
	}
	if err := e.ranks.parse(); err != nil {
		return err
	}
	parse := operand.ParseAll
	if e.ranks.several() {
		parse = operand.ParsePlaced
	}
	if e.operands, err = parse(args[1:]); err != nil {
		return err
	}
	if e.writes, err = operand.ParseDestinations(e.outputs); err != nil {
		return err
	}
	e.program, err = parseProgram(args[0])
	return err
}

// run loads the operands, compiles, runs, and shows the results.
func (e *evaluation) run(ctx context.Context) error {
	if err := e.app.join(); err != nil { // before anything can fail: the others are told
		return err
	}
	for i, d := range e.writes {
		if d.Name == "" {
			e.writes[i].Name = e.program.last
		} else if err := e.program.checkResult(d.Name); err != nil {
			return err
		}
	}
	var names []string
	for _, d := range e.writes {
		names = append(names, d.Name)
	}
	if len(names) > 0 {
		e.options = append(e.options, lacuna.Only(names...))
	}
	if e.engine == runtime.CUDAName {
		if err := pickGPU(); err != nil {
			return err
		}
	}
	engine, err := runtime.EngineByName(e.engine, e.app.Notice)
	if err != nil {
		return err
	}
	if e.large.Text != "" && runtime.OnGrids(engine) {
		return cli.Usagef("--memory is for the processor, and --engine %s has memory of its own", e.engine)
	}
	if ctx, e.spill, err = e.large.Open(ctx, e.writes); err != nil {
		return err
	}
	defer e.spill.Close()
	if e.spill != nil {
		e.limit = e.spill.Limit
	}
	start := time.Now()
	if err := e.load(ctx); err != nil {
		return err
	}
	reading := time.Since(start)
	if e.profile && e.stream != nil {
		return fmt.Errorf("%s does not fit in memory, and --profile runs there only: cut a part of it out", e.stream.name)
	}
	out, times, err := e.execute(ctx, engine)
	if err != nil {
		return err
	}
	if out == nil { // another rank has them
		return nil
	}
	if err := e.deliver(ctx, out); err != nil {
		return err
	}
	if times.profile != nil {
		e.app.Stdout.Flush()
		fmt.Fprint(e.app.Stderr, times.profile)
	}
	if e.timed {
		times.reading = reading
		times.print(e.app, engine.Name())
	}
	return nil
}

// load makes the operands and what is declared of results.
func (e *evaluation) load(ctx context.Context) error {
	e.args, e.labels, e.names, e.starts = lacuna.Args{}, map[string][]string{}, map[string]show.AxisNames{}, map[string]tensor.Scalar{}
	e.declared = map[string][]lacuna.Option{}
	if err := e.program.checkNames(e.operands); err != nil {
		return err
	}
	for _, o := range e.operands {
		if o.Source == nil {
			opts, err := declareResult(e.program, o)
			if err != nil {
				return fmt.Errorf("%w; an operand needs a value, such as %s=FILE", err, o.Name)
			}
			e.declared[o.Name] = opts
			continue
		}
		if e.shared(o) {
			continue // ranks read it when they are there
		}
		s, err := e.openStream(ctx, o)
		if err != nil {
			return err
		}
		if s != nil && e.stream != nil {
			return fmt.Errorf("neither %s nor %s fits in memory: only one operand can be read in slices", e.stream.name, s.name)
		}
		if s != nil {
			e.stream = s
			continue
		}
		if err := e.loadOperand(ctx, o); err != nil {
			return err
		}
	}
	if err := e.group(); err != nil {
		return err
	}
	for name, opts := range e.declared {
		if e.args[name] == nil { // else it became an operand, stored so
			e.options = append(e.options, opts...)
		}
	}
	if e.stream != nil {
		return nil
	}
	opts, err := e.wishes.options(e.program, e.args)
	e.options = append(e.options, opts...)
	return err
}

// loadOperand makes an operand, and keeps what its values are labels of and the names along its axes.
func (e *evaluation) loadOperand(ctx context.Context, o operand.Operand) error {
	var labels []string
	o.Qual.Labels = &labels
	t, err := o.Source.Load(ctx, e.app.Env, o.Qual, e.fill(o.Name))
	if err != nil {
		return err
	}
	if labels != nil {
		e.labels[o.Name] = labels
	}
	if k, ok := o.Source.(kept); ok {
		e.names[o.Name] = k.names
	}
	e.args[o.Name], err = o.Qual.Operand(o.Name, t)
	return err
}

// execute computes the results, reading an operand that does not fit in memory as it goes.
func (e *evaluation) execute(ctx context.Context, engine runtime.Engine) (lacuna.Outputs, timing, error) {
	if e.ranks.several() {
		return e.onRanks(ctx, engine)
	}
	if e.stream == nil {
		e.stream = e.panels()
	}
	if e.stream == nil {
		return e.compute(ctx, engine)
	}
	start := time.Now()
	out, err := e.passes(ctx, engine)
	return out, timing{first: time.Since(start)}, err
}

// newSession is a session with the limits that the flags set.
func (e *evaluation) newSession(engine runtime.Engine) *lacuna.Session {
	return e.spill.Session(e.limit, lacuna.WithEngine(engine), lacuna.WithNotice(e.app.Notice), lacuna.WithThreads(e.threads))
}

// timing is how long the parts took. The first run converts operands; later ones take the memory of those before.
type timing struct {
	reading, compiling, first, running time.Duration
	runs                               int // of which running is the median; 0: there was the first only
	conversions, warnings, statistics  []string
	profile                            *lacuna.Profile
}

// profiled runs the kernel twice: the first run compiles for the operands and converts them, so that what it took for that is told, and the second is
// what later ones are like.
func profiled(ctx context.Context, kernel *lacuna.Kernel, args lacuna.Args) (lacuna.Outputs, *lacuna.Profile, error) {
	var profile *lacuna.Profile
	once := func() (lacuna.Outputs, error) {
		p, out, err := kernel.Profile(ctx, args)
		profile = p
		return out, err
	}
	out, err := cli.Await(ctx, once)
	if err != nil {
		return nil, nil, err
	}
	for _, old := range out {
		old.Release()
	}
	out, err = cli.Await(ctx, once)
	return out, profile, err
}

// compute compiles the program and runs it, several times if times are wanted.
func (e *evaluation) compute(ctx context.Context, engine runtime.Engine) (out lacuna.Outputs, t timing, err error) {
	opts := e.compilation()
	if e.tuned {
		opts = append(opts, lacuna.Tuned())
	}
	session := e.session
	if session == nil {
		session = e.newSession(engine)
	}
	start := time.Now()
	kernel, err := session.Compile(ctx, e.program.source, opts...)
	if err != nil {
		return nil, t, err
	}
	t.compiling = time.Since(start)
	label := "running"
	for _, w := range kernel.Warnings() {
		if w.Code == lang.WarnWholeLoop {
			what, _, _ := strings.Cut(w.Msg, ":")
			label += ", " + what
			t.warnings = append(t.warnings, w.Msg)
		}
	}
	e.app.Warn(kernel.Warnings())
	task := e.app.Begin(label, -1)
	defer task.End()
	run := func() (time.Duration, error) {
		for _, old := range out {
			old.Release()
		}
		start := time.Now()
		out, err = cli.Await(ctx, func() (lacuna.Outputs, error) { return kernel.RunAll(ctx, e.args) })
		return time.Since(start), err
	}
	if e.profile {
		out, t.profile, err = profiled(ctx, kernel, e.args)
		return out, t, err
	}
	if t.first, err = run(); err != nil || !e.timed {
		return out, t, err
	}
	runtime.Flush() // the first code may be replaced
	var times []time.Duration
	for start := time.Now(); len(times) < e.repeat || e.settle && time.Since(start) < settling; {
		took, err := run()
		if err != nil {
			return nil, t, err
		}
		times = append(times, took)
	}
	slices.Sort(times)
	t.runs, t.running = len(times), (times[(len(times)-1)/2]+times[len(times)/2])/2
	t.conversions, t.statistics = kernel.Conversions(), kernel.Described()
	return out, t, nil
}

// settling is how long runs are repeated at least, where nobody says how often.
const settling = 50 * time.Millisecond

// print writes the times where they do not mix with results.
func (t timing) print(a *app, engine string) {
	a.Stdout.Flush()
	how := fmt.Sprintf("median of %d", t.runs)
	if t.runs == 1 {
		how = "once"
	}
	if t.runs == 0 {
		fmt.Fprintf(a.Stderr, "read %s, compile %s, run %s (once, engine %s)\n", cli.FormatDuration(t.reading), cli.FormatDuration(t.compiling), cli.FormatDuration(t.first), engine)
		return
	}
	fmt.Fprintf(a.Stderr, "read %s, compile %s, first run %s, then %s (%s, engine %s)\n", cli.FormatDuration(t.reading),
		cli.FormatDuration(t.compiling), cli.FormatDuration(t.first), cli.FormatDuration(t.running), how, engine)
	if len(t.statistics) > 0 {
		fmt.Fprintf(a.Stderr, "with statistics when compiled: of %s\n", strings.Join(t.statistics, ", "))
	}
	for _, c := range t.conversions {
		fmt.Fprintf(a.Stderr, "converted in the first run: %s\n", c)
	}
	for _, w := range t.warnings {
		fmt.Fprintf(a.Stderr, "warning: %s\n", w)
	}
}

// deliver writes the results to their files, or prints them all.
func (e *evaluation) deliver(ctx context.Context, out lacuna.Outputs) error {
	if len(e.writes) == 0 {
		for _, name := range e.program.results() {
			if t := out[name]; t != nil {
				show.Named(e.app.Stdout, name, t, e.names[name])
			}
		}
		return nil
	}
	var errs []error
	for _, d := range e.writes {
		if slices.Contains(e.written, d.Path) {
			continue
		}
		d.Names, d.Last = e.names[d.Name], len(e.writes) == 1
		errs = append(errs, operand.Write(ctx, e.app.Env, d, out[d.Name]))
	}
	return errors.Join(errs...)
}
