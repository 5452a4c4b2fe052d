package llvm

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/debug"
)

// Level says how hard LLVM optimises.
type Level uint8

// The levels. O3 is the zero value, for kernels are compiled once and run often.
const (
	O3 Level = iota
	O2
	O1
	O0
	// Quick keeps variables in registers, drops what is computed twice, writes the rest in the usual
	// forms, and little else. It is for PTX that is wanted soon: the driver's compiler optimises it again.
	Quick
	// Draft is Quick without a thought for the machine code. It is for tests, which run most programs once, on
	// a few entries: what LLVM makes of them in a fifth of the time gives the same bits.
	Draft
)

// levels gives for each Level the pass pipeline and LLVMCodeGenOptLevel.
var levels = [...]struct {
	pipeline string
	codegen  int32
}{
	O3: {"default<O3>", 3},
	O2: {"default<O2>", 2},
	O1: {"default<O1>", 1},
	O0: {"default<O0>", 0},

	// Without instcombine, NVPTX has no instructions for some operations, such as comparisons of bits.
	Quick: {quickPasses, 1},
	Draft: {quickPasses, 0},
}

const quickPasses = "function(sroa,early-cse,simplifycfg,instcombine)"

// oneRound is the version of LLVM from which on instcombine makes one round, and takes it for a bug if that
// was not enough, unless told that it may be so.
const oneRound = 18

func (v Level) codegen() int32 { return levels[v].codegen }

// Options say how to compile. The zero Options compile for the host with O3.
type Options struct {
	Target Target
	Level  Level
	// Comments has assembly tell which blocks of the IR it comes from, and of loops.
	Comments bool
	// Warn gets the warnings of a compilation, one at a time, if it is not nil.
	Warn func(message string)
}

// Compile compiles a module of LLVM IR text and makes its functions callable in
// this process. The Target in opts must be the host or a machine whose code it
// runs.
func (l *LLVM) Compile(ir string, opts Options) (*Module, error) {
	object, err := l.EmitObject(ir, opts)
	if err != nil {
		return nil, err
	}
	return l.Link(object)
}

// EmitObject compiles a module of LLVM IR text to an object file.
func (l *LLVM) EmitObject(ir string, opts Options) ([]byte, error) {
	return l.emit(ir, opts, objectFile)
}

// EmitAssembly compiles a module of LLVM IR text to assembly, or to PTX for an
// nvptx target.
func (l *LLVM) EmitAssembly(ir string, opts Options) (string, error) {
	text, err := l.emit(ir, opts, assemblyFile)
	return string(text), err
}

// PrintOptimized returns the module as it is after the optimiser, in the
// dialect of this LLVM version.
func (l *LLVM) PrintOptimized(ir string, opts Options) (string, error) {
	text := ""
	err := l.optimised(ir, opts, func(c *compilation) error {
		text = l.takeMessage(l.api.printModuleToString(c.module))
		return nil
	})
	return text, err
}

// Verify checks a module of LLVM IR text: that it parses and that LLVM's
// verifier accepts it.
func (l *LLVM) Verify(ir string) error {
	return l.guard("verifying", func() error {
		c := l.begin()
		defer c.end()
		return c.parse(ir)
	})
}

// fileType is LLVMCodeGenFileType.
type fileType int32

const (
	assemblyFile fileType = iota
	objectFile
)

func (l *LLVM) emit(ir string, opts Options, kind fileType) ([]byte, error) {
	if debug.Compiled == nil || opts.Warn != nil {
		return l.emitted(ir, opts, kind)
	}
	key := fmt.Sprintf("%s %v %+v %v %d\n%s", l.path, l.version, opts, levels[opts.Level], kind, ir)
	return debug.Compiled(key, func() ([]byte, error) { return l.emitted(ir, opts, kind) })
}

