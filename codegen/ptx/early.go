package ptx

import "strings"

// early is where kernels begin whose blocks may start while the kernel before them still runs:
// they wait until that one is done and all that it wrote can be read, and then let those
// of the next kernel start, which wait in turn. (Programmatic dependent launch: CUDA C++
// Programming Guide; the instructions are in the PTX ISA from 7.8 on, for sm_90.)
const early = "\tgriddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;\n"

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

// dependentLaunch is the compute capability from which blocks may start early.
const dependentLaunch = 90
