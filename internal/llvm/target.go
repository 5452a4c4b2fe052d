package llvm

import (
	"fmt"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/machine"
)

// Target says what machine to compile for. The zero Target is the host. A
// triple without CPU means the generic CPU of that triple.
type Target struct {
	Triple   string // such as "x86_64-pc-linux-gnu" or "nvptx64-nvidia-cuda"
	CPU      string // such as "znver4" or "sm_90"
	Features string // such as "+avx2,-avx512f"
}

// Host is the machine this process runs on, or the lesser one that machine.CPUEnv names. It
// belongs in the key of every cache of compiled code.
func (l *LLVM) Host() (Target, error) { return l.host() }

func (l *LLVM) findHost() (Target, error) {
	host := Target{
		Triple:   l.takeMessage(l.api.getDefaultTargetTriple()),
		CPU:      l.takeMessage(l.api.getHostCPUName()),
		Features: l.takeMessage(l.api.getHostCPUFeatures()),
	}
	if host.Triple == "" {
		return Target{}, l.failure("asking for the host", "it has no default target triple")
	}
	lesser, err := machine.Restricted()
	if err != nil {
		return Target{}, err
	}
	if lesser != "" {
		host.CPU, host.Features = lesser, machine.Without(host.Features)
	}
	return host, nil
}

// targetPrefixes gives for the start of a triple the name that LLVM's
// initialisation functions have for the target.
var targetPrefixes = []struct{ prefix, name string }{
	{"x86_64", "X86"}, {"amd64", "X86"}, {"i386", "X86"}, {"i486", "X86"}, {"i586", "X86"}, {"i686", "X86"},
	{"aarch64", "AArch64"}, {"arm64", "AArch64"},
	{"arm", "ARM"}, {"thumb", "ARM"},
	{"nvptx", "NVPTX"}, {"amdgcn", "AMDGPU"},
	{"riscv", "RISCV"}, {"loongarch", "LoongArch"},
	{"powerpc", "PowerPC"}, {"ppc", "PowerPC"}, {"s390x", "SystemZ"},
	{"wasm", "WebAssembly"}, {"mips", "Mips"}, {"sparc", "Sparc"},
}

// targetParts are the initialisation functions of a target. The parser of
// assembly is missing in some targets.
var targetParts = []struct {
	suffix   string
	optional bool
}{
	{suffix: "TargetInfo"}, {suffix: "Target"}, {suffix: "TargetMC"}, {suffix: "AsmPrinter"},
	{suffix: "AsmParser", optional: true},
}

// targetSet remembers the targets that are initialised.
type targetSet struct {
	handle uintptr // of the library
	mu     sync.Mutex
	ready  map[string]error
}

// initialise prepares the target of a triple, once.
func (s *targetSet) initialise(triple string) error {
	name := ""
	for _, t := range targetPrefixes {
		if strings.HasPrefix(triple, t.prefix) {
			name = t.name
			break
		}
	}
	if name == "" {
		return fmt.Errorf("unknown architecture in target triple %q: expected a triple such as x86_64-pc-linux-gnu or aarch64-linux-gnu", triple)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err, done := s.ready[name]
	if !done {
		err = s.call(name)
		if s.ready == nil {
			s.ready = map[string]error{}
		}
		s.ready[name] = err
	}
	return err
}

// call runs the initialisation functions of a target.
func (s *targetSet) call(name string) error {
	for _, part := range targetParts {
		function := "LLVMInitialize" + name + part.suffix
		address := symbolAddress(s.handle, function)
		switch {
		case address != 0:
			var initialise func()
			bindFunction(&initialise, address)
			initialise()
		case !part.optional:
			return fmt.Errorf("this LLVM library was built without the %s target (no %s)", name, function)
		}
	}
	return nil
}

// Values of LLVM's C enumerations.
const (
	relocPIC         = 2 // LLVMRelocPIC
	codeModelDefault = 0 // LLVMCodeModelDefault
)

// newMachine makes an LLVMTargetMachine; the caller disposes of it.
func (l *LLVM) newMachine(t Target, level Level) (uintptr, error) {
	const step = "preparing the target"
	if t == (Target{}) {
		host, err := l.Host()
		if err != nil {
			return 0, err
		}
		t = host
	}
	for _, text := range []string{t.Triple, t.CPU, t.Features} {
		if strings.ContainsRune(text, 0) {
			return 0, l.failure(step, fmt.Sprintf("zero byte in %q", text))
		}
	}
	if err := l.targets.initialise(t.Triple); err != nil {
		return 0, l.failure(step, err.Error())
	}
	var target, message uintptr
	if l.api.getTargetFromTriple(t.Triple, &target, &message) != 0 {
		return 0, l.failure(step, l.takeMessage(message))
	}
	// Position-independent code: a kernel may lie further than 2 GiB from the
	// C library it calls memset in, and an object may end in a shared library.
	tm := l.api.createTargetMachine(target, t.Triple, t.CPU, t.Features, level.codegen(), relocPIC, codeModelDefault)
	if tm == 0 {
		return 0, l.failure(step, fmt.Sprintf("no machine for %+v", t))
	}
	return tm, nil
}
