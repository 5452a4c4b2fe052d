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
			checkEarly(t, l, assembly, target.CPU)
			raised, to := ptx.Raise(assembly, target.CPU, 90, [2]int{12, 0})
			if to != "sm_90" || target.CPU != "sm_90" && !strings.Contains(raised, ".version 7.8\n.target sm_90\n") {
				t.Errorf("LLVM %v: PTX for %s is raised to\n%.200s", l.Version(), target.CPU, raised)
			}
			checkEarly(t, l, raised, to)
			for _, less := range []struct {
				capability int
				cuda       [2]int
			}{{86, [2]int{12, 0}}, {90, [2]int{11, 7}}} {
				if same, to := ptx.Raise(assembly, target.CPU, less.capability, less.cuda); same != assembly || to != target.CPU {
					t.Errorf("LLVM %v: PTX for %s is raised to %s for %v", l.Version(), target.CPU, to, less)
				}
			}
		}
	}
}

func checkEarly(t *testing.T, l *llvm.LLVM, assembly, target string) {
	t.Helper()
	early, ok := ptx.StartEarly(assembly, target)
	if ok != (target == "sm_90") {
		t.Errorf("LLVM %v: for %s it is %v", l.Version(), target, ok)
	}
	if !ok {
		if early != assembly {
			t.Errorf("LLVM %v: PTX for %s has changed", l.Version(), target)
		}
		return
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
		} else if !strings.Contains(k[wait:next], "%nctaid.x;") || !strings.Contains(k[wait:next], "bra \tEARLY;") || !strings.HasPrefix(k[next:], "griddepcontrol.launch_dependents;\nEARLY:\n") {
			t.Errorf("LLVM %v: a kernel of any number of blocks lets the next start:\n%s", l.Version(), k)
		}
	}
}
