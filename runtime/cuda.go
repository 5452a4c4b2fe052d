package runtime

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// DeviceEnv names the environment variable that says which GPU the CUDA engine
// uses, by its number; unset means the first.
const DeviceEnv = "LACUNA_CUDA_DEVICE"

// CUDA returns the engine that runs kernels on an NVIDIA GPU: LLVM makes PTX of
// them, the driver machine code. The error is an *UnavailableError if there is no
// driver, no device, or no LLVM.
func CUDA() (Engine, error) {
	e, err := openCUDA()
	if err != nil {
		return nil, err
	}
	return e, nil
}

// openCUDA opens the device once for the process.
var openCUDA = sync.OnceValues(func() (*cudaEngine, error) {
	driver, err := cuda.Open()
	if err != nil {
		return nil, &UnavailableError{Engine: CUDAName, Err: err}
	}
	ordinal := 0
	if text := os.Getenv(DeviceEnv); text != "" {
		if ordinal, err = strconv.Atoi(text); err != nil || ordinal < 0 {
			return nil, &UnavailableError{Engine: CUDAName, Err: fmt.Errorf("%s is %q", DeviceEnv, text), Hint: "set it to the number of a GPU, such as 0"}
		}
	}
	device, err := driver.Device(ordinal)
	if err != nil {
		return nil, &UnavailableError{Engine: CUDAName, Err: err}
	}
	return newCUDAEngine(driver, device, ondisk.Disk())
})

// newCUDAEngine makes the engine for a device that is open, with a given cache on disk;
// nil for none. LLVM is opened when there is something to compile.
func newCUDAEngine(driver *cuda.Driver, device *cuda.Device, disk *diskcache.Cache) (*cudaEngine, error) {
	build := ondisk.ExecutableID()
	if build == "" {
		disk = nil
	}
	h, err := ondisk.FindHost(disk, build, missingCPU)
	if err != nil {
		return nil, missingLLVM(CUDAName, err)
	}
	info := device.Info()
	target, err := ptx.CPU(info.Capability.Major*10+info.Capability.Minor, h.Version.Major)
	if err != nil {
		return nil, &UnavailableError{Engine: CUDAName, Err: err}
	}
	e := &cudaEngine{
		device: device, driver: driver, host: h, target: llvm.Target{Triple: ptx.Triple, CPU: target}, disk: disk, build: build,
		spare: cuda.NewSpare(int64(info.Memory / spareShare)),
	}
	goruntime.AddCleanup(e, func(spare *cuda.Spare) { go spare.Flush() }, e.spare)
	_, target = e.raise("")
	_, e.early = ptx.StartEarly("", target)
	e.later.ctx, e.later.stop = context.WithCancel(context.Background())
	return e, nil
}

// raise says of PTX as LLVM makes it that it is for the device, and returns the architecture.
func (e *cudaEngine) raise(assembly string) (string, string) {
	c, v := e.device.Info().Capability, e.driver.Version()
	return ptx.Raise(assembly, e.target.CPU, c.Major*10+c.Minor, [2]int{v.Major, v.Minor})
}

// spareShare is what part of a device's memory is kept for results to come, at most.
const spareShare = 64

// perThreadStream is the last of the handles that stand for a default stream.
const perThreadStream = 2

type cudaEngine struct {
	driver *cuda.Driver
	device *cuda.Device
	host   *ondisk.Host
	target llvm.Target
	disk   *diskcache.Cache // nil: nothing is kept
	build  string           // ondisk.ExecutableID
	queues idleQueues
	spare  *cuda.Spare
	// compiler is for the first use of the driver's.
	compiler sync.Once
	early    bool // blocks of a kernel start before the one before it is done
	later    improvements
	// stream is that of the program that the engine was made for; nil: each run takes
	// one of queues.
	stream *cuda.Stream
	key    string // tells engines of other contexts apart; "" for the process's own
}

func (*cudaEngine) Name() string { return CUDAName }

func (e *cudaEngine) Fingerprint() string { return e.codeFingerprint() + e.key }

// codeFingerprint names what machine code depends on besides the program: code is the
// same in every context.
func (e *cudaEngine) codeFingerprint() string {
	return strings.Join([]string{CUDAName, "llvm", e.host.Version.String(), e.target.CPU,
		"driver", e.driver.Version().String(), e.device.Info().Capability.Target()}, " ")
}

func (e *cudaEngine) Compile(ctx context.Context, p *loop.Program) (*Executable, error) {
	return compileGrid(ctx, e.Name(), p, e)
}

// cudaKernel is a function on the device. The code becomes better once (tiers.go).
type cudaKernel struct {
	entry   atomic.Pointer[cuda.Function]
	first   *cuda.Function // stays loaded: it may still run
	threads uint32
}
