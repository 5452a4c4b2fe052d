package gosource

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// driver writes the function that runs the stages of a program, one chunk after another.
type driver struct {
	*writer
	p      *aot.Program
	params []string // by tensor
}

func (d *driver) scalarName(id loop.ScalarID) string { return fmt.Sprintf("s%d", id) }
func (d *driver) bufferName(id loop.BufferID) string { return fmt.Sprintf("b%d", id) }
func (d *driver) cutName(part int) string            { return fmt.Sprintf("cut%d", part) }

// dtype is the type of elements in package tensor.
func dtype(t loop.Type) string { return fmt.Sprintf("tensor.DType(%d)", t) }

// write writes the function.
func (d *driver) write(function string) {
	p := d.p
	var operands, results []string
	for i := range p.Tensors {
		d.params = append(d.params, fmt.Sprintf("%s_%d", identifier(p.Tensors[i].Name), i))
		if i < p.Operands {
			operands = append(operands, d.params[i]+" *tensor.Tensor")
		} else {
			results = append(results, d.params[i]+" *tensor.Tensor")
		}
	}
	d.line("\n// %s computes\n//", function)
	for line := range strings.Lines(p.Source) {
		d.line("//\t%s", strings.TrimRight(line, "\r\n"))
	}
	d.line("//")
	for i := range p.Tensors {
		t := &p.Tensors[i]
		d.line("// %s is stored as %s and holds %s.", d.params[i], t.Format, t.DType)
	}
	d.line("func %s(%s) (%s) {", function, strings.Join(append([]string{"ctx context.Context"}, operands...), ", "), strings.Join(append(results, "err error"), ", "))
	d.line("defer support.Caught(%q, &err)", function)
	d.declare()
	for i := range p.Tensors[:p.Operands] {
		d.bind(i)
	}
	for id := range p.Loops.Buffers {
		if v, ok := p.Constants[loop.BufferID(id)]; ok {
			d.line("b%d = support.Given[%s](%s)", id, goTypes[p.Loops.Buffers[id].Elem], scalarValue(v))
		}
	}
	for _, c := range p.Checks {
		d.check(c)
	}
	d.lets(p.Extents)
	for i := p.Operands; i < len(p.Tensors); i++ {
		var extents []string
		for _, e := range p.Tensors[i].Extents {
			extents = append(extents, d.size(e))
		}
		d.line("shape%d := []int64{%s}", i, strings.Join(extents, ", "))
	}
	for i := range p.Loops.Stages {
		d.stage(function, i)
	}
	for i := p.Operands; i < len(p.Tensors); i++ {
		d.result(i)
	}
	d.line("return %s\n}", strings.Join(append(append([]string(nil), d.params[p.Operands:]...), "nil"), ", "))
}

// declare declares the scalars, buffers and cuts.
func (d *driver) declare() {
	l := d.p.Loops
	for id := range l.Scalars {
		d.line("var s%d int64 // %s\n_ = s%d", id, l.Scalars[id].Name, id)
	}
	for id, b := range l.Buffers {
		d.line("var b%d []%s // %s\n_ = b%d", id, goTypes[b.Elem], b.Name, id)
	}
}

