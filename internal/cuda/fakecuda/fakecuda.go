// Package fakecuda builds a CUDA driver without a device, for tests where there
// is no GPU: testdata/fakecuda.c, which keeps "device" memory on the host, runs
// streams as threads, checks calls as the driver would, and fails when told to.
// It has no compiler for PTX; the kernels it knows are written in C.
package fakecuda

import (
	"bytes"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

//go:embed testdata/fakecuda.c
var source []byte

// built are the libraries compiled so far, by their sources and flags.
var built = struct {
	sync.Mutex
	libraries map[string][]byte
}{libraries: map[string][]byte{}}

// Build compiles the driver with the given flags, which its source explains, and
// returns the path of a copy that no other test loads: it has a state of its
// own. Without gcc it skips the test.
func Build(t testing.TB, flags ...string) string {
	t.Helper()
	return Compile(t, "libcuda.so.1", source, flags...)
}

// Compile is Build for the source of another library, which gets a name.
func Compile(t testing.TB, name string, source []byte, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("gcc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no gcc to build libraries without a device with")
	}
	path := filepath.Join(t.TempDir(), name)
	built.Lock()
	defer built.Unlock()
	key := strings.Join(append(flags, string(source)), " ")
	if library, ok := built.libraries[key]; ok {
		if err := os.WriteFile(path, library, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	args := []string{"-shared", "-fPIC", "-pthread", "-O1", "-Wall", "-Werror", "-fvisibility=hidden", "-x", "c", "-o", path, "-"}
	cmd := exec.Command(cc, append(args, flags...)...)
	cmd.Stdin = bytes.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("compiling %s without a device: %v\n%s", name, err, out)
	}
	library, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	built.libraries[key] = library
	return path
}
