package lacuna

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/logic"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file is where a session asks the logical optimiser (package ir/logic) in which order a program runs. A program with
// nothing to choose has no chooser and pays nothing.

// AsWritten keeps the order of computing in which the program is written. Without it sums and products may be computed in
// another order that costs less, where that means the same but for rounding: see docs/optimiser.md.
func AsWritten() Option { return func(d *declarations) { d.asWritten = true } }

// chooser has the kernels of a program for the classes of its operands' statistics.
type chooser struct {
	session *Session
	source  string
	file    *lang.File
	program *lang.Program
	says    *declarations // without examples
	// operands are the names of those whose statistics count.
	operands []string

	latest  atomic.Pointer[chosen]
	mu      sync.Mutex
	byClass map[string]*Kernel
	byText  map[string]*Kernel // by the text of the optimised program; "" for that as it is written
	making  flight.Group[string, *Kernel]
}

// chosen is a kernel for operands of some classes.
type chosen struct {
	classes []string
	kernel  *Kernel
}

// compile compiles a program in the order that is best for the operands that are given as examples.
func (s *Session) compile(ctx context.Context, src string, d *declarations) (*Kernel, error) {
	file, program, err := check(src, d)
	if err != nil {
		return nil, err
	}
	if d.strict || d.asWritten || !logic.Choices(program) {
		return s.compileAs(ctx, src, file, program, d)
	}
	c := &chooser{session: s, source: src, file: file, program: program, says: d.withoutExamples(), byClass: map[string]*Kernel{}, byText: map[string]*Kernel{}}
	examples := Args{}
	for _, t := range program.Tensors {
		if t.Operand && t.StoredOf == nil {
			c.operands = append(c.operands, t.Name)
			if o := d.example(t.Name); o != nil {
				examples[t.Name] = o
			}
		}
	}
	classes, statistics, _ := c.describe(examples) // without, a kernel is made for a guess
	k, err := c.make(ctx, statistics, d)
	if err != nil {
		return nil, err
	}
	if classes != nil {
		c.latest.Store(&chosen{classes, k})
		c.byClass[strings.Join(classes, ";")] = k
	}
	k.chooser = c
	return k, nil
}

// describe returns the statistics of the operands, rounded, with their classes; false if some have none.
func (c *chooser) describe(args Args) ([]string, map[string]*tensor.Statistics, bool) {
	classes := make([]string, len(c.operands))
	statistics := make(map[string]*tensor.Statistics, len(c.operands))
	for i, name := range c.operands {
		t, ok := args[name].(*tensor.Tensor)
		if !ok || t == nil {
			return nil, nil, false
		}
		s, ok := t.Statistics()
		if !ok {
			return nil, nil, false
		}
		classes[i], statistics[name] = s.Class(), s.Rounded()
	}
	return classes, statistics, true
}

// run runs the kernel for the arguments.
func (c *chooser) run(ctx context.Context, args Args) (*Kernel, values, error) {
	k, err := c.kernel(ctx, args)
	if err != nil {
		return nil, nil, err
	}
	ran, vals, err := k.runPlan(ctx, args, nil)
	var memory *runtime.MemoryLimitError
	if errors.As(err, &memory) && k.written != nil { // intermediates take memory
		if k, err := c.asWritten(ctx, c.declared(args)); err == nil {
			return k.runPlan(ctx, args, nil)
		}
	}
	return ran, vals, err
}

// kernel is the one for the arguments. Of the statistics of operands that were passed before, only the class is looked at.
func (c *chooser) kernel(ctx context.Context, args Args) (*Kernel, error) {
	if latest := c.latest.Load(); latest != nil && c.same(latest.classes, args) {
		return latest.kernel, nil
	}
	classes, statistics, ok := c.describe(args)
	if !ok {
		return c.asWritten(ctx, c.declared(args))
	}
	key := strings.Join(classes, ";")
	k, err := c.making.Do(ctx, key, func() (*Kernel, bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		k := c.byClass[key]
		return k, k != nil
	}, func(ctx context.Context) (*Kernel, error) {
		k, err := c.make(ctx, statistics, c.declared(args))
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if len(c.byClass) >= cachedKernels {
				clear(c.byClass)
			}
			c.byClass[key] = k
		}
		return k, err
	})
	if err == nil {
		c.latest.Store(&chosen{classes, k})
	}
	return k, err
}

// same reports whether arguments are of some classes.
func (c *chooser) same(classes []string, args Args) bool {
	for i, name := range c.operands {
		t, ok := args[name].(*tensor.Tensor)
		if !ok || t == nil {
			return false
		}
		if s, ok := t.Statistics(); !ok || s.Class() != classes[i] {
			return false
		}
	}
	return true
}

