package main

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/spf13/cobra"
)

// TestBashCompletion has bash complete behind characters at which it breaks words: what it inserts takes the place of the text
// behind the last of them.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash: ", err)
	}
	root := &cobra.Command{Use: "lacuna"}
	root.AddCommand(&cobra.Command{Use: "eval", Run: func(*cobra.Command, []string) {}})
	root.InitDefaultCompletionCmd()
	bashCompletion(root)
	var script bytes.Buffer
	root.SetOut(&script)
	root.SetArgs([]string{"completion", "bash"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]struct{ word, inserted string }{
		"A=ce":                    {"A=cells.h5ad", "cells.h5ad"},
		"A=cells.h5ad:en":         {"A=cells.h5ad:entry=", "entry="},
		"A=cells.h5ad:entry=obs/": {"A=cells.h5ad:entry=obs/kind", "obs/kind"},
		"A=cells.h5ad:entry=X:C":  {"A=cells.h5ad:entry=X:CSR", "CSR"},
		"cells.h5ad:entry=X":      {"cells.h5ad:entry=X", "X"},
		"ev":                      {"eval", "eval"},
	} {
		cmd := exec.Command(bash, "--norc", "-c", script.String()+"\n"+`
COMP_WORDBREAKS=' =:' COMP_TYPE=9 cur=$1 out=$2 directive=0 COMPREPLY=()
__lacuna_process_completion_results
printf %s "${COMPREPLY[*]}"`, "bash", typed, want.word)
		got, err := cmd.Output()
		if err != nil || string(got) != want.inserted {
			t.Errorf("%s: bash inserts %q, want %q; %v", typed, got, want.inserted, err)
		}
	}
}
