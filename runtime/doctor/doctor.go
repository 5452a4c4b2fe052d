// Package doctor looks at the machine, for people who ask why something is slow or missing.
package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/admission"
	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// Description is what was found on the machine, for people who ask
// why something is slow or missing.
type Description struct {
	Engines []EngineInfo // interp, cpu, cuda

	LLVM        string // version, "" if there is none
	LLVMPath    string // the file loaded
	LLVMTarget  string // triple that LLVM compiles for
	TargetCPU   string // the processor as LLVM calls it, such as "znver4"
	CPUFeatures string // as LLVM lists them

	CUDA     string // the newest version of CUDA that the driver supports, "" if there is no driver that works
	CUDAPath string // the driver's library
	CUDAErr  error  // why there is no GPU to use
	GPUs     []GPUInfo

	CPU         string // the processor's own name, "" if not known
	Caches      machine.Caches
	CachesErr   error  // what is wrong with machine.CachesEnv; Caches are then as the machine says
	Processors  int    // logical processors
	Threads     int    // used by default: GOMAXPROCS
	MemoryLimit int64  // bytes a run may allocate by default, as of now
	LimitSource string // where that comes from
	Cache       CacheInfo
	GoVersion   string
	Platform    string // such as "linux/amd64"
}

// EngineInfo is the state of one engine.
type EngineInfo struct {
	Name string
	Err  error // why it cannot be used, nil if it can
}

// GPUInfo describes a GPU.
type GPUInfo struct {
	Name, UUID      string
	Capability      string // compute capability, such as "9.0"
	Multiprocessors int
	Clock           int64 // of the multiprocessors at most, Hz; 0 if not known
	Memory, Free    int64 // bytes
	MemoryClock     int64 // at most, Hz; 0 if not known
	MemoryBusWidth  int   // bits; 0 if not known
	ECC             bool  // errors in memory are corrected
	L2, Shared      int64 // bytes of cache, and of shared memory that a block may have
	Err             error // why it cannot be used, nil if it can; then Free is not known
}

// CacheInfo is the state of the cache on disk.
type CacheInfo struct {
	Err     error  // why there is none, nil if there is one
	Dir     string // the folder
	Kernels int    // programs whose machine code is kept
	Bytes   int64  // of all files
	Limit   int64  // of Bytes
}

// describeCache looks at the cache on disk.
func describeCache() (c CacheInfo) {
	disk, err := diskcache.Default()
	if err != nil {
		c.Err = err
		return c
	}
	c.Dir, c.Limit = disk.Dir(), disk.Max()
	if ondisk.ExecutableID() == "" {
		c.Err = errors.New("nothing is kept by a program that cannot be told from others (Linux executables can)")
		return c
	}
	list, err := disk.List()
	c.Err = err
	for _, e := range list {
		c.Bytes += e.Size
		if e.Kind == ondisk.ObjectKind || e.Kind == ondisk.GPUKind {
			c.Kernels++
		}
	}
	return c
}

// Describe looks at the machine. Where there are GPUs it opens each of them,
// which takes some tenths of a second.
func Describe() Description {
	var limit admission.Account
	limit.Settle(0, admission.Read())
	caches, cachesErr := machine.HostCaches()
	d := Description{
		CPU:         processorName(os.DirFS("/")),
		Caches:      caches,
		CachesErr:   cachesErr,
		Processors:  goruntime.NumCPU(),
		Threads:     goruntime.GOMAXPROCS(0),
		MemoryLimit: limit.Limit,
		LimitSource: limit.Source,
		Cache:       describeCache(),
		GoVersion:   goruntime.Version(),
		Platform:    goruntime.GOOS + "/" + goruntime.GOARCH,
	}
	for _, name := range []string{runtime.InterpName, runtime.CPUName, runtime.CUDAName} {
		e, err := runtime.EngineByName(name, nil)
		d.Engines = append(d.Engines, EngineInfo{name, err})
		if h, ok := runtime.HostOf(e); ok {
			d.LLVM, d.LLVMPath = h.Version.String(), h.Path
			d.LLVMTarget, d.TargetCPU, d.CPUFeatures = h.Target.Triple, h.Target.CPU, h.Target.Features
		}
	}
	d.describeGPUs()
	return d
}

