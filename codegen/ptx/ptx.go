// Package ptx translates grid functions of the loop language into PTX, the
// assembly language of NVIDIA's GPUs. The functions become kernels of a module of
// LLVM IR, by the emitter that codegen/llvm has; LLVM's NVPTX target, which
// internal/llvm loads, makes PTX of it; the driver makes machine code of that. No
// CUDA toolkit takes part.
//
// Numbers come out as on the CPU: nothing is contracted to a fused multiply-add,
// divisions and square roots are rounded, subnormal numbers stay.
package ptx

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Triple is the LLVM target.
const Triple = "nvptx64-nvidia-cuda"

// Emit translates the functions of a program, in the order in which they run, into
// the text of one LLVM module. lookup finds the scalar functions that they call.
// The functions' names must differ. The error is a *loop.VerifyError for a function
// that is not well formed.
func Emit(name string, funcs []*loop.Func, lookup func(string) (*loop.Scalar, bool)) (string, error) {
	return EmitPart(name, funcs, Split(funcs, 1)[0], lookup)
}

// EmitPart is Emit for some of the functions only, whose indices part lists.
func EmitPart(name string, funcs []*loop.Func, part []int, lookup func(string) (*loop.Scalar, bool)) (string, error) {
	m := &module{Module: llvm.NewModule(name, lookup)}
	after := noFailure
	for i, f := range funcs {
		if f.Grid == nil {
			return "", fmt.Errorf("PTX: function %s is not for a grid", f.Name)
		}
		if slices.Contains(part, i) {
			m.kernel(f, after)
		}
		if len(f.Fails) > 0 {
			after = aFailure
		}
	}
	return m.Text()
}

// Split shares functions out among n modules, or fewer, so that compiling them at once takes
// little longer than the largest function: it lists the indices of the functions of each, in order.
func Split(funcs []*loop.Func, n int) [][]int {
	size := make([]int, len(funcs))
	order := make([]int, len(funcs))
	for i, f := range funcs {
		size[i], order[i] = f.Stats().Statements, i
	}
	slices.SortStableFunc(order, func(a, b int) int { return size[b] - size[a] })
	parts := make([][]int, max(min(n, len(funcs)), 1))
	load := make([]int, len(parts))
	for _, i := range order {
		least := slices.Index(load, slices.Min(load))
		parts[least] = append(parts[least], i)
		load[least] += 1 + size[i]
	}
	for _, part := range parts {
		slices.Sort(part)
	}
	return parts
}

// architectures lists the compute capabilities that LLVM has names for, and the
// version it has them from.
var architectures = []struct{ capability, llvm int }{
	{70, 14}, {75, 14}, {80, 14}, {86, 14}, {87, 16}, {89, 16}, {90, 16},
}

// CPUs lists the architectures that an LLVM of the given version makes PTX for, as it
// names them, from the oldest on.
func CPUs(llvm int) []string {
	var names []string
	for _, a := range architectures {
		if a.llvm <= llvm {
			names = append(names, cpuName(a.capability))
		}
	}
	return names
}

func cpuName(capability int) string { return fmt.Sprintf("sm_%d", capability) }

// Oldest is the lowest compute capability that kernels are made for: shuffles and
// barriers of warps whose threads do not run in step.
const Oldest = 70

// CPU is LLVM's name of the newest architecture that both a device of the given
// compute capability (10*major+minor) runs and an LLVM of the given version knows.
// PTX for an older architecture runs on newer devices. The error says that the
// device is too old.
func CPU(capability, llvm int) (string, error) {
	best := 0
	for _, a := range architectures {
		if a.capability <= capability && a.llvm <= llvm {
			best = a.capability
		}
	}
	if best == 0 {
		return "", fmt.Errorf("the device has compute capability %d.%d; kernels need %d.%d",
			capability/10, capability%10, Oldest/10, Oldest%10)
	}
	return cpuName(best), nil
}
