package aot

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Report describes what is in a kernel: which coordinates its loops visit; for each stage, how
// its domain is cut, and for each loop the bytes and operations of an iteration, those of loops
// inside left out; and the widest vectors that LLVM has made of it.
func (u *Unit) Report() (string, error) {
	text, err := u.Module()
	if err != nil {
		return "", err
	}
	optimised, err := u.LLVM.PrintOptimized(text, llvm.Options{Target: u.Target.llvm()})
	if err != nil {
		return "", err
	}
	p := u.Program
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s for %s, %s\n", p.Name, u.Target.Triple, strings.Join(u.Target.CPUs, ", "))
	fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(strings.TrimSpace(p.Source), "\n", "\n  "))
	for i := range p.Tensors {
		t := &p.Tensors[i]
		fmt.Fprintf(&b, "  %s: %s %s\n", t.Name, t.Format, t.DType)
	}
	if len(p.Notes) > 0 {
		b.WriteString("loops visit\n")
	}
	for _, note := range p.Notes {
		fmt.Fprintf(&b, "  %s\n", note)
	}
	for i := range p.Loops.Stages {
		s := &p.Loops.Stages[i]
		if s.Func == nil {
			continue
		}
		fmt.Fprintf(&b, "stage %s%s\n", s.Name, chunksOf(p, s))
		reportLoops(&b, s.Func, s.Func.Body, 1)
		for _, suffix := range suffixes(u.Target.CPUs) {
			width := vectorWidth(optimised, functionName(p, i)+suffix+".body")
			if suffix != "" {
				width += " on " + strings.TrimPrefix(suffix, ".")
			}
			fmt.Fprintf(&b, "  %s\n", width)
		}
	}
	return b.String(), nil
}

// chunksOf says how the domain of a stage is cut.
func chunksOf(p *Program, s *loop.Stage) string {
	if s.Partition < 0 {
		return ""
	}
	part := &p.Loops.Partitions[s.Partition]
	if part.Weights < 0 {
		return fmt.Sprintf(", in chunks of %d elements", part.Grain)
	}
	return fmt.Sprintf(", in chunks of about %d entries of %s", part.Grain, p.Loops.Buffers[part.Weights].Name)
}

// work is what statements do, inner loops left out.
type work struct{ read, written, operations, calls int }

// reportLoops writes a line for each loop of a block.
func reportLoops(b *strings.Builder, f *loop.Func, body []loop.Stmt, depth int) {
	indent := strings.Repeat("  ", depth)
	for _, s := range body {
		switch s := s.(type) {
		case *loop.For:
			fmt.Fprintf(b, "%sfor %s: %s\n", indent, f.Vars[s.Var].Name, workOf(f, s.Body))
			reportLoops(b, f, s.Body, depth+1)
		case *loop.While:
			fmt.Fprintf(b, "%swhile: %s\n", indent, workOf(f, s.Body))
			reportLoops(b, f, s.Body, depth+1)
		case *loop.If:
			reportLoops(b, f, s.Then, depth)
			reportLoops(b, f, s.Else, depth)
		}
	}
}

// workOf counts what an iteration does. Both branches of a choice count, so it is the most.
func workOf(f *loop.Func, body []loop.Stmt) work {
	var w work
	for _, s := range body {
		for _, e := range loop.Exprs(s) {
			loop.WalkExpr(e, func(e loop.Expr) {
				switch e := e.(type) {
				case *loop.Load:
					w.read += e.Elem.Size()
				case *loop.Call:
					w.calls++
				case *loop.Unary:
					w.operations += arithmetic(e.Typ)
				case *loop.Binary:
					w.operations += arithmetic(e.Typ)
				}
			})
		}
		switch s := s.(type) {
		case *loop.Store:
			w.written += f.Bufs[s.Buf].Elem.Size()
		case *loop.If:
			for _, branch := range [][]loop.Stmt{s.Then, s.Else} {
				more := workOf(f, branch)
				w.read, w.written = w.read+more.read, w.written+more.written
				w.operations, w.calls = w.operations+more.operations, w.calls+more.calls
			}
		}
	}
	return w
}

// arithmetic is 1 for an operation on numbers that are no indices.
func arithmetic(t loop.Type) int {
	if t.IsFloat() || t.IsComplex() {
		return 1
	}
	return 0
}

// String says it in words.
func (w work) String() string {
	var parts []string
	add := func(n int, unit, what string) {
		if n > 1 {
			unit += "s"
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s %s", n, unit, what))
		}
	}
	add(w.read, "byte", "read")
	add(w.written, "byte", "written")
	add(w.operations, "operation", "on floating-point numbers")
	add(w.calls, "call", "of functions")
	if parts == nil {
		return "neither memory nor floating-point numbers"
	}
	return strings.Join(parts, ", ")
}

var vectorType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<(\d+) x (double|float|i64|i32|i16|i8)>`) })

// vectorWidth finds the widest vectors in an optimised function.
func vectorWidth(module, function string) string {
	at := regexp.MustCompile(`(?m)^define .*@"?` + regexp.QuoteMeta(function) + `"?\(`).FindStringIndex(module)
	if at == nil {
		return "not in the module: it has nothing to do"
	}
	body := module[at[0]:]
	if end := strings.Index(body, "\n}\n"); end >= 0 {
		body = body[:end]
	}
	widths := map[string]int{"double": 64, "float": 32, "i64": 64, "i32": 32, "i16": 16, "i8": 8}
	widest, text := 0, "no vectors"
	for _, m := range vectorType().FindAllStringSubmatch(body, -1) {
		n, err := strconv.Atoi(m[1])
		if err == nil && n*widths[m[2]] > widest {
			widest, text = n*widths[m[2]], fmt.Sprintf("vectors of up to %d × %s", n, m[2])
		}
	}
	return text
}
