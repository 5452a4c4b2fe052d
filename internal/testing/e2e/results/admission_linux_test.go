package results_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestProcessLimit runs every operation in a process that may map 512 MiB more than it has: it answers with errors and goes on.
func TestProcessLimit(t *testing.T) {
	const room = "LACUNA_TEST_LIMIT"
	if os.Getenv(room) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcessLimit$", "-test.v")
		cmd.Env = append(os.Environ(), room+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestProcessLimit") {
			t.Fatalf("%v\n%.4000s", err, out)
		}
		return
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, size, _ := strings.Cut(string(status), "VmSize:")
	var kB uint64
	if _, err := fmt.Sscan(size, &kB); err != nil {
		t.Fatal(err)
	}
	limit := syscall.Rlimit{Cur: kB<<10 + 512<<20}
	limit.Max = limit.Cur
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		t.Fatal(err)
	}
	// A limit of the session does not help it over that of the process.
	for _, option := range []int64{0, 1 << 40} {
		s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithMemoryLimit(option))
		for name, call := range allocating(t, s) {
			if err := call(); err == nil || !strings.Contains(err.Error(), "ulimit -v") {
				t.Errorf("%s: %v, want a refusal that names the limit", name, err)
			}
		}
	}
	if _, err := tensor.MakeArray(tensor.Float64, 1<<27); err == nil {
		t.Error("a gigabyte was allocated")
	}
	if _, err := tensor.MakeArray(tensor.Float64, 1<<20); err != nil {
		t.Errorf("8 MiB: %v", err)
	}
}
