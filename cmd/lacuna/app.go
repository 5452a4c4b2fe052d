package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist/mpi"
	"github.com/lacuna-sparse/lacuna/runtime/dist/nccl"
)

// app is one command line: what every command needs, and the group of ranks that this process has joined.
type app struct {
	*cli.Env
	// group is that of the ranks that mpirun has started, if this process has joined it; gpus is the same with GPUs, where they
	// have such.
	group *mpi.Group
	gpus  *nccl.Group
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
	a := &app{Env: cli.NewEnv(stdout, stderr)}
	a.hush()
	cmd, err := a.execute(ctx, args)
	if errors.Is(err, errNotMine) {
		return cli.StatusOK
	}
	if !errors.Is(err, context.Canceled) {
		runtime.Flush() // the next process finds what this one compiled
	}
	if flushErr := a.Stdout.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("writing to standard output: %w", flushErr)
	}
	mine, err := a.leave(err)
	if err == nil {
		return cli.StatusOK
	}
	if mine {
		a.Report(cmd, err)
	} else {
		time.Sleep(farewell)
	}
	return cli.StatusOf(err)
}

// execute runs the command that args name and returns it with its error. A
// panic becomes an error: users never see one.
func (a *app) execute(ctx context.Context, args []string) (cmd *cobra.Command, err error) {
	root := a.root()
	cmd = root
	defer cli.Recovered(&err)
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
			return cli.Usagef("there is no command %q%s", args[0], cli.DidYouMean(args[0], cli.CommandNames(cmd)))
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
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.PersistentFlags().BoolVar(&a.Quiet, "no-warnings", false, "leave out warnings of what a program may not mean")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.Usagef("%s", err) })
	root.PersistentFlags().Var(&a.MaxBytes, "max-bytes", "refuse a file of more than `SIZE` (such as 2GiB) to read, counted after decompression")
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
