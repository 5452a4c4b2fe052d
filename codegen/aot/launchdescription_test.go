package aot_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The description of PTX as a launcher that knows docs/aot.md reads it.
type (
	jsonArray struct {
		Buffer, Type string
		Length       any
	}
	jsonTensor struct {
		Name, Role, Format, DType string
		Rank                      int
		Extents                   []any
		Levels                    []struct {
			Axis              int
			Kind              string
			Pointers, Indices *jsonArray
		}
		Values jsonArray
		Fill   *struct{ Value, Bytes, Buffer string }
	}
	jsonLet struct {
		Scalar string
		Value  any
	}
	jsonAlloc struct {
		Buffer string
		Length any
		Zeroed bool
	}
	jsonKernel struct {
		Name       string
		Threads    int
		Blocks     any
		Shared     int64 `json:"shared_bytes"`
		Parameters []struct {
			Buffer, Scalar string
			Status         int
		}
		Fails []string
	}
	jsonStage struct {
		Name        string
		Lets        []jsonLet
		Trims       []jsonAlloc
		Allocations []jsonAlloc
		Kernel      *jsonKernel
		Frees       []string
	}
	jsonDescription struct {
		Format                     string
		Version                    int
		Name, Program, PTX, Target string
		Tensors                    []jsonTensor
		Scalars                    []struct {
			Name   string
			Extent *struct{ Tensor, Axis int }
		}
		Buffers []struct {
			Name, Type, Role, Value, Bytes string
			ElementBytes                   int `json:"element_bytes"`
		}
		Checks []struct {
			Message    string
			IfPositive []any `json:"if_positive"`
			X, Y       any
			Op         string
		}
		Lets   []jsonLet
		Status int `json:"status_words"`
		Stages []jsonStage
	}
)

func parseDescription(t testing.TB, data []byte) *jsonDescription {
	t.Helper()
	var d jsonDescription
	r := json.NewDecoder(bytes.NewReader(data))
	r.DisallowUnknownFields()
	r.UseNumber()
	if err := r.Decode(&d); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return &d
}

// launcher runs the kernels of a description on the interpreter's grids, with what the
// description says alone.
type launcher struct {
	*jsonDescription
	kernels map[string]*interp.GridKernel
	scalars map[string]int64
	buffers map[string]tensor.Array
	types   map[string]tensor.DType
	status  []uint32
	ran     int
}

func newLauncher(t testing.TB, p *aot.Program, d *jsonDescription) *launcher {
	t.Helper()
	l := &launcher{jsonDescription: d, kernels: map[string]*interp.GridKernel{}}
	for _, f := range p.GridFuncs() {
		k, err := interp.CompileGrid(f, lib.Lookup)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		l.kernels[f.Name] = k
	}
	return l
}

var errSize = errors.New("a size has no value")

// must is for what the test itself may have wrong.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// size evaluates a size; errors panic with errSize.
func (l *launcher) size(e any) int64 {
	switch e := e.(type) {
	case json.Number:
		return must(e.Int64())
	case map[string]any:
		if name, ok := e["scalar"].(string); ok {
			v, known := l.scalars[name]
			if !known {
				panic("the scalar " + name + " has no value yet")
			}
			return v
		}
		if name, ok := e["len"].(string); ok {
			return int64(l.buffer(name).Len())
		}
		if name, ok := e["load"].(string); ok {
			if l.failure() != nil { // what a kernel that failed left is no size
				panic(errSize)
			}
			i, a := l.size(e["index"]), l.buffer(name)
			if i < 0 || i >= int64(a.Len()) {
				panic(errSize)
			}
			return checked(a.At64(int(i)), a.At64(int(i)) >= 0 || a.DType() != tensor.Uint64)
		}
		x, y := l.size(e["x"]), l.size(e["y"])
		switch e["op"] {
		case "add":
			return checked(x+y, (x^(x+y))&(y^(x+y)) >= 0)
		case "sub":
			return checked(x-y, (x^y)&(x^(x-y)) >= 0)
		case "mul":
			return checked(x*y, x == 0 || (x*y)/x == y)
		case "div":
			return x / checked(y, y != 0)
		case "min":
			return min(x, y)
		case "max":
			return max(x, y)
		}
	}
	panic(fmt.Sprintf("the size %v", e))
}

