package explorer

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Evaluation is what a program computed.
type Evaluation struct {
	Results     []Result     `json:"results"`
	Compile     float64      `json:"compile"` // milliseconds
	Run         float64      `json:"run"`
	Conversions []string     `json:"conversions,omitempty"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
}

// Result is a tensor as its entries: those of a dense one are all its elements.
type Result struct {
	Name   string    `json:"name"`
	Shape  []int64   `json:"shape"`
	Format string    `json:"format"`
	DType  string    `json:"dtype"`
	Fill   string    `json:"fill"`
	Stored int64     `json:"stored"`
	Dense  bool      `json:"dense"`
	Coords [][]int64 `json:"coords"` // of each axis; of a dense tensor none: row-major order
	Values []string  `json:"values"`
	More   bool      `json:"more,omitempty"` // there are entries that are left out
}

// maxEntries bounds the entries of a result that are told.
const maxEntries = 40000

func (s *Service) eval(ctx context.Context, r *Request) (any, error) {
	if r.Program == "" {
		return nil, errNoProgram
	}
	args, opts, err := s.operands(ctx, r)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Results: []Result{}}
	start := time.Now()
	kernel, err := s.session(s.engine()).Compile(ctx, r.Program, opts...)
	if err != nil {
		return nil, err
	}
	e.Compile = milliseconds(time.Since(start))
	if s.native() { // compiled and warm, so that times are those of running
		if _, err := kernel.RunAll(ctx, args); err != nil {
			return nil, err
		}
	}
	start = time.Now()
	out, err := kernel.RunAll(ctx, args)
	if err != nil {
		return nil, err
	}
	e.Run = milliseconds(time.Since(start))
	e.Conversions, e.Diagnostics = kernel.Conversions(), warningsAt(r.Program, kernel.Warnings())
	for _, name := range order(r.Program, out) {
		result, err := resultOf(name, out[name])
		if err != nil {
			return nil, err
		}
		e.Results = append(e.Results, *result)
	}
	return e, nil
}

// order lists the results as the program names them.
func order(program string, out lacuna.Outputs) []string {
	var list []string
	for _, n := range namesOf(program).Results {
		if out[n.Name] != nil {
			list = append(list, n.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func resultOf(name string, t *tensor.Tensor) (*Result, error) {
	r := &Result{Name: name, Shape: t.Shape(), Format: t.Format().String(), DType: t.DType().String(), Fill: t.Fill().String(),
		Stored: t.NNZ(), Dense: t.Format().IsDense(), Coords: [][]int64{}, Values: []string{}}
	if r.Shape == nil {
		r.Shape = []int64{}
	}
	var values tensor.Array
	var err error
	if r.Dense {
		values, err = t.ToDense()
	} else {
		r.Coords, values, err = t.ToCoords()
	}
	if err != nil {
		return nil, err
	}
	n := min(values.Len(), maxEntries)
	r.More = n < values.Len()
	for axis := range r.Coords {
		r.Coords[axis] = r.Coords[axis][:n]
	}
	for i := range n {
		r.Values = append(r.Values, values.Scalar(i).String())
	}
	return r, nil
}

// Gradient is the gradient of the last result, summed over its elements, by an operand.
type Gradient struct {
	Source string `json:"source"`
	Result Result `json:"result"`
}

func (s *Service) grad(ctx context.Context, r *Request) (any, error) {
	args, opts, err := s.operands(ctx, r)
	if err != nil {
		return nil, err
	}
	session := s.session(s.engine())
	y, err := session.Eval(ctx, r.Program, args, opts...)
	if err != nil {
		return nil, err
	}
	g, err := session.Grad(ctx, r.Program, r.Name, opts...)
	if err != nil {
		return nil, err
	}
	ones, err := onesLike(y)
	if err != nil {
		return nil, err
	}
	args[g.Upstream] = ones
	t, err := g.Run(ctx, args)
	if err != nil {
		return nil, err
	}
	result, err := resultOf(g.Result, t)
	if err != nil {
		return nil, err
	}
	return &Gradient{g.Source, *result}, nil
}

// onesLike is a dense tensor of ones, of a tensor's shape and type.
func onesLike(t *tensor.Tensor) (*tensor.Tensor, error) {
	n := int64(1)
	for _, d := range t.Shape() {
		if n *= d; n > maxElements {
			return nil, errTooLarge
		}
	}
	values, err := tensor.MakeArray(t.DType(), int(n))
	if err != nil {
		return nil, err
	}
	for i := range values.Len() {
		values.SetScalar(i, tensor.One(t.DType()))
	}
	if t.Rank() == 0 {
		return tensor.ScalarTensor(tensor.One(t.DType())), nil
	}
	return tensor.FromDense(t.Shape(), tensor.Dense(t.Rank()), values)
}
