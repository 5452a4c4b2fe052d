package llvm

import (
	"fmt"
	"strings"
)

// api holds the functions of the C API that the package uses. Handles are
// uintptr; so are the char* that LLVM wants back (see text.go). The field's
// signature is the C function's.
type api struct {
	// Core
	getVersion                  func(major, minor, patch *uint32) // since 16
	pointerTypeIsOpaque         func(uintptr) int32               // since 15
	contextCreate               func() uintptr
	contextDispose              func(ctx uintptr)
	contextSetDiagnosticHandler func(ctx, handler, data uintptr)
	getDiagInfoDescription      func(info uintptr) uintptr
	getDiagInfoSeverity         func(info uintptr) int32
	disposeMessage              func(message uintptr)
	installFatalErrorHandler    func(handler uintptr)
	disposeModule               func(mod uintptr)
	setTarget                   func(mod uintptr, triple string)
	setModuleDataLayout         func(mod, layout uintptr)
	printModuleToString         func(mod uintptr) uintptr
	verifyModule                func(mod uintptr, action int32, message *uintptr) int32
	parseIRInContext            func(ctx, buf uintptr, mod, message *uintptr) int32

	// Memory buffers
	createMemoryBufferCopy func(data *byte, size uintptr, name string) uintptr
	getBufferStart         func(buf uintptr) uintptr
	getBufferSize          func(buf uintptr) uintptr
	disposeMemoryBuffer    func(buf uintptr)

	// Targets
	getDefaultTargetTriple  func() uintptr
	getHostCPUName          func() uintptr
	getHostCPUFeatures      func() uintptr
	getTargetFromTriple     func(triple string, target, message *uintptr) int32
	createTargetMachine     func(target uintptr, triple, cpu, features string, level, reloc, model int32) uintptr
	disposeTargetMachine    func(tm uintptr)
	createTargetDataLayout  func(tm uintptr) uintptr
	disposeTargetData       func(layout uintptr)
	setAsmVerbosity         func(tm uintptr, on int32)
	targetMachineEmitBuffer func(tm, mod uintptr, fileType int32, message, buf *uintptr) int32

	// Passes
	createPassBuilderOptions  func() uintptr
	passOptionsSetSLP         func(opts uintptr, on int32)
	disposePassBuilderOptions func(opts uintptr)
	runPasses                 func(mod uintptr, passes string, tm, opts uintptr) uintptr
	getErrorMessage           func(err uintptr) uintptr
	disposeErrorMessage       func(message uintptr)

	// ORC
	createLLJITBuilder       func() uintptr
	lljitBuilderSetTarget    func(builder, target uintptr)
	jitTargetFromMachine     func(tm uintptr) uintptr
	createLLJIT              func(jit *uintptr, builder uintptr) uintptr
	disposeLLJIT             func(jit uintptr) uintptr
	lljitGetExecutionSession func(jit uintptr) uintptr
	sessionSetErrorReporter  func(session, reporter, data uintptr)
	lljitGetMainJITDylib     func(jit uintptr) uintptr
	lljitAddObjectFile       func(jit, dylib, buf uintptr) uintptr
	lljitLookup              func(jit uintptr, addr *uint64, name string) uintptr
	lljitMangleAndIntern     func(jit uintptr, name string) uintptr
	absoluteSymbols          func(pairs *symbolPair, count uintptr) uintptr
	jitDylibDefine           func(dylib, unit uintptr) uintptr
}

// binding says which C function goes where.
type binding struct {
	into     any
	name     string
	optional bool
}

