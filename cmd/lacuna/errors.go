package main

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
	statusOK          = 0
	statusMistake     = 1   // something is wrong with the program or its data
	statusUsage       = 2   // the command line itself makes no sense
	statusUnavailable = 3   // an engine that is not there
	statusBug         = 4   // a mistake of ours
	statusInterrupted = 130 // 128 + SIGINT, as shells have it
)

// usageError is a command line that makes no sense.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// statusOf is the exit status that tells of an error.
func statusOf(err error) int {
	var (
		usage       *usageError
		unavailable *runtime.UnavailableError
		internal    *lacuna.InternalError
	)
	switch {
	case errors.As(err, &usage):
		return statusUsage
	case errors.As(err, &unavailable):
		return statusUnavailable
	case errors.As(err, &internal):
		return statusBug
	case errors.Is(err, context.Canceled):
		return statusInterrupted
	}
	return statusMistake
}

// report prints an error for people.
func (a *app) report(cmd *cobra.Command, err error) {
	var usage *usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(a.stderr, "lacuna: %s\nSee '%s --help'.\n", err, cmd.CommandPath())
	default:
		a.tell(err)
	}
}

// tell prints an error.
func (a *app) tell(err error) { fmt.Fprintf(a.stderr, "lacuna: %s\n", message(err)) }

// message is what people are told of an error.
func message(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	return strings.TrimRight(lang.OutsideGo(err).Error(), "\n")
}

// recovered turns a panic into a *lacuna.InternalError; it is to be deferred.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = &lacuna.InternalError{Program: "(command line)", Panic: r, Stack: debug.Stack()}
	}
}

// await runs f and returns its results, or the context's error as soon as that
// ends. f then goes on to no effect, so it must only make values: an interrupt
// ends the process, whatever a long parse or conversion is at.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() { done <- r }()
		defer recovered(&r.err)
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

// withAdvice has the hints of errors of the language, of how names get values and shapes, say how at the command line.
func withAdvice(err error, verb string) error {
	var list lang.Errors
	var one *lang.Error
	if !errors.As(err, &list) && errors.As(err, &one) {
		list = lang.Errors{one}
	}
	for _, e := range list {
		if !strings.Contains(e.Hint, "declare") { // it is about something else, and says what to do
			continue
		}
		switch {
		case e.Code == lang.ErrUnknownName && verb == replName:
			e.Hint = "give the name a value: NAME = FILE, NAME = random(…) or NAME = NUMBER"
		case e.Code == lang.ErrUnknownName && verb == "explain":
			e.Hint = "declare operands as NAME:FORMAT[TYPE], such as A:CSR[f64]; a scalar as NAME:[f64]"
		case e.Code == lang.ErrUnknownName:
			e.Hint = "pass operands as NAME=FILE, NAME=random(…) or NAME=NUMBER"
		case e.Code == lang.ErrNoValue && verb == replName:
			e.Hint += ", or give it a value: NAME = FILE"
		case e.Code == lang.ErrNoValue:
			e.Hint += " (--shape NAME=10,20); sums by the labels of a column, NAME=FILE:entry=COLUMN, need neither"
		case e.Code == lang.ErrFreeExtent && verb == replName:
			e.Hint = "take the extent of a tensor, such as that of rows: like(0.0, A(i,:))"
		case e.Code == lang.ErrFreeExtent || e.Code == lang.ErrOutOfRange:
			e.Hint += " (--shape NAME=10,20)"
		}
	}
	return err
}
