package aot

import (
	"fmt"
	"strings"
)

// A cpuLevel is a level of the x86-64 psABI: what a processor must have for it, as bits
// of what cpuid returns.
type cpuLevel struct {
	name string
	// Bits of leaf 1 ecx, leaf 7 ebx, leaf 0x80000001 ecx, and of the register xcr0,
	// in which the system says what it saves.
	leaf1, leaf7, extended, saved uint32
}

// cpuLevels are the levels, each with all that those before it have
// (System V ABI, AMD64 supplement, section 3.1.1).
var cpuLevels = []cpuLevel{
	{name: "x86-64"},
	{name: "x86-64-v2", leaf1: 1<<0 | 1<<9 | 1<<13 | 1<<19 | 1<<20 | 1<<23, extended: 1 << 0},
	{name: "x86-64-v3", leaf1: 1<<12 | 1<<22 | 1<<27 | 1<<28 | 1<<29, leaf7: 1<<3 | 1<<5 | 1<<8, extended: 1 << 5, saved: 0x6},
	{name: "x86-64-v4", leaf7: 1<<16 | 1<<17 | 1<<28 | 1<<30 | 1<<31, saved: 0xe6},
}

// levelOf is the number of a level, -1 if a processor is none.
func levelOf(cpu string) int {
	if cpu == "x86-64-v1" {
		return 0
	}
	for i := range cpuLevels {
		if cpuLevels[i].name == cpu {
			return i
		}
	}
	return -1
}

// requirements is what a processor must have for a level, those before it included.
func requirements(level int) cpuLevel {
	all := cpuLevel{name: cpuLevels[level].name}
	for _, l := range cpuLevels[:level+1] {
		all.leaf1 |= l.leaf1
		all.leaf7 |= l.leaf7
		all.extended |= l.extended
		all.saved |= l.saved
	}
	return all
}

// levelSource writes the function that finds out, once, which of several variants
// the processor runs: NAME.level returns the last one whose level it has, 0 if none. Variants
// are named by the suffixes of their functions.
func levelSource(suffixes []string) string {
	w := newIRWriter("NAME")
	w.line("@NAME.detected = internal global i64 0")
	w.line("define internal i64 @NAME.level() noinline optnone nounwind \"no-builtins\" {")
	w.enter("entry")
	known := w.op("load atomic i64, i64* @NAME.detected monotonic, align 8")
	w.do("br i1 %s, label %%detect, label %%known", w.op("icmp eq i64 %s, 0", known))
	w.enter("known")
	w.do("ret i64 %s", w.op("sub i64 %s, 1", known))
	w.enter("detect")
	cpuid := func(leaf uint32) (a, b, c string) {
		r := w.op("call {i32, i32, i32, i32} asm sideeffect \"cpuid\", \"={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}\"(i32 %d, i32 0)", int32(leaf))
		part := func(i int) string { return w.op("extractvalue {i32, i32, i32, i32} %s, %d", r, i) }
		return part(0), part(1), part(2)
	}
	has := func(register string, bits uint32) string {
		return w.op("icmp eq i32 %s, %d", w.op("and i32 %s, %d", register, int32(bits)), int32(bits))
	}
	most, _, _ := cpuid(0)
	extendedMost, _, _ := cpuid(0x80000000)
	_, _, leaf1 := cpuid(1)
	w.do("br i1 %s, label %%saves, label %%plain", has(leaf1, 1<<27))
	w.enter("saves")
	r := w.op("call {i32, i32} asm sideeffect \"xgetbv\", \"={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}\"(i32 0)")
	saved := w.op("extractvalue {i32, i32} %s, 0", r)
	w.jump("plain")
	w.enter("plain")
	saved = w.op("phi i32 [ 0, %%detect ], [ %s, %%saves ]", saved)
	_, leaf7, _ := cpuid(7)
	leaf7 = w.op("select i1 %s, i32 %s, i32 0", w.op("icmp uge i32 %s, 7", most), leaf7)
	_, _, extended := cpuid(0x80000001)
	extended = w.op("select i1 %s, i32 %s, i32 0", w.op("icmp ugt i32 %s, %d", extendedMost, int32(-0x80000000)), extended)
	level := "0"
	for i, suffix := range suffixes {
		if i == 0 {
			continue
		}
		need := requirements(levelOf(strings.TrimPrefix(suffix, ".")))
		ok := w.op("and i1 %s, %s", has(leaf1, need.leaf1), has(leaf7, need.leaf7))
		ok = w.op("and i1 %s, %s", ok, w.op("and i1 %s, %s", has(extended, need.extended), has(saved, need.saved)))
		level = w.op("select i1 %s, i64 %d, i64 %s", ok, i, level)
	}
	w.do("store atomic i64 %s, i64* @NAME.detected monotonic, align 8", w.op("add i64 %s, 1", level))
	w.do("ret i64 %s", level)
	w.line("}\n")
	return w.b.String()
}

// suffixes are those of the functions' variants for a list of processors.
func suffixes(cpus []string) []string {
	if len(cpus) <= 1 {
		return []string{""}
	}
	var list []string
	for _, cpu := range cpus {
		list = append(list, fmt.Sprintf(".%s", cpu))
	}
	return list
}
