//go:build linux && (amd64 || arm64)

package runtime

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// This file tests what engines keep on disk and find there again (package ondisk), also by several processes.

// newDisk is an empty cache of the test's own.
func newDisk(t testing.TB) *diskcache.Cache {
	t.Helper()
	disk, err := diskcache.Open(t.TempDir(), 64<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(Flush)
	return disk
}

// mustCPU is an engine with a cache, as a new process would have it.
func mustCPU(t testing.TB, disk *diskcache.Cache) *cpuEngine {
	t.Helper()
	e, err := newCPU(disk)
	if err != nil {
		t.Skip(err)
	}
	return e.(*cpuEngine)
}

// checkSum compiles and runs sumProgram.
func checkSum(t testing.TB, e Engine) {
	t.Helper()
	x := mustCompile(t, e, sumProgram(t))
	b := x.NewBindings()
	b.Buffers[0], b.Scalars[0] = MemoryOf([]float64{1, 2, 3}), 3
	if got := SliceOf[float64](mustRun(t, x, b, Options{}).Buffers[2])[0]; got != 6 {
		t.Fatalf("got %v, want 6", got)
	}
	Flush()
}

// files lists the entries of a kind.
func files(t testing.TB, disk *diskcache.Cache, kind string) []diskcache.Entry {
	t.Helper()
	list, err := disk.List()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(e diskcache.Entry) bool { return e.Kind != kind })
}

// entryKey is the key of an entry.
func entryKey(t testing.TB, e diskcache.Entry) (key diskcache.Key) {
	t.Helper()
	if _, err := hex.Decode(key[:], []byte(e.Key)); err != nil {
		t.Fatal(err)
	}
	return key
}

// The second engine finds everything on disk and opens no LLVM.
func TestKnownKernelNeedsNoLLVM(t *testing.T) {
	disk := newDisk(t)
	first := mustCPU(t, disk)
	if first.host.Opened.Load() == nil {
		t.Fatal("an empty cache knew the host")
	}
	checkSum(t, first)
	if !filepath.IsAbs(first.host.Path) {
		t.Skip("LLVM is where only the dynamic loader finds it")
	}
	if n := len(files(t, disk, ondisk.ObjectKind)); n != 1 {
		t.Fatalf("%d objects on disk after one program, want 1", n)
	}
	second := mustCPU(t, disk)
	if a, b := first.Fingerprint(), second.Fingerprint(); a != b {
		t.Errorf("fingerprints %q and %q", a, b)
	}
	checkSum(t, second)
	if second.host.Opened.Load() != nil {
		t.Error("LLVM was opened for a program that is on disk")
	}
	if x := mustCompile(t, second, filterProgram(t)); x == nil || second.host.Opened.Load() == nil {
		t.Error("a program that is not on disk was compiled without LLVM")
	}
	Flush()
	if n := len(files(t, disk, ondisk.ObjectKind)); n != 2 {
		t.Errorf("%d objects on disk after two programs, want 2", n)
	}
}

// What is in the place of an object, but is none of this program, is compiled again
// and replaced.
func TestWrongObjectsAreReplaced(t *testing.T) {
	disk := newDisk(t)
	e := mustCPU(t, disk)
	checkSum(t, e)
	key := ondisk.ObjectKey(e.build, KeyOf(e, sumProgram(t)))
	good, ok := disk.Get(ondisk.ObjectKind, key)
	if !ok {
		t.Fatal("the object is not where it belongs")
	}
	mustCompile(t, e, filterProgram(t))
	Flush()
	other, ok := disk.Get(ondisk.ObjectKind, ondisk.ObjectKey(e.build, KeyOf(e, filterProgram(t))))
	if !ok {
		t.Fatal("the other object is not where it belongs")
	}
	for what, data := range map[string][]byte{
		"nothing": nil, "no object": []byte("no object"), "half an object": good[:len(good)/2], "another object": other,
	} {
		if err := disk.Put(ondisk.ObjectKind, key, data); err != nil {
			t.Fatal(err)
		}
		checkSum(t, e)
		if now, ok := disk.Get(ondisk.ObjectKind, key); !ok || !bytes.Equal(now, good) {
			t.Errorf("%s was not replaced", what)
		}
	}
}