// bind checks an operand and takes its arrays.
func (d *driver) bind(i int) {
	t, name := &d.p.Tensors[i], d.params[i]
	fill := "tensor.Scalar{}"
	if !t.Format.IsDense() && t.FillKnown && t.FillBuffer < 0 {
		fill = scalarValue(t.Fill)
	}
	d.line("support.Operand(%s, %q, %q, %d, %s)\ndefer %s.Unpin()", name, t.Name, t.Format.String(), t.Format.Rank(), fill, name)
	for axis, s := range t.Dims {
		d.line("s%d = %s.Shape()[%d]", s, name, axis)
	}
	for l := range t.Levels {
		for _, of := range []struct {
			array       aot.Array
			what, field string
		}{{t.Levels[l].Pointers, "pointers", "Pos"}, {t.Levels[l].Indices, "indices", "Crd"}} {
			if of.array.Buffer >= 0 {
				d.line("b%d = support.Array[%s](%s.LevelAt(%d).%s, %s, %s, %q)", of.array.Buffer, goTypes[of.array.Type], name, l, of.field,
					dtype(of.array.Type), d.size(of.array.Len), fmt.Sprintf("the %s of level %d of %s", of.what, l, t.Name))
			}
		}
	}
	if v := t.Values; v.Buffer >= 0 {
		d.line("b%d = support.Values[%s](%s, %s, %s, %q)", v.Buffer, goTypes[v.Type], name, dtype(v.Type), d.size(v.Len), t.Name)
		if d.p.Loops.Buffers[v.Buffer].Role == loop.InOut {
			d.line("b%d = append([]%s(nil), b%d...)", v.Buffer, goTypes[v.Type], v.Buffer)
		}
	}
	if t.FillBuffer >= 0 {
		d.line("b%d = support.Given[%s](%s.Fill())", t.FillBuffer, goTypes[d.p.Loops.Buffers[t.FillBuffer].Elem], name)
	}
}

// scalarValue writes a value of package tensor.
func scalarValue(v tensor.Scalar) string {
	lo, hi := v.Bits()
	return fmt.Sprintf("tensor.FromBits(tensor.DType(%d), %#x, %#x)", v.DType(), lo, hi)
}

func (d *driver) check(c aot.Check) {
	var conditions []string
	for _, e := range c.If {
		conditions = append(conditions, d.size(e)+" > 0")
	}
	wrong := ">"
	if c.Equal {
		wrong = "!="
	}
	conditions = append(conditions, d.size(c.X)+" "+wrong+" "+d.size(c.Y))
	d.line("if %s {\nsupport.Fail(\"%%s\", %q)\n}", strings.Join(conditions, " && "), c.Message)
}

func (d *driver) lets(list []loop.ScalarLet) {
	for _, l := range list {
		d.line("s%d = %s", l.Scalar, d.size(l.Value))
	}
}

// sizeCalls are the operators of sizes.
var sizeCalls = map[loop.BinaryOp]string{
	loop.Add: "support.Add", loop.Sub: "support.Sub", loop.Mul: "support.Mul", loop.Div: "support.Quo", loop.Min: "min", loop.Max: "max",
}

// size writes a size.
func (d *driver) size(e loop.SizeExpr) string {
	switch e := e.(type) {
	case loop.SizeConst:
		return fmt.Sprintf("int64(%d)", int64(e))
	case loop.SizeScalar:
		return fmt.Sprintf("s%d", int(e))
	case *loop.SizeLoad:
		return fmt.Sprintf("support.Size(b%d[%s])", e.Buffer, d.size(e.Index))
	case loop.SizeLen:
		return fmt.Sprintf("int64(len(b%d))", e.Buffer)
	case *loop.SizeOp:
		return fmt.Sprintf("%s(%s, %s)", sizeCalls[e.Op], d.size(e.X), d.size(e.Y))
	}
	d.fail("%T is no size", e)
	return ""
}

// stage writes what a run does for one stage.
func (d *driver) stage(function string, i int) {
	l := d.p.Loops
	s := &l.Stages[i]
	d.line("\n// %s", s.Name)
	d.line("support.Go(ctx)")
	d.lets(s.Lets)
	for _, t := range s.Trims {
		d.line("b%d = b%d[:%s]", t.Buffer, t.Buffer, d.size(t.Len))
	}
	if s.Copies != nil { // one thread makes none
		d.line("s%d = 0", s.Copies.Count)
	}
	d.allocs(s.Allocs)
	if s.Partition >= 0 && d.firstUse(i) {
		d.cut(s.Partition)
	}
	d.lets(s.PartitionLets)
	d.allocs(s.PartitionAllocs)
	if s.Func == nil {
		return
	}
	if s.Func.Grid != nil {
		d.fail("stage %s is for a GPU", s.Name)
		return
	}
	var args []string
	for k, id := range s.Bufs {
		args = append(args, d.buffer(id, s.Func.Bufs[k].Elem))
	}
	for _, id := range s.Args {
		args = append(args, d.scalarName(id))
	}
	var messages strings.Builder
	for _, text := range s.Func.Fails {
		fmt.Fprintf(&messages, ", %q", text)
	}
	call := func(chunk, lo, hi string) {
		d.line("support.Status(%s(%s)%s)", d.stageName(function, i), strings.Join(append(append([]string(nil), args...), chunk, lo, hi), ", "), messages.String())
	}
	if s.Partition < 0 {
		call("0", "0", "0")
		return
	}
	cut := d.cutName(s.Partition)
	d.line("for chunk := range support.Chunks(%s) {\nsupport.Go(ctx)", cut)
	call("chunk", cut+"[chunk]", cut+"[chunk+1]")
	d.line("}")
}

