package aot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
)

// Target is the machine that code is for.
type Target struct {
	Triple string // such as "x86_64-pc-linux-gnu"
	// CPUs are the processors: one, or several levels of x86-64 in ascending order. The
	// best that the machine has is chosen when a kernel is first called; the first
	// must run everywhere.
	CPUs     []string
	Features string // of the one processor, as LLVM writes them
}

// TargetError is a target that kernels cannot be built for.
type TargetError struct{ Target, Reason string }

// Error says what is wrong with the target and which there are.
func (e *TargetError) Error() string {
	return fmt.Sprintf("target %s: %s", e.Target, e.Reason)
}

// architectures lists those that the C interface is defined for: 64 bits, little-endian.
var architectures = []struct{ prefix, name string }{
	{"x86_64", "amd64"}, {"amd64", "amd64"}, {"aarch64", "arm64"}, {"arm64", "arm64"},
}

// Arch is Go's name of the target's architecture, "" if kernels cannot be built for it.
func (t Target) Arch() string {
	for _, a := range architectures {
		if strings.HasPrefix(t.Triple, a.prefix) && !strings.HasPrefix(t.Triple, "aarch64_be") {
			return a.name
		}
	}
	return ""
}

// otherSystem is the part of a triple that names a system with other object files, other
// conventions of calling, or shorter addresses, "" if none does.
func otherSystem(triple string) string {
	for _, part := range strings.Split(triple, "-")[1:] {
		for _, other := range []string{"darwin", "macos", "ios", "tvos", "watchos", "xros", "driverkit", "win32", "windows", "cygwin", "mingw", "msvc",
			"coff", "macho", "uefi", "gnux32", "muslx32", "ilp32", "gnu_ilp32", "wasm"} {
			if strings.HasPrefix(part, other) {
				return part
			}
		}
	}
	return ""
}

// GPU is the target of PTX, for NVIDIA's GPUs.
const GPU = ptx.Triple

// parseGPU reads an architecture of GPUs, "" for the oldest.
func parseGPU(l *llvm.LLVM, cpu string) (Target, error) {
	t := Target{Triple: GPU, CPUs: []string{cpu}}
	known := ptx.CPUs(l.Version().Major)
	switch {
	case cpu == "":
		t.CPUs[0] = known[0]
	case strings.Contains(cpu, ","):
		return t, &TargetError{cpu, "PTX is for one architecture, and newer GPUs run it too: name the oldest"}
	case !slices.Contains(known, cpu):
		return t, &TargetError{cpu, fmt.Sprintf("unknown architecture of GPUs: LLVM %v makes PTX for %s", l.Version(), strings.Join(known, ", "))}
	}
	return t, nil
}

// ParseTarget reads a triple ("" for this machine, GPU for PTX) and a list of processors separated by
// commas ("" or "native" for this machine's, "generic" for any; of PTX, one such as "sm_80").
func ParseTarget(l *llvm.LLVM, triple, cpus string) (Target, error) {
	if triple == GPU {
		return parseGPU(l, cpus)
	}
	host, err := l.Host()
	if err != nil {
		return Target{}, err
	}
	t := Target{Triple: triple}
	if triple == "" {
		t.Triple = host.Triple
	}
	arch, hostArch := t.Arch(), Target{Triple: host.Triple}.Arch()
	if arch == "" {
		return t, &TargetError{t.Triple, "kernels are built for x86_64 and aarch64, such as x86_64-linux-gnu or aarch64-linux-gnu"}
	}
	if system := otherSystem(t.Triple); system != "" {
		return t, &TargetError{t.Triple, fmt.Sprintf("kernels are built for ELF systems with 64-bit addresses (Linux), not for %s: such as x86_64-linux-gnu or aarch64-linux-gnu", system)}
	}
	if cpus == "" {
		cpus = "generic"
		if triple == "" {
			cpus = "native"
		}
	}
	list := strings.Split(cpus, ",")
	for i, cpu := range list {
		switch {
		case cpu == "":
			return t, &TargetError{cpus, "the name of a processor is empty"}
		case cpu == "native" && arch != hostArch:
			return t, &TargetError{t.Triple, "the processor \"native\" is this machine's, which is another architecture: name one, or \"generic\""}
		case cpu == "native" && len(list) == 1:
			t.CPUs, t.Features = []string{host.CPU}, host.Features
			return t, nil
		case cpu == "generic" && arch == "amd64", cpu == "x86-64-v1":
			list[i] = cpuLevels[0].name
		}
	}
	if len(list) > 1 {
		for i, cpu := range list {
			if arch != "amd64" || levelOf(cpu) < 0 {
				return t, &TargetError{cpus, "several processors in one file are levels of x86-64: x86-64, x86-64-v2, x86-64-v3, x86-64-v4"}
			}
			if i > 0 && levelOf(cpu) <= levelOf(list[i-1]) {
				return t, &TargetError{cpus, "list the levels from the least to the highest, each once"}
			}
		}
	}
	for _, cpu := range list {
		if !slices.Contains(processors[arch], cpu) && (cpu != host.CPU || arch != hostArch) {
			return t, &TargetError{cpu, fmt.Sprintf("unknown processor of %s: want native, generic, or one of %s", arch, strings.Join(processors[arch], ", "))}
		}
	}
	t.CPUs = list
	return t, nil
}

// llvm is the target as LLVM takes it: code outside the variants is for the least
// processor.
func (t Target) llvm() llvm.Target {
	return llvm.Target{Triple: t.Triple, CPU: t.CPUs[0], Features: t.Features}
}

// ownRounding reports whether variant n is for processors without instructions that
// round.
func (t Target) ownRounding(n int) bool {
	if t.Arch() != "amd64" {
		return false
	}
	if t.Features != "" {
		return !slices.Contains(strings.Split(t.Features, ","), "+sse4.1")
	}
	return slices.Contains(oldProcessors, t.CPUs[n])
}
