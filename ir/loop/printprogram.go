package loop

import (
	"fmt"
	"strconv"
	"strings"
)

// roles are the words for roles.
var roles = [...]string{Input: "input", Output: "output", Temp: "temp", InOut: "inout", Scratch: "scratch"}

// String returns the word for r, such as "input".
func (r Role) String() string {
	if int(r) < len(roles) {
		return roles[r]
	}
	return "?"
}

// String returns the text of prog; ParseProgram reads it back.
func (prog *Program) String() string {
	text, _ := prog.listing(nil)
	return text
}

// Listing is String, with the line on which each statement begins, from 1.
func (prog *Program) Listing() (text string, lines map[Stmt]int) { return prog.listing(map[Stmt]int{}) }

func (prog *Program) listing(lines map[Stmt]int) (string, map[Stmt]int) {
	p := programPrinter{printer: printer{lines: lines}}
	scalars, buffers := make([]string, len(prog.Scalars)), make([]string, len(prog.Buffers))
	n := newNamer()
	for i, s := range prog.Scalars {
		scalars[i] = n.unique(s.Name)
	}
	for i, b := range prog.Buffers {
		buffers[i] = n.unique(b.Name)
	}
	p.sizes = sizePrinter{scalars: scalars, buffers: buffers}
	p.program(prog)
	return p.w.String(), lines
}

// A programPrinter adds the program's names to the printer of functions.
type programPrinter struct {
	printer
	sizes sizePrinter
}

func (p *programPrinter) program(prog *Program) {
	p.line("program ", CleanName(prog.Name), " {")
	p.indent++
	for i, s := range prog.Scalars {
		bound := ""
		if s.Bound {
			bound = " bound"
		}
		p.line("scalar ", p.sizes.scalars[i], bound)
	}
	for i, b := range prog.Buffers {
		p.line("buffer ", p.sizes.buffers[i], ": []", b.Elem.String(), " ", b.Role.String())
	}
	n := newNamer()
	partitions := make([]string, len(prog.Partitions))
	for i, part := range prog.Partitions {
		partitions[i] = n.unique(part.Name)
		weights := ""
		if part.Weights >= 0 {
			weights = " weights " + p.sizes.buffer(part.Weights)
		}
		p.line("partition ", partitions[i], " of ", p.sizes.size(part.N), weights,
			" grain ", strconv.FormatInt(part.Grain, 10), " chunks ", p.sizes.scalar(part.Chunks))
	}
	for i := range prog.Stages {
		p.stage(&prog.Stages[i], partitions)
	}
	p.indent--
	p.line("}")
}

func (p *programPrinter) stage(s *Stage, partitions []string) {
	head := "stage " + CleanName(s.Name)
	switch {
	case s.Partition >= len(partitions):
		head += " over ?"
	case s.Partition >= 0:
		head += " over " + partitions[s.Partition]
	}
	if s.Ordered {
		head += " ordered"
	}
	if s.Symbolic {
		head += " symbolic"
	}
	p.line(head, " {")
	p.indent++
	p.sizing(s.Lets, nil)
	for _, t := range s.Trims {
		p.line("trim ", p.sizes.buffer(t.Buffer), "[", p.sizes.size(t.Len), "]")
	}
	p.sizing(nil, s.Allocs)
	if len(s.PartitionLets)+len(s.PartitionAllocs) > 0 {
		p.line("partitioned {")
		p.indent++
		p.sizing(s.PartitionLets, s.PartitionAllocs)
		p.indent--
		p.line("}")
	}
	for _, x := range s.Prefixes {
		p.line("prefix ", p.sizes.prefix(x))
	}
	if s.Join != nil {
		p.join(s.Join)
	}
	if s.Copies != nil {
		p.copies(s.Copies)
	}
	if s.Blocks != nil {
		p.line("blocks ", p.sizes.size(s.Blocks))
	}
	if s.Func != nil {
		bufs, args := make([]string, len(s.Bufs)), make([]string, len(s.Args))
		for i, b := range s.Bufs {
			bufs[i] = p.sizes.buffer(b)
		}
		for i, a := range s.Args {
			args[i] = p.sizes.scalar(a)
		}
		p.header("run", bufs, args, "")
		p.fn(s.Func)
	}
	p.indent--
	p.line("}")
}

