package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/internal/units"
)

func newCache(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "List or remove the compiled kernels that are kept on disk",
		Long: `Compiled kernels are kept on disk, so that the next process need not compile them
again. The cache looks after itself: it keeps to a limit and trusts nothing that
is damaged or written by someone else, and it may be removed at any time.

` + diskcache.DirVar + ` names another folder, or is "off"; ` + diskcache.SizeVar + ` sets the limit, such as 512MiB.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Usagef("cache has no command %q%s", args[0], cli.DidYouMean(args[0], cli.CommandNames(cmd)))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		cacheCommand("ls", "List what is kept, used last first", a.listCache),
		cacheCommand("clean", "Remove everything that is kept", a.cleanCache),
		cacheCommand("dir", "Print the folder", func(c *diskcache.Cache) error {
			a.Printf("%s\n", c.Dir())
			return nil
		}),
	)
	return cmd
}

// cacheCommand is a command that does something with the cache.
func cacheCommand(name, short string, do func(*diskcache.Cache) error) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cli.NoArguments(),
		RunE: func(*cobra.Command, []string) error {
			c, err := diskcache.Default()
			if err != nil {
				return fmt.Errorf("there is no cache of kernels: %w", err)
			}
			return do(c)
		},
	}
}

func (a *app) listCache(c *diskcache.Cache) error {
	list, err := c.List()
	if err != nil {
		return err
	}
	var size int64
	for _, e := range list {
		size += e.Size
		a.Printf("%s  %-8s  %10s  %s\n", e.Used.Format(time.DateTime), e.Kind, units.FormatBytes(e.Size), e.Key[:16])
	}
	a.Printf("%s entries, %s of at most %s\n", units.FormatCount(int64(len(list))), units.FormatBytes(size), units.FormatBytes(c.Max()))
	return nil
}

func (a *app) cleanCache(c *diskcache.Cache) error {
	files, size, err := c.Clean()
	if err == nil {
		a.Printf("removed %s files, %s\n", units.FormatCount(int64(files)), units.FormatBytes(size))
	}
	return err
}
