package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist/mpi"
	"github.com/lacuna-sparse/lacuna/runtime/dist/nccl"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// Under mpirun every process gets the same command line. Those of commands that run on ranks join one group; of any other
// command rank 0 alone does the work. What people see once, rank 0 says: results, notices, progress, and errors that all ranks
// have.

// errNotMine is the error of a process that leaves the work to rank 0.
var errNotMine = errors.New("rank 0 does it")

// joinError is an error of joining a group, which other processes need not have.
type joinError struct{ error }

func (e *joinError) Unwrap() error { return e.error }

// hush keeps a process that is not rank 0 from printing what rank 0 prints.
func (a *app) hush() {
	if mpi.Number() > 0 {
		a.Stdout.Reset(io.Discard)
		a.Terminal, a.Quiet, a.Hushed = false, true, true
	}
}

// yield leaves a command that does not run on ranks to rank 0.
func yield(cmd *cobra.Command) error {
	if mpi.Number() > 0 && cmd.Annotations[onRanks] == "" {
		return errNotMine
	}
	return nil
}

// pickGPU gives each process of a machine a GPU of its own, unless the user says which.
func pickGPU() error {
	if !mpi.Launched() || os.Getenv(runtime.DeviceEnv) != "" {
		return nil
	}
	n, err := nccl.Devices()
	if err != nil || n == 0 {
		return nil // which the engine explains
	}
	return os.Setenv(runtime.DeviceEnv, strconv.Itoa(mpi.LocalRank()%n))
}

// onRanks is the annotation of commands that run on ranks.
const onRanks = "ranks"

// join makes this process a rank of the group that mpirun has started, if it has started one.
func (a *app) join() (err error) {
	if !mpi.Launched() {
		return nil
	}
	if a.group, err = mpi.Open(); err != nil {
		return &joinError{err}
	}
	return nil
}

// leave ends this process's part in a group, and reports whether it is the one to print the error.
func (a *app) leave(err error) (mine bool, _ error) {
	if a.group == nil {
		if join := (*joinError)(nil); errors.As(err, &join) {
			return mpi.LocalRank() == 0, err // once on each machine
		}
		return mpi.Number() == 0, err
	}
	var of *transport.Error
	if err != nil && !errors.As(err, &of) {
		a.group.Abort(cli.Message(err))
		if r := a.group.Rank(); r > 0 {
			err = fmt.Errorf("rank %d: %w", r, err)
		}
	}
	end := a.group.Close
	if a.gpus != nil {
		end = a.gpus.Close
	}
	if closed := end(); err == nil {
		err = closed
	}
	return a.group.Reports(), err
}

// farewell is how long a process that leaves an error to others waits, for mpirun ends them when it ends.
const farewell = 200 * time.Millisecond
