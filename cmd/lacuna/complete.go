package main

import (
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/lang"
)

// words are the names and the words of the language that begin with a prefix.
func (r *repl) words(prefix string) []string {
	names := slices.Sorted(maps.Keys(r.kept))
	return append(cli.WithPrefix(names, prefix), cli.WithPrefix(lang.Words(), prefix)...)
}

// completeFile completes a file that is an argument of its own.
func completeFile(_ *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completion(operand.CompleteSource(text))
}

// completeOperand completes the arguments behind a program: NAME=FILE, NAME:FORMAT.
func completeOperand(_ *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp // the program
	}
	if at := strings.IndexAny(text, "=:"); at >= 0 && text[at] == ':' {
		return completion(cli.Prefixed(text[:at+1], cli.WithPrefix(operand.FormatNames, text[at+1:])))
	} else if at >= 0 {
		return completion(cli.Prefixed(text[:at+1], operand.CompleteSource(text[at+1:])))
	}
	p, err := parseProgram(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, name := range p.order {
		if p.uses[name].needed {
			names = append(names, name+"=")
		} else {
			names = append(names, name+":")
		}
	}
	return completion(cli.WithPrefix(names, text))
}

// completeValue completes NAME=FILE where there is no program that has the names.
func completeValue(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completion(cli.Prefixed(name+"=", operand.CompleteSource(value)))
}

// completeStages completes a list of stages.
func completeStages(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	words := lacuna.Stages()
	if !strings.Contains(text, ",") {
		words = append(words, allStages)
	}
	return completion(cli.CompleteList("", words, text))
}

// bashCompletion has the script for bash complete behind the last of the characters at which bash breaks words: that of cobra
// takes the colons first, and so writes entry= twice in A=cells.h5ad:entry=obs/c.
func bashCompletion(root *cobra.Command) {
	cmd, _, err := root.Find([]string{"completion", "bash"})
	if err != nil {
		return // there is none if the command was asked for by nothing
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var script strings.Builder
		if err := root.GenBashCompletionV2(&script, true); err != nil {
			return err
		}
		_, err := io.WriteString(root.OutOrStdout(), strings.Replace(script.String(), breaksOfCobra, breaks, 1))
		return err
	}
}

const (
	breaksOfCobra = `    __lacuna_handle_special_char "$cur" :
    __lacuna_handle_special_char "$cur" =
`
	breaks = `    if [[ ${cur##*:} == *=* ]]; then
        __lacuna_handle_special_char "$cur" =
    else
        __lacuna_handle_special_char "$cur" :
    fi
`
)

// completion is what cobra hands to the shell. What may go on is not followed by a space.
func completion(list []string) ([]string, cobra.ShellCompDirective) {
	return list, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}
