package object_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/internal/object"
)

// want is what the program in testdata/run prints: the function, its arguments, what
// it returns and what it leaves in memory.
const want = `jumps 0 5 2 15 [-1 -1 -1 -1]
jumps 1 5 2 10 [-1 -1 -1 -1]
jumps 2 5 2 2 [2 -1 -1 -1]
jumps 3 5 2 2 [-1 -1 -1 -1]
jumps 4 5 3 9 [-1 -1 -1 -1]
jumps 5 5 3 6 [-1 -1 -1 -1]
jumps 6 5 3 -1 [-1 -1 -1 -1]
tables 0 0 0 4 [-1 -1 -1 -1]
tables 4 1 0 121 [-1 -1 -1 -1]
tables 7 2 0 -19 [-1 -1 -1 -1]
constants 2 0 0 1182 [-1 -1 -1 -1]
constants -3 0 0 -1773 [-1 -1 -1 -1]
elsewhere 1 3 2 72 [0 0 0 -1]
zeros 3 0 0 0 [0 0 0 -1]
`

// eachLLVM runs a test with every LLVM that is installed.
func eachLLVM(t *testing.T, test func(*testing.T, *llvm.LLVM)) {
	seen := map[llvm.Version]bool{}
	for _, c := range llvm.Find() {
		if l, err := llvm.Load(c.Path); err == nil && !seen[l.Version()] {
			seen[l.Version()] = true
			t.Run(fmt.Sprint("llvm", l.Version().Major), func(t *testing.T) { test(t, l) })
		}
	}
	if len(seen) == 0 {
		t.Skip("no LLVM found: " + llvm.Install)
	}
}

// emit compiles a file of testdata.
func emit(t testing.TB, l *llvm.LLVM, file string, o llvm.Options) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	data, err := l.EmitObject(string(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// buildRunner builds the program in testdata/run.
func buildRunner(t *testing.T, arch string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command("go", "build", "-o", program, "./testdata/run")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// checkRun loads what LLVM makes for a target with the program in testdata/run, and
// compares what the functions return.
func checkRun(t *testing.T, l *llvm.LLVM, target llvm.Target, command ...string) {
	t.Helper()
	for _, level := range []llvm.Level{llvm.O3, llvm.O0} {
		dir := t.TempDir()
		args := command
		for _, name := range []string{"library", "kernels"} {
			path := filepath.Join(dir, name+".o")
			if err := os.WriteFile(path, emit(t, l, name+".ll", llvm.Options{Target: target, Level: level}), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, path)
		}
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("level %d: %v\n%s", level, err, out)
		}
	}
}

func TestLoadedCodeRuns(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("objects are loaded on Linux, on x86-64 and 64-bit Arm")
	}
	program := buildRunner(t, runtime.GOARCH)
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
		host, err := l.Host()
		if err != nil {
			t.Fatal(err)
		}
		checkRun(t, l, host, program)
		checkRun(t, l, llvm.Target{Triple: host.Triple}, program) // the plainest processor
	})
}

// On Arm, in an emulator if there is one.
func TestLoadedCodeRunsOnArm(t *testing.T) {
	emulator := ""
	for _, name := range []string{"qemu-aarch64-static", "qemu-aarch64"} {
		if path, err := exec.LookPath(name); err == nil {
			emulator = path
		}
	}
	if emulator == "" {
		t.Skip("no emulator of Arm (Debian has one in qemu-user-static)")
	}
	program := buildRunner(t, "arm64")
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
		checkRun(t, l, llvm.Target{Triple: "aarch64-unknown-linux-gnu"}, emulator, program)
		checkRun(t, l, llvm.Target{Triple: "aarch64-unknown-linux-gnu", CPU: "neoverse-v1"}, emulator, program)
	})
}

// sample is an object for this machine, by the LLVM that would be used.
func sample(t testing.TB, file string) []byte {
	t.Helper()
	l, err := llvm.Load("")
	if err != nil {
		t.Skip(err)
	}
	return emit(t, l, file, llvm.Options{})
}

