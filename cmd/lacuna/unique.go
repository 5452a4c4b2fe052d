package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/show"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// uniqueness is one run of the command unique.
type uniqueness struct {
	app     *app
	axis    int
	along   bool // an axis is given
	inverse bool
	outputs []string
	format  string
	dtype   string
	engineFlags
}

func newUnique(a *app) *cobra.Command {
	u := &uniqueness{app: a}
	cmd := &cobra.Command{
		Use:   "unique FILE [--axis N | --inverse] [-o values=FILE] [-o counts=FILE]",
		Short: "List the different elements of a tensor and how often each occurs",
		Long: `Unique lists the different elements of a tensor in ascending order, and how often each
occurs. Elements that are not stored count too, as so many that equal the fill. NaNs are
one element, and so are 0 and -0.

How many there are follows from values, which the extents of a result of eval do not;
so unique is a command of its own.

FILE may carry the same options as an operand of eval (data.npz:entry=x), and may be
random(…).`,
		Example: `  lacuna unique web.mtx
  lacuna unique labels.npy -o values=v.npy -o counts=c.npy
  lacuna unique ratings.mtx --axis 1     each row by itself
  lacuna unique labels.npy --inverse     and which of them each element is`,
		Args:              cli.Arguments(1, 1, "one file"),
		ValidArgsFunction: completeFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			u.along = cmd.Flags().Changed("axis")
			if err := u.engineFlags.check(); err != nil {
				return err
			}
			if u.along && u.inverse {
				return cli.Usagef("--inverse tells places among the elements of the whole tensor: leave --axis out")
			}
			return u.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.IntVar(&u.axis, "axis", 0, "look at each line along axis `N` by itself; negative ones count from the end")
	f.BoolVar(&u.inverse, "inverse", false, "tell for each element which of the unique ones it is")
	f.StringArrayVarP(&u.outputs, "output", "o", nil, "write values, counts or inverse, as NAME=`FILE`; may be repeated")
	f.StringVar(&u.format, "format", "", "the storage `FORMAT` in which the tensor is read")
	f.StringVar(&u.dtype, "dtype", "", "the element `TYPE` to which elements are converted first, such as i64")
	u.engineFlags.register(cmd)
	return cmd
}

// results are the names of what unique finds, in the order in which it prints them.
func (u *uniqueness) results() []string {
	if u.inverse {
		return []string{"values", "counts", "inverse"}
	}
	return []string{"values", "counts"}
}

// destinations reads the values of -o.
func (u *uniqueness) destinations() ([]operand.Destination, error) {
	list, err := operand.ParseDestinations(u.outputs)
	if err != nil {
		return nil, err
	}
	for i, d := range list {
		text := u.outputs[i]
		switch {
		case d.Name == "":
			return nil, cli.Usagef("-o %s: say what to write there, as in -o values=%s", text, text)
		case d.Name == "inverse" && !u.inverse:
			return nil, cli.Usagef("-o %s: there is no inverse without --inverse", text)
		case !slices.Contains(u.results(), d.Name):
			return nil, cli.Usagef("-o %s: there is no result %s%s (the results are values, counts and, with --inverse, inverse)", text, d.Name, cli.DidYouMean(d.Name, u.results()))
		}
	}
	return list, nil
}

// run reads the tensor, finds its unique elements, and prints or writes them.
func (u *uniqueness) run(ctx context.Context, file string) error {
	src, q, err := operand.ParseFile(file, u.format, u.dtype)
	if err != nil {
		return err
	}
	writes, err := u.destinations()
	if err != nil {
		return err
	}
	engine, err := runtime.EngineByName(u.engine, u.app.Notice)
	if err != nil {
		return err
	}
	var labels []string
	q.Labels = &labels
	t, err := src.Load(ctx, u.app.Env, q, nil)
	if err != nil {
		return err
	}
	if u.along && (u.axis >= t.Rank() || u.axis < -t.Rank()) {
		return cli.Usagef("--axis %d: the tensor has %d axes, counted from 0", u.axis, t.Rank())
	}
	session := lacuna.NewSession(lacuna.WithEngine(engine), lacuna.WithNotice(u.app.Notice), lacuna.WithThreads(u.threads))
	task := u.app.Begin("sorting", -1)
	found, err := cli.Await(ctx, func() (ops.Uniques, error) { return u.find(ctx, t, ops.In(session)) })
	task.End()
	if of := (*ops.Error)(nil); errors.As(err, &of) {
		err = of.Err // the user called no function
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	out := map[string]*tensor.Tensor{"values": found.Values, "counts": found.Counts, "inverse": found.Inverse}
	rows := show.AxisNames{labelsOf(found.Values, labels)}
	names := map[string]show.AxisNames{"values": rows, "counts": rows}
	if len(writes) == 0 {
		for _, name := range u.results() {
			show.Named(u.app.Stdout, name, out[name], names[name])
		}
		return nil
	}
	var errs []error
	for _, d := range writes {
		d.Names = names[d.Name]
		errs = append(errs, operand.Write(ctx, u.app.Env, d, out[d.Name]))
	}
	return errors.Join(errs...)
}

// labelsOf are the labels that elements stand for, nil if the column has none.
func labelsOf(values *tensor.Tensor, labels []string) []string {
	if labels == nil || values.Rank() != 1 {
		return nil
	}
	rows := make([]string, values.Dims()[0])
	for k := range rows {
		rows[k] = labels[values.At(int64(k)).Int64()]
	}
	return rows
}

func (u *uniqueness) find(ctx context.Context, t *tensor.Tensor, opts ...ops.Option) (ops.Uniques, error) {
	if u.inverse {
		opts = append(opts, ops.Inverse())
	}
	if u.along {
		return ops.UniqueAlong(ctx, t, u.axis, opts...)
	}
	return ops.Unique(ctx, t, opts...)
}
