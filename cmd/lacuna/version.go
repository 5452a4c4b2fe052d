package main

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cli.NoArguments(),
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(a.Stdout, "lacuna %s\n", version())
			return nil
		},
	}
}

// version is the module's version and the commit that it was built from, with the Go version and
// platform.
func version() string {
	v := "(development)"
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s%s, %s, %s/%s", v, commit(info), goruntime.Version(), goruntime.GOOS, goruntime.GOARCH)
}

// commit is ", commit …" of a build that knows its commit, and whether files differed from it.
func commit(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	switch revision := settings["vcs.revision"]; {
	case revision == "":
		return ""
	case settings["vcs.modified"] == "true":
		return ", commit " + revision + " and changes"
	default:
		return ", commit " + revision
	}
}
