package machine

// readCaches asks the processor: AMD's in leaves 0x80000005 and 0x80000006, which guests of virtual
// machines see too (APM volume 3, E.4), Intel's in leaf 4, a subleaf for each cache (SDM volume 2, CPUID).
func readCaches() Caches {
	c := smallest
	if highest, _, _, _ := cpuid(0x80000000, 0); highest >= 0x80000006 {
		_, _, l1, _ := cpuid(0x80000005, 0)
		_, _, l2, _ := cpuid(0x80000006, 0)
		if l1 != 0 { // Intel's have nothing there
			c.take(1, int64(l1>>24)<<10)
			c.take(2, int64(l2>>16)<<10)
			return c
		}
	}
	if highest, _, _, _ := cpuid(0, 0); highest < 4 {
		return c
	}
	for sub := range uint32(16) {
		a, b, sets, _ := cpuid(4, sub)
		const none, instructions = 0, 2
		kind, level := a&0x1f, a>>5&7
		if kind == none {
			break
		}
		if kind == instructions {
			continue
		}
		ways, partitions, line := int64(b>>22)+1, int64(b>>12&0x3ff)+1, int64(b&0xfff)+1
		c.take(int(level), ways*partitions*line*(int64(sets)+1))
	}
	return c
}
