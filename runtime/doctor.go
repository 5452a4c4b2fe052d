package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	goruntime "runtime"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
)

// Description is what this package found on the machine, for people who ask
// why something is slow or missing.
type Description struct {
	Engines []EngineInfo // interp, cpu, cuda

	LLVM        string // version, "" if there is none
	LLVMPath    string // the file loaded
	LLVMTarget  string // triple that LLVM compiles for
	TargetCPU   string // the processor as LLVM calls it, such as "znver4"
	CPUFeatures string // as LLVM lists them

	CPU         string // the processor's own name, "" if not known
	Processors  int    // logical processors
	Threads     int    // used by default: GOMAXPROCS
	MemoryLimit int64  // bytes a run may allocate by default, as of now
	LimitSource string // where that comes from
	GoVersion   string
	Platform    string // such as "linux/amd64"
}

// EngineInfo is the state of one engine.
type EngineInfo struct {
	Name string
	Err  error // why it cannot be used, nil if it can
}

// Describe looks at the machine.
func Describe() Description {
	var limit account
	limit.settle(0, readMachineMemory())
	d := Description{
		CPU:         processorName(os.DirFS("/")),
		Processors:  goruntime.NumCPU(),
		Threads:     goruntime.GOMAXPROCS(0),
		MemoryLimit: limit.limit,
		LimitSource: limit.source,
		GoVersion:   goruntime.Version(),
		Platform:    goruntime.GOOS + "/" + goruntime.GOARCH,
	}
	for _, name := range []string{InterpName, CPUName, CUDAName} {
		e, err := EngineByName(name, nil)
		d.Engines = append(d.Engines, EngineInfo{name, err})
		if e, ok := e.(*cpuEngine); ok {
			d.LLVM, d.LLVMPath = e.llvm.Version().String(), e.llvm.Path()
			d.LLVMTarget, d.TargetCPU, d.CPUFeatures = e.host.Triple, e.host.CPU, e.host.Features
		}
	}
	return d
}

// String is the description on several lines, one fact each, each line ending
// in a newline.
func (d Description) String() string {
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s  %s\n", what, fmt.Sprintf(format, args...))
	}
	for _, e := range d.Engines {
		if e.Err == nil {
			line("engine", "%-6s  ready", e.Name)
		} else {
			line("engine", "%-6s  missing: %s", e.Name, strings.ReplaceAll(reason(e.Err), "\n", "\n"+strings.Repeat(" ", 22)))
		}
	}
	if d.LLVM != "" {
		line("llvm", "%s, %s", d.LLVM, d.LLVMPath)
		line("target", "%s, %s", d.LLVMTarget, d.TargetCPU)
	}
	if d.CPU != "" {
		line("processor", "%s", d.CPU)
	}
	line("threads", "%d of %d logical processors (GOMAXPROCS)", d.Threads, d.Processors)
	line("memory", "%s for a run (%s)", formatBytes(d.MemoryLimit), d.LimitSource)
	line("platform", "%s, %s", d.Platform, d.GoVersion)
	return b.String()
}

// reason is the message of an error without the name of the engine, which the
// reader has just read.
func reason(err error) string {
	if u, ok := errors.AsType[*UnavailableError](err); ok {
		return u.reason()
	}
	return err.Error()
}

// processorName reads the processor's name from /proc under root.
func processorName(root fs.FS) string {
	text, err := fs.ReadFile(root, "proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		// x86 says "model name", some others "Processor" or "cpu".
		switch strings.TrimSpace(key) {
		case "model name", "Processor", "cpu":
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// missingLLVM is the error of the CPU engine for an LLVM that does not load.
func missingLLVM(err error) error {
	e := &UnavailableError{Engine: CPUName, Err: err}
	if nf, ok := errors.AsType[*llvm.NotFoundError](err); !ok || nf.Spec == "none" {
		e.Hint = fmt.Sprintf("install LLVM (%s) or name it in %s", llvm.Install, llvm.EnvVar)
	}
	return e
}
