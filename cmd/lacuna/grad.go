package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/show"
	"github.com/lacuna-sparse/lacuna/lang/derive"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// gradient is one run of the command grad.
type gradient struct {
	app *app
	wishes
	wrt    string
	output string
	engineFlags
}

func newGrad(a *app) *cobra.Command {
	g := &gradient{app: a}
	cmd := &cobra.Command{
		Use:   "grad PROGRAM --wrt NAME [NAME=FILE | NAME:FORMAT]…",
		Short: "Print the gradient of a program, and run it",
		Long: `Grad derives a program with respect to one operand and prints the program that
computes the gradient. If operands have values it runs it too.

The adjoint of the program's last result y, how much some quantity changes with y, is
an operand named dy, or dy1 if the program has a dy of its own. For a result of rank 0 it is 1 if nothing is said. The gradient of
a sparse operand is stored like the operand.`,
		Example: `  lacuna grad 'y(i) = sum_j A(i,j)*x(j)' --wrt A A:CSR
  lacuna grad 's = sum_{i,j} A(i,j)^2' --wrt A A=web.mtx:CSR -o grad.mtx
  lacuna grad 'y(i) = sum_j A(i,j)*x(j)' --wrt x A=web.mtx:CSR x=x.npy dy=dy.npy`,
		Args:              cli.Arguments(1, -1, "a program and its operands"),
		ValidArgsFunction: completeOperand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if g.wrt == "" {
				return cli.Usagef("say with --wrt which operand to differentiate by")
			}
			if err := g.engineFlags.check(); err != nil {
				return err
			}
			if err := g.wishes.parse(); err != nil {
				return err
			}
			operands, err := operand.ParseAll(args[1:])
			if err != nil {
				return err
			}
			return cli.Advise(g.run(cmd.Context(), args[0], operands), "grad")
		},
	}
	f := cmd.Flags()
	f.StringVar(&g.wrt, "wrt", "", "the operand `NAME` to differentiate by")
	f.StringVarP(&g.output, "output", "o", "", "write the gradient to `FILE`")
	g.engineFlags.register(cmd)
	g.wishes.register(cmd)
	return cmd
}

// run derives, prints and, if there are values, runs.
func (g *gradient) run(ctx context.Context, source string, operands []operand.Operand) error {
	p, err := parseProgram(source)
	if err != nil {
		return err
	}
	var d operand.Destination
	if g.output != "" {
		if d, err = operand.ParseDestination(g.output); err != nil {
			return err
		}
		if d.Name != "" {
			return cli.Usagef("-o %s: there is one result, so write the file's name alone", g.output)
		}
	}
	engine, err := runtime.EngineByName(g.engine, g.app.Notice)
	if err != nil {
		return err
	}
	p.addOperand(derive.Upstream(p.file), p.uses[p.last].rank)
	opts, loaded, err := g.app.declareAll(ctx, p, operands, &g.wishes)
	if err != nil {
		return err
	}
	session := lacuna.NewSession(lacuna.WithEngine(engine), lacuna.WithNotice(g.app.Notice), lacuna.WithThreads(g.threads))
	derived, err := cli.Await(ctx, func() (*lacuna.Gradient, error) { return session.Grad(ctx, p.source, g.wrt, opts...) })
	if err != nil {
		return err
	}
	if g.output == "" || len(loaded) == 0 {
		g.app.Printf("%s\n", derived.Source)
	}
	if len(loaded) == 0 {
		return nil
	}
	task := g.app.Begin("running", -1)
	out, err := cli.Await(ctx, func() (*tensor.Tensor, error) { return derived.Run(ctx, loaded) })
	task.End()
	if err != nil {
		return err
	}
	if g.output != "" {
		return operand.Write(ctx, g.app.Env, d, out)
	}
	show.Tensor(g.app.Stdout, derived.Result, out)
	return nil
}
