package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/show"
	"github.com/lacuna-sparse/lacuna/internal/generate"
	"github.com/lacuna-sparse/lacuna/internal/spyplot"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// terminalDots is the longest side of the plot on the terminal, in dots: 48
// characters or 24 lines.
const terminalDots = 96

func newInspect(a *app) *cobra.Command {
	var format, plot, as, placed string
	var g rankFlags
	cmd := &cobra.Command{
		Use:   "inspect FILE [--format FORMAT] [--plot FILE] [--as mlir|taco] | inspect PROGRAM OPERAND… --placement P --ranks N",
		Short: "Describe a tensor and draw where its entries are",
		Long: `Inspect prints the shape, type, density and range of values of a tensor, how many
entries its rows, columns or slices have, how long the fibres are when it is stored
in a format (CSR for a matrix, CSF for others, or that of --format), and a plot of
where the entries stand: as dots, or as shades where dots would be a solid block; of a
tensor of rank 3 or more, seen along all but the first two axes. --plot draws a picture,
with the density of each region in colour and histograms of rows and columns.

Of a file of several things (HDF5, AnnData, Zarr, an archive, a table) it lists them, each with
the words to put behind the file for it, such as :entry=obs/cell_type.

With --placement and --ranks it draws instead which rank has what when the tensor is placed so, and how
much each rank sends when a matrix is multiplied by a vector. Before the operands of a program it takes the
program, which it runs, and draws that of all operands and results, and what each rank sends. The placement is then that of operands
which name none; with auto one is chosen, and why.

With --as it prints instead what the tensor, stored so, is to MLIR's sparse_tensor
dialect or to TACO, and which of their arrays the stored ones are.

CV is the standard deviation divided by the mean: 0 for rows of equal length, above
1 for very uneven ones.`,
		Example: `  lacuna inspect web.mtx.gz
  lacuna inspect web.mtx --format DCSC --plot web.png
  lacuna inspect web.mtx --format DCSR --as mlir
  lacuna inspect 'Y(i,k) = sum_j A(i,j)*X(j,k)' A=web.mtx:CSR X=x.npy --placement auto --ranks 64`,
		Args:              cli.Arguments(1, -1, "one file"),
		ValidArgsFunction: completeFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if plot != "" {
				if err := checkPicture("--plot", plot); err != nil {
					return err
				}
			}
			if as != "" && !slices.Contains(show.Storages, as) {
				return cli.Usagef("--as %s: it can be %s", as, strings.Join(show.Storages, " or "))
			}
			if err := g.parse(); err != nil {
				return err
			}
			if len(args) > 1 && placed == "" {
				return cli.Usagef("inspect takes one file, or a program and its operands with --placement, but got %d arguments", len(args))
			}
			if (placed == "") != (g.n == 0) || placed != "" && as != "" {
				return cli.Usagef("--placement goes with --ranks, and not with --as: inspect %s --placement 'over (r)' --ranks 4", args[0])
			}
			if as != "" && plot != "" {
				return cli.Usagef("--as and --plot do not go together: run inspect twice")
			}
			if len(args) > 1 {
				return a.inspectProgram(cmd.Context(), args, placed, &g)
			}
			src, q, err := operand.ParseFile(args[0], format, "")
			if err != nil {
				return err
			}
			if placed != "" {
				return a.inspectPlacement(cmd.Context(), src, q, placed, &g)
			}
			return a.inspect(cmd.Context(), src, q, plot, as)
		},
	}
	cmd.Flags().StringVar(&format, "format", "", "the `FORMAT` whose levels are described")
	cmd.Flags().StringVar(&plot, "plot", "", "draw where the entries are, and how many rows and columns have, to a `FILE`: png, svg or pdf")
	cmd.Flags().StringVar(&placed, "placement", "", "draw which of --ranks has what when the tensor is placed so, as `'over (r)'` or auto, and how much each sends")
	g.register(cmd)
	cmd.Flags().StringVar(&as, "as", "", "print the arrays as those of a `PROGRAM`: mlir or taco")
	return cmd
}

// inspect describes a tensor.
func (a *app) inspect(ctx context.Context, src operand.Source, q operand.Qualifiers, plot, as string) error {
	if items, err := operand.Items(ctx, src, q); err != nil {
		return err
	} else if len(items) > 1 {
		operand.PrintItems(a.Env, src.String(), items)
		return nil
	}
	asRead := q
	asRead.Format = ""
	var labels []string
	asRead.Labels = &labels
	t, err := src.Load(ctx, a.Env, asRead, nil)
	if err != nil {
		return err
	}
	target, given, err := q.FormatFor(t.Rank())
	if err != nil {
		return fmt.Errorf("%s: %w", src, err)
	}
	if as != "" {
		if !given {
			target = generate.Natural(t.Shape(), t.NNZ())
		}
		stored, err := cli.Making(ctx, a.Env, "storing as "+target.String(), func() (*tensor.Tensor, error) { return operand.Store(ctx, t, target) })
		if err != nil {
			return err
		}
		return show.Storage(a.Env, as, stored)
	}
	if err := show.Summary(ctx, a.Env, src, t); err != nil || t.Rank() == 0 {
		return err
	}
	if labels != nil {
		a.Printf("labels   %s\n", show.Labels(labels))
	}
	coo, err := a.entries(ctx, t)
	if err != nil {
		return err
	}
	coords, _, err := coo.ToCoords()
	if err != nil {
		return err
	}
	if err := show.Axes(ctx, a.Env, t.Shape(), coords); err != nil {
		return err
	}
	if !given {
		target = generate.Natural(t.Shape(), coo.NNZ())
	}
	stored, err := cli.Making(ctx, a.Env, "storing as "+target.String(), func() (*tensor.Tensor, error) {
		return operand.Store(ctx, coo, target)
	})
	if err != nil {
		return err
	}
	if err := show.Levels(a.Env, stored); err != nil {
		return err
	}
	v := spyplot.Of(t.Shape(), coords)
	if !v.Empty() {
		a.Printf("\n%s", spyplot.Text(v, terminalDots))
	}
	if plot == "" {
		return nil
	}
	return a.plot(src.String(), plot, coo)
}

// entries are those of a tensor, as coordinates: elements of dense blocks that equal the fill are none.
func (a *app) entries(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	return cli.Making(ctx, a.Env, "looking for entries", func() (*tensor.Tensor, error) {
		return operand.Store(ctx, t, tensor.Coordinates(t.Rank()))
	})
}

// checkPicture refuses pictures that cannot be drawn.
func checkPicture(word, path string) error {
	if _, ok := spyplot.Kind(path); !ok {
		return cli.Usagef("%s %s: the extension must say what picture to write: .%s", word, path, strings.Join(spyplot.Kinds, ", ."))
	}
	return nil
}

// plot draws where entries are to a picture, or without a path here.
func (a *app) plot(name, path string, coo *tensor.Tensor) error {
	coords, _, err := coo.ToCoords()
	if err != nil {
		return err
	}
	v := spyplot.Of(coo.Shape(), coords)
	if path != "" {
		title := fmt.Sprintf("%s\n%s, %s entries", show.Shorten(name), cli.FormatShape(coo.Shape()), units.FormatCount(coo.NNZ()))
		kind, _ := spyplot.Kind(path)
		err := cli.ReplaceFile(path, 0o644, func(f *os.File) error { return spyplot.Write(f, kind, title, v) })
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
	if !v.Empty() {
		a.Printf("%s", spyplot.Text(v, terminalDots))
	}
	return nil
}
