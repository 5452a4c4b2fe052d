package explorer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/generate"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// Operand is a tensor of a program: one of the fields Random, Text, Data, File and Number says what is in it. With none, it is a
// result, or for explain any tensor, of which only is said how it is stored.
type Operand struct {
	Name   string  `json:"name"`
	Format string  `json:"format,omitempty"` // as tensor.ParseFormat takes it; "" is the usual one
	DType  string  `json:"dtype,omitempty"`
	Fill   string  `json:"fill,omitempty"`
	Shape  []int64 `json:"shape,omitempty"` // of a result that the operands do not fix

	Random *Random `json:"random,omitempty"`
	Text   string  `json:"text,omitempty"` // rows of numbers, one a line or between semicolons; a dot is not stored
	Number string  `json:"number,omitempty"`
	Data   []byte  `json:"data,omitempty"` // of a file, whose name is File
	File   string  `json:"file,omitempty"` // the name tells the kind; without Data a file of the server

	Value   tensor.Operand `json:"-"` // made already, of what the fields above say or of what follows from other operands
	GoValue string         `json:"-"` // how a program in Go makes it; "": as the fields above say

	Declared []lacuna.Option `json:"-"` // what is said of it, if it has no value; nil: the fields above
}

// Random describes random entries, or with Range 0, 1, 2, ….
type Random struct {
	Shape   []int64  `json:"shape"`
	Density *float64 `json:"density,omitempty"`
	NNZ     *int64   `json:"nnz,omitempty"`  // instead of a density; neither: dense
	Seed    uint64   `json:"seed,omitempty"` // 0 is 1
	Range   bool     `json:"range,omitempty"`
}

// maxElements bounds what is typed or drawn at random, and maxText a typed text.
const (
	maxElements = 4 << 20
	maxText     = 1 << 20
)

// given says whether the operand has a value.
func (o *Operand) given() bool { return o.Value != nil || o.said() }

// said says whether the fields tell where the value is from.
func (o *Operand) said() bool {
	return o.Random != nil || o.Text != "" || o.Number != "" || len(o.Data) > 0 || o.File != ""
}

// operands makes the tensors that are given and what is declared of all.
func (s *Service) operands(ctx context.Context, r *Request) (lacuna.Args, []lacuna.Option, error) {
	args, opts := lacuna.Args{}, r.Options.list()
	names := namesOf(r.Program)
	for i := range r.Operands {
		o := &r.Operands[i]
		if !o.given() {
			rank := rankIn(names.Operands, o.Name)
			reads := rank >= 0
			if !reads {
				rank = rankIn(names.Results, o.Name)
			}
			more, err := o.declare(rank, reads)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", o.Name, err)
			}
			opts = append(opts, more...)
			continue
		}
		value := o.Value
		if value == nil {
			t, err := s.tensor(ctx, o)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", o.Name, err)
			}
			value = t
		}
		args[o.Name] = value
		opts = append(opts, lacuna.Operand(o.Name, value))
	}
	return args, opts, nil
}

// rankIn is the rank of a tensor in a list, -1 if it is not there.
func rankIn(list []Named, name string) int {
	for _, n := range list {
		if n.Name == name {
			return n.Rank
		}
	}
	return -1
}

// declare is what is said of a result or, to explain a program without data, of an operand that it reads.
func (o *Operand) declare(rank int, reads bool) ([]lacuna.Option, error) {
	if o.Declared != nil {
		return o.withFill(o.Declared)
	}
	if reads {
		return o.declareOperand(rank)
	}
	var opts []lacuna.Option
	if o.Format != "" {
		f, err := tensor.ParseFormat(o.Format, rank)
		if err != nil {
			return nil, err
		}
		opts = append(opts, lacuna.Result(o.Name, f))
	}
	if o.DType != "" {
		dt, err := tensor.ParseDType(o.DType)
		if err != nil {
			return nil, err
		}
		opts = append(opts, lacuna.ResultType(o.Name, dt))
	}
	if o.Shape != nil {
		opts = append(opts, lacuna.Shape(o.Name, o.Shape...))
	}
	return o.withFill(opts)
}

// withFill adds what is said of the fill.
func (o *Operand) withFill(opts []lacuna.Option) ([]lacuna.Option, error) {
	if o.Fill == "" {
		return opts, nil
	}
	x, err := tensor.ParseScalar(o.Fill, tensor.Float64)
	return append(opts, lacuna.Fill(o.Name, x)), err
}

