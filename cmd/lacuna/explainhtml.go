package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/internal/explorer"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/web"
)

// explored makes of a program and its operands what the explorer takes.
func (a *app) explored(ctx context.Context, p *program, operands []operand.Operand, w *wishes) (*explorer.Service, *explorer.Request, error) {
	e, err := a.declare(ctx, p, operands, w)
	if err != nil {
		return nil, nil, err
	}
	var list []explorer.Operand
	for _, o := range operands {
		x := o.Explored(w.fill(o.Name))
		if x.Value = e.args[o.Name]; o.Source == nil && p.uses[o.Name].needed {
			x.Declared = e.declared[o.Name]
		}
		list = append(list, x)
	}
	list = w.explored(list)
	for _, name := range p.order {
		at := slices.IndexFunc(list, func(o explorer.Operand) bool { return o.Name == name })
		if start, ok := e.starts[name]; ok { // sums by labels go into it
			if at < 0 {
				at, list = len(list), append(list, explorer.Operand{Name: name})
			}
			t := e.args[name].(*tensor.Tensor)
			list[at].Value, list[at].GoValue = t, explorer.GoFilled(start, t.Format(), t.Shape())
		} else if u := p.uses[name]; at < 0 && u.needed && u.certain {
			dt := e.typeOf(name)
			list = append(list, explorer.Operand{Name: name, DType: dt.String(),
				Declared: []lacuna.Option{lacuna.Format(name, tensor.Dense(u.rank), dt)}})
		}
	}
	service := &explorer.Service{Engine: runtime.Auto(a.Notice), MemoryLimit: serveLimit,
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) }}
	return service, &explorer.Request{Program: p.source, Operands: list,
		Options: explorer.Options{Strict: w.strict, AsWritten: w.asWritten, Schedule: w.schedule}}, nil
}

// explainJSON prints the stages for other programs to read.
func (a *app) explainJSON(ctx context.Context, p *program, operands []operand.Operand, w *wishes) error {
	service, r, err := a.explored(ctx, p, operands, w)
	if err != nil {
		return err
	}
	answer, err := service.Explain(ctx, r)
	if err != nil {
		return err
	}
	text := json.NewEncoder(a.Stdout)
	text.SetIndent("", "  ")
	return text.Encode(answer)
}

// explainHTML writes a page that shows a program and its data as the explorer does.
func (a *app) explainHTML(ctx context.Context, p *program, operands []operand.Operand, w *wishes, path string) error {
	service, r, err := a.explored(ctx, p, operands, w)
	if err != nil {
		return err
	}
	recorded, err := service.Record(ctx, r)
	if err != nil {
		return err
	}
	page, err := web.Page(recorded)
	if err != nil {
		return err
	}
	return os.WriteFile(path, page, 0o666)
}

// explored adds what is wished of tensors to operands.
func (w *wishes) explored(list []explorer.Operand) []explorer.Operand {
	of := func(name string) *explorer.Operand {
		i := slices.IndexFunc(list, func(o explorer.Operand) bool { return o.Name == name })
		if i < 0 {
			i, list = len(list), append(list, explorer.Operand{Name: name})
		}
		return &list[i]
	}
	for name, shape := range w.shapes {
		of(name).Shape = shape
	}
	for name, fill := range w.fills {
		of(name).Fill = fill.String()
	}
	return list
}
