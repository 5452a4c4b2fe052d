package aot

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// DescriptionVersion is the version of the description of PTX. It changes whenever a
// launcher written for the one before may do something wrong.
const DescriptionVersion = 1

// The description of PTX, as docs/aot.md documents it. The fields are in the order in
// which a launcher needs them.
type (
	description struct {
		Format  string       `json:"format"`
		Version int          `json:"version"`
		Name    string       `json:"name"`
		Program string       `json:"program"`
		PTX     string       `json:"ptx"`
		Target  string       `json:"target"`
		Tensors []descTensor `json:"tensors"`
		Scalars []descScalar `json:"scalars"`
		Buffers []descBuffer `json:"buffers"`
		Checks  []descCheck  `json:"checks"`
		Lets    []descLet    `json:"lets"`
		Status  int          `json:"status_words"`
		Stages  []descStage  `json:"stages"`
	}
	descTensor struct {
		Name    string      `json:"name"`
		Role    string      `json:"role"`
		Rank    int         `json:"rank"`
		Storage string      `json:"format"`
		DType   string      `json:"dtype"`
		Extents []any       `json:"extents"`
		Levels  []descLevel `json:"levels"`
		Values  descArray   `json:"values"`
		Fill    *descFill   `json:"fill,omitempty"`
	}
	descLevel struct {
		Axis     int        `json:"axis"`
		Kind     string     `json:"kind"`
		Pointers *descArray `json:"pointers,omitempty"`
		Indices  *descArray `json:"indices,omitempty"`
	}
	descArray struct {
		Buffer string `json:"buffer"`
		Type   string `json:"type"`
		Length any    `json:"length,omitempty"`
	}
	descFill struct {
		Value  string `json:"value,omitempty"`
		Bytes  string `json:"bytes,omitempty"`
		Buffer string `json:"buffer,omitempty"`
	}
	descScalar struct {
		Name   string     `json:"name"`
		Extent *descPlace `json:"extent,omitempty"`
	}
	descPlace struct {
		Tensor int `json:"tensor"`
		Axis   int `json:"axis"`
	}
	descBuffer struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Bytes int    `json:"element_bytes"`
		Role  string `json:"role"`
		Value string `json:"value,omitempty"`
		Data  string `json:"bytes,omitempty"`
	}
	descCheck struct {
		Message string `json:"message"`
		If      []any  `json:"if_positive,omitempty"`
		X       any    `json:"x"`
		Op      string `json:"op"`
		Y       any    `json:"y"`
	}
	descLet struct {
		Scalar string `json:"scalar"`
		Value  any    `json:"value"`
	}
	descStage struct {
		Name   string      `json:"name"`
		Lets   []descLet   `json:"lets,omitempty"`
		Trims  []descAlloc `json:"trims,omitempty"`
		Allocs []descAlloc `json:"allocations,omitempty"`
		Kernel *descKernel `json:"kernel,omitempty"`
		Frees  []string    `json:"frees,omitempty"`
	}
	descAlloc struct {
		Buffer string `json:"buffer"`
		Length any    `json:"length"`
		Zeroed bool   `json:"zeroed,omitempty"`
	}
	descKernel struct {
		Name       string   `json:"name"`
		Threads    int      `json:"threads"`
		Blocks     any      `json:"blocks"`
		Shared     int64    `json:"shared_bytes"`
		Parameters []any    `json:"parameters"`
		Fails      []string `json:"fails,omitempty"`
	}
	descScalarRef struct {
		Scalar string `json:"scalar"`
	}
	descBufferRef struct {
		Buffer string `json:"buffer"`
	}
	descStatusRef struct {
		Status int `json:"status"`
	}
	descLoad struct {
		Load  string `json:"load"`
		Index any    `json:"index"`
	}
	descLen struct {
		Len string `json:"len"`
	}
	descOp struct {
		Op string `json:"op"`
		X  any    `json:"x"`
		Y  any    `json:"y"`
	}
)

// Description is the description of a unit for a GPU, as JSON: all that a launcher must
// know to run the kernels in the PTX file of the given name. The error is a *TargetError if the
// unit is for another target.
func (u *Unit) Description(ptxFile string) ([]byte, error) {
	if err := u.forGPU(); err != nil {
		return nil, err
	}
	d := newDescriber(u.Program)
	d.out.PTX, d.out.Target = ptxFile, u.Target.CPUs[0]
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(d.describe())
	return b.Bytes(), err
}

