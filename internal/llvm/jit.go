package llvm

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
)

// Module is compiled code in executable memory.
type Module struct {
	llvm *LLVM

	mu    sync.Mutex
	jit   uintptr // LLVMOrcLLJITRef; 0 once closed
	logID uintptr
	log   *messageLog
}

// symbol is a function of the C library that linked code may call.
type symbol struct {
	name    string
	address uintptr
}

// runtimeNames are the functions that LLVM may call where the IR has none: the
// optimiser makes memset of a loop that stores zeros, and machines older than
// SSE4.1 round with the C library; on Windows functions with much on the stack look whether it is there.
var runtimeNames = []string{
	"memcpy", "memmove", "memset", "bcmp", "memcmp", "strlen", "wcslen",
	"ceil", "ceilf", "floor", "floorf", "trunc", "truncf", "rint", "rintf", "sqrt", "sqrtf",
	"__chkstk",
}

// systemLibraries are where those functions are that the process does not have.
var systemLibraries = map[string][]string{
	"linux": {"libm.so.6"}, "darwin": {"/usr/lib/libSystem.B.dylib"}, "windows": {"ucrtbase.dll", "msvcrt.dll", "ntdll.dll"},
}

// runtimeSymbols finds the functions of runtimeNames in this process. Those
// that a C library lacks are left out: code that needs one fails to link.
var runtimeSymbols = sync.OnceValue(func() []symbol {
	libraries := []uintptr{wholeProcess}
	for _, name := range systemLibraries[runtime.GOOS] {
		if library, err := openLibrary(name); err == nil {
			libraries = append(libraries, library)
		}
	}
	var symbols []symbol
	for _, name := range runtimeNames {
		for _, library := range libraries {
			if address := symbolAddress(library, name); address != 0 {
				symbols = append(symbols, symbol{name, address})
				break
			}
		}
	}
	return symbols
})

// RuntimeSymbol returns the address of a function of the C library that compiled
// code may call; 0 if there is none of that name. It needs no LLVM.
func RuntimeSymbol(name string) uintptr {
	for _, s := range runtimeSymbols() {
		if s.name == name {
			return s.address
		}
	}
	return 0
}

// symbolPair is LLVMOrcCSymbolMapPair: a name and an evaluated symbol.
type symbolPair struct {
	name    uintptr // LLVMOrcSymbolStringPoolEntryRef; owned by the callee
	address uint64
	flags   uint8 // LLVMJITSymbolFlags: generic flags, then those of the target
	_       [7]byte
}

const (
	symbolExported = 1 << 0 // LLVMJITSymbolGenericFlagsExported
	symbolCallable = 1 << 2 // LLVMJITSymbolGenericFlagsCallable
)

// Link makes the functions of an object file callable in this process. The
// object must come from EmitObject for this machine, by any version of LLVM.
func (l *LLVM) Link(object []byte) (*Module, error) {
	m := &Module{llvm: l}
	m.logID, m.log = l.diags.newLog()
	err := l.guard("linking", func() error {
		if err := m.start(); err != nil {
			return err
		}
		// The JIT takes the buffer over.
		dylib := l.api.lljitGetMainJITDylib(m.jit)
		return l.takeError("linking", l.api.lljitAddObjectFile(m.jit, dylib, l.newBuffer(object, "kernel.o")))
	})
	if err != nil {
		return nil, joinErrors(err, m.Close())
	}
	return m, nil
}

// start makes the module's JIT and the C functions known to it.
func (m *Module) start() error {
	l := m.llvm
	const step = "starting the JIT"
	machine, err := l.newMachine(Target{}, O3)
	if err != nil {
		return err
	}
	builder := l.api.createLLJITBuilder()
	l.api.lljitBuilderSetTarget(builder, l.api.jitTargetFromMachine(machine)) // both take over their argument
	if err := l.takeError(step, l.api.createLLJIT(&m.jit, builder)); err != nil {
		return err
	}
	l.api.sessionSetErrorReporter(l.api.lljitGetExecutionSession(m.jit), l.diags.onError, m.logID)
	symbols := runtimeSymbols()
	if len(symbols) == 0 {
		return nil
	}
	pairs := make([]symbolPair, len(symbols))
	for i, s := range symbols {
		pairs[i] = symbolPair{
			name:    l.api.lljitMangleAndIntern(m.jit, s.name),
			address: uint64(s.address),
			flags:   symbolExported | symbolCallable,
		}
	}
	unit := l.api.absoluteSymbols(&pairs[0], uintptr(len(pairs)))
	return l.takeError(step, l.api.jitDylibDefine(l.api.lljitGetMainJITDylib(m.jit), unit))
}

// Func returns the address of a function of the module, for Call. The address
// is good until Close.
func (m *Module) Func(name string) (uintptr, error) {
	const step = "linking"
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jit == 0 {
		return 0, m.llvm.failure(step, fmt.Sprintf("function %q was asked for after Close", name))
	}
	if name == "" || strings.ContainsRune(name, 0) {
		return 0, m.llvm.failure(step, fmt.Sprintf("%q is no name of a function", name))
	}
	var address uint64
	err := m.llvm.guard(step, func() error {
		err := m.llvm.takeError(step, m.llvm.api.lljitLookup(m.jit, &address, name))
		if err != nil {
			return m.llvm.failure(step, m.log.text(err.(*Error).Message))
		}
		return nil
	})
	return uintptr(address), err
}

// Close frees the code. No function of the module may run now or later. Closing
// a module again does nothing.
func (m *Module) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	jit := m.jit
	m.jit = 0
	if jit == 0 {
		return nil
	}
	const step = "freeing code"
	err := m.llvm.guard(step, func() error {
		return m.llvm.takeError(step, m.llvm.api.disposeLLJIT(jit))
	})
	m.llvm.diags.closeLog(m.logID)
	return err
}

// joinErrors returns the first error, with the second added if there is one.
func joinErrors(first, second error) error {
	if second == nil {
		return first
	}
	return fmt.Errorf("%w (and then %w)", first, second)
}
