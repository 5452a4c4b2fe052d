package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

func newDoctor(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what was found on this machine and what is missing",
		Long: `Doctor says which engines can run here and with what, which kinds of file can be
read, and for what is missing how to get it. Nothing missing is an error: the
interpreter runs everything.`,
		Args: noArguments(),
		RunE: func(*cobra.Command, []string) error {
			a.diagnose(runtime.Describe())
			return nil
		},
	}
}

// diagnose prints what was found.
func (a *app) diagnose(d runtime.Description) {
	fmt.Fprintf(a.stdout, "%-12s  %s\n%s", "lacuna", version(), d)
	var kinds []string
	for _, k := range file.Kinds() {
		kinds = append(kinds, strings.Join(k.Extensions, " "))
	}
	fmt.Fprintf(a.stdout, "%-12s  %s, each also with .gz\n", "files", strings.Join(kinds, " "))
	for _, e := range d.Engines {
		var missing *runtime.UnavailableError
		if errors.As(e.Err, &missing) && missing.Hint != "" && !errors.Is(e.Err, runtime.ErrNotSupported) {
			fmt.Fprintf(a.stdout, "\nTo use the engine %s: %s.\n", e.Name, missing.Hint)
		}
	}
}
