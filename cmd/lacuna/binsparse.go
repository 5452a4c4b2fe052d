package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
	"github.com/lacuna-sparse/lacuna/tensor/file/binsparse"
)

func newBinsparse(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "binsparse",
		Short: "Convert between binsparse files and NumPy arrays",
		Long: `Binsparse has the three commands by which the public test suite of the binsparse
format drives an implementation. They convert between a binsparse file (.npz, .h5,
.bspnpy) and three NumPy files: the elements of the tensor, written out densely; a
pattern of bools, which says what is stored; and the fill, the value of what is not.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Usagef("binsparse has no command %q%s", args[0], cli.DidYouMean(args[0], cli.CommandNames(cmd)))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:     "npy_to_binsparse TENSOR.npy PATTERN.npy FILL.npy HEADER.json OUT",
			Aliases: []string{"npy-to-binsparse"},
			Short:   "Make a binsparse file of NumPy arrays",
			Long: `The header is a descriptor, of which only the format must be there. Its keys stand in
the file; data types of the arrays it names are obeyed.`,
			Args: cli.Arguments(5, 5, "five files"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.npyToBinsparse(cmd.Context(), args[0], args[1], args[2], args[3], args[4])
			},
		},
		&cobra.Command{
			Use:     "binsparse_to_npy IN TENSOR.npy PATTERN.npy FILL.npy",
			Aliases: []string{"binsparse-to-npy"},
			Short:   "Write the elements, the pattern and the fill of a binsparse file",
			Args:    cli.Arguments(4, 4, "four files"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.binsparseToNPY(cmd.Context(), args[0], args[1], args[2], args[3])
			},
		},
		&cobra.Command{
			Use:     "binsparse_to_binsparse IN OUT",
			Aliases: []string{"binsparse-to-binsparse"},
			Short:   "Read a binsparse file and write it again",
			Args:    cli.Arguments(2, 2, "two files"),
			RunE: func(cmd *cobra.Command, args []string) error {
				return a.binsparseToBinsparse(cmd.Context(), args[0], args[1])
			},
		},
	)
	return cmd
}

// npyToBinsparse writes a tensor whose header says how.
func (a *app) npyToBinsparse(ctx context.Context, values, pattern, fill, header, out string) error {
	text, err := os.ReadFile(header)
	if err != nil {
		return err
	}
	h, err := binsparse.ParseHeader(text)
	if err != nil {
		return fmt.Errorf("%s: %w", header, err)
	}
	h.Fill = true
	format, err := h.Format.Tensor()
	if err != nil {
		return fmt.Errorf("%s: %w", header, err)
	}
	var arrays [3]*tensor.Tensor
	for i, path := range []string{values, pattern, fill} {
		if arrays[i], err = operand.Read(ctx, a.Env, path, []file.Option{file.OfKind("npy")}); err != nil {
			return err
		}
	}
	if fmt.Sprint(arrays[0].Shape()) != fmt.Sprint(arrays[1].Shape()) {
		return fmt.Errorf("%s has the shape %v, but %s has %v: they must be the same", values, arrays[0].Shape(), pattern, arrays[1].Shape())
	}
	if arrays[2].NNZ() != 1 {
		return fmt.Errorf("%s has %d elements: expected one, the fill", fill, arrays[2].NNZ())
	}
	stored, err := arrays[1].Values().Convert(tensor.Bool)
	if err != nil {
		return err
	}
	t, err := binsparse.FromPattern(arrays[0].Shape(), format, arrays[0].Values(), stored, arrays[2].Values().Scalar(0))
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	return a.writeBinsparse(ctx, out, t, h)
}

// binsparseToNPY writes what a binsparse file holds.
func (a *app) binsparseToNPY(ctx context.Context, in, values, pattern, fill string) error {
	t, err := operand.Read(ctx, a.Env, in, nil)
	if err != nil {
		return err
	}
	stored, err := binsparse.Pattern(t)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	which, err := tensor.FromDense(t.Shape(), tensor.Dense(t.Rank()), stored)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	for _, out := range []struct {
		path string
		t    *tensor.Tensor
	}{{values, t}, {pattern, which}, {fill, tensor.ScalarTensor(t.Fill())}} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := file.Write(out.path, out.t, file.OfKind("npy")); err != nil {
			return err
		}
	}
	return nil
}

// binsparseToBinsparse copies a tensor, with the keys of its descriptor.
func (a *app) binsparseToBinsparse(ctx context.Context, in, out string) error {
	var d binsparse.Descriptor
	t, err := operand.Read(ctx, a.Env, in, []file.Option{file.KeepStructure(), file.DescriptorInto(&d)})
	if err != nil {
		return err
	}
	return a.writeBinsparse(ctx, out, t, d.Writable())
}

// writeBinsparse writes a tensor with a header to the container that the name says.
func (a *app) writeBinsparse(ctx context.Context, out string, t *tensor.Tensor, h *binsparse.Descriptor) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	opts := []file.Option{file.Header(h)}
	if strings.EqualFold(filepath.Ext(out), ".npz") { // which is a plain array otherwise
		opts = append(opts, file.OfKind("bspnpz"))
	}
	return file.Write(out, t, opts...)
}
