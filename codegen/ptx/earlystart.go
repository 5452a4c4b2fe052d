package ptx

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// early is where kernels begin whose blocks may start while the kernel before them still runs:
// they wait until that one is done and all that it wrote can be read, and then let those
// of the next kernel start, which wait in turn. (Programmatic dependent launch: CUDA C++
// Programming Guide; the instructions are in the PTX ISA from 7.8 on, for sm_90.)
//
// Letting the next start costs each block a quarter of a nanosecond of an H100's time: a kernel of
// 250,000 short blocks took a fifth longer. With that many the next one gains nothing by being
// ready before the last of them ends, which is when it may start without being let.
var early = strings.Join([]string{
	"\t.reg .pred \t%early_many;",
	"\t.reg .b32 \t%early_blocks;",
	"\tgriddepcontrol.wait;",
	"\tmov.u32 \t%early_blocks, %nctaid.x;",
	fmt.Sprintf("\tsetp.gt.u32 \t%%early_many, %%early_blocks, %d;", 1<<13),
	"\t@%early_many bra \tEARLY;",
	"\tgriddepcontrol.launch_dependents;",
	"EARLY:\n",
}, "\n")

// StartEarly returns assembly whose kernels may be launched so that their blocks start early,
// and reports whether it could be made: the target, one of CPUs, knows the instructions.
// Launched plainly the kernels compute the same.
//
// The instructions go into PTX and not into what LLVM sees, since LLVM may move a read of
// memory that the function does not write to before any instruction.
func StartEarly(assembly, target string) (string, bool) {
	if target != cpuName(dependentLaunch) {
		return assembly, false
	}
	var out strings.Builder
	out.Grow(len(assembly) + 16*len(early))
	entry := false
	for line := range strings.Lines(assembly) {
		out.WriteString(line)
		switch {
		case strings.Contains(line, ".entry "):
			entry = true
		case entry && strings.TrimSpace(line) == "{":
			entry = false
			out.WriteString(early)
		}
	}
	return out.String(), true
}

// Raise says of PTX for an older architecture that it is for the one of devices of the given compute
// capability, as far as a driver for the given version of CUDA reads that, and returns the
// architecture that it is for then. LLVM before 16 does not know sm_90, and what it makes for sm_86
// would go without early starts, and pay for each kernel of a program the time until it runs.
// (PTX ISA, ".target": what is for an older architecture holds on newer ones.)
func Raise(assembly, target string, capability int, cuda [2]int) (string, string) {
	newest := cpuName(dependentLaunch)
	if target == newest || capability < dependentLaunch || cuda[0] < 11 || cuda[0] == 11 && cuda[1] < 8 {
		return assembly, target
	}
	return directives().ReplaceAllString(assembly, "${1}.version 7.8\n.target "+newest), newest
}

// directives are the first of a module of PTX.
var directives = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\A((?:\s|//.*\n)*)\.version \d+\.\d+\n\.target \w+`)
})

// dependentLaunch is the compute capability from which blocks may start early.
const dependentLaunch = 90