func checked(v int64, ok bool) int64 {
	if !ok {
		panic(errSize)
	}
	return v
}

func (l *launcher) buffer(name string) tensor.Array {
	a, ok := l.buffers[name]
	if !ok {
		panic("the buffer " + name + " is not there")
	}
	return a
}

// run runs the program.
func (l *launcher) run(args map[string]*tensor.Tensor) (results map[string]*tensor.Tensor, err error) {
	defer func() {
		if p := recover(); p == any(errSize) {
			if err = l.failure(); err == nil {
				err = errSize
			}
		} else if p != nil {
			panic(p)
		}
	}()
	if err := l.bind(args); err != nil {
		return nil, err
	}
	for i := range l.Stages {
		if err := l.stage(&l.Stages[i]); err != nil {
			return nil, err
		}
	}
	if err := l.failure(); err != nil {
		return nil, err
	}
	for _, b := range l.Buffers {
		if _, left := l.buffers[b.Name]; left && b.Role == "temporary" {
			return nil, fmt.Errorf("the temporary %s is not freed", b.Name)
		}
	}
	return l.results(), nil
}

// bind takes the operands.
func (l *launcher) bind(args map[string]*tensor.Tensor) error {
	l.scalars, l.buffers, l.types = map[string]int64{}, map[string]tensor.Array{}, map[string]tensor.DType{}
	l.status, l.ran = make([]uint32, l.Status), 0
	for _, b := range l.Buffers {
		l.types[b.Name] = must(tensor.ParseDType(b.Type))
		if l.types[b.Name].Size() != b.ElementBytes {
			return fmt.Errorf("elements of %s have %d bytes", b.Name, b.ElementBytes)
		}
		if b.Role == "constant" {
			a := must(tensor.MakeArray(l.types[b.Name], 1))
			copy(a.Raw(), must(hex.DecodeString(b.Bytes)))
			l.buffers[b.Name] = a
		}
	}
	for _, s := range l.Scalars {
		if s.Extent != nil {
			l.scalars[s.Name] = args[l.Tensors[s.Extent.Tensor].Name].Dims()[s.Extent.Axis]
		}
	}
	for i := range l.Tensors {
		t := &l.Tensors[i]
		if t.Role != "operand" {
			continue
		}
		arg := args[t.Name]
		type given struct {
			as *jsonArray
			is tensor.Array
		}
		var arrays []given
		for level, of := range t.Levels {
			arrays = append(arrays, given{of.Pointers, arg.LevelAt(level).Pos}, given{of.Indices, arg.LevelAt(level).Crd})
		}
		for _, a := range append(arrays, given{&t.Values, arg.Values()}) {
			if a.as == nil {
				continue
			}
			if a.is.DType() != l.types[a.as.Buffer] || a.as.Type != a.is.DType().String() {
				return fmt.Errorf("%s is %v, given %v", a.as.Buffer, a.as.Type, a.is.DType())
			}
			l.buffers[a.as.Buffer] = a.is
			if n := l.size(a.as.Length); n != int64(a.is.Len()) {
				return fmt.Errorf("%s has %d elements, want %d", a.as.Buffer, a.is.Len(), n)
			}
		}
		if t.Fill != nil && t.Fill.Buffer != "" {
			fill := must(tensor.MakeArray(arg.DType(), 1))
			fill.SetScalar(0, arg.Fill())
			l.buffers[t.Fill.Buffer] = fill
		}
	}
	for _, c := range l.Checks {
		made := true
		for _, e := range c.IfPositive {
			made = made && l.size(e) > 0
		}
		if !made {
			continue
		}
		if x, y := l.size(c.X), l.size(c.Y); c.Op == "==" && x != y || c.Op == "<=" && x > y {
			return errors.New(c.Message)
		}
	}
	for _, let := range l.Lets {
		l.scalars[let.Scalar] = l.size(let.Value)
	}
	return nil
}