// Records of hosts that say nothing, or speak of a library that has changed, are
// passed over.
func TestWrongHostsAreAskedAgain(t *testing.T) {
	disk := newDisk(t)
	checkSum(t, mustCPU(t, disk))
	list := files(t, disk, ondisk.HostKind)
	if len(list) != 1 {
		t.Skipf("%d records of the host: LLVM is where only the dynamic loader finds it", len(list))
	}
	key := entryKey(t, list[0])
	good, _ := disk.Get(ondisk.HostKind, key)
	var record ondisk.HostRecord
	if err := json.Unmarshal(good, &record); err != nil {
		t.Fatal(err)
	}
	changed, gone, empty := record, record, ondisk.HostRecord{}
	changed.Changed++
	gone.Path = "/nowhere/libLLVM.so"
	for what, r := range map[string]ondisk.HostRecord{"another time": changed, "another place": gone, "nothing": empty} {
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := disk.Put(ondisk.HostKind, key, data); err != nil {
			t.Fatal(err)
		}
		if e := mustCPU(t, disk); e.host.Opened.Load() == nil {
			t.Errorf("%s: LLVM was not asked", what)
		}
		Flush()
		if now, _ := disk.Get(ondisk.HostKind, key); !bytes.Equal(now, good) {
			t.Errorf("%s: the record was not replaced", what)
		}
	}

	// A record that is wrong about the same file is an error, not wrong code.
	record.Target.CPU += "x"
	data, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	if err := disk.Put(ondisk.HostKind, key, data); err != nil {
		t.Fatal(err)
	}
	if _, err := mustCPU(t, disk).Compile(context.Background(), sumProgram(t)); err == nil || !strings.Contains(err.Error(), "cache clean") {
		t.Errorf("error %v", err)
	}
}

// The choice of another LLVM is another host.
func TestOtherLLVMIsAnotherHost(t *testing.T) {
	disk := newDisk(t)
	var prints []string
	for _, c := range llvm.Find() {
		if !filepath.IsAbs(c.Path) {
			continue
		}
		t.Setenv(llvm.EnvVar, c.Path)
		first := mustCPU(t, disk)
		checkSum(t, first)
		second := mustCPU(t, disk)
		if second.host.Opened.Load() != nil || second.host.Path != c.Path || first.Fingerprint() != second.Fingerprint() {
			t.Errorf("%s: the record is of %s", c.Path, second.host.Path)
		}
		prints = append(prints, second.Fingerprint())
	}
	if len(prints) < 2 {
		t.Skip("one LLVM only")
	}
	t.Setenv(llvm.EnvVar, "none")
	if _, err := newCPU(disk); err == nil {
		t.Error("an LLVM that is switched off was found on disk")
	}
}

// A process finds what another has compiled.
func TestProcessesShareKernels(t *testing.T) {
	const child = "LACUNA_TEST_DISK_CHILD"
	if os.Getenv(child) != "" {
		e, err := CPU()
		if err != nil {
			t.Fatal(err)
		}
		checkSum(t, e)
		if opened := e.(*cpuEngine).host.Opened.Load() != nil; opened != (os.Getenv(child) == "first") {
			t.Errorf("LLVM opened: %v", opened)
		}
		return
	}
	mustCPU(t, nil)
	dir := t.TempDir()
	for _, which := range []string{"first", "second", "third"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcessesShareKernels$")
		cmd.Env = append(os.Environ(), child+"="+which, diskcache.DirVar+"="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s process: %v\n%s", which, err, out)
		}
	}
}

// A cache that cannot be written to is no obstacle.
func TestCacheThatCannotBeWritten(t *testing.T) {
	disk := newDisk(t)
	if err := os.RemoveAll(disk.Dir()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(disk.Dir(), nil, 0o600); err != nil { // a file where the folder was
		t.Fatal(err)
	}
	checkSum(t, mustCPU(t, disk))
}

// BenchmarkKnownKernel is the time from nothing to the result of a program that is on
// disk: what a second process takes.
func BenchmarkKnownKernel(b *testing.B) {
	disk := newDisk(b)
	checkSum(b, mustCPU(b, disk))
	for b.Loop() {
		checkSum(b, mustCPU(b, disk))
	}
}
