package main

import (
	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
)

func newConvert(a *app) *cobra.Command {
	var output, format, dtype string
	var prune bool
	var large operand.MemoryFlag
	cmd := &cobra.Command{
		Use:   "convert FILE -o FILE [--format FORMAT] [--dtype TYPE] [--prune]",
		Short: "Convert a tensor from one kind of file to another",
		Long: `Convert reads a tensor and writes it. The extension says what kind of file is
written: .mtx, .tns, .npy, .npz, .bsp.h5, .bspnpy, .scipy.npz and others, also with
.gz. The written file is complete or untouched.

FILE may carry the same options as an operand of eval (data.npz:entry=x), and may be
random(…), which makes test data.`,
		Example: `  lacuna convert web.mtx.gz -o web.npy
  lacuna convert web.mtx -o web.tns.gz --dtype f32
  lacuna convert web.mtx -o web.bsp.h5 --format CSR
  lacuna convert 'random(1000,1000,density=0.01,seed=7)' -o test.mtx`,
		Args:              cli.Arguments(1, 1, "one file (-o names the one to write)"),
		ValidArgsFunction: completeFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return cli.Usagef("convert needs -o FILE")
			}
			src, q, err := operand.ParseFile(args[0], format, dtype)
			if err != nil {
				return err
			}
			// The file may be called anything, so there is no NAME= here.
			d, err := operand.ParseDestination("out=" + output)
			if err != nil {
				return err
			}
			ctx, spill, err := large.Open(cmd.Context(), []operand.Destination{d})
			if err != nil {
				return err
			}
			defer spill.Close()
			t, err := src.Load(ctx, a.Env, q, nil)
			if err != nil {
				return err
			}
			if prune {
				if t, err = t.Prune(); err != nil {
					return err
				}
			}
			d.Last = true
			return operand.Write(ctx, a.Env, d, t)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `FILE` to write")
	cmd.Flags().StringVar(&format, "format", "", "the storage format, such as CSC: binsparse files are written in it, and it orders the entries of text files")
	cmd.Flags().StringVar(&dtype, "dtype", "", "the element `TYPE`, such as f32")
	large.Register(cmd)
	cmd.Flags().BoolVar(&prune, "prune", false, "leave out entries that equal the fill: explicit zeros, which are kept otherwise")
	return cmd
}