func TestNoMemoryIsWritableAndExecutable(t *testing.T) {
	code, err := object.Load(sample(t, "library.ll"), func(string) uintptr { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	defer code.Close()
	fn, err := code.Func("seven")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	found := false
	for line := range strings.Lines(string(maps)) {
		var start, end uintptr
		var mode string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &start, &end, &mode); err != nil {
			t.Fatal(err)
		}
		if start <= fn && fn < end {
			if found = true; mode != "r-xp" {
				t.Errorf("code is in memory with mode %s, want r-xp", mode)
			}
		}
	}
	if !found {
		t.Errorf("no mapping has the function at %#x", fn)
	}
}

func TestFunc(t *testing.T) {
	code, err := object.Load(sample(t, "library.ll"), func(string) uintptr { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "eight"} {
		if _, err := code.Func(name); err == nil {
			t.Errorf("there is a function %q", name)
		}
	}
	for range 2 {
		if err := code.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	l, err := llvm.Load("")
	if err != nil {
		t.Skip(err)
	}
	for what, ir := range map[string]string{
		"a variable":                "@v = global i64 3\ndefine i64* @f() {\n  ret i64* @v\n}",
		"a variable that is zero":   "@v = global i64 0\ndefine i64* @f() {\n  ret i64* @v\n}",
		"a variable of the thread":  "@v = thread_local global i64 3\ndefine i64 @f() {\n  %x = load i64, i64* @v\n  ret i64 %x\n}",
		"a variable of another":     "@v = external global i64\ndefine i64 @f() {\n  %x = load i64, i64* @v\n  ret i64 %x\n}",
		"a function that is absent": "declare i64 @g()\ndefine i64 @f() {\n  %x = call i64 @g()\n  ret i64 %x\n}",
	} {
		data, err := l.EmitObject(ir, llvm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := object.Load(data, func(string) uintptr { return 0 }); !errors.Is(err, object.ErrUnsupported) {
			t.Errorf("%s: error %v, want ErrUnsupported", what, err)
		}
	}
	other, err := l.EmitObject("define i64 @f() {\n  ret i64 1\n}", llvm.Options{Target: llvm.Target{Triple: "riscv64-unknown-linux-gnu"}})
	if err != nil {
		t.Skip(err)
	}
	if _, err := object.Load(other, nil); !errors.Is(err, object.ErrUnsupported) || !strings.Contains(err.Error(), "RISC") {
		t.Errorf("an object of another processor: error %v", err)
	}
}

// TestDamage cuts an object short everywhere and turns its bytes over: loading it
// gives code or an error, but never a panic.
func TestDamage(t *testing.T) {
	data := sample(t, "kernels.ll")
	load := func(data []byte) {
		if code, err := object.Load(data, func(string) uintptr { return 16 }); err == nil {
			code.Close()
		}
	}
	for n := range data {
		load(data[:n])
	}
	for i := range data {
		for _, bits := range []byte{0xff, 0x80, 1} {
			damaged := bytes.Clone(data)
			damaged[i] ^= bits
			load(damaged)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, file := range []string{"kernels.ll", "library.ll"} {
		f.Add(sample(f, file))
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		if code, err := object.Load(data, func(string) uintptr { return 16 }); err == nil {
			code.Close()
		}
	})
}

// The test of every kind of relocation tests what is in the objects.
func TestSampleHasRelocations(t *testing.T) {
	f, err := elf.NewFile(bytes.NewReader(sample(t, "kernels.ll")))
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{".rela.text", ".rela.data.rel.ro"} {
		if f.Section(name) == nil {
			t.Errorf("no section %s in the object", name)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	data := sample(b, "kernels.ll")
	for b.Loop() {
		code, err := object.Load(data, func(string) uintptr { return 16 })
		if err != nil {
			b.Fatal(err)
		}
		if err := code.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
