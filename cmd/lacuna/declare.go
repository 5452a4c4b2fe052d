package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// wishes are the flags about the tensors of a program that eval and explain
// share.
type wishes struct {
	shapeFlags, fillFlags []string
	strict                bool
	asWritten             bool
	schedule              []string
	assume                []string

	shapes map[string][]int64
	fills  map[string]tensor.Scalar
}

// register adds the flags to a command.
func (w *wishes) register(cmd *cobra.Command) {
	// Not a slice flag of pflag's: that would split at the commas.
	cmd.Flags().StringArrayVar(&w.shapeFlags, "shape", nil, "extents of a `NAME=10,20` that the operands do not fix; _ leaves one open")
	cmd.Flags().StringArrayVar(&w.fillFlags, "fill", nil, "value of the coordinates that a tensor does not store, as `NAME=inf`")
	cmd.Flags().BoolVar(&w.strict, "strict-ieee", false, "let 0*inf and 0*nan be nan where the 0 is not stored")
	cmd.Flags().BoolVar(&w.asWritten, "as-written", false, "compute in the order in which the program is written")
	cmd.Flags().StringArrayVar(&w.schedule, "schedule", nil, "how a statement runs, as `'order(i, j), parallel(i)'`; 'y: …' of several statements")
}

// registerAssume adds the flag of commands whose operands need no data.
func (w *wishes) registerAssume(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&w.assume, "assume", nil, "what an operand without data will store, as `'A: 1e6x1e6, 16 per row'`, or a file like it, A=sample.mtx")
}

// given reports whether any of the flags was.
func (w *wishes) given() bool {
	return len(w.shapeFlags)+len(w.fillFlags) > 0 || w.strict || w.asWritten || len(w.schedule)+len(w.assume) > 0
}

// parse reads the flags' values.
func (w *wishes) parse() error {
	w.shapes, w.fills = map[string][]int64{}, map[string]tensor.Scalar{}
	for _, text := range w.shapeFlags {
		name, value, ok := strings.Cut(text, "=")
		if !ok || !operand.IsName(name) {
			return cli.Usagef("--shape %s: write NAME=10,20", text)
		}
		var shape []int64
		for part := range strings.SplitSeq(value, ",") {
			n := int64(-1)
			if part != "_" {
				var err error
				if n, err = operand.ParseExtent(part); err != nil {
					return cli.Usagef("--shape %s: %s", text, err)
				}
			}
			shape = append(shape, n)
		}
		w.shapes[name] = shape
	}
	for _, text := range w.fillFlags {
		name, value, ok := strings.Cut(text, "=")
		if !ok || !operand.IsName(name) {
			return cli.Usagef("--fill %s: write NAME=VALUE", text)
		}
		v, err := operand.ParseNumber(value, tensor.Invalid)
		if err != nil {
			return cli.Usagef("--fill %s: %s", text, err)
		}
		w.fills[name] = v
	}
	return nil
}

// fill is the fill wished for a name, or nil.
func (w *wishes) fill(name string) *tensor.Scalar {
	if v, ok := w.fills[name]; ok {
		return &v
	}
	return nil
}

// options are the wishes as options of the compiler. loaded are the operands
// that have values, whose fills they have already.
func (w *wishes) options(p *program, loaded lacuna.Args) ([]lacuna.Option, error) {
	var opts []lacuna.Option
	for _, name := range slices.Sorted(maps.Keys(w.shapes)) {
		if err := p.checkResult(name); err != nil {
			return nil, fmt.Errorf("--shape: %w", err)
		}
		opts = append(opts, lacuna.Shape(name, w.shapes[name]...))
	}
	for _, name := range slices.Sorted(maps.Keys(w.fills)) {
		if err := p.check(name); err != nil {
			return nil, fmt.Errorf("--fill: %w", err)
		}
		if loaded[name] == nil {
			opts = append(opts, lacuna.Fill(name, w.fills[name]))
		}
	}
	if w.strict {
		opts = append(opts, lacuna.StrictIEEE())
	}
	if w.asWritten {
		opts = append(opts, lacuna.AsWritten())
	}
	for _, text := range w.schedule {
		opts = append(opts, lacuna.Schedule(text))
	}
	return opts, nil
}

// assumptions are what the flags say of operands without data.
func (w *wishes) assumptions(ctx context.Context, a *app, p *program) ([]lacuna.Option, error) {
	var opts []lacuna.Option
	for _, text := range w.assume {
		name, says, ok := strings.Cut(text, ":")
		if file, _, is := strings.Cut(text, "="); is && (!ok || len(file) < len(name)) {
			list, err := operand.ParseAll([]string{text})
			if err != nil {
				return nil, fmt.Errorf("--assume: %w", err)
			}
			o := list[0]
			t, err := o.Source.Load(ctx, a.Env, o.Qual, w.fill(o.Name))
			if err != nil {
				return nil, fmt.Errorf("--assume: %w", err)
			}
			s, ok := t.Statistics()
			if !ok {
				return nil, fmt.Errorf("--assume: %s has no statistics, as it is no plain tensor", file)
			}
			name, ok = o.Name, true
			if err := p.check(name); err != nil {
				return nil, fmt.Errorf("--assume: %w", err)
			}
			opts = append(opts, lacuna.Assume(name, s))
			continue
		}
		name = strings.TrimSpace(name)
		if !ok || !operand.IsName(name) {
			return nil, cli.Usagef("--assume %s: write 'A: 1e6x1e6, 16 per row', or A=sample.mtx", text)
		}
		if err := p.check(name); err != nil {
			return nil, fmt.Errorf("--assume: %w", err)
		}
		s, err := tensor.ParseStatistics(says)
		if err != nil {
			return nil, cli.Usagef("--assume: %s", err)
		}
		if rank := p.uses[name].rank; rank != len(s.Axes) {
			return nil, cli.Usagef("--assume %s: %s has %d axes in the program, and %d here", text, name, rank, len(s.Axes))
		}
		opts = append(opts, lacuna.Assume(name, s))
	}
	return opts, nil
}

// declareResult says how a result is stored.
func declareResult(p *program, o operand.Operand) ([]lacuna.Option, error) {
	if err := p.checkResult(o.Name); err != nil {
		return nil, err
	}
	if o.Qual.Stored != "" {
		return nil, o.Qual.NoParts()
	}
	var opts []lacuna.Option
	f, given, err := o.Qual.FormatFor(p.uses[o.Name].rank)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	if given {
		opts = append(opts, lacuna.Result(o.Name, f))
	}
	if o.Qual.DType.Valid() {
		opts = append(opts, lacuna.ResultType(o.Name, o.Qual.DType))
	}
	return opts, nil
}

// declareOperand says how an operand without a value is stored: dense and f64
// where nothing else is said.
func declareOperand(p *program, o operand.Operand) (lacuna.Option, error) {
	rank := p.uses[o.Name].rank
	f, given, err := o.Qual.FormatFor(rank)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	if !given {
		f = tensor.Dense(rank)
	}
	dt := o.Qual.DType
	if !dt.Valid() {
		dt = tensor.Float64
	}
	switch s := o.Qual.Structure(); {
	case s != tensor.General:
		return lacuna.FormatTriangle(o.Name, f, dt, s), nil
	case o.Qual.Stored != "":
		return nil, cli.Usagef("%s: stored=%s follows from the values: it needs some, such as %s=FILE:stored=%s", o.Name, o.Qual.Stored, o.Name, o.Qual.Stored)
	}
	return lacuna.Format(o.Name, f, dt), nil
}
