package runtime

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// ErrUnknownEngine is wrapped by the error that EngineByName returns for a
// name it does not know.
var ErrUnknownEngine = errors.New("unknown engine")

// UnavailableError says that an engine cannot be used here. Hint is what to do
// about it, in the imperative, such as the package to install.
type UnavailableError struct {
	Engine string
	Hint   string
	Err    error // the cause
}

// Error names the engine, the cause and what to do.
func (e *UnavailableError) Error() string {
	return fmt.Sprintf("engine %q is not available: %s", e.Engine, e.message())
}

func (e *UnavailableError) message() string {
	if e.Hint == "" { // the cause says itself what to do
		return e.Err.Error()
	}
	return e.Err.Error() + "; " + e.Hint
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// ErrNotSupported is the cause of an UnavailableError for an engine that this
// version of Lacuna does not have.
var ErrNotSupported = errors.New("not supported yet")

// ProgramError says that a loop program cannot be compiled: loop's verifier
// refused it (Err is a *loop.VerifyError), or a code generator did.
type ProgramError struct {
	Program string
	Err     error
}

// Error names the program and what is wrong with it.
func (e *ProgramError) Error() string {
	if v, ok := e.Err.(*loop.VerifyError); ok {
		return v.Error() // names the program itself
	}
	return fmt.Sprintf("program %s: %v", e.Program, e.Err)
}

// Unwrap returns the cause.
func (e *ProgramError) Unwrap() error { return e.Err }

// BindingError says that memory or values given to a run do not fit the
// program: missing, misaligned, overlapping, or made for another program.
type BindingError struct {
	Program string
	Buffer  string // "" when it is not about one buffer
	Reason  string
}

// Error names the program, the buffer and what is wrong with it.
func (e *BindingError) Error() string {
	if e.Buffer == "" {
		return fmt.Sprintf("program %s: %s", e.Program, e.Reason)
	}
	return fmt.Sprintf("program %s: buffer %s %s", e.Program, e.Buffer, e.Reason)
}

// OptionError says that a run option has a value that makes no sense.
type OptionError struct {
	Option string
	Value  int64
	Want   string
}

// Error names the option, its value and the values allowed.
func (e *OptionError) Error() string {
	return fmt.Sprintf("option %s is %d, want %s", e.Option, e.Value, e.Want)
}

// SizeError says that an extent, count or buffer length computed between
// stages has no usable value: it overflows, is negative, divides by zero or
// reads past the end of a buffer.
type SizeError struct {
	Program, Stage string
	What           string // what was being computed: "scalar nnz", "length of buffer C_vals"
	Expr           string // its expression
	Reason         string
}

// Error names the place, the quantity, its expression and the reason.
func (e *SizeError) Error() string {
	return fmt.Sprintf("program %s, stage %s: %s = %s: %s", e.Program, e.Stage, e.What, e.Expr, e.Reason)
}

// MemoryLimitError refuses an allocation that would take a run past its
// memory limit, or that the operating system refused. Nothing was allocated.
type MemoryLimitError struct {
	Program, Stage string
	Buffer         string // or, without a Stage, a result that was not asked for yet
	Len            int64  // elements asked for
	Elem           string // their type
	Need           int64  // bytes asked for, math.MaxInt64 if more than that
	Result         int64  // bytes of all that is known to be needed for results, math.MaxInt64 if more; 0: nothing is
	// AtLeast: Buffer was not asked for. More than Len entries were counted, of at least Need bytes; or, without
	// a Stage, it was known beforehand that there are at least Len entries.
	AtLeast bool
	InUse   int64  // bytes that the run holds already
	Limit   int64  // bytes that the run may hold
	Source  string // where the limit comes from
	Err     error  // the operating system's refusal, if that was the cause
}

// Error names the buffer, its size, the limit and where the limit comes from.
func (e *MemoryLimitError) Error() string {
	s := fmt.Sprintf("program %s, stage %s: buffer %s needs %s (%d × %s)", e.Program, e.Stage, e.Buffer, units.FormatBytes(e.Need), e.Len, e.Elem)
	switch {
	case e.AtLeast && e.Stage == "":
		need := units.FormatBytes(e.Need)
		if !strings.HasPrefix(need, "more than") {
			need += " or more"
		}
		s = fmt.Sprintf("program %s: the result has at least %d entries, which need %s", e.Program, e.Len, need)
	case e.Stage == "":
		s = fmt.Sprintf("%s needs %s (%d × %s)", e.Buffer, units.FormatBytes(e.Need), e.Len, e.Elem)
	case e.AtLeast:
		s = fmt.Sprintf("program %s, stage %s: the result has more than %d entries, which need more than %s", e.Program, e.Stage, e.Len, units.FormatBytes(e.Need))
	}
	if e.Err != nil {
		return s + fmt.Sprintf(", which the operating system refused: %v", e.Err)
	}
	if e.InUse > 0 {
		s += fmt.Sprintf(" on top of %s in use", units.FormatBytes(e.InUse))
	}
	s += fmt.Sprintf("; the memory limit is %s (%s)", units.FormatBytes(e.Limit), e.Source)
	if e.Result > e.Need {
		s += fmt.Sprintf(", and all of the result needs %s", units.FormatBytes(e.Result))
	}
	return s + ": choose a sparser format for the result, or raise the limit"
}

// Unwrap returns the operating system's error, or nil.
func (e *MemoryLimitError) Unwrap() error { return e.Err }

// KernelError says that a kernel stopped itself: it reached a Fail statement,
// as when a gather's index is out of range. When several chunks fail it is the
// first of them, so that the error does not depend on the number of threads.
type KernelError struct {
	Program, Stage, Func string
	Chunk                int64
	Code                 int    // number of the Fail statement's message
	Message              string // Func.Fails[Code]
	// Err is set, and Code -1, when the function did not stop itself but the
	// engine stopped it: the interpreter found it to reach outside a buffer.
	// That is a mistake in the program, or in the data it was told to trust.
	Err error
}

// Error is the message of the Fail statement and its place.
func (e *KernelError) Error() string {
	return fmt.Sprintf("%s (program %s, stage %s, function %s, chunk %d)", e.Message, e.Program, e.Stage, e.Func, e.Chunk)
}

// Unwrap returns the engine's error, or nil.
func (e *KernelError) Unwrap() error { return e.Err }

// Reason is the message of an error without the name of the engine, which the
// reader has just read.
func Reason(err error) string {
	if u, ok := errors.AsType[*UnavailableError](err); ok {
		return u.message()
	}
	return err.Error()
}

// missingLLVM is the error of an engine for an LLVM that does not load.
func missingLLVM(engine string, err error) error {
	e := &UnavailableError{Engine: engine, Err: err}
	if _, ok := errors.AsType[*machine.SettingError](err); ok {
		return e // it says what to write
	}
	if nf, ok := errors.AsType[*llvm.NotFoundError](err); !ok || nf.Spec == "none" {
		e.Hint = fmt.Sprintf("install LLVM (%s) or name it in %s", llvm.Install, llvm.EnvVar)
	}
	return e
}

// missingCPU is that of the engine for the processor.
func missingCPU(err error) error { return missingLLVM(CPUName, err) }
