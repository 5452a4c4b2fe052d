package exec

import (
	"context"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// mostNests is how many nests of a statement are alternatives.
const mostNests = 6

// Schedules lists programs that compute the same as the kernel does, each with another choice for one statement, those first
// that are estimated to cost least. Each is the program as it runs or, where the optimiser made that, as it is written.
func (k *Kernel) Schedules(ctx context.Context) ([]string, error) {
	list, err := k.alternatives(ctx)
	var programs []string
	for _, a := range list {
		programs = append(programs, a.program)
	}
	return programs, err
}

// alternative is a program that computes the same, with what is other about it.
type alternative struct{ program, change string }

// alternatives are those of the program as it runs, and of that which was written.
func (k *Kernel) alternatives(ctx context.Context) ([]alternative, error) {
	if err := k.compiled(); err != nil {
		return nil, err
	}
	all, err := k.variants(ctx, k.checked, k.rewritten)
	if err != nil || k.written == nil {
		return all, err
	}
	more, err := k.variants(ctx, k.written, nil)
	return append(all, more...), err
}

// variants are the alternatives of a program of the kernel: that as it runs, or as it is written.
func (k *Kernel) variants(ctx context.Context, program *lang.Program, rewritten *lang.File) ([]alternative, error) {
	other, err := k.weighed(ctx, program, rewritten, k.plan.Options.Sizes)
	if err != nil {
		return nil, err
	}
	return other.choices(program != k.checked), nil
}

// weighed is a program of the kernel planned again, with all nests that are weighed. It is not compiled.
func (k *Kernel) weighed(ctx context.Context, program *lang.Program, rewritten *lang.File, sizes map[string]*tensor.Statistics) (*Kernel, error) {
	opts := k.plan.Options
	opts.Alternatives, opts.Sizes = true, sizes
	plan, err := plan.New(ctx, program, opts, scalar.Eval)
	if err != nil {
		return nil, withSource(err, k.source)
	}
	other := &Kernel{planned: &planned{env: k.env, program: program, plan: plan, alg: k.alg},
		source: k.source, file: k.file, checked: program, rewritten: rewritten}
	if rewritten != nil {
		other.intermediates = k.intermediates
	}
	for _, s := range plan.Steps {
		other.steps = append(other.steps, &step{plan: s, to: target(s)})
	}
	return other, nil
}

// choices are the programs of one choice each; the program itself too, if wanted.
func (k *Kernel) choices(itself bool) []alternative {
	stmts := k.scheduled()
	var all []alternative
	add := func(of *scheduledStmt, change string, chosen []string) {
		var lines []string
		for _, s := range stmts {
			line := s.String()
			if s == of {
				line = s.with(chosen)
			}
			lines = append(lines, line)
		}
		if of != nil && len(stmts) > 1 {
			name, _, _ := strings.Cut(of.text, " =")
			change = name + ": " + change
		}
		all = append(all, alternative{strings.Join(lines, "\n"), change})
	}
	if itself {
		add(nil, "as written", nil)
	}
	for _, s := range stmts {
		if s.main == nil {
			continue
		}
		for i, nest := range s.main.Nests {
			if order := "order(" + nest.Order + ")"; i < mostNests && nest.Order != "" && !slices.Contains(s.chosen, order) {
				add(s, order, []string{order})
			}
		}
		for _, more := range plan.Choices(s.main) {
			if slices.Contains(s.chosen, more) {
				continue
			}
			word, _, _ := strings.Cut(more, "(")
			chosen := slices.DeleteFunc(slices.Clone(s.chosen), func(c string) bool {
				return strings.HasPrefix(c, word) || word == "serial" && strings.HasPrefix(c, "parallel")
			})
			add(s, more, append(chosen, more))
		}
		for _, more := range plan.Formats(s.main) {
			add(s, more, []string{more})
		}
	}
	return all
}
