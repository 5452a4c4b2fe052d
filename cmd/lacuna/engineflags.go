package main

import (
	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// engineFlags say what runs a program.
type engineFlags struct {
	engine  string
	threads int
}

func (e *engineFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&e.engine, "engine", runtime.AutoName, "auto, interp, cpu or cuda")
	cmd.Flags().IntVar(&e.threads, "threads", 0, "how many threads may work; 0 means all processors")
	cmd.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines, cobra.ShellCompDirectiveNoFileComp))
}

func (e *engineFlags) check() error {
	if e.threads < 0 {
		return cli.Usagef("--threads %d: want 0 or more", e.threads)
	}
	return nil
}
