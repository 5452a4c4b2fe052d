package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/show"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// allStages is the word for every stage.
const allStages = "all"

func newExplain(a *app) *cobra.Command {
	var w wishes
	var stage, html, engine string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain PROGRAM [NAME:FORMAT[TYPE] | NAME=FILE]…",
		Short: "Print a program at a stage of its compilation",
		Long: `Explain compiles a program and prints it at one stage, at several (plan,loops) or
at all of them. It needs no data: operands are declared as A:CSR[f64], and are
dense and f64 where nothing is said.

Stages:
  syntax     as parsed, then with every sum and conversion written out
  logic      in the order in which it runs, with intermediates, and why
  choices    what was weighed: other orders and loops, with estimates, and why they lost
  schedule   the same with how each statement runs, as a program that runs so
  plan       formats, conversions, and the loops in concrete index notation
  lattice    for each loop, the coordinates it visits and how
  loops      the loop program: stages, buffers, code
  llvm       LLVM IR before optimisation
  optimised  LLVM IR after optimisation
  asm        assembly for this machine
  grids      the loop program as a GPU runs it: each stage with its mapping to threads
  ptx        PTX, the assembly of NVIDIA's GPUs`,
		Example: `  lacuna explain 'y(i) = A(i,j)*x(j)' A:CSR
  lacuna explain 'C(i,j) = A(i,j) + B(i,j)' A:CSR[f32] B:DCSR[f32] C:CSR --stage lattice,loops`,
		Args:              cli.Arguments(1, -1, "a program and its operands"),
		ValidArgsFunction: completeOperand,
		RunE: func(cmd *cobra.Command, args []string) error {
			stages, err := parseStages(stage)
			if err == nil {
				err = checkEngine(engine)
			}
			if err == nil {
				err = w.parse()
			}
			if err != nil {
				return err
			}
			operands, err := operand.ParseAll(args[1:])
			if err != nil {
				return err
			}
			p, err := parseProgram(args[0])
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("engine") && (html != "" || asJSON) {
				return cli.Usagef("--engine is for stages that are printed: leave out --html and --json, or --engine")
			}
			if html != "" {
				return cli.Advise(a.explainHTML(cmd.Context(), p, operands, &w, html), "explain")
			}
			if asJSON {
				return cli.Advise(a.explainJSON(cmd.Context(), p, operands, &w), "explain")
			}
			kernels, err := a.compileStages(cmd.Context(), engine, p, operands, &w, stages)
			if err != nil {
				return cli.Advise(err, "explain")
			}
			return a.explain(cmd.Context(), kernels, stages, stage == allStages)
		},
	}
	cmd.Flags().StringVar(&stage, "stage", "plan", "one or more of "+strings.Join(lacuna.Stages(), ", ")+", or all")
	cmd.Flags().StringVar(&html, "html", "", "write `FILE`, a page that shows the program, its data, all stages and a run, and needs nothing else")
	cmd.Flags().StringVar(&engine, "engine", runtime.AutoName, "whose choices are printed: those of auto, interp and cpu are the same; cuda's need no GPU")
	cmd.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines, cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print all stages as JSON, with what each part of them is about")
	w.register(cmd)
	w.registerAssume(cmd)
	cmd.RegisterFlagCompletionFunc("stage", completeStages)
	return cmd
}

// parseStages reads a list of stages.
func parseStages(text string) ([]string, error) {
	known := lacuna.Stages()
	if text == allStages {
		return known, nil
	}
	var list []string
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(known, name) {
			return nil, cli.Usagef("unknown stage %q%s (stages are %s, all)", name, cli.DidYouMean(name, known), strings.Join(known, ", "))
		}
		list = append(list, name)
	}
	return list, nil
}

// explained is a program that was compiled to be explained, with those operands that have values.
type explained struct {
	*lacuna.Kernel
	args lacuna.Args
}

// processorStages are those that only a processor's kernels have.
var processorStages = []string{"llvm", "optimised", "asm"}

