package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/explorer"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/web"
)

// explored makes of a program and its operands what the explorer takes.
func (a *app) explored(ctx context.Context, p *program, operands []operand, w *wishes) (*explorer.Service, *explorer.Request, error) {
	e, err := a.declare(ctx, p, operands, w)
	if err != nil {
		return nil, nil, err
	}
	var list []explorer.Operand
	for _, o := range operands {
		x := explored(o, w)
		if x.Value = e.args[o.name]; o.source == nil && p.uses[o.name].needed {
			x.Declared = e.declared[o.name]
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
	service := &explorer.Service{Engine: runtime.Auto(a.notice), MemoryLimit: serveLimit,
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) }}
	return service, &explorer.Request{Program: p.source, Operands: list,
		Options: explorer.Options{Strict: w.strict, AsWritten: w.asWritten, Schedule: w.schedule}}, nil
}

// explainJSON prints the stages for other programs to read.
func (a *app) explainJSON(ctx context.Context, p *program, operands []operand, w *wishes) error {
	service, r, err := a.explored(ctx, p, operands, w)
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

// explored is an operand as the explorer shows it, and copies it to a shell and to Go.
func explored(o operand, w *wishes) explorer.Operand {
	x := explorer.Operand{Name: o.name, Format: o.qual.format}
	if o.qual.dtype.Valid() {
		x.DType = o.qual.dtype.String()
	}
	switch s := o.source.(type) {
	case diskFile:
		x.File = string(s)
		if o.qual.ofFile() || o.qual.stored != "" {
			x.File, x.GoValue = string(s)+o.qual.words(), o.qual.goRead(string(s), w.fill(o.name))
		}
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
	return x
}

// words are the options of a file, and how it is stored in parts, as they are read.
func (q qualifiers) words() string {
	coords := "coords"
	if q.nodes {
		coords = "nodes"
	}
	var b strings.Builder
	for _, option := range [][2]string{{"kind", q.kind}, {"entry", q.entry}, {coords, strings.Join(q.coords, ",")},
		{"dims", literals(q.dims, ",")}, {"base", q.base}, {"stored", q.stored}} {
		if option[1] != "" {
			fmt.Fprintf(&b, ":%s=%s", option[0], option[1])
		}
	}
	return b.String()
}

// literals lists numbers, or names in quotes.
func literals[T int64 | string](list []T, separator string) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = fmt.Sprintf("%#v", x)
	}
	return strings.Join(words, separator)
}

// goRead is an expression of Go that reads a file so, in a program that has the functions of the explorer's copies.
func (q qualifiers) goRead(path string, fill *tensor.Scalar) string {
	b := fmt.Sprintf("must(file.Read(%q", path)
	for _, option := range []struct {
		given bool
		text  string
	}{
		{q.format != "", fmt.Sprintf("FormatNamed(%q)", q.format)},
		{q.dtype.Valid(), fmt.Sprintf("As(must(tensor.ParseDType(%q)))", q.dtype)},
		{q.kind != "", fmt.Sprintf("OfKind(%q)", q.kind)},
		{q.entry != "", fmt.Sprintf("Entry(%q)", q.entry)},
		{q.nodes, "Nodes(" + literals(q.coords, ", ") + ")"},
		{q.coords != nil && !q.nodes, "Coords(" + literals(q.coords, ", ") + ")"},
		{q.dims != nil, "Dims(" + literals(q.dims, ", ") + ")"},
		{q.base != "", "IndexBase(" + q.base + ")"},
	} {
		if option.given {
			b += ", file." + option.text
		}
	}
	b += "))"
	if fill != nil {
		b = fmt.Sprintf("refilled(%s, must(tensor.ParseScalar(%q, tensor.Float64)))", b, fill)
	}
	switch q.stored {
	case "":
	case hybridParts:
		b = "must(tensor.HBCSF(" + b + ", nil))"
	case mixedParts:
		b = "must(tensor.MMCSF(" + b + "))"
	default:
		b = fmt.Sprintf("must(%s.Triangle(must(tensor.ParseStructure(%q))))", b, q.stored)
	}
	return b
}
