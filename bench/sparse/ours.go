package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// program is what our side computes, and its operands.
type program struct {
	src      string
	options  []lacuna.Option
	operands []string
}

// programs are what our side computes; the conversions are no programs.
var programs = resultPrograms()

func resultPrograms() map[string]program {
	csr := []lacuna.Option{lacuna.Result("C", tensor.CSR)}
	anyOrder, err := tensor.CSR.Flag(1, tensor.Unsorted)
	if err != nil {
		panic(err)
	}
	list := map[string]program{
		"spgemm-unsorted": {"C(i,j) = sum_k A0(i,k) * A0(k,j)", []lacuna.Option{lacuna.Result("C", anyOrder)}, []string{"A0"}},
		"spgemm":          {"C(i,j) = sum_k A0(i,k) * A0(k,j)", csr, []string{"A0"}},
		"min-plus-spgemm": {"C(i,j) = min_k (A0(i,k) + A0(k,j))", csr, []string{"A0"}},
		"masked":          {"C(i,j) = L(i,j) * sum_k L(i,k) * L(k,j)", csr, []string{"L"}},
		"triangles":       {"t = sum_{i,j,k} L(i,j) * L(i,k) * L(k,j)", nil, []string{"L"}},
		"sddmm":           {"C(i,j) = A0(i,j) * sum_k X(i,k) * Y(j,k)", csr, []string{"A0", "X", "Y"}},
		"min-plus-spmv":   {"y(i) = min_j (A0(i,j) + x(j))", nil, []string{"A0", "x"}},
		"add":             {sumOf(2), csr, numbered(2)},
		"add8":            {sumOf(8), csr, numbered(8)},
		"add16":           {sumOf(16), csr, numbered(16)},
	}
	maps.Copy(list, reductionPrograms())
	return list
}

func numbered(count int) []string {
	var list []string
	for k := range count {
		list = append(list, fmt.Sprint("A", k))
	}
	return list
}

func sumOf(count int) string {
	return "C(i,j) = " + strings.Join(numbered(count), "(i,j) + ") + "(i,j)"
}

// task does an operation once. What it returns is a result of its own.
type task func(context.Context) (*tensor.Tensor, error)

// ourSide holds the operands of one input, read when they are first needed.
type ourSide struct {
	dir, input string
	engine     runtime.Engine
	sessions   map[int]*lacuna.Session // by the number of threads
	matrices   map[string]*tensor.Tensor
}

func newOurSide(dir, input string) (*ourSide, error) {
	engine, err := runtime.CPU()
	if err != nil {
		return nil, err
	}
	return &ourSide{dir, input, engine, map[int]*lacuna.Session{}, map[string]*tensor.Tensor{}}, nil
}

func (s *ourSide) session(threads int) *lacuna.Session {
	if s.sessions[threads] == nil {
		s.sessions[threads] = lacuna.NewSession(lacuna.WithEngine(s.engine), lacuna.WithThreads(threads), lacuna.WithConversionKernels())
	}
	return s.sessions[threads]
}

// prepare reads the operands, compiles the program, and returns what is timed.
func (s *ourSide) prepare(name string, threads int) (task, error) {
	session := s.session(threads)
	switch name {
	case "csc":
		a, err := s.operand("A0", name)
		return func(ctx context.Context) (*tensor.Tensor, error) {
			return convert(ctx, session, unseen(a), tensor.CSC)
		}, err
	case "coo-shuffled", "coo-sorted":
		return s.prepareCoords(strings.TrimPrefix(name, "coo-"), session)
	}
	p, ok := programs[name]
	if !ok {
		return nil, fmt.Errorf("cannot do %s", name)
	}
	args, options := map[string]*tensor.Tensor{}, p.options
	for _, operand := range p.operands {
		t, err := s.operand(operand, name)
		if err != nil {
			return nil, err
		}
		args[operand] = t
		options = append(options[:len(options):len(options)], lacuna.Operand(operand, t))
	}
	k, err := session.Compile(context.Background(), p.src, options...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*tensor.Tensor, error) {
		now := lacuna.Args{}
		for name, t := range args {
			now[name] = unseen(t)
		}
		return k.Run(ctx, now)
	}, nil
}

