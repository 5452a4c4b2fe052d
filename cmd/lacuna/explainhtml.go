package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/explorer"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/web"
)

// explored makes of a program and its operands what the explorer takes.
func (a *app) explored(p *program, operands []operand, w *wishes) (*explorer.Service, *explorer.Request, error) {
	if err := p.checkNames(operands); err != nil {
		return nil, nil, err
	}
	var list []explorer.Operand
	for _, o := range operands {
		x, err := explored(o)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, x)
	}
	service := &explorer.Service{Engine: runtime.Auto(a.notice), MemoryLimit: serveLimit,
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) }}
	return service, &explorer.Request{Program: p.source, Operands: w.explored(list),
		Options: explorer.Options{Strict: w.strict, AsWritten: w.asWritten, Schedule: w.schedule}}, nil
}

// explainJSON prints the stages for other programs to read.
func (a *app) explainJSON(ctx context.Context, p *program, operands []operand, w *wishes) error {
	service, r, err := a.explored(p, operands, w)
	if err != nil {
		return err
	}
	answer, err := service.Explain(ctx, r)
	if err != nil {
		return err
	}
	text := json.NewEncoder(a.stdout)
	text.SetIndent("", "  ")
	return text.Encode(answer)
}

// explainHTML writes a page that shows a program and its data as the explorer does.
func (a *app) explainHTML(ctx context.Context, p *program, operands []operand, w *wishes, path string) error {
	service, r, err := a.explored(p, operands, w)
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

// explored is an operand as the explorer takes it.
func explored(o operand) (explorer.Operand, error) {
	x := explorer.Operand{Name: o.name, Format: o.qual.format}
	if o.qual.dtype.Valid() {
		x.DType = o.qual.dtype.String()
	}
	if o.qual.ofFile() || o.qual.stored != "" {
		return x, usagef("--html and --json take operands with a format and a type only: convert %s first", o.name)
	}
	switch s := o.source.(type) {
	case diskFile:
		x.File = string(s)
	case literal:
		if strings.HasPrefix(string(s), "[") {
			x.Text = string(s)
		} else {
			x.Number = string(s)
		}
	case *generator:
		x.Random = &explorer.Random{Shape: s.shape, Seed: s.seed, Range: s.name == "range"}
		if s.dtype.Valid() && x.DType == "" {
			x.DType = s.dtype.String()
		}
		switch {
		case s.density >= 0:
			x.Random.Density = &s.density
		case s.nnz >= 0:
			x.Random.NNZ = &s.nnz
		}
	}
	return x, nil
}
