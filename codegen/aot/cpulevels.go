package aot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
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

// levelFunc builds the function that finds out, once, which of several variants the
// processor runs: the last one whose level it has, 0 if none. Variants are named by the
// suffixes of their functions.
func (c *coder) levelFunc(suffixes []string) *ir.Func {
	detected := c.m.IR.NewGlobalDef(c.prefix+".detected", num(0))
	detected.Linkage = enum.LinkageInternal
	f := c.begin(".level", types.I64)
	known := c.Block.NewLoad(types.I64, detected)
	known.Atomic, known.Ordering, known.Align = true, enum.AtomicOrderingMonotonic, 8
	c.bad(c.icmp(ne, known, num(0)), func() { c.ret(c.sub(known, num(1))) })
	most, _, _ := c.cpuid(0)
	extendedMost, _, _ := c.cpuid(0x80000000)
	_, _, leaf1 := c.cpuid(1)
	detect, saves, plain := c.Block, c.NewBlock("saves"), c.NewBlock("plain")
	c.branch(c.hasBits(leaf1, 1<<27), saves, plain)
	c.Enter(saves)
	xcr0 := c.Block.NewExtractValue(c.do(instruction("xgetbv", "={ax},={dx},{cx}", 2, types.I32), num32(0)), 0)
	c.jump(plain)
	c.Enter(plain)
	saved := c.phi([]value.Value{num32(0), xcr0}, []*ir.Block{detect, saves})
	_, leaf7, _ := c.cpuid(7)
	leaf7 = c.either(c.icmp(uge, most, num32(7)), leaf7, num32(0))
	_, _, extended := c.cpuid(0x80000001)
	extended = c.either(c.icmp(ugt, extendedMost, num32(uint32(0x80000000))), extended, num32(0))
	level := value.Value(num(0))
	for i, suffix := range suffixes[1:] {
		need := requirements(levelOf(strings.TrimPrefix(suffix, ".")))
		ok := c.and(c.hasBits(leaf1, need.leaf1), c.hasBits(leaf7, need.leaf7))
		ok = c.and(ok, c.and(c.hasBits(extended, need.extended), c.hasBits(saved, need.saved)))
		level = c.either(ok, num(i+1), level)
	}
	found := c.Block.NewStore(c.add(level, num(1)), detected)
	found.Atomic, found.Ordering, found.Align = true, enum.AtomicOrderingMonotonic, 8
	c.ret(level)
	return f
}

// instruction is one of x86 that gives several 32-bit registers.
func instruction(name, registers string, results int, params ...types.Type) *ir.InlineAsm {
	list := slices.Repeat([]types.Type{types.I32}, results)
	asm := ir.NewInlineAsm(types.NewPointer(types.NewFunc(types.NewStruct(list...), params...)), name, registers+",~{dirflag},~{fpsr},~{flags}")
	asm.SideEffect = true
	return asm
}

// cpuid is what the processor says in eax, ebx and ecx.
func (c *coder) cpuid(leaf uint32) (a, b, ecx value.Value) {
	all := c.do(instruction("cpuid", "={ax},={bx},={cx},={dx},{ax},{cx}", 4, types.I32, types.I32), num32(leaf), num32(0))
	return c.Block.NewExtractValue(all, 0), c.Block.NewExtractValue(all, 1), c.Block.NewExtractValue(all, 2)
}

// hasBits is whether all of some bits are set.
func (c *coder) hasBits(register value.Value, bits uint32) value.Value {
	return c.icmp(eq, c.and(register, num32(bits)), num32(bits))
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
