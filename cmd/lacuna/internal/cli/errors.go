package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// The exit statuses.
const (
	StatusOK          = 0
	StatusMistake     = 1   // something is wrong with the program or its data
	StatusUsage       = 2   // the command line itself makes no sense
	statusUnavailable = 3   // an engine that is not there
	statusBug         = 4   // a mistake of ours
	StatusInterrupted = 130 // 128 + SIGINT, as shells have it
)

// usageError is a command line that makes no sense.
type usageError struct{ msg string }

// Error implements error.
func (e *usageError) Error() string { return e.msg }

// Usagef is the error of a command line that makes no sense.
func Usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// StatusOf is the exit status that tells of an error.
func StatusOf(err error) int {
	var (
		usage       *usageError
		unavailable *runtime.UnavailableError
		internal    *lacuna.InternalError
	)
	switch {
	case errors.As(err, &usage):
		return StatusUsage
	case errors.As(err, &unavailable):
		return statusUnavailable
	case errors.As(err, &internal):
		return statusBug
	case errors.Is(err, context.Canceled):
		return StatusInterrupted
	}
	return StatusMistake
}

// Report prints an error for people.
func (a *Env) Report(cmd *cobra.Command, err error) {
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(a.Stderr, "lacuna: %s\nSee '%s --help'.\n", err, cmd.CommandPath())
	default:
		a.Tell(err)
	}
}

// Tell prints an error.
func (a *Env) Tell(err error) { fmt.Fprintf(a.Stderr, "lacuna: %s\n", Message(err)) }

// Message is what people are told of an error.
func Message(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return strings.TrimRight(lang.OutsideGo(err).Error(), "\n")
}

// Recovered turns a panic into a *lacuna.InternalError; it is to be deferred.
func Recovered(err *error) {
	if r := recover(); r != nil {
		*err = &lacuna.InternalError{Program: "(command line)", Panic: r, Stack: debug.Stack()}
	}
}

// Await runs f and returns its results, or the context's error as soon as that
// ends. f then goes on to no effect, so it must only make values: an interrupt
// ends the process, whatever a long parse or conversion is at.
func Await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() { done <- r }()
		defer Recovered(&r.err)
		r.value, r.err = f()
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}
