package runtime

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestDescribe(t *testing.T) {
	d := Describe()
	if len(d.Engines) != 3 || d.Engines[0].Name != InterpName || d.Engines[0].Err != nil {
		t.Errorf("engines %v, want the interpreter first and ready", d.Engines)
	}
	if d.Threads < 1 || d.Processors < 1 || d.MemoryLimit <= 0 || d.LimitSource == "" {
		t.Errorf("got %+v", d)
	}
	if (d.LLVM == "") != (d.Engines[1].Err != nil) {
		t.Errorf("LLVM %q, but the CPU engine's error is %v", d.LLVM, d.Engines[1].Err)
	}
}

func TestDescribeWithoutLLVM(t *testing.T) {
	t.Setenv("LACUNA_LLVM", "none")
	d := Describe()
	if err := d.Engines[1].Err; err == nil || d.LLVM != "" || !strings.Contains(err.Error(), "install") {
		t.Errorf("engine error %v, LLVM %q", err, d.LLVM)
	}
}

func TestDescriptionString(t *testing.T) {
	d := Description{
		Engines: []EngineInfo{{"interp", nil}, {"cpu", errors.New("first\nsecond")}, {"cuda", &UnavailableError{Engine: "cuda", Err: ErrNotSupported, Hint: "use the CPU"}}},
		LLVM:    "19.1.7", LLVMPath: "/lib/libLLVM.so", LLVMTarget: "x86_64-linux-gnu", TargetCPU: "znver4",
		CPU: "A Processor", Processors: 8, Threads: 4, MemoryLimit: 3 << 30, LimitSource: "somewhere",
		GoVersion: "go1.26", Platform: "linux/amd64",
	}
	const want = `engine        interp  ready
engine        cpu     missing: first
                      second
engine        cuda    missing: not supported yet; use the CPU
llvm          19.1.7, /lib/libLLVM.so
target        x86_64-linux-gnu, znver4
processor     A Processor
threads       4 of 8 logical processors (GOMAXPROCS)
memory        3.0 GiB for a run (somewhere)
platform      linux/amd64, go1.26
`
	if got := d.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestProcessorName(t *testing.T) {
	root := fstest.MapFS{"proc/cpuinfo": {Data: []byte("processor\t: 0\nmodel\t\t: 85\nmodel name\t: Good Processor @ 2 GHz\n")}}
	if got := processorName(root); got != "Good Processor @ 2 GHz" {
		t.Errorf("got %q", got)
	}
	if got := processorName(fstest.MapFS{}); got != "" {
		t.Errorf("got %q where there is nothing to read", got)
	}
}
