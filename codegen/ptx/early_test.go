package ptx_test

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Kernels that may start early wait first, before they read or write anything; others are as
// they were.
func TestStartEarly(t *testing.T) {
	copies := parse(t, "func copies(readonly x: []i64, y: []i64) grid threads 64 {\n  y[thread()] = x[thread()]\n}\n")
	sums := parse(t, "func sums(readonly x: []i64, y: []i64) grid threads 32 {\n  shared s: [32]i64\n  s[thread()] = x[thread()]\n  barrier\n  y[thread()] = s[31 - thread()]\n}\n")
	module, err := ptx.Emit("early", []*loop.Func{copies, sums}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range everyLLVM(t) {
		for _, target := range targets(t, l) {
			assembly, err := l.EmitAssembly(module, llvm.Options{Target: target})
			if err != nil {
				t.Fatal(err)
			}
			early, ok := ptx.StartEarly(assembly, target.CPU)
			if ok != (target.CPU == "sm_90") {
				t.Errorf("LLVM %v: for %s it is %v", l.Version(), target.CPU, ok)
			}
			if !ok {
				if early != assembly {
					t.Errorf("LLVM %v: PTX for %s has changed", l.Version(), target.CPU)
				}
				continue
			}
			kernels := strings.Split(early, ".entry ")[1:]
			if len(kernels) != 2 {
				t.Fatalf("LLVM %v: %d kernels in\n%s", l.Version(), len(kernels), early)
			}
			for _, k := range kernels {
				wait, next := strings.Index(k, "griddepcontrol.wait;"), strings.Index(k, "griddepcontrol.launch_dependents;")
				memory := strings.Index(k, ".global")
				if wait < 0 || next < wait || memory < next || strings.Count(k, "griddepcontrol.") != 2 {
					t.Errorf("LLVM %v: a kernel does not wait first:\n%s", l.Version(), k)
				}
			}
		}
	}
}