// unseen is the same matrix as another tensor. A kernel remembers the latest
// conversion of an operand: each repetition has to make its own, since the
// other sides start with nothing but the operand as well.
func unseen(t *tensor.Tensor) *tensor.Tensor {
	return tensor.NewTrusted(t.Shape(), t.Format(), t.Levels(), t.Values(), t.Fill())
}

func (s *ourSide) prepareCoords(file string, session *lacuna.Session) (task, error) {
	a, err := s.operand("A0", file)
	if err != nil {
		return nil, err
	}
	var coords []tensor.Array
	for _, axis := range []string{"row", "col"} {
		c, err := s.array(file+"."+axis, tensor.Uint32)
		if err != nil {
			return nil, err
		}
		coords = append(coords, c)
	}
	vals, err := s.array(file+".val", tensor.Float64)
	return func(ctx context.Context) (*tensor.Tensor, error) {
		return fromCoords(ctx, session, a.Shape(), tensor.CSR, coords, vals)
	}, err
}

// operand returns an operand of an operation: a matrix from the files, or a
// dense one made here. Over (min, +) what is not stored is infinite.
func (s *ourSide) operand(name, operation string) (*tensor.Tensor, error) {
	fill := tensor.Float(tensor.Float64, 0)
	if strings.HasPrefix(operation, "min-plus") {
		fill = tensor.Float(tensor.Float64, math.Inf(1))
	}
	key := fmt.Sprint(name, " ", fill)
	if t := s.matrices[key]; t != nil {
		return t, nil
	}
	t, err := s.makeOperand(name, fill)
	if err == nil {
		s.matrices[key] = t
	}
	return t, err
}

func (s *ourSide) makeOperand(name string, fill tensor.Scalar) (*tensor.Tensor, error) {
	switch name {
	case "D":
		vals, err := s.array("D.val", tensor.Float64)
		if err != nil {
			return nil, err
		}
		n := int64(math.Sqrt(float64(vals.Len())))
		return tensor.FromDense([]int64{n, n}, tensor.Dense(2), vals)
	case "S":
		a, err := s.operand("A0", "")
		if err != nil {
			return nil, err
		}
		return a.Convert(tensor.COO)
	}
	file := name
	if name == "X" || name == "Y" || name == "x" {
		file = "A0" // it has as many rows
	}
	pos, err := s.array(file+".pos", tensor.Uint32)
	if err != nil {
		return nil, err
	}
	n := int64(pos.Len()) - 1
	switch name {
	case "X":
		return tensor.FromDense([]int64{n, depth}, tensor.Dense(2), tensor.ArrayOf(units(0, n*depth)))
	case "Y":
		return tensor.FromDense([]int64{n, depth}, tensor.Dense(2), tensor.ArrayOf(units(n*depth, n*depth)))
	case "x":
		return tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(units(0, n)))
	}
	crd, err := s.array(file+".crd", tensor.Uint32)
	if err != nil {
		return nil, err
	}
	vals, err := s.array(file+".val", tensor.Float64)
	if err != nil {
		return nil, err
	}
	return tensor.New([]int64{n, n}, tensor.CSR, []tensor.Level{{}, {Pos: pos, Crd: crd}}, vals, tensor.WithFill(fill))
}

// array reads a file.
func (s *ourSide) array(name string, dt tensor.DType) (tensor.Array, error) {
	f, err := os.Open(filepath.Join(s.dir, s.input+"."+name))
	if err != nil {
		return tensor.Array{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return tensor.Array{}, err
	}
	a, err := tensor.MakeArray(dt, int(info.Size())/dt.Size())
	if err != nil {
		return tensor.Array{}, err
	}
	_, err = io.ReadFull(f, a.Raw())
	return a, err
}
