package main

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// formatNames are the formats that have names.
var formatNames = []string{"CSR", "CSC", "DCSR", "DCSC", "COO", "COOC", "CSF", "D"}

// withPrefix are the words that begin with a prefix.
func withPrefix(words []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, prefix) })
}

// words are the names and the words of the language that begin with a prefix.
func (r *repl) words(prefix string) []string {
	names := slices.Sorted(maps.Keys(r.kept))
	return append(withPrefix(names, prefix), withPrefix(lang.Words(), prefix)...)
}

// completeSource completes what stands behind NAME=: a file, then behind a colon its format or
// what to read of it.
func completeSource(text string) []string {
	for at := len(text) - 1; at > 0; at-- {
		if text[at] == ':' && fileExists(text[:at]) {
			return prefixed(text[:at+1], completeQualifier(text[:at], text[at+1:]))
		}
	}
	dir, base := filepath.Split(text)
	entries, err := os.ReadDir(filepath.Clean("./" + dir))
	if filepath.IsAbs(dir) {
		entries, err = os.ReadDir(dir)
	}
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, base) || base == "" && name[0] == '.':
			continue
		case e.IsDir() && !file.IsTensor(filepath.Join(dir, name)):
			name += "/"
		}
		list = append(list, dir+name)
	}
	return append(list, withPrefix([]string{"random(", "range("}, text)...)
}

// completeQualifier completes what stands behind a file and a colon.
func completeQualifier(path, text string) []string {
	if at := strings.LastIndexByte(text, ':'); at >= 0 {
		return prefixed(text[:at+1], completeQualifier(path, text[at+1:]))
	}
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		return append(withPrefix(formatNames, text), withPrefix([]string{"entry=", "kind=", "coords=", "nodes=", "dims=", "base=", "stored="}, text)...)
	}
	switch key {
	case "entry":
		return prefixed("entry=", withPrefix(entries(path), value))
	case "coords", "nodes":
		return completeList(key+"=", entries(path), value)
	case "kind":
		return prefixed("kind=", withPrefix(kindNames(), value))
	case "base":
		return prefixed("base=", withPrefix([]string{"0", "1"}, value))
	case "stored":
		return prefixed("stored=", withPrefix(storedWords(), value))
	}
	return nil
}

// entries are the names of what is in a file of several things.
func entries(path string) []string {
	items, _ := file.List(path) // nothing is proposed of what cannot be read
	var names []string
	for _, item := range items {
		names = append(names, item.Entry)
	}
	return names
}

// completeList completes the last of words that are separated by commas, with one that is not among them.
func completeList(head string, words []string, text string) []string {
	at := strings.LastIndexByte(text, ',') + 1
	taken := strings.Split(text[:max(at-1, 0)], ",")
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(taken, w) })
	return prefixed(head+text[:at], withPrefix(words, text[at:]))
}

// prefixed puts a prefix before all words.
func prefixed(prefix string, words []string) []string {
	for i, w := range words {
		words[i] = prefix + w
	}
	return words
}

// completeFile completes a file that is an argument of its own.
func completeFile(_ *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completion(completeSource(text))
}

// completeOperand completes the arguments behind a program: NAME=FILE, NAME:FORMAT.
func completeOperand(_ *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp // the program
	}
	if at := strings.IndexAny(text, "=:"); at >= 0 && text[at] == ':' {
		return completion(prefixed(text[:at+1], withPrefix(formatNames, text[at+1:])))
	} else if at >= 0 {
		return completion(prefixed(text[:at+1], completeSource(text[at+1:])))
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
	return completion(withPrefix(names, text))
}

// completeValue completes NAME=FILE where there is no program that has the names.
func completeValue(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completion(prefixed(name+"=", completeSource(value)))
}

// completeStages completes a list of stages.
func completeStages(_ *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
	words := lacuna.Stages()
	if !strings.Contains(text, ",") {
		words = append(words, allStages)
	}
	return completion(completeList("", words, text))
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