// describer makes the description of a program.
type describer struct {
	p       *Program
	out     description
	scalars []string // names, by scalar
	buffers []string // names, by buffer
	last    []int    // by buffer: the stage that uses it last
}

func newDescriber(p *Program) *describer {
	d := &describer{p: p, last: newLayout(p).last}
	taken := map[string]bool{}
	for _, s := range p.Loops.Scalars {
		d.scalars = append(d.scalars, uniqueName(taken, s.Name))
	}
	taken = map[string]bool{}
	for _, b := range p.Loops.Buffers {
		d.buffers = append(d.buffers, uniqueName(taken, b.Name))
	}
	return d
}

// uniqueName is a name that is not taken yet, and takes it.
func uniqueName(taken map[string]bool, name string) string {
	unique := name
	for n := 2; taken[unique]; n++ {
		unique = fmt.Sprintf("%s_%d", name, n)
	}
	taken[unique] = true
	return unique
}

func (d *describer) describe() *description {
	d.out.Format, d.out.Version = "lacuna-ptx", DescriptionVersion
	d.out.Name, d.out.Program = d.p.Name, d.p.Source
	for i := range d.p.Tensors {
		d.out.Tensors = append(d.out.Tensors, d.tensor(i))
	}
	d.out.Checks = []descCheck{}
	for _, c := range d.p.Checks {
		op := "<="
		if c.Equal {
			op = "=="
		}
		d.out.Checks = append(d.out.Checks, descCheck{c.Message, d.sizes(c.If), d.size(c.X), op, d.size(c.Y)})
	}
	d.out.Lets = append([]descLet{}, d.lets(d.p.Extents)...)
	d.out.Stages = []descStage{}
	fails := false
	kernels := 0
	for i := range d.p.Loops.Stages {
		s := d.stage(i, kernels+1)
		if s.Kernel != nil {
			kernels++
			fails = fails || len(s.Kernel.Fails) > 0
		}
		d.out.Stages = append(d.out.Stages, s)
	}
	if fails {
		d.out.Status = kernels + 1
	}
	d.listScalars()
	d.listBuffers()
	return &d.out
}

func (d *describer) tensor(i int) descTensor {
	t := &d.p.Tensors[i]
	out := descTensor{Name: t.Name, Role: "operand", Rank: t.Format.Rank(), Storage: t.Format.String(), DType: t.DType.String(),
		Extents: append([]any{}, d.sizes(t.Extents)...), Levels: []descLevel{}, Values: *d.array(t.Values)}
	if i >= d.p.Operands {
		out.Role = "result"
	}
	order := t.Format.Order()
	for l, level := range t.Format.Physical() {
		out.Levels = append(out.Levels, descLevel{order[l], level.Kind.String(), d.array(t.Levels[l].Pointers), d.array(t.Levels[l].Indices)})
	}
	switch {
	case t.FillBuffer >= 0:
		out.Fill = &descFill{Buffer: d.buffers[t.FillBuffer]}
	case t.FillKnown:
		out.Fill = &descFill{Value: t.Fill.String(), Bytes: hexBytes(t.Fill)}
	}
	return out
}

func (d *describer) array(a Array) *descArray {
	if a.Buffer < 0 {
		return nil
	}
	out := &descArray{Buffer: d.buffers[a.Buffer], Type: a.Type.String()}
	if d.p.Loops.Buffers[a.Buffer].Role == loop.Input {
		out.Length = d.size(a.Len)
	}
	return out
}

// hexBytes is a value as it is in memory, in hexadecimal digits.
func hexBytes(v tensor.Scalar) string { return hex.EncodeToString(scalarBytes(v)) }

func (d *describer) lets(list []loop.ScalarLet) []descLet {
	var out []descLet
	for _, l := range list {
		out = append(out, descLet{d.scalars[l.Scalar], d.size(l.Value)})
	}
	return out
}

