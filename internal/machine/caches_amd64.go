package machine

// Leaves that describe caches, a subleaf for each: Intel's (SDM volume 2, CPUID) and AMD's (APM volume 3, E.4.16), in the same form.
const (
	intelCaches = 4
	amdCaches   = 0x8000001d
)

// readCaches asks the processor. AMD's say how large their own caches are in leaves 0x80000005 and 0x80000006, which guests of
// virtual machines see even where they do not see those that are described one by one.
func readCaches() Caches {
	c := smallest
	extended, _, _, _ := cpuid(0x80000000, 0)
	if extended >= 0x80000006 {
		_, _, l1, _ := cpuid(0x80000005, 0)
		_, _, l2, _ := cpuid(0x80000006, 0)
		if l1 != 0 { // Intel's have nothing there
			if extended >= amdCaches {
				c.describe(amdCaches)
			}
			c.take(1, int64(l1>>24)<<10, 1)
			c.take(2, int64(l2>>16)<<10, 1)
			return c
		}
	}
	if highest, _, _, _ := cpuid(0, 0); highest >= intelCaches {
		c.describe(intelCaches)
	}
	return c
}

// describe takes the caches that a leaf describes.
func (c *Caches) describe(leaf uint32) {
	for sub := range uint32(16) {
		a, b, sets, _ := cpuid(leaf, sub)
		const none, instructions = 0, 2
		kind, level := a&0x1f, a>>5&7
		if kind == none {
			break
		}
		if kind == instructions {
			continue
		}
		ways, partitions, line := int64(b>>22)+1, int64(b>>12&0x3ff)+1, int64(b&0xfff)+1
		c.take(int(level), ways*partitions*line*(int64(sets)+1), int(a>>14&0xfff)+1)
	}
}