// stageName is the name of a stage's function.
func (d *driver) stageName(function string, i int) string {
	return fmt.Sprintf("%s_%s_%d", d.prefix, identifier(d.p.Loops.Stages[i].Name), i)
}

// buffer is a buffer as a function takes it: values that are only moved may be integers there.
func (d *driver) buffer(id loop.BufferID, elem loop.Type) string {
	from, to := goTypes[d.p.Loops.Buffers[id].Elem], goTypes[elem]
	if from == to {
		return d.bufferName(id)
	}
	return fmt.Sprintf("support.As[%s](b%d)", to, id)
}

// firstUse reports whether a stage is the first that uses its partition.
func (d *driver) firstUse(stage int) bool {
	for _, s := range d.p.Loops.Stages[:stage] {
		if s.Partition == d.p.Loops.Stages[stage].Partition {
			return false
		}
	}
	return true
}

func (d *driver) allocs(list []loop.Alloc) {
	for _, a := range list {
		b := d.p.Loops.Buffers[a.Buffer]
		d.line("b%d = support.Make[%s](%s, %s, %q)", a.Buffer, goTypes[b.Elem], dtype(b.Elem), d.size(a.Len), b.Name)
		if tensorName, ok := d.p.Counted[a.Buffer]; ok {
			d.line("if len(b%d) > math.MaxUint32 {\nsupport.Fail(\"%%s\", %q)\n}", a.Buffer, "the entries of "+tensorName+" are more than 32 bits count: build with --wide")
		}
	}
}

func (d *driver) cut(part int) {
	p := d.p.Loops.Partitions[part]
	weights := "[]int64(nil)"
	if p.Weights >= 0 {
		weights = d.bufferName(p.Weights)
	}
	d.line("%s := support.Cut(%s, %d, %s)\ns%d = support.Chunks(%s)", d.cutName(part), d.size(p.N), p.Grain, weights, p.Chunks, d.cutName(part))
}

// result makes a tensor of the arrays of a result.
func (d *driver) result(i int) {
	t := &d.p.Tensors[i]
	array := func(a aot.Array) string {
		if a.Buffer < 0 {
			return "tensor.Array{}"
		}
		return fmt.Sprintf("support.Result(%s, b%d)", dtype(a.Type), a.Buffer)
	}
	var levels strings.Builder
	for range t.Format.Rank() - len(t.Levels) {
		levels.WriteString("{}, ") // of dense tensors, which say nothing of their levels
	}
	for _, l := range t.Levels {
		fmt.Fprintf(&levels, "{Pos: %s, Crd: %s}, ", array(l.Pointers), array(l.Indices))
	}
	fill := scalarValue(t.Fill)
	switch {
	case t.FillBuffer >= 0:
		fill = fmt.Sprintf("support.Taken(%s, b%d)", dtype(loop.Type(t.DType)), t.FillBuffer)
	case !t.FillKnown && !t.Fill.DType().Valid():
		fill = fmt.Sprintf("tensor.Zero(%s)", dtype(loop.Type(t.DType)))
	}
	d.line("format%d, err := tensor.ParseFormat(%q, %d)\nif err != nil {\nsupport.Fail(\"%%w\", err)\n}", i, t.Format.String(), t.Format.Rank())
	d.line("%s = tensor.NewTrusted(shape%d, format%d, []tensor.Level{%s}, %s, %s)", d.params[i], i, i, levels.String(), array(t.Values), fill)
}
