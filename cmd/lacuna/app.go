package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist/mpi"
	"github.com/lacuna-sparse/lacuna/runtime/dist/nccl"
)

// app is what every command needs from its surroundings.
type app struct {
	stdout *bufio.Writer
	stderr io.Writer
	// told are the notes and warnings that have been printed.
	told sync.Map
	// quiet leaves warnings out.
	quiet bool
	// terminal says that stderr is a terminal, where progress is shown.
	terminal bool
	// shown are the tasks whose progress is.
	shown sync.Map
	// maxBytes bounds each file that is read; 0 does not.
	maxBytes byteCount
	// group is that of the ranks that mpirun has started, if this process has joined it; gpus is the same with GPUs, where they
	// have such; hushed says that it is not rank 0.
	group  *mpi.Group
	gpus   *nccl.Group
	hushed bool
}

// byteCount is a flag such as 2GiB.
type byteCount int64

func (b *byteCount) String() string { return "" } // which hides that without the flag it is 0
func (b *byteCount) Type() string   { return "string" }

// Set implements pflag.Value.
func (b *byteCount) Set(text string) error {
	n, err := units.ParseBytes(text)
	*b = byteCount(n)
	return err
}

// run runs the command line and returns the exit status. An interrupt cancels
// what is under way; a second one ends the process.
func run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return runContext(ctx, args, stdout, stderr)
}

// runContext is run with a context of the caller's.
func runContext(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	a := &app{stdout: bufio.NewWriter(stdout), stderr: stderr}
	if f, ok := stderr.(*os.File); ok {
		a.terminal = term.IsTerminal(int(f.Fd()))
	}
	a.hush()
	cmd, err := a.execute(ctx, args)
	if errors.Is(err, errNotMine) {
		return statusOK
	}
	if !errors.Is(err, context.Canceled) {
		runtime.Flush() // the next process finds what this one compiled
	}
	if flushErr := a.stdout.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("writing to standard output: %w", flushErr)
	}
	mine, err := a.leave(err)
	if err == nil {
		return statusOK
	}
	if mine {
		a.report(cmd, err)
	} else {
		time.Sleep(farewell)
	}
	return statusOf(err)
}

// notice prints what an engine does without, or leaves to the processor: once.
func (a *app) notice(note string) {
	if _, told := a.told.LoadOrStore(note, true); !told && !a.hushed {
		fmt.Fprintln(a.stderr, "lacuna: "+note)
	}
}

// warn prints what a program may not mean: once. What it costs is told with --time and by explain.
func (a *app) warn(list []*lang.Warning) {
	for _, w := range list {
		if _, told := a.told.LoadOrStore(w.String(), true); told || a.quiet || w.Code == lang.WarnWholeLoop {
			continue
		}
		fmt.Fprintf(a.stderr, "lacuna: %s\n", w)
	}
}

// execute runs the command that args name and returns it with its error. A
// panic becomes an error: users never see one.
func (a *app) execute(ctx context.Context, args []string) (cmd *cobra.Command, err error) {
	root := a.root()
	cmd = root
	defer recovered(&err)
	root.SetArgs(args)
	return root.ExecuteContextC(ctx)
}

// root builds the tree of commands.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lacuna",
		Short: "Compile and run sparse tensor algebra",
		Long: `Lacuna compiles an index expression for exactly the formats its tensors are
stored in, and runs it:

  lacuna eval 'y(i) = sum_j A(i,j)*x(j)' A=web.mtx:CSR x=x.npy -o y.npy

Exit status: 0 success, 1 a mistake in the program or its data, 2 wrong usage,
3 an engine that is not there, 4 a bug in lacuna, 130 interrupted.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usagef("there is no command %q%s", args[0], didYouMean(args[0], commandNames(cmd)))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Name() != replName { // of which an interrupt ends a run, not the session
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			context.AfterFunc(ctx, stop)
			cmd.SetContext(ctx)
		}
		return yield(cmd)
	}
	root.SetVersionTemplate("lacuna {{.Version}}\n")
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.PersistentFlags().BoolVar(&a.quiet, "no-warnings", false, "leave out warnings of what a program may not mean")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err.Error()} })
	root.PersistentFlags().Var(&a.maxBytes, "max-bytes", "refuse a file of more than `SIZE` (such as 2GiB) to read, counted after decompression")
	root.PersistentFlags().Func("cpu", "make code for this lesser `PROCESSOR`, such as x86-64-v3 or haswell, as "+machine.CPUEnv+" does", func(name string) error {
		if err := os.Setenv(machine.CPUEnv, name); err != nil {
			return err
		}
		_, err := machine.Restricted()
		return err
	})
	root.AddCommand(newEval(a), newREPL(a), newExplain(a), newTune(a), newServe(a), newBuild(a), newGrad(a), newConvert(a), newInspect(a), newUnique(a), newBinsparse(a), newCache(a), newDoctor(a), newVersion(a), newMan())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	bashCompletion(root)
	return root
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// arguments checks the number of arguments of a command; what says in words
// what it takes.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || (most >= 0 && len(args) > most) {
			return usagef("%s takes %s, but got %d arguments", cmd.Name(), what, len(args))
		}
		return nil
	}
}

// noArguments is arguments for a command that takes none.
func noArguments() cobra.PositionalArgs { return arguments(0, 0, "no arguments") }

// printf writes to standard output.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.stdout, format, args...) }
