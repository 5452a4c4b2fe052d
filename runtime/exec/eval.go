package exec

import (
	"context"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Eval runs a program on args and returns the result of its last statement.
func (s *Session) Eval(ctx context.Context, src string, args Args, opts ...declare.Option) (*tensor.Tensor, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	d := declare.ByExample(args)
	d.OnlyLast()
	k, err := s.kernel(ctx, src, d, opts)
	if err != nil {
		return nil, err
	}
	return k.Run(ctx, args)
}

// EvalAll runs a program on args and returns all its results.
func (s *Session) EvalAll(ctx context.Context, src string, args Args, opts ...declare.Option) (Outputs, error) {
	k, err := s.kernelFor(ctx, src, args, opts)
	if err != nil {
		return nil, err
	}
	return k.RunAll(ctx, args)
}

// kernelFor returns the kernel for the formats, types and fills of the operands.
func (s *Session) kernelFor(ctx context.Context, src string, args Args, opts []declare.Option) (*Kernel, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	return s.kernel(ctx, src, declare.ByExample(args), opts)
}

// Compile parses, checks, plans and compiles a program in this session. Options
// declare the operands; results need none.
func (s *Session) Compile(ctx context.Context, src string, opts ...declare.Option) (*Kernel, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	return s.kernel(ctx, src, declare.New(), opts)
}

// kernel returns the kernel for a program and what is declared of its tensors,
// from the session's cache if it is there.
func (s *Session) kernel(ctx context.Context, src string, d *declare.Declarations, opts []declare.Option) (k *Kernel, err error) {
	defer runtime.Caught(src, &err)
	if err := d.Apply(opts); err != nil {
		return nil, err
	}
	if err := d.Canonicalise(ctx, &s.env.convert); err != nil {
		return nil, err
	}
	memory := declare.Keys.Get().(*[]byte)
	defer declare.Keys.Put(memory)
	*memory = d.AppendKey((*memory)[:0], src)
	if k, ok := s.kernels.Get(*memory); ok {
		return k, nil
	}
	return s.kernels.Do(ctx, string(*memory), func(ctx context.Context) (*Kernel, error) { return s.compileTuned(ctx, src, d) })
}

// Check parses a program and checks it against what options declare of its tensors, without compiling it.
func Check(src string, opts ...declare.Option) ([]*lang.Warning, error) {
	d := declare.New()
	if err := d.Apply(opts); err != nil {
		return nil, err
	}
	file, program, err := d.Check(src)
	if err != nil {
		return nil, err
	}
	return lang.Warnings(file, program), nil
}

// compileAs compiles a program in the order in which it is written.
func (s *Session) compileAs(ctx context.Context, src string, file *lang.File, program *lang.Program, d *declare.Declarations) (*Kernel, error) {
	forms := d.Forms()
	var literals []int64
	if forms == nil && !s.keepLiterals {
		var like string
		if literals, like = program.TakeLiterals(); len(literals) > 0 {
			p, err := s.plannedLike(ctx, like, program, d)
			if err != nil {
				return nil, withSource(err, src)
			}
			return &Kernel{planned: p, source: src, file: file, checked: program, literals: literals, intermediates: file.Temporaries()}, nil
		}
	}
	p, err := s.env.plan(ctx, program, d)
	if err != nil {
		return nil, withSource(err, src)
	}
	return &Kernel{planned: p, source: src, file: file, checked: program, intermediates: file.Temporaries()}, nil
}

// plannedLike is the plan of a program that has literals taken, from the session's cache if one like it is there.
func (s *Session) plannedLike(ctx context.Context, like string, program *lang.Program, d *declare.Declarations) (*planned, error) {
	return s.plans.Do(ctx, string(d.AppendKey(nil, like)), func(ctx context.Context) (*planned, error) { return s.env.plan(ctx, program, d) })
}