// emitted is emit, without a look at what was made before.
func (l *LLVM) emitted(ir string, opts Options, kind fileType) ([]byte, error) {
	const step = "generating code"
	var out []byte
	err := l.optimised(ir, opts, func(c *compilation) error {
		if opts.Comments {
			l.api.setAsmVerbosity(c.machine, 1)
		}
		var message, buf uintptr
		failed := l.api.targetMachineEmitBuffer(c.machine, c.module, int32(kind), &message, &buf) != 0
		text := ""
		if failed {
			text = l.takeMessage(message)
		} else {
			out = l.takeBuffer(buf)
		}
		return c.check(step, failed, text)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// optimised parses, verifies and optimises a module and lets then use it.
func (l *LLVM) optimised(ir string, opts Options, then func(*compilation) error) error {
	if int(opts.Level) >= len(levels) {
		return fmt.Errorf("llvm: unknown optimisation level %d", opts.Level)
	}
	var warnings []string
	err := l.guard("compiling", func() error {
		c := l.begin()
		defer c.end()
		defer func() { warnings = c.log.warnings }()
		if err := c.parse(ir); err != nil {
			return err
		}
		if err := c.optimise(opts); err != nil {
			return err
		}
		return then(c)
	})
	if opts.Warn != nil {
		for _, w := range warnings {
			opts.Warn(w)
		}
	}
	return err
}

// compilation is one module on its way through LLVM. Everything in it belongs
// to one LLVM context, which one thread uses at a time.
type compilation struct {
	llvm    *LLVM
	logID   uintptr
	log     *messageLog
	context uintptr
	module  uintptr // 0 until parsed
	machine uintptr // 0 until optimised
}

func (l *LLVM) begin() *compilation {
	c := &compilation{llvm: l, context: l.api.contextCreate()}
	c.logID, c.log = l.diags.newLog()
	l.api.contextSetDiagnosticHandler(c.context, l.diags.onDiagnostic, c.logID)
	return c
}

func (c *compilation) end() {
	a := &c.llvm.api
	if c.module != 0 {
		a.disposeModule(c.module)
	}
	if c.machine != 0 {
		a.disposeTargetMachine(c.machine)
	}
	a.contextDispose(c.context)
	c.llvm.diags.closeLog(c.logID)
}

// check makes an error of what a step returned and of what LLVM reported
// meanwhile.
func (c *compilation) check(step string, failed bool, message string) error {
	if !failed && !c.log.failed() {
		return nil
	}
	text := c.log.text(message)
	if text == "" {
		text = "it failed without a message"
	}
	return c.llvm.failure(step, text)
}

// parse reads and verifies the module.
func (c *compilation) parse(ir string) error {
	l := c.llvm
	if strings.ContainsRune(ir, 0) { // the parser would take it for the end
		return l.failure("parsing the IR", "the text holds a zero byte")
	}
	var message uintptr
	// The parser takes the buffer over.
	failed := l.api.parseIRInContext(c.context, l.newBuffer([]byte(ir), "kernel"), &c.module, &message) != 0
	text := l.takeMessage(message)
	if err := c.check("parsing the IR", failed, text); err != nil {
		return err
	}
	const returnStatus = 2 // LLVMReturnStatusAction: neither abort nor print
	message = 0
	failed = l.api.verifyModule(c.module, returnStatus, &message) != 0
	text = l.takeMessage(message)
	if !failed {
		text = "" // an empty or idle remark
	}
	return c.check("verifying the IR", failed, text)
}

// optimise fits the module to the target and runs the pass pipeline.
func (c *compilation) optimise(opts Options) error {
	l := c.llvm
	machine, err := l.newMachine(opts.Target, opts.Level)
	if err != nil {
		return err
	}
	c.machine = machine
	triple := opts.Target.Triple
	if triple == "" {
		host, err := l.Host()
		if err != nil {
			return err
		}
		triple = host.Triple
	}
	l.api.setTarget(c.module, triple)
	layout := l.api.createTargetDataLayout(machine)
	l.api.setModuleDataLayout(c.module, layout)
	l.api.disposeTargetData(layout)

	passOptions := l.api.createPassBuilderOptions()
	defer l.api.disposePassBuilderOptions(passOptions)
	if opts.Level == O3 || opts.Level == O2 {
		l.api.passOptionsSetSLP(passOptions, 1) // off by default in the C API, on in clang -O2
	}
	const step = "optimising"
	pipeline := levels[opts.Level].pipeline
	if l.version.Major >= oneRound {
		pipeline = strings.Replace(pipeline, "instcombine", "instcombine<no-verify-fixpoint>", 1)
	}
	if err := l.takeError(step, l.api.runPasses(c.module, pipeline, machine, passOptions)); err != nil {
		return err
	}
	return c.check(step, false, "")
}
