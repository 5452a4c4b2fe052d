package explorer

import (
	"context"
	"errors"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Explanation is a program at each stage of its compilation.
type Explanation struct {
	Names
	Places      []Place      `json:"places"` // of the program, that lines of stages come from
	Stages      []Stage      `json:"stages"`
	Conversions []string     `json:"conversions"`
	Diagnostics []Diagnostic `json:"diagnostics"` // what a run may take unexpectedly long for
}

// Stage is the text of a stage. What lines of different stages have in common is found by the places of the program that they come from, and
// words by the symbols that they are about.
type Stage struct {
	Name    string   `json:"name"`
	About   string   `json:"about"`
	Text    string   `json:"text"`
	Spans   []Span   `json:"spans"`
	Origins []Origin `json:"origins"`
}

// stageWords say what each stage shows.
var stageWords = map[string]string{
	"syntax":    "the program as parsed, then with every sum and conversion written out",
	"logic":     "in the order in which it runs, with intermediates, and why",
	"choices":   "what was weighed, with estimates, and why it lost",
	"schedule":  "how each statement runs, in words that can be given back",
	"plan":      "formats, conversions, loops, and what the choices cost",
	"lattice":   "the coordinates that each loop visits, and how",
	"loops":     "stages, buffers, code",
	"llvm":      "LLVM IR before optimisation",
	"optimised": "LLVM IR after optimisation",
	"asm":       "assembly for this machine",
	"grids":     "the loops as a GPU runs them",
	"ptx":       "assembly of NVIDIA's GPUs",
}

// stages are those that explain answers here: machine code needs an LLVM.
func (s *Service) stages() []string {
	list := slices.Clone(lacuna.Stages())
	if s.native() {
		return list
	}
	return slices.DeleteFunc(list, func(name string) bool { return name == "optimised" || name == "asm" || name == "ptx" })
}

func (s *Service) explain(ctx context.Context, r *Request) (any, error) { return s.Explain(ctx, r) }

// stageText is what a stage prints: that of choices by the data of the operands.
func stageText(ctx context.Context, kernel *lacuna.Kernel, name string, args lacuna.Args) (string, error) {
	if name != "choices" || len(args) == 0 {
		return kernel.Explain(name)
	}
	c, err := kernel.Choices(ctx, args)
	if err != nil {
		return "", err
	}
	return c.String(), nil
}

// Explain prints a program at each stage. Operands need no values.
func (s *Service) Explain(ctx context.Context, r *Request) (*Explanation, error) {
	if r.Program == "" {
		return nil, errNoProgram
	}
	args, opts, err := s.operands(ctx, r)
	if err != nil {
		return nil, err
	}
	given := map[string]bool{}
	for i := range r.Operands {
		given[r.Operands[i].Name] = true
	}
	for _, n := range namesOf(r.Program).Operands {
		if !given[n.Name] {
			opts = append(opts, lacuna.Format(n.Name, tensor.Dense(n.Rank), tensor.Float64))
		}
	}
	host, err := s.session(runtime.Interp()).Compile(ctx, r.Program, opts...)
	if err != nil {
		return nil, err
	}
	device, deviceErr := s.session(runtime.Simulated()).Compile(ctx, r.Program, opts...)
	e := &Explanation{Names: namesOf(r.Program), Conversions: append([]string{}, host.Conversions()...)}
	at := newPlaces(r.Program, e.Names)
	e.Diagnostics = append([]Diagnostic{}, warningsAt(r.Program, host.Warnings())...)
	for _, name := range s.stages() {
		kernel := host
		if slices.Contains(lacuna.GridStages(), name) {
			if deviceErr != nil {
				continue
			}
			kernel = device
		}
		text, err := stageText(ctx, kernel, name, args)
		var missing *runtime.UnavailableError
		switch {
		case errors.As(err, &missing):
			text = "(left out: " + missing.Error() + ")"
		case err != nil:
			return nil, err
		}
		origins, err := at.origins(kernel, name)
		if err != nil {
			return nil, err
		}
		e.Stages = append(e.Stages, Stage{name, stageWords[name], text, spansOf(text, e.Names), origins})
	}
	e.Places = at.list
	return e, nil
}
