package bridge

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// operations is what a request may ask for.
var operations map[string]func(*Bridge, context.Context, *request, *answer) error

func init() { // for describe, which lists the others, too
	operations = map[string]func(*Bridge, context.Context, *request, *answer) error{
		"eval":    (*Bridge).eval,
		"compile": (*Bridge).compile,
		"run":     (*Bridge).run,
		"explain": (*Bridge).explain,
		"grad":    (*Bridge).grad,
		"derive":  (*Bridge).derive,
		"tensor":  (*Bridge).tensor,
		"stages":  (*Bridge).stages,
	}
}

// sessionKey is what a session is made for.
type sessionKey struct {
	engine  string
	threads int
	memory  int64
}

// session is the one that a request asks for.
func (b *Bridge) session(r *request) (*lacuna.Session, error) {
	key := sessionKey{r.Engine, r.Threads, r.MemoryLimit}
	b.mu.Lock()
	s := b.sessions[key]
	b.mu.Unlock()
	if s != nil {
		return s, nil
	}
	opts := []lacuna.SessionOption{lacuna.WithThreads(r.Threads), lacuna.WithMemoryLimit(r.MemoryLimit), lacuna.WithNotice(func(string) {})}
	if r.Engine != "" {
		e, err := runtime.EngineByName(r.Engine, nil)
		if err != nil {
			return nil, err
		}
		opts = append(opts, lacuna.WithEngine(e))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sessions[key] == nil {
		b.sessions[key] = lacuna.NewSession(opts...)
	}
	return b.sessions[key], nil
}

// options are what a request says of its tensors.
func (r *request) options() ([]lacuna.Option, error) {
	var opts []lacuna.Option
	rank, last, err := r.uses()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Declare)) {
		d := r.Declare[name]
		f, err := tensor.ParseFormat(d.Format, rank(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		dt := tensor.Float64
		if d.Type != "" {
			if dt, err = tensor.ParseDType(d.Type); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		opts = append(opts, lacuna.Format(name, f, dt))
		if d.Fill != nil {
			v, err := d.Fill.value()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			opts = append(opts, lacuna.Fill(name, v))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Results)) {
		d := r.Results[name]
		if name == "" { // the result that is returned
			name = last
		}
		of, err := d.options(name, rank(name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		opts = append(opts, of...)
	}
	if r.AsWritten {
		opts = append(opts, lacuna.AsWritten())
	}
	if r.StrictIEEE {
		opts = append(opts, lacuna.StrictIEEE())
	}
	return opts, nil
}

// uses are the ranks of tensors of a program, by name, and which its last statement assigns; none of a program that is wrong,
// which the compiler will tell. What is said of a tensor that the program does not have is an error.
func (r *request) uses() (rank func(name string) int, last string, err error) {
	unknown := func(string) int { return -1 }
	file, err := lang.Parse(r.Program)
	if err != nil || len(file.Stmts) == 0 {
		return unknown, "", nil
	}
	ranks := map[string]int{}
	for _, n := range file.Names() {
		ranks[n.Name] = n.Rank
	}
	for _, s := range file.Stmts {
		lang.EachRef(s.RHS, func(x *lang.Ref) {
			if _, ok := ranks[x.Name]; !ok {
				ranks[x.Name] = 0 // a name by itself
			}
		})
	}
	said := slices.AppendSeq(slices.Collect(maps.Keys(r.Declare)), maps.Keys(r.Results))
	slices.Sort(said)
	for _, name := range said {
		if _, ok := ranks[name]; !ok && name != "" && r.Wrt == "" { // a gradient's program has names of its own
			return nil, "", fmt.Errorf("the program has no tensor %s", name)
		}
	}
	return func(name string) int {
		if rank, ok := ranks[name]; ok {
			return rank
		}
		return -1
	}, file.Stmts[len(file.Stmts)-1].LHS.Name, nil
}

// options are what is said of a result.
func (d declaration) options(name string, rank int) ([]lacuna.Option, error) {
	var opts []lacuna.Option
	if d.Format != "" {
		f, err := tensor.ParseFormat(d.Format, rank)
		if err != nil {
			return nil, err
		}
		opts = append(opts, lacuna.Result(name, f))
	}
	if d.Type != "" {
		dt, err := tensor.ParseDType(d.Type)
		if err != nil {
			return nil, err
		}
		opts = append(opts, lacuna.ResultType(name, dt))
	}
	if d.Shape != nil {
		opts = append(opts, lacuna.Shape(name, d.Shape...))
	}
	if d.Fill != nil {
		v, err := d.Fill.value()
		if err != nil {
			return nil, err
		}
		opts = append(opts, lacuna.Fill(name, v))
	}
	return opts, nil
}

// asked is a request whose parts are read.
type asked struct {
	session *lacuna.Session
	args    lacuna.Args
	opts    []lacuna.Option
}

// read reads the parts of a request.
func (b *Bridge) read(r *request, a *answer) (q asked, err error) {
	defer b.lenders.collect()
	if q.session, err = b.session(r); err != nil {
		return q, err
	}
	if q.args, err = b.operands(r.Args, &a.Returned); err != nil {
		return q, err
	}
	q.opts, err = r.options()
	return q, err
}

// examples are options that declare operands by their values.
func (q *asked) examples() []lacuna.Option {
	var opts []lacuna.Option
	for name, t := range q.args {
		opts = append(opts, lacuna.Operand(name, t))
	}
	return append(opts, q.opts...)
}

func (b *Bridge) eval(ctx context.Context, r *request, a *answer) error {
	q, err := b.read(r, a)
	if err != nil {
		return err
	}
	if !r.All {
		t, err := q.session.Eval(ctx, r.Program, q.args, q.opts...)
		return b.give(a, q.args, lacuna.Outputs{"": t}, err)
	}
	all, err := q.session.EvalAll(ctx, r.Program, q.args, q.opts...)
	return b.give(a, q.args, all, err)
}

// give puts results into an answer.
func (b *Bridge) give(a *answer, args lacuna.Args, results lacuna.Outputs, err error) error {
	if err != nil {
		return err
	}
	a.Tensors = map[string]described{}
	taken := takenBy(args)
	for _, name := range slices.Sorted(maps.Keys(results)) {
		t := results[name]
		for _, o := range args {
			if o == tensor.Operand(t) {
				t = t.Share() // which is released by itself
			}
		}
		t, err := own(t, &taken)
		if err != nil {
			return err
		}
		if a.Tensors[name], err = b.describe(t); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bridge) compile(ctx context.Context, r *request, a *answer) error {
	q, err := b.read(r, a)
	if err != nil {
		return err
	}
	k, err := q.session.Compile(ctx, r.Program, q.examples()...)
	if err != nil {
		return err
	}
	a.Kernel, a.Notes = b.keepKernel(k), k.Conversions()
	for _, w := range k.Warnings() {
		a.Warnings = append(a.Warnings, w.String())
	}
	return nil
}

func (b *Bridge) run(ctx context.Context, r *request, a *answer) error {
	k, err := b.kernelOf(r.Kernel)
	if err != nil {
		return err
	}
	defer b.lenders.collect()
	args, err := b.operands(r.Args, &a.Returned)
	if err != nil {
		return err
	}
	if !r.All {
		t, err := k.Run(ctx, args)
		return b.give(a, args, lacuna.Outputs{"": t}, err)
	}
	all, err := k.RunAll(ctx, args)
	return b.give(a, args, all, err)
}

func (b *Bridge) explain(ctx context.Context, r *request, a *answer) error {
	if r.Kernel == 0 {
		if err := b.compile(ctx, r, a); err != nil {
			return err
		}
		r.Kernel, a.Kernel = a.Kernel, 0
		defer b.Release(r.Kernel)
	}
	k, err := b.kernelOf(r.Kernel)
	if err != nil {
		return err
	}
	a.Text, err = k.Explain(r.Stage)
	return err
}

func (b *Bridge) derive(ctx context.Context, r *request, a *answer) error {
	q, err := b.read(r, a)
	if err != nil {
		return err
	}
	g, err := q.session.Grad(ctx, r.Program, r.Wrt, q.examples()...)
	if err != nil {
		return err
	}
	a.Text, a.Result = g.Source, g.Upstream
	return nil
}

func (b *Bridge) grad(ctx context.Context, r *request, a *answer) error {
	q, err := b.read(r, a)
	if err != nil {
		return err
	}
	if r.Upstream == nil {
		t, err := q.session.EvalGrad(ctx, r.Program, r.Wrt, q.args, q.opts...)
		return b.give(a, q.args, lacuna.Outputs{"": t}, err)
	}
	dy, err := b.operand("the adjoint", *r.Upstream, &a.Returned)
	if err != nil {
		return err
	}
	// What the adjoint is called follows from the program, so that is derived first; its kernel is then the same.
	g, err := q.session.Grad(ctx, r.Program, r.Wrt, q.examples()...)
	if err != nil {
		return err
	}
	q.args[g.Upstream] = dy
	t, err := q.session.EvalGrad(ctx, r.Program, r.Wrt, q.args, q.opts...)
	return b.give(a, q.args, lacuna.Outputs{"": t}, err)
}

// tensor makes a tensor of arrays, and converts it if a format is given.
func (b *Bridge) tensor(ctx context.Context, r *request, a *answer) error {
	q, err := b.read(r, a)
	if err != nil {
		return err
	}
	a.Tensors = map[string]described{}
	for name, o := range q.args {
		t, err := b.stored(ctx, q.session, o, r.Format)
		if err != nil {
			return err
		}
		if a.Tensors[name], err = b.describe(t); err != nil {
			return err
		}
	}
	return nil
}

// stored is an operand in the format of a name; as it is if there is none.
func (b *Bridge) stored(ctx context.Context, s *lacuna.Session, o tensor.Operand, format string) (*tensor.Tensor, error) {
	rank := len(o.Shape())
	blocks, ok := o.(*tensor.Blocks)
	if ok && format == "" {
		return nil, fmt.Errorf("a matrix in blocks is a tensor in a format of other levels only: give one, such as CSR")
	}
	if !ok && format == "" {
		return o.(*tensor.Tensor).Share(), nil // which is released by itself
	}
	f, err := tensor.ParseFormat(format, rank)
	if err != nil {
		return nil, err
	}
	if ok {
		return blocks.Expand(f)
	}
	t, err := s.Convert(ctx, o.(*tensor.Tensor), f)
	if err != nil {
		return nil, err
	}
	return t.Share(), nil
}

// stages lists what explain prints.
func (b *Bridge) stages(_ context.Context, _ *request, a *answer) error {
	a.Notes = lacuna.Stages()
	return nil
}