// stage describes a stage. Its kernel, if it has one, has the given status word.
func (d *describer) stage(i, status int) descStage {
	s := &d.p.Loops.Stages[i]
	out := descStage{Name: s.Name, Lets: d.lets(s.Lets)}
	for _, t := range s.Trims {
		out.Trims = append(out.Trims, descAlloc{Buffer: d.buffers[t.Buffer], Length: d.size(t.Len)})
	}
	for _, a := range s.Allocs {
		out.Allocs = append(out.Allocs, descAlloc{Buffer: d.buffers[a.Buffer], Length: d.size(a.Len), Zeroed: a.Zero})
	}
	if s.Func != nil {
		k := &descKernel{Name: functionName(d.p, i), Threads: s.Func.Grid.Threads, Blocks: d.size(s.Blocks),
			Shared: s.Func.Grid.Bytes(), Fails: s.Func.Fails}
		for _, id := range s.Bufs {
			k.Parameters = append(k.Parameters, descBufferRef{d.buffers[id]})
		}
		for _, id := range s.Args {
			k.Parameters = append(k.Parameters, descScalarRef{d.scalars[id]})
		}
		k.Parameters = append(k.Parameters, descStatusRef{status})
		out.Kernel = k
	}
	for id, last := range d.last {
		if last == i && d.p.Loops.Buffers[id].Role == loop.Temp {
			out.Frees = append(out.Frees, d.buffers[id])
		}
	}
	return out
}

// listScalars lists the scalars that have values: extents, and what lets define.
func (d *describer) listScalars() {
	extents := map[loop.ScalarID]*descPlace{}
	for i, t := range d.p.Tensors[:d.p.Operands] {
		for axis, id := range t.Dims {
			extents[id] = &descPlace{i, axis}
		}
	}
	defined := map[string]bool{}
	for _, l := range d.out.Lets {
		defined[l.Scalar] = true
	}
	for _, s := range d.out.Stages {
		for _, l := range s.Lets {
			defined[l.Scalar] = true
		}
	}
	d.out.Scalars = []descScalar{}
	for id, name := range d.scalars {
		if place := extents[loop.ScalarID(id)]; place != nil || defined[name] {
			d.out.Scalars = append(d.out.Scalars, descScalar{name, place})
		}
	}
}

// listBuffers lists the buffers that the caller gives or a stage allocates.
func (d *describer) listBuffers() {
	allocated := map[string]bool{}
	for _, s := range d.out.Stages {
		for _, a := range s.Allocs {
			allocated[a.Buffer] = true
		}
	}
	kept := map[loop.BufferID]bool{}
	for _, t := range d.p.Tensors[d.p.Operands:] {
		kept[t.FillBuffer] = true
	}
	d.out.Buffers = []descBuffer{}
	for i, b := range d.p.Loops.Buffers {
		id := loop.BufferID(i)
		out := descBuffer{Name: d.buffers[i], Type: b.Elem.String(), Bytes: b.Elem.Size()}
		constant, isConstant := d.p.Constants[id]
		switch {
		case isConstant:
			out.Role, out.Value, out.Data = "constant", constant.String(), hexBytes(constant)
		case b.Role == loop.Input:
			out.Role = "operand"
		case !allocated[out.Name]:
			continue
		case b.Role == loop.Output || kept[id]:
			out.Role = "result"
		default:
			out.Role = "temporary"
		}
		d.out.Buffers = append(d.out.Buffers, out)
	}
}

func (d *describer) sizes(list []loop.SizeExpr) []any {
	var out []any
	for _, e := range list {
		out = append(out, d.size(e))
	}
	return out
}

// sizeOps are the words for the operators of sizes.
var sizeOps = map[loop.BinaryOp]string{
	loop.Add: "add", loop.Sub: "sub", loop.Mul: "mul", loop.Div: "div", loop.Min: "min", loop.Max: "max",
}

// size is a size as a tree.
func (d *describer) size(e loop.SizeExpr) any {
	switch e := e.(type) {
	case loop.SizeConst:
		return int64(e)
	case loop.SizeScalar:
		return descScalarRef{d.scalars[e]}
	case loop.SizeLen:
		return descLen{d.buffers[e.Buffer]}
	case *loop.SizeLoad:
		return descLoad{d.buffers[e.Buffer], d.size(e.Index)}
	case *loop.SizeHint:
		return d.size(e.Else) // a launcher knows of no earlier runs
	case *loop.SizeOp:
		return descOp{sizeOps[e.Op], d.size(e.X), d.size(e.Y)}
	}
	panic(fmt.Sprintf("BUG: size %T", e))
}
