package operand

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/explorer"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Explored is the operand as the explorer shows it, and copies it to a shell and to Go.
func (o Operand) Explored(fill *tensor.Scalar) explorer.Operand {
	x := explorer.Operand{Name: o.Name, Format: o.Qual.Format}
	if o.Qual.DType.Valid() {
		x.DType = o.Qual.DType.String()
	}
	switch s := o.Source.(type) {
	case DiskFile:
		x.File = string(s)
		if o.Qual.OfFile() || o.Qual.Stored != "" {
			x.File, x.GoValue = string(s)+o.Qual.words(), o.Qual.goRead(string(s), fill)
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
func (q Qualifiers) words() string {
	coords := "coords"
	if q.nodes {
		coords = "nodes"
	}
	var b strings.Builder
	for _, option := range [][2]string{{"kind", q.kind}, {"entry", q.entry}, {coords, strings.Join(q.coords, ",")},
		{"dims", literals(q.dims, ",")}, {"base", q.base}, {"stored", q.Stored}} {
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
func (q Qualifiers) goRead(path string, fill *tensor.Scalar) string {
	b := fmt.Sprintf("must(file.Read(%q", path)
	for _, option := range []struct {
		given bool
		text  string
	}{
		{q.Format != "", fmt.Sprintf("FormatNamed(%q)", q.Format)},
		{q.DType.Valid(), fmt.Sprintf("As(must(tensor.ParseDType(%q)))", q.DType)},
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
	switch q.Stored {
	case "":
	case hybridParts:
		b = "must(tensor.HBCSF(" + b + ", nil))"
	case mixedParts:
		b = "must(tensor.MMCSF(" + b + "))"
	default:
		b = fmt.Sprintf("must(%s.Triangle(must(tensor.ParseStructure(%q))))", b, q.Stored)
	}
	return b
}
