package main

import (
	"fmt"
	goruntime "runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments(),
		RunE: func(*cobra.Command, []string) error {
			fmt.Fprintf(a.stdout, "lacuna %s\n", version())
			return nil
		},
	}
}

// version is the module's version, or the commit it was built from, with the
// Go version and platform.
func version() string {
	v := "(development)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("%s, %s, %s/%s", v, goruntime.Version(), goruntime.GOOS, goruntime.GOARCH)
}