// compileStages compiles a program for each stage to print: on the interpreter, which
// has the loops of machine code, or for a GPU, which need not be there.
func (a *app) compileStages(ctx context.Context, of string, p *program, operands []operand.Operand, w *wishes, stages []string) ([]explained, error) {
	var host, device explained
	var err error
	kernels := make([]explained, len(stages))
	for i, stage := range stages {
		k, engine := &host, runtime.Interp()
		if slices.Contains(lacuna.GridStages(), stage) || of == runtime.CUDAName && !slices.Contains(processorStages, stage) {
			k, engine = &device, runtime.Simulated()
		}
		if k.Kernel == nil {
			if *k, err = a.compileFor(ctx, engine, p, operands, w); err != nil {
				return nil, err
			}
		}
		kernels[i] = *k
	}
	return kernels, nil
}

// compileFor compiles a program for declared operands.
func (a *app) compileFor(ctx context.Context, engine runtime.Engine, p *program, operands []operand.Operand, w *wishes) (explained, error) {
	opts, args, err := a.declareAll(ctx, p, operands, w)
	if err != nil {
		return explained{}, err
	}
	k, err := lacuna.NewSession(lacuna.WithEngine(engine)).Compile(ctx, p.source, opts...)
	return explained{k, args}, err
}

// declareAll says how all tensors of a program are stored, warns of what it may not mean, and returns those that have
// values. Operands that are not mentioned are dense.
func (a *app) declareAll(ctx context.Context, p *program, operands []operand.Operand, w *wishes) (opts []lacuna.Option, loaded lacuna.Args, err error) {
	e, err := a.declare(ctx, p, operands, w)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range p.order {
		u := p.uses[name]
		switch said, ok := e.declared[name]; {
		case e.args[name] != nil:
			opts = append(opts, lacuna.Operand(name, e.args[name]))
		case ok:
			opts = append(opts, said...)
		case u.needed && u.certain:
			opts = append(opts, lacuna.Format(name, tensor.Dense(u.rank), e.typeOf(name)))
		}
	}
	more, err := w.options(p, e.args)
	if err != nil {
		return nil, nil, err
	}
	assumed, err := w.assumptions(ctx, a, p)
	if err != nil {
		return nil, nil, err
	}
	opts = append(append(opts, more...), assumed...)
	if list, err := lacuna.Check(p.source, opts...); err == nil { // compiling tells of errors
		a.Warn(list)
	}
	return opts, e.args, nil
}

// declare makes the operands that have values, those included into which a program sums by labels, and what is said of others
// and of results.
func (a *app) declare(ctx context.Context, p *program, operands []operand.Operand, w *wishes) (*evaluation, error) {
	e := &evaluation{app: a, program: p, operands: operands, wishes: *w, args: lacuna.Args{}, labels: map[string][]string{},
		names: map[string]show.AxisNames{}, starts: map[string]tensor.Scalar{}, declared: map[string][]lacuna.Option{}}
	if err := p.checkNames(operands); err != nil {
		return nil, err
	}
	for _, o := range operands {
		var err error
		switch {
		case o.Source != nil:
			err = e.loadOperand(ctx, o)
		case p.uses[o.Name].needed:
			var opt lacuna.Option
			opt, err = declareOperand(p, o)
			e.declared[o.Name] = []lacuna.Option{opt}
		default:
			e.declared[o.Name], err = declareResult(p, o)
		}
		if err != nil {
			return nil, err
		}
	}
	return e, e.group()
}

// text is what a stage prints: that of choices by the data of the operands.
func (e *explained) text(ctx context.Context, stage string) (string, error) {
	if stage != "choices" || len(e.args) == 0 {
		return e.Explain(stage)
	}
	c, err := e.Choices(ctx, e.args)
	if err != nil {
		return "", err
	}
	return c.String(), nil
}

// explain prints stages. Among all of them those that need an LLVM that is not
// there are passed over with a word.
func (a *app) explain(ctx context.Context, kernels []explained, stages []string, tolerant bool) error {
	for i, stage := range stages {
		text, err := kernels[i].text(ctx, stage)
		var missing *runtime.UnavailableError
		if tolerant && errors.As(err, &missing) {
			text, err = fmt.Sprintf("(left out: %s)\n", missing), nil
		}
		if err != nil {
			return err
		}
		if len(stages) > 1 {
			if i > 0 {
				fmt.Fprintln(a.Stdout)
			}
			fmt.Fprintf(a.Stdout, "== %s ==\n", stage)
		}
		fmt.Fprintln(a.Stdout, strings.TrimRight(text, "\n"))
	}
	return nil
}
