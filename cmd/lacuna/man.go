package main

import (
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
)

// newMan is the hidden command that releases are made with: what it writes follows from the commands alone.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages of all commands",
		Hidden: true,
		Args:   cli.Arguments(1, 1, "a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			date := time.Unix(0, 0)
			if seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil { // reproducible-builds.org
				date = time.Unix(seconds, 0)
			}
			date = date.UTC()
			root := cmd.Root()
			root.DisableAutoGenTag = true
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "lacuna", Manual: "Lacuna"}, args[0])
		},
	}
}