func (o *Operand) declareOperand(rank int) ([]lacuna.Option, error) {
	f, dt := tensor.Dense(rank), tensor.Float64
	var err error
	if o.Format != "" {
		if f, err = tensor.ParseFormat(o.Format, rank); err != nil {
			return nil, err
		}
	}
	if o.DType != "" {
		if dt, err = tensor.ParseDType(o.DType); err != nil {
			return nil, err
		}
	}
	return o.withFill([]lacuna.Option{lacuna.Format(o.Name, f, dt)})
}

// tensor makes the tensor of an operand that is given.
func (s *Service) tensor(ctx context.Context, o *Operand) (*tensor.Tensor, error) {
	dt := tensor.Invalid
	if o.DType != "" {
		var err error
		if dt, err = tensor.ParseDType(o.DType); err != nil {
			return nil, err
		}
	}
	t, err := s.source(o, dt)
	if err != nil {
		return nil, err
	}
	if o.Format == "" && !t.Format().Relaxed() {
		return t, nil
	}
	format := t.Format()
	if o.Format != "" {
		if format, err = tensor.ParseFormat(o.Format, t.Rank()); err != nil {
			return nil, err
		}
	}
	return t.Convert(format, tensor.WithMemoryLimit(s.limit()))
}

func (s *Service) source(o *Operand, dt tensor.DType) (*tensor.Tensor, error) {
	var opts []tensor.Option
	usual := dt
	if !usual.Valid() {
		usual = tensor.Float64
	}
	if o.Fill != "" {
		fill, err := tensor.ParseScalar(o.Fill, usual)
		if err != nil {
			return nil, err
		}
		opts = append(opts, tensor.WithFill(fill))
	}
	switch {
	case o.Random != nil:
		return o.Random.tensor(dt, opts)
	case o.Number != "":
		x, err := parseNumber(o.Number, dt)
		if err != nil {
			return nil, err
		}
		return tensor.ScalarTensor(x), nil
	case o.Text != "":
		return parseGrid(o.Text, dt, opts)
	}
	t, err := s.file(o, dt)
	if err != nil || o.Fill == "" {
		return t, err
	}
	return refilled(t, o.Fill)
}

// refilled has the entries of a tensor, and another value where it has none.
func refilled(t *tensor.Tensor, fill string) (*tensor.Tensor, error) {
	x, err := tensor.ParseScalar(fill, t.DType())
	if err != nil {
		return nil, err
	}
	coords, values, err := t.ToCoords()
	if err != nil {
		return nil, err
	}
	return tensor.FromCoords(t.Shape(), t.Format().Standard(), coords, values, tensor.WithFill(x))
}