// bindings is the table of the C functions behind a.
func (a *api) bindings() []binding {
	return []binding{
		{into: &a.getVersion, name: "LLVMGetVersion", optional: true},
		{into: &a.pointerTypeIsOpaque, name: "LLVMPointerTypeIsOpaque", optional: true},
		{into: &a.contextCreate, name: "LLVMContextCreate"},
		{into: &a.contextDispose, name: "LLVMContextDispose"},
		{into: &a.contextSetDiagnosticHandler, name: "LLVMContextSetDiagnosticHandler"},
		{into: &a.getDiagInfoDescription, name: "LLVMGetDiagInfoDescription"},
		{into: &a.getDiagInfoSeverity, name: "LLVMGetDiagInfoSeverity"},
		{into: &a.disposeMessage, name: "LLVMDisposeMessage"},
		{into: &a.installFatalErrorHandler, name: "LLVMInstallFatalErrorHandler"},
		{into: &a.disposeModule, name: "LLVMDisposeModule"},
		{into: &a.setTarget, name: "LLVMSetTarget"},
		{into: &a.setModuleDataLayout, name: "LLVMSetModuleDataLayout"},
		{into: &a.printModuleToString, name: "LLVMPrintModuleToString"},
		{into: &a.verifyModule, name: "LLVMVerifyModule"},
		{into: &a.parseIRInContext, name: "LLVMParseIRInContext"},

		{into: &a.createMemoryBufferCopy, name: "LLVMCreateMemoryBufferWithMemoryRangeCopy"},
		{into: &a.getBufferStart, name: "LLVMGetBufferStart"},
		{into: &a.getBufferSize, name: "LLVMGetBufferSize"},
		{into: &a.disposeMemoryBuffer, name: "LLVMDisposeMemoryBuffer"},

		{into: &a.getDefaultTargetTriple, name: "LLVMGetDefaultTargetTriple"},
		{into: &a.getHostCPUName, name: "LLVMGetHostCPUName"},
		{into: &a.getHostCPUFeatures, name: "LLVMGetHostCPUFeatures"},
		{into: &a.getTargetFromTriple, name: "LLVMGetTargetFromTriple"},
		{into: &a.createTargetMachine, name: "LLVMCreateTargetMachine"},
		{into: &a.disposeTargetMachine, name: "LLVMDisposeTargetMachine"},
		{into: &a.createTargetDataLayout, name: "LLVMCreateTargetDataLayout"},
		{into: &a.disposeTargetData, name: "LLVMDisposeTargetData"},
		{into: &a.setAsmVerbosity, name: "LLVMSetTargetMachineAsmVerbosity"},
		{into: &a.targetMachineEmitBuffer, name: "LLVMTargetMachineEmitToMemoryBuffer"},

		{into: &a.createPassBuilderOptions, name: "LLVMCreatePassBuilderOptions"},
		{into: &a.passOptionsSetSLP, name: "LLVMPassBuilderOptionsSetSLPVectorization"},
		{into: &a.disposePassBuilderOptions, name: "LLVMDisposePassBuilderOptions"},
		{into: &a.runPasses, name: "LLVMRunPasses"},
		{into: &a.getErrorMessage, name: "LLVMGetErrorMessage"},
		{into: &a.disposeErrorMessage, name: "LLVMDisposeErrorMessage"},

		{into: &a.createLLJITBuilder, name: "LLVMOrcCreateLLJITBuilder"},
		{into: &a.lljitBuilderSetTarget, name: "LLVMOrcLLJITBuilderSetJITTargetMachineBuilder"},
		{into: &a.jitTargetFromMachine, name: "LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine"},
		{into: &a.createLLJIT, name: "LLVMOrcCreateLLJIT"},
		{into: &a.disposeLLJIT, name: "LLVMOrcDisposeLLJIT"},
		{into: &a.lljitGetExecutionSession, name: "LLVMOrcLLJITGetExecutionSession"},
		{into: &a.sessionSetErrorReporter, name: "LLVMOrcExecutionSessionSetErrorReporter"},
		{into: &a.lljitGetMainJITDylib, name: "LLVMOrcLLJITGetMainJITDylib"},
		{into: &a.lljitAddObjectFile, name: "LLVMOrcLLJITAddObjectFile"},
		{into: &a.lljitLookup, name: "LLVMOrcLLJITLookup"},
		{into: &a.lljitMangleAndIntern, name: "LLVMOrcLLJITMangleAndIntern"},
		{into: &a.absoluteSymbols, name: "LLVMOrcAbsoluteSymbols"},
		{into: &a.jitDylibDefine, name: "LLVMOrcJITDylibDefine"},
	}
}

// bind fills a from an open library. The error names every function missing.
func (a *api) bind(handle uintptr) error {
	var missing []string
	for _, b := range a.bindings() {
		address := symbolAddress(handle, b.name)
		switch {
		case address != 0:
			bindFunction(b.into, address)
		case !b.optional:
			missing = append(missing, b.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it lacks %s: it is no LLVM of version %d or newer", strings.Join(missing, ", "), Oldest)
	}
	return nil
}