// join writes a join: "join ends of chunk, lo, hi room hi - lo {", or "exactly" for
// "room", and lines for its buffers: "move crd[0] of 0", "shift pos".
func (p *programPrinter) join(j *Join) {
	room := " room "
	if j.Exact {
		room = " exactly "
	}
	p.line("join ", p.sizes.buffer(j.Ends), " of ", p.sizes.scalar(j.Chunk), ", ", p.sizes.scalar(j.Lo), ", ", p.sizes.scalar(j.Hi),
		room, p.sizes.size(j.Room), " {")
	p.indent++
	for _, m := range j.Moves {
		p.line(fmt.Sprintf("move %s[%d] of %d", p.sizes.buffer(m.Buffer), m.First, m.List))
	}
	if j.Shift >= 0 {
		if j.Rows >= 0 {
			p.line("shift ", p.sizes.buffer(j.Shift), " by ", p.sizes.buffer(j.Rows))
		} else {
			p.line("shift ", p.sizes.buffer(j.Shift))
		}
	}
	p.indent--
	p.line("}")
}

// copies writes copies: "copies count for 2 chunks {", and a line for each buffer:
// "all of y begins 0.0".
func (p *programPrinter) copies(c *Copies) {
	p.line("copies ", p.sizes.scalar(c.Count), " for ", p.sizes.size(c.Chunks), " chunks {")
	p.indent++
	for _, x := range c.List {
		start := "?"
		if x.Start != nil {
			start = x.Start.String()
		}
		p.line(p.sizes.buffer(x.All), " of ", p.sizes.buffer(x.Buffer), " begins ", start)
	}
	p.indent--
	p.line("}")
}

// sizing writes lets and allocs.
func (p *programPrinter) sizing(lets []ScalarLet, allocs []Alloc) {
	for _, l := range lets {
		p.line("let ", p.sizes.scalar(l.Scalar), " = ", p.sizes.size(l.Value))
	}
	for _, a := range allocs {
		zero := ""
		if a.Zero {
			zero = " zero"
		}
		p.line("alloc ", p.sizes.buffer(a.Buffer), "[", p.sizes.size(a.Len), "]", zero)
	}
}

// A sizePrinter writes size expressions over the program's names.
type sizePrinter struct{ scalars, buffers []string }

func (p sizePrinter) scalar(id ScalarID) string {
	if id < 0 || int(id) >= len(p.scalars) {
		return "?" + strconv.Itoa(int(id))
	}
	return p.scalars[id]
}

func (p sizePrinter) buffer(id BufferID) string {
	if id < 0 || int(id) >= len(p.buffers) {
		return "?" + strconv.Itoa(int(id))
	}
	return p.buffers[id]
}

// prefix writes a prefix: "counts[0, 2] of n total sums[0] limit 1000".
func (p sizePrinter) prefix(x Prefix) string {
	text := fmt.Sprintf("%s[%d, %d] of %s", p.buffer(x.Buffer), x.First, x.Stride, p.size(x.N))
	if x.Inclusive {
		text += " inclusive"
	}
	if x.Total >= 0 {
		text += fmt.Sprintf(" total %s[%d]", p.buffer(x.Total), x.At)
	}
	if x.Limit > 0 {
		text += fmt.Sprintf(" limit %d", x.Limit)
	}
	return text
}

func (p sizePrinter) size(e SizeExpr) string {
	var w strings.Builder
	p.write(&w, e, 0)
	return w.String()
}

// write writes e, in parentheses if it binds less tightly than prec.
func (p sizePrinter) write(w *strings.Builder, e SizeExpr, prec int) {
	switch e := e.(type) {
	case SizeConst:
		w.WriteString(strconv.FormatInt(int64(e), 10))
	case SizeScalar:
		w.WriteString(p.scalar(ScalarID(e)))
	case SizeLen:
		w.WriteString("len(" + p.buffer(e.Buffer) + ")")
	case *SizeLoad:
		w.WriteString(p.buffer(e.Buffer) + "[" + p.size(e.Index) + "]")
	case *SizeHint:
		w.WriteString("hint(" + p.buffer(e.Buffer) + "[" + p.size(e.Index) + "], " + p.size(e.Else) + ")")
	case *SizeOp:
		level := binaryOps[e.Op].prec
		if level == 0 {
			w.WriteString(e.Op.String() + "(" + p.size(e.X) + ", " + p.size(e.Y) + ")")
			return
		}
		if level < prec {
			w.WriteByte('(')
			defer w.WriteByte(')')
		}
		p.write(w, e.X, level)
		w.WriteString(" " + e.Op.String() + " ")
		p.write(w, e.Y, level+1)
	default:
		w.WriteByte('?')
	}
}