// file reads a file that came with the question, or one of the server's.
func (s *Service) file(o *Operand, dt tensor.DType) (*tensor.Tensor, error) {
	opts := []file.Option{file.MaxBytes(s.limit())}
	if dt.Valid() {
		opts = append(opts, file.As(dt))
	}
	if len(o.Data) > 0 {
		return file.ReadFrom(o.File, bytes.NewReader(o.Data), opts...)
	}
	if s.Open == nil {
		return nil, errors.New("there are no files here: drop the file on the page")
	}
	f, err := s.Open(o.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return file.ReadFrom(o.File, io.LimitReader(f, s.limit()), opts...)
}

func (r *Random) tensor(dt tensor.DType, opts []tensor.Option) (*tensor.Tensor, error) {
	g := generate.Recipe{Range: r.Range, Shape: r.Shape, Density: -1, NNZ: -1, Seed: max(r.Seed, 1), DType: dt}
	if !dt.Valid() {
		if g.DType = tensor.Float64; r.Range {
			g.DType = tensor.Int64
		}
	}
	if r.Density != nil && r.NNZ != nil {
		return nil, errors.New("a density and a number of entries say the same thing: give one of them")
	}
	total := 1.0
	for _, n := range r.Shape {
		if n < 0 {
			return nil, fmt.Errorf("an extent of %d: want 0 or more", n)
		}
		total *= float64(n)
	}
	stored := total
	if r.Density != nil {
		if g.Density = *r.Density; !(g.Density >= 0 && g.Density <= 1) {
			return nil, fmt.Errorf("density %v: want a number from 0 to 1", g.Density)
		}
		stored *= g.Density
	}
	if r.NNZ != nil {
		if g.NNZ = *r.NNZ; g.NNZ < 0 || float64(g.NNZ) > total {
			return nil, fmt.Errorf("%d entries: want 0 to %.0f, as many as there are elements", g.NNZ, total)
		}
		stored = float64(g.NNZ)
	}
	switch {
	case len(r.Shape) > tensor.MaxRank:
		return nil, fmt.Errorf("%d dimensions: there may be %d", len(r.Shape), tensor.MaxRank)
	case r.Range && len(r.Shape) != 1:
		return nil, errors.New("counting takes one extent")
	case stored > maxElements:
		return nil, fmt.Errorf("%.3g entries are too many to draw here: want %d at most", stored, maxElements)
	}
	return g.Tensor(tensor.FromColumns, opts...)
}

// betweenRows is what stands between the rows of a matrix in brackets.
var betweenRows = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\]\s*,\s*\[`) })

// unbracketed writes numbers in brackets, [1,2,3] or [[1,2],[3,4]], as rows.
func unbracketed(text string) (rows string, matrix bool, err error) {
	text = strings.TrimSpace(text)
	inner, closed := strings.CutSuffix(strings.TrimPrefix(text, "["), "]")
	inner = strings.TrimSpace(inner)
	if closed && strings.HasPrefix(inner, "[") && strings.HasSuffix(inner, "]") {
		matrix, inner = true, betweenRows().ReplaceAllString(inner[1:len(inner)-1], ";")
	}
	if !closed || strings.ContainsAny(inner, "[]") || strings.TrimSpace(inner) == "" {
		return "", false, errors.New("numbers in brackets are a vector, [1,2,3], or the rows of a matrix, [[1,2],[3,4]]")
	}
	return inner, matrix, nil
}

// parseGrid reads a small matrix, or a vector if it is one line. Between brackets numbers have the type that all their spellings
// tell, as at the command line.
func parseGrid(text string, dt tensor.DType, opts []tensor.Option) (*tensor.Tensor, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%d bytes of numbers: want %d at most; drop a file instead", len(text), maxText)
	}
	matrix := false
	bracketed := strings.HasPrefix(strings.TrimSpace(text), "[")
	if bracketed {
		var err error
		if text, matrix, err = unbracketed(text); err != nil {
			return nil, err
		}
	}
	if bracketed && !dt.Valid() {
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == ',' || unicode.IsSpace(r) }) {
			x, err := parseNumber(w, tensor.Invalid)
			switch {
			case err != nil: // which is told below
			case dt.Valid():
				dt = tensor.Promote(dt, x.DType())
			default:
				dt = x.DType()
			}
		}
	}
	if !dt.Valid() {
		dt = tensor.Float64
	}
	var coords [2][]int64
	var list []tensor.Scalar
	rows, columns, holes := int64(0), int64(-1), false
	for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(text), ";", "\n"), "\n") {
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' || r == '\r' })
		if columns >= 0 && int64(len(words)) != columns {
			return nil, fmt.Errorf("row %d has %d numbers, those before it %d; write a dot for what is not stored", rows+1, len(words), columns)
		}
		columns = int64(len(words))
		for j, w := range words {
			if w == "." {
				holes = true
				continue
			}
			x, err := tensor.ParseScalar(w, dt)
			if err != nil {
				return nil, fmt.Errorf("row %d, column %d: %w", rows+1, j+1, err)
			}
			list = append(list, x)
			coords[0], coords[1] = append(coords[0], rows), append(coords[1], int64(j))
		}
		rows++
	}
	values, err := tensor.MakeArray(dt, len(list))
	if err != nil {
		return nil, err
	}
	for i, x := range list {
		values.SetScalar(i, x)
	}
	shape, places := []int64{rows, columns}, coords[:]
	if rows == 1 && !matrix {
		shape, places = shape[1:], coords[1:]
	}
	if !holes {
		return tensor.FromDense(shape, tensor.Dense(len(shape)), values, opts...)
	}
	return tensor.FromCoords(shape, generate.Natural(shape, int64(len(list))), places, values, opts...)
}

// parseNumber reads a number of a type, or of the type that its spelling tells.
func parseNumber(text string, dt tensor.DType) (tensor.Scalar, error) {
	if dt.Valid() {
		return tensor.ParseScalar(text, dt)
	}
	var err error
	var x tensor.Scalar
	for _, dt := range []tensor.DType{tensor.Bool, tensor.Int64, tensor.Float64, tensor.Complex128} {
		if dt == tensor.Bool && text != "true" && text != "false" {
			continue
		}
		if x, err = tensor.ParseScalar(text, dt); err == nil {
			return x, nil
		}
	}
	return x, err
}
