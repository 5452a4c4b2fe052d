package machine

import "encoding/binary"

// cpuid is the instruction CPUID.
func cpuid(leaf, subleaf uint32) (a, b, c, d uint32)

// xgetbv reads the register XCR0: the vector registers that the system saves.
func xgetbv() (low, high uint32)

// leaves are what names and features are found by (Intel's and AMD's manuals of
// CPUID; getHostCPUName and getHostCPUFeatures in LLVM's Host.cpp), with masks that
// take out what differs between the processors of one machine.
var leaves = []struct {
	leaf, subleaf uint32
	a, b, c, d    uint32
}{
	{0, 0, all, all, all, all},          // the maker
	{1, 0, all, 0, all, all},            // family, model, features; b has the number of the processor
	{7, 0, all, all, all, all},          // features
	{7, 1, all, all, all, all},          // …
	{7, 2, all, all, all, all},          // …
	{0xd, 1, all, 0, 0, 0},              // the XSAVE family; b is the size of what is in use now
	{0x14, 0, all, all, 0, 0},           // PTWRITE
	{0x19, 0, all, all, 0, 0},           // Key Locker
	{0x1e, 1, all, 0, 0, 0},             // AMX
	{0x24, 0, all, all, 0, 0},           // AVX10
	{0x80000001, 0, all, all, all, all}, // AMD's features
	{0x80000008, 0, 0, all, 0, 0},       // …
	{0x80000021, 0, all, 0, 0, 0},       // …
}

const all = 1<<32 - 1

// read collects what the processor says of itself.
func read() []byte {
	var data []byte
	add := func(v uint32) { data = binary.LittleEndian.AppendUint32(data, v) }
	basic, _, _, _ := cpuid(0, 0)
	extended, _, _, _ := cpuid(0x80000000, 0)
	for _, l := range leaves {
		add(l.leaf)
		highest := basic
		if l.leaf >= 0x80000000 {
			highest = extended
		}
		if l.leaf > highest {
			continue // what comes back would be that of another leaf
		}
		a, b, c, d := cpuid(l.leaf, l.subleaf)
		add(a & l.a)
		add(b & l.b)
		add(c & l.c)
		add(d & l.d)
		const osxsave = 1 << 27
		if l.leaf == 1 && c&osxsave != 0 {
			low, high := xgetbv()
			add(low)
			add(high)
		}
	}
	return data
}
