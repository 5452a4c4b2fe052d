package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/lang"
)

// Env is what every command needs from its surroundings.
type Env struct {
	// Stdout is where results go; Stderr has what is said beside them.
	Stdout *bufio.Writer
	Stderr io.Writer
	// told are the notes and warnings that have been printed.
	told sync.Map
	// Quiet leaves warnings out; Hushed leaves out notes too, as another process says them.
	Quiet, Hushed bool
	// Terminal says that Stderr is a terminal, where progress is shown.
	Terminal bool
	// shown are the tasks whose progress is.
	shown sync.Map
	// MaxBytes bounds each file that is read; 0 does not.
	MaxBytes byteCount
}

// NewEnv is the Env of a process which prints to stdout and stderr.
func NewEnv(stdout, stderr io.Writer) *Env {
	a := &Env{Stdout: bufio.NewWriter(stdout), Stderr: stderr}
	if f, ok := stderr.(*os.File); ok {
		a.Terminal = term.IsTerminal(int(f.Fd()))
	}
	return a
}

// byteCount is a flag such as 2GiB.
type byteCount int64

// String implements pflag.Value: what is empty hides that without the flag it is 0.
func (b *byteCount) String() string { return "" }

// Type implements pflag.Value.
func (b *byteCount) Type() string { return "string" }

// Set implements pflag.Value.
func (b *byteCount) Set(text string) error {
	n, err := units.ParseBytes(text)
	*b = byteCount(n)
	return err
}

// Notice prints what an engine does without, or leaves to the processor: once.
func (a *Env) Notice(note string) {
	if _, told := a.told.LoadOrStore(note, true); !told && !a.Hushed {
		fmt.Fprintln(a.Stderr, "lacuna: "+note)
	}
}

// Warn prints what a program may not mean: once. What it costs is told with --time and by explain.
func (a *Env) Warn(list []*lang.Warning) {
	for _, w := range list {
		if _, told := a.told.LoadOrStore(w.String(), true); told || a.Quiet || w.Code == lang.WarnWholeLoop {
			continue
		}
		fmt.Fprintf(a.Stderr, "lacuna: %s\n", w)
	}
}

// CommandNames are the names of the commands under one.
func CommandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// Arguments checks the number of arguments of a command; what says in words
// what it takes.
func Arguments(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || (most >= 0 && len(args) > most) {
			return Usagef("%s takes %s, but got %d arguments", cmd.Name(), what, len(args))
		}
		return nil
	}
}

// NoArguments is arguments for a command that takes none.
func NoArguments() cobra.PositionalArgs { return Arguments(0, 0, "no arguments") }

// Printf writes to standard output.
func (a *Env) Printf(format string, args ...any) { fmt.Fprintf(a.Stdout, format, args...) }