// declared is what is declared of the program, with the arguments as examples.
func (c *chooser) declared(args Args) *declarations {
	d := c.says.withoutExamples()
	for name, o := range args {
		d.operand(name, o)
	}
	return d
}

// asWritten is the kernel of the program in the order in which it is written.
func (c *chooser) asWritten(ctx context.Context, d *declarations) (*Kernel, error) {
	return c.compiled(ctx, "", func(ctx context.Context) (*Kernel, error) {
		return c.session.compileAs(ctx, c.source, c.file, c.program, d)
	})
}

// make optimises the program for operands with such statistics, and compiles what comes of it, unless that is there.
func (c *chooser) make(ctx context.Context, statistics map[string]*tensor.Statistics, d *declarations) (k *Kernel, err error) {
	defer caught(c.source, &err)
	r := c.session.optimised(ctx, c.file, c.program, statistics, d)
	if r == nil || r.Program == nil {
		return c.compiled(ctx, "", func(ctx context.Context) (*Kernel, error) {
			k, err := c.session.compileAs(ctx, c.source, c.file, c.program, d)
			if err == nil && r != nil {
				k.notes = r.Notes
			}
			return k, err
		})
	}
	k, err = c.compiled(ctx, r.File.String(), func(ctx context.Context) (*Kernel, error) {
		p, err := c.session.newPlanned(ctx, r.Program, d)
		if err != nil {
			return nil, err
		}
		return &Kernel{planned: p, source: c.source, file: c.file, checked: r.Program, written: c.program, intermediates: r.Intermediates, notes: r.Notes}, nil
	})
	if err != nil && ctx.Err() == nil { // what cannot be planned runs as written
		return c.asWritten(ctx, d)
	}
	return k, err
}

// compiled is the kernel of a text, which is compiled once.
func (c *chooser) compiled(ctx context.Context, text string, compile func(context.Context) (*Kernel, error)) (*Kernel, error) {
	return c.making.Do(ctx, "text "+text, func() (*Kernel, bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		k := c.byText[text]
		return k, k != nil
	}, func(ctx context.Context) (*Kernel, error) {
		k, err := compile(ctx)
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.byText[text] = k
		}
		return k, err
	})
}

// optimised asks the optimiser.
func (s *Session) optimised(ctx context.Context, file *lang.File, program *lang.Program, statistics map[string]*tensor.Statistics, d *declarations) *logic.Result {
	return logic.Optimise(file, program, logic.Options{
		Statistics: statistics,
		Eager:      s.eager,
		Stores: func() (map[*lang.Tensor]logic.Stored, bool) {
			plan, err := ir.New(ctx, program, ir.Options{Forms: d.forms()}, lower.Eval)
			if err != nil {
				return nil, false
			}
			stored := map[*lang.Tensor]logic.Stored{}
			for of, t := range plan.Results {
				stored[of] = logic.Stored{Format: t.Format, Fill: t.Fill}
			}
			return stored, true
		},
		Check: func(f *lang.File, more map[string]lang.Decl) (*lang.Program, error) {
			decls, err := d.decls(file)
			if err != nil {
				return nil, err
			}
			for name, says := range more {
				if old, ok := decls[name]; ok { // what was declared of a result holds
					if old.HasFormat {
						says.Format = old.Format
					}
					if old.HasDType {
						says.DType, says.HasDType = old.DType, true
					}
					if old.Fill != nil {
						says.Fill = old.Fill
					}
					says.Rank, says.Shape = old.Rank, old.Shape
				}
				decls[name] = says
			}
			return lang.Check(f, decls)
		},
	})
}

// explainLogic prints the program in the order in which it runs.
func (k *Kernel) explainLogic() string {
	var b strings.Builder
	for _, s := range k.checked.Stmts {
		b.WriteString(s.String())
		if t := s.LHS.Tensor; slices.Contains(k.intermediates, t.Name) {
			b.WriteString("  # an intermediate")
			if t.HasFormat {
				fmt.Fprintf(&b, ", %s", t.Format)
			}
		}
		b.WriteString("\n")
	}
	if k.written == nil {
		b.WriteString("# as it is written\n")
	}
	for _, n := range k.notes {
		b.WriteString("# " + n + "\n")
	}
	return b.String()
}

// asWritten is the program as it is written, checked.
func (k *Kernel) asWritten() *lang.Program {
	if k.written != nil {
		return k.written
	}
	return k.checked
}

// isIntermediate reports whether a result is one that the optimiser has added.
func (k *Kernel) isIntermediate(t *lang.Tensor) bool { return slices.Contains(k.intermediates, t.Name) }

// withoutExamples is what is declared without the operands themselves, which would be kept.
func (d *declarations) withoutExamples() *declarations {
	c := &declarations{strict: d.strict, asWritten: d.asWritten, list: slices.Clone(d.list)}
	for i := range c.list {
		c.list[i].example = nil
	}
	return c
}
