package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// explanation is what explain --json prints. Fields are added, and not renamed.
type explanation struct {
	Program     string            `json:"program"`
	Tensors     []explainedTensor `json:"tensors"`
	Conversions []string          `json:"conversions"`
	Warnings    []explainedNote   `json:"warnings"`
	Stages      []explainedStage  `json:"stages"`
}

// explainedTensor is a tensor of the program. Type, format and fill are those of operands, and those that are asked of results.
type explainedTensor struct {
	Name   string  `json:"name"`
	Rank   int     `json:"rank"`
	Role   string  `json:"role"` // operand, result, or both: updated
	Type   string  `json:"type,omitempty"`
	Format string  `json:"format,omitempty"`
	Shape  []int64 `json:"shape,omitempty"`
	Stored *int64  `json:"stored,omitempty"`
}

// explainedNote is a warning, with its place in the program.
type explainedNote struct {
	Code    string `json:"code"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// explainedStage is the text of a stage, or why there is none.
type explainedStage struct {
	Name    string `json:"name"`
	Text    string `json:"text,omitempty"`
	Missing string `json:"missing,omitempty"`
}

// explainJSON prints stages, and what is known of the program, for other programs.
func (a *app) explainJSON(ctx context.Context, p *program, operands []operand, w *wishes, stages []string) error {
	kernels, loaded, err := a.compileStages(ctx, p, operands, w, stages)
	if err != nil {
		return err
	}
	e := explanation{Program: p.source, Tensors: p.explained(operands, loaded), Conversions: kernels[0].Conversions(), Warnings: notes(kernels[0].Warnings())}
	if e.Conversions == nil {
		e.Conversions = []string{}
	}
	for i, name := range stages {
		text, err := kernels[i].Explain(name)
		stage := explainedStage{Name: name, Text: text}
		var missing *runtime.UnavailableError
		if errors.As(err, &missing) {
			stage.Missing, err = missing.Error(), nil
		}
		if err != nil {
			return err
		}
		e.Stages = append(e.Stages, stage)
	}
	out := json.NewEncoder(a.stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(e)
}

// notes are warnings.
func notes(list []*lang.Warning) []explainedNote {
	out := []explainedNote{}
	for _, w := range list {
		out = append(out, explainedNote{string(w.Code), w.Pos.Line, w.Pos.Column, w.Msg, w.Hint})
	}
	return out
}

// explained describes the tensors of a program by what is said of them.
func (p *program) explained(operands []operand, loaded lacuna.Args) []explainedTensor {
	list := []explainedTensor{}
	given := map[string]operand{}
	for _, o := range operands {
		given[o.name] = o
	}
	names := slices.DeleteFunc(slices.Clone(p.order), func(name string) bool {
		_, ok := given[name]
		return !p.uses[name].certain && !ok // an index
	})
	for _, name := range names {
		u := p.uses[name]
		t := explainedTensor{Name: name, Rank: u.rank, Role: "operand"}
		switch {
		case u.assigned && u.needed:
			t.Role = "both"
		case u.assigned:
			t.Role = "result"
		}
		if have, ok := loaded[name].(*tensor.Tensor); ok {
			stored := have.NNZ()
			t.Type, t.Format, t.Shape, t.Stored = have.DType().String(), have.Format().String(), have.Shape(), &stored
			list = append(list, t)
			continue
		}
		q := given[name].qual
		if t.Format = q.format; q.dtype.Valid() {
			t.Type = q.dtype.String()
		}
		if u.needed && loaded[name] == nil { // what explain takes undeclared operands for
			t.Type = cmp.Or(t.Type, tensor.Float64.String())
			t.Format = cmp.Or(t.Format, tensor.Dense(u.rank).String())
		}
		list = append(list, t)
	}
	return list
}
