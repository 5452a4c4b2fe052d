package aot

import (
	"fmt"
	"math"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// irWriter writes functions of LLVM IR that work on 64-bit integers: structures are
// arrays of words, and an address is a number until something is loaded from it. Pointers are
// typed, as LLVM 14 wants them and later versions read them.
type irWriter struct {
	b         strings.Builder
	values    int
	blocks    int
	constants map[string]string // names by definition
	globals   strings.Builder   // definitions, in order
	prefix    string            // of global names
}

func newIRWriter(prefix string) *irWriter {
	return &irWriter{constants: map[string]string{}, prefix: prefix}
}

// line writes one line.
func (w *irWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format+"\n", args...)
}

// op writes an instruction that has a value, and returns its name.
func (w *irWriter) op(format string, args ...any) string {
	w.values++
	name := fmt.Sprintf("%%v%d", w.values)
	w.line("\t%s = %s", name, fmt.Sprintf(format, args...))
	return name
}

// do writes an instruction without a value.
func (w *irWriter) do(format string, args ...any) { w.line("\t"+format, args...) }

// block returns a new name for a block.
func (w *irWriter) block(name string) string {
	w.blocks++
	return fmt.Sprintf("%s.%d", name, w.blocks)
}

// enter starts a block. The block before must have ended.
func (w *irWriter) enter(block string) { w.line("%s:", block) }

func (w *irWriter) jump(block string) { w.do("br label %%%s", block) }

func (w *irWriter) branch(cond, yes, no string) {
	w.do("br i1 %s, label %%%s, label %%%s", cond, yes, no)
}

// word is the address of a word of a structure.
func (w *irWriter) word(base string, index int) string {
	if index == 0 {
		return base
	}
	return w.op("getelementptr i64, i64* %s, i64 %d", base, index)
}

func (w *irWriter) load(base string, index int) string {
	return w.op("load i64, i64* %s", w.word(base, index))
}

func (w *irWriter) store(base string, index int, value string) {
	w.do("store i64 %s, i64* %s", value, w.word(base, index))
}

// pointer turns an address into a pointer to words.
func (w *irWriter) pointer(address string) string { return w.op("inttoptr i64 %s to i64*", address) }

// global is the address, as a pointer to its first element, of a constant array. Equal
// constants are one.
func (w *irWriter) global(kind string, n int, elem, value string) string {
	typ := fmt.Sprintf("[%d x %s]", n, elem)
	definition := fmt.Sprintf("private unnamed_addr constant %s %s", typ, value)
	name, ok := w.constants[definition]
	if !ok {
		name = fmt.Sprintf("@%s.%s.%d", w.prefix, kind, len(w.constants))
		w.constants[definition] = name
		fmt.Fprintf(&w.globals, "%s = %s\n", name, definition)
	}
	return fmt.Sprintf("getelementptr (%s, %s* %s, i64 0, i64 0)", typ, typ, name)
}

// text is the address, as an i8*, of a constant string.
func (w *irWriter) text(s string) string {
	return w.global("str", len(s)+1, "i8", "c\""+escaped(s)+"\"")
}

// bytes is the address, as an i8*, of constant memory.
func (w *irWriter) bytes(b []byte) string {
	var text strings.Builder
	for _, c := range b {
		fmt.Fprintf(&text, "\\%02X", c)
	}
	return w.global("const", len(b), "i8", "c\""+text.String()+"\", align 16")
}

// texts is the address, as an i8*, of several strings, one after the other.
func (w *irWriter) texts(list []string) string { return w.text(strings.Join(list, "\x00")) }

// words64 is the address, as an i64*, of constant numbers.
func (w *irWriter) words64(list []int64) string {
	var elements []string
	for _, n := range list {
		elements = append(elements, fmt.Sprintf("i64 %d", n))
	}
	return w.global("words", len(list), "i64", "["+strings.Join(elements, ", ")+"]")
}

// escaped is a string as LLVM's notation has it, with a zero byte behind.
func escaped(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, "\\%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String() + "\\00"
}

// loadInt loads element index of an array of integers as an i64.
func (w *irWriter) loadInt(address, index string, elem loop.Type) string {
	typ := fmt.Sprintf("i%d", 8*elem.Size())
	p := w.op("inttoptr i64 %s to %s*", address, typ)
	p = w.op("getelementptr %s, %s* %s, i64 %s", typ, typ, p, index)
	v := w.op("load %s, %s* %s", typ, typ, p)
	switch {
	case elem.Size() == 8:
		return v
	case elem.IsSigned():
		return w.op("sext %s %s to i64", typ, v)
	}
	return w.op("zext %s %s to i64", typ, v)
}

// integer is a constant.
func integer(n int64) string { return fmt.Sprint(n) }

const largest = math.MaxInt64