// describeGPUs looks for GPUs.
func (d *Description) describeGPUs() {
	driver, err := cuda.Open()
	if err != nil {
		d.CUDAErr = err
		return
	}
	d.CUDA, d.CUDAPath = driver.Version().String(), driver.Path()
	devices, err := driver.Devices()
	d.CUDAErr = err
	for _, info := range devices {
		g := GPUInfo{
			Name: info.Name, UUID: info.UUID, Capability: info.Capability.String(),
			Multiprocessors: info.Multiprocessors, Clock: info.Clock,
			Memory: int64(info.Memory), MemoryClock: info.MemoryClock, MemoryBusWidth: info.MemoryBusWidth, ECC: info.ECC,
			L2: int64(info.L2), Shared: int64(info.MaxSharedOptIn),
		}
		g.Free, g.Err = freeMemory(driver, info.Ordinal)
		d.GPUs = append(d.GPUs, g)
	}
}

// freeMemory opens a GPU, which tells whether it can be used, and returns the
// bytes free in its memory.
func freeMemory(driver *cuda.Driver, ordinal int) (int64, error) {
	device, err := driver.Device(ordinal)
	if err != nil {
		return 0, err
	}
	defer device.Close()
	use, err := device.MemoryUse()
	return int64(use.Free), err
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
			line("engine", "%-6s  missing: %s", e.Name, indent(runtime.Reason(e.Err), 22))
		}
	}
	if d.LLVM != "" {
		line("llvm", "%s, %s", d.LLVM, d.LLVMPath)
		line("target", "%s, %s (%s names a lesser one)", d.LLVMTarget, d.TargetCPU, machine.CPUEnv)
	}
	if d.CUDA != "" {
		line("cuda", "%s, %s", d.CUDA, d.CUDAPath)
	}
	if d.CUDAErr != nil && !d.told(d.CUDAErr) {
		line("gpu", "missing: %s", indent(d.CUDAErr.Error(), 14))
	}
	for _, g := range d.GPUs {
		line("gpu", "%s", indent(g.String(), 14))
	}
	if d.CPU != "" {
		line("processor", "%s", d.CPU)
	}
	if d.CachesErr == nil {
		line("caches", "%s (%s corrects them)", d.Caches, machine.CachesEnv)
	} else {
		line("caches", "%s, not corrected: %v", d.Caches, d.CachesErr)
	}
	line("threads", "%d of %d logical processors (GOMAXPROCS)", d.Threads, d.Processors)
	line("memory", "%s for a run (%s)", units.FormatBytes(d.MemoryLimit), d.LimitSource)
	if c := d.Cache; c.Err != nil {
		line("cache", "compiled kernels are not kept on disk: %v", c.Err)
	} else {
		line("cache", "%s, %d kernels, %s of at most %s", c.Dir, c.Kernels, units.FormatBytes(c.Bytes), units.FormatBytes(c.Limit))
	}
	line("platform", "%s, %s", d.Platform, d.GoVersion)
	return b.String()
}

// told reports whether an engine is missing for this very reason.
func (d Description) told(err error) bool {
	return slices.ContainsFunc(d.Engines, func(e EngineInfo) bool {
		return e.Err != nil && strings.Contains(e.Err.Error(), err.Error())
	})
}

// String is the description of a GPU on several lines.
func (g GPUInfo) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, compute capability %s, %s\n", g.Name, g.Capability, g.UUID)
	fmt.Fprintf(&b, "%d multiprocessors%s, %s of L2 cache, %s of shared memory for a block\n",
		g.Multiprocessors, atClock(g.Clock), units.FormatBytes(g.L2), units.FormatBytes(g.Shared))
	fmt.Fprintf(&b, "%s of memory%s", units.FormatBytes(g.Memory), atClock(g.MemoryClock))
	if g.MemoryBusWidth > 0 {
		fmt.Fprintf(&b, ", %d bits wide", g.MemoryBusWidth)
	}
	if g.ECC {
		b.WriteString(", ECC")
	}
	if g.Err != nil {
		fmt.Fprintf(&b, "\ncannot be used: %v", g.Err)
	} else {
		fmt.Fprintf(&b, ", %s free", units.FormatBytes(g.Free))
	}
	return b.String()
}

// atClock says at which clock something runs, if that is known.
func atClock(hertz int64) string {
	if hertz == 0 {
		return ""
	}
	return fmt.Sprintf(" at up to %d MHz", hertz/1e6)
}

// indent puts so many spaces before the lines of a text after the first.
func indent(text string, by int) string {
	return strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", by))
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