func (l *launcher) stage(s *jsonStage) error {
	for _, let := range s.Lets {
		l.scalars[let.Scalar] = l.size(let.Value)
	}
	for _, trim := range s.Trims {
		a := l.buffer(trim.Buffer)
		l.buffers[trim.Buffer] = a.Slice(0, int(l.size(trim.Length)))
	}
	for _, a := range s.Allocations {
		n := l.size(a.Length)
		if n < 0 || n > 1<<26 {
			return fmt.Errorf("stage %s: %s is to have %d elements", s.Name, a.Buffer, n)
		}
		array := must(tensor.MakeArray(l.types[a.Buffer], int(n)))
		if !a.Zeroed {
			for i, memory := 0, array.Raw(); i < len(memory); i++ {
				memory[i] = 0xA5
			}
		}
		l.buffers[a.Buffer] = array
	}
	if s.Kernel != nil {
		if err := l.launch(s.Kernel); err != nil {
			return err
		}
	}
	for _, name := range s.Frees {
		delete(l.buffers, name)
	}
	return nil
}

func (l *launcher) launch(k *jsonKernel) error {
	var bufs []interp.Memory
	var args []int64
	word := 0
	for _, p := range k.Parameters {
		switch {
		case p.Buffer != "":
			a := l.buffer(p.Buffer)
			bufs = append(bufs, interp.Memory{Ptr: a.Pointer(), Len: int64(a.Len())})
		case p.Scalar != "":
			args = append(args, l.scalars[p.Scalar])
		default:
			word = p.Status
		}
	}
	if l.ran++; word != l.ran {
		return fmt.Errorf("kernel %s has the status word %d, as number %d", k.Name, word, l.ran)
	}
	if l.Status > 0 && l.status[word-1] != 0 {
		l.status[word] = 1
		return nil
	}
	blocks := l.size(k.Blocks)
	if blocks <= 0 {
		return nil
	}
	f := l.kernels[k.Name]
	if f == nil {
		return fmt.Errorf("there is no kernel %s", k.Name)
	}
	status, err := f.Run(bufs, args, interp.Launch{Blocks: blocks, Seed: uint64(l.ran)})
	if err != nil {
		return err
	}
	if status > 0 {
		l.status[word] = uint32(status)
	}
	return nil
}

// failure is what the status words tell.
func (l *launcher) failure() error {
	at := slices.IndexFunc(l.status, func(w uint32) bool { return w != 0 })
	if at < 0 {
		return nil
	}
	n := 0
	for _, s := range l.Stages {
		if s.Kernel == nil {
			continue
		}
		if n++; n == at {
			return errors.New(s.Kernel.Fails[l.status[at]-1])
		}
	}
	return fmt.Errorf("status word %d is no kernel's", at)
}

// results assembles the results, whose formats the description tells.
func (l *launcher) results() map[string]*tensor.Tensor {
	out := map[string]*tensor.Tensor{}
	for _, t := range l.Tensors {
		if t.Role != "result" {
			continue
		}
		f := must(tensor.ParseFormat(t.Format, t.Rank))
		var shape []int64
		for _, e := range t.Extents {
			shape = append(shape, l.size(e))
		}
		array := func(a *jsonArray) tensor.Array {
			if a == nil {
				return tensor.Array{}
			}
			return l.buffer(a.Buffer)
		}
		var levels []tensor.Level
		for _, level := range t.Levels {
			levels = append(levels, tensor.Level{Pos: array(level.Pointers), Crd: array(level.Indices)})
		}
		fill := must(tensor.MakeArray(must(tensor.ParseDType(t.DType)), 1))
		switch {
		case t.Fill == nil:
		case t.Fill.Buffer != "":
			fill = l.buffer(t.Fill.Buffer)
		default:
			copy(fill.Raw(), must(hex.DecodeString(t.Fill.Bytes)))
		}
		out[t.Name] = tensor.NewTrusted(shape, f, levels, l.buffer(t.Values.Buffer), fill.Scalar(0))
	}
	return out
}
