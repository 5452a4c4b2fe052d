package aot

import (
	"fmt"
	"strings"
)

// KernelHeader is the C header of a kernel: lacuna.h, what the tensors are, and the
// functions.
func KernelHeader(p *Program) string {
	var b strings.Builder
	b.WriteString(Header)
	writeKernelHeader(&b, p)
	return b.String()
}

// writeKernelHeader writes what is a kernel's own.
func writeKernelHeader(b *strings.Builder, p *Program) {
	guard := "LACUNA_KERNEL_" + p.Name
	fmt.Fprintf(b, "\n#ifndef %s\n#define %s\n\n/*\n * %s\n *\n", guard, guard, commented(p.Source))
	for i := range p.Tensors {
		describe(b, i, &p.Tensors[i], i >= p.Operands)
	}
	b.WriteString(" */\n")
	fmt.Fprintf(b, "enum {\n")
	taken := map[string]bool{"step": true, "chunk": true, "kernel": true, "COUNT": true, "STATE": true}
	for i := range p.Tensors {
		name := p.Tensors[i].Name
		for taken[name] {
			name += "_result" // an operand that is updated, or a word of the interface
		}
		taken[name] = true
		if isIdentifier(name) {
			fmt.Fprintf(b, "  %s_%s = %d,\n", p.Name, name, i)
		}
	}
	fmt.Fprintf(b, "  %s_COUNT = %d,\n  %s_STATE = %d /* words */\n};\n\n", p.Name, len(p.Tensors), p.Name, p.StateWords)
	b.WriteString("#ifdef __cplusplus\nextern \"C\" {\n#endif\n")
	fmt.Fprintf(b, "int %s(lacuna_args *args);\n", p.Name)
	fmt.Fprintf(b, "int %s_step(lacuna_call *call);\n", p.Name)
	fmt.Fprintf(b, "int %s_chunk(lacuna_call *call, int64_t chunk, int64_t thread);\n", p.Name)
	fmt.Fprintf(b, "extern const lacuna_kernel %s_kernel;\n", p.Name)
	b.WriteString("#ifdef __cplusplus\n}\n#endif\n\n#endif\n")
}

// stateWords is the length of the state of a program.
func stateWords(p *Program) int { return newLayout(p).size }

// commented is text that does not end a comment.
func commented(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(s), "*/", "* /"), "\n", "\n * ")
}

// describe writes what one tensor is.
func describe(b *strings.Builder, place int, t *Tensor, result bool) {
	kind := "operand"
	if result {
		kind = "result"
	}
	fmt.Fprintf(b, " * tensors[%d]: %s %s, format \"%s\", values %s", place, kind, t.Name, t.Format, t.Values.Type)
	switch {
	case t.Format.IsDense():
	case t.FillKnown:
		fmt.Fprintf(b, ", fill %s", t.Fill)
	default:
		fmt.Fprintf(b, ", fill computed")
	}
	b.WriteString("\n")
	order := t.Format.Order()
	for l, level := range t.Format.Physical() {
		fmt.Fprintf(b, " *   levels[%d]: axis %d, %s", l, order[l], level.Kind)
		if level.HasPos() {
			fmt.Fprintf(b, ", pointers %s", t.Levels[l].Pointers.Type)
		}
		if level.HasCrd() {
			fmt.Fprintf(b, ", indices %s", t.Levels[l].Indices.Type)
		}
		b.WriteString("\n")
	}
}
