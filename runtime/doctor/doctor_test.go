package doctor

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/internal/cuda/fakecuda"
	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/runtime"
)

func TestDescribe(t *testing.T) {
	d := Describe()
	t.Logf("\n%s", d) // what machine a pack of tests ran on
	if len(d.Engines) != 3 || d.Engines[0].Name != runtime.InterpName || d.Engines[0].Err != nil {
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

func TestDescribeGPUs(t *testing.T) {
	t.Setenv(cuda.EnvVar, fakecuda.Build(t))
	var d Description // not Describe, whose engine would stay for the other tests
	d.describeGPUs()
	if d.CUDA != "12.8" || d.CUDAErr != nil || len(d.GPUs) != 2 || d.GPUs[1].Name != "Fake 1" || d.GPUs[1].Free != 8<<30 || d.GPUs[1].Err != nil {
		t.Errorf("got %+v", d)
	}
}

func TestDescribeWithoutGPU(t *testing.T) {
	t.Setenv(cuda.EnvVar, "/no/such/libcuda.so.1")
	var d Description
	d.describeGPUs()
	for _, engines := range [][]EngineInfo{nil, {{Name: runtime.CUDAName, Err: &runtime.UnavailableError{Engine: runtime.CUDAName, Err: d.CUDAErr}}}} {
		d.Engines = engines
		text := d.String()
		for _, want := range []string{"missing: no driver of CUDA 12.0 or newer was found\n", "tried /no/such/libcuda.so.1: ", cuda.Install} {
			if d.CUDA != "" || strings.Count(text, want) != 1 {
				t.Errorf("%q is not, or twice, in\n%s", want, text)
			}
		}
	}
}

func TestDescriptionString(t *testing.T) {
	d := Description{
		Engines: []EngineInfo{{"interp", nil}, {"cpu", errors.New("first\nsecond")}, {"cuda", &runtime.UnavailableError{Engine: "cuda", Err: runtime.ErrNotSupported, Hint: "use the CPU"}}},
		LLVM:    "19.1.7", LLVMPath: "/lib/libLLVM.so", LLVMTarget: "x86_64-linux-gnu", TargetCPU: "znver4",
		CUDA: "12.8", CUDAPath: "libcuda.so.1", GPUs: []GPUInfo{
			{Name: "A GPU", UUID: "GPU-1", Capability: "9.0", Multiprocessors: 132, Clock: 1980e6, Memory: 8 << 30, Free: 7 << 30,
				MemoryClock: 3201e6, MemoryBusWidth: 6144, ECC: true, L2: 60 << 20, Shared: 227 << 10},
			{Name: "Another", UUID: "GPU-2", Capability: "7.0", Multiprocessors: 80, Memory: 4 << 30, L2: 6 << 20, Shared: 96 << 10, Err: errors.New("no")},
		},
		CPU: "A Processor", Caches: machine.Caches{L1: 48 << 10, L2: 1 << 20, L3: 16 << 20, Shared: 8}, Processors: 8, Threads: 4, MemoryLimit: 3 << 30, LimitSource: "somewhere",
		Cache:     CacheInfo{Dir: "/home/u/.cache/lacuna", Kernels: 3, Bytes: 12 << 10, Limit: 512 << 20},
		GoVersion: "go1.26", Platform: "linux/amd64",
	}
	const want = `engine        interp  ready
engine        cpu     missing: first
                      second
engine        cuda    missing: not supported yet; use the CPU
llvm          19.1.7, /lib/libLLVM.so
target        x86_64-linux-gnu, znver4 (LACUNA_CPU names a lesser one)
cuda          12.8, libcuda.so.1
gpu           A GPU, compute capability 9.0, GPU-1
              132 multiprocessors at up to 1980 MHz, 60.0 MiB of L2 cache, 227.0 KiB of shared memory for a block
              8.0 GiB of memory at up to 3201 MHz, 6144 bits wide, ECC, 7.0 GiB free
gpu           Another, compute capability 7.0, GPU-2
              80 multiprocessors, 6.0 MiB of L2 cache, 96.0 KiB of shared memory for a block
              4.0 GiB of memory
              cannot be used: no
processor     A Processor
caches        L1 48.0 KiB, L2 1.0 MiB, L3 16.0 MiB for 8 (LACUNA_CACHES corrects them)
threads       4 of 8 logical processors (GOMAXPROCS)
memory        3.0 GiB for a run (somewhere)
cache         /home/u/.cache/lacuna, 3 kernels, 12.0 KiB of at most 512.0 MiB
platform      linux/amd64, go1.26
`
	if got := d.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	d.CachesErr = errors.New("wrong")
	if got := d.String(); !strings.Contains(got, "\ncaches        L1 48.0 KiB, L2 1.0 MiB, L3 16.0 MiB for 8, not corrected: wrong\n") {
		t.Errorf("got\n%s", got)
	}
	d.Cache.Err = errors.New("switched off")
	if got := d.String(); !strings.Contains(got, "\ncache         compiled kernels are not kept on disk: switched off\n") {
		t.Errorf("got\n%s", got)
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
