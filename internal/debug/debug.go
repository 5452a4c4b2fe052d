// Package debug holds every debugging switch of the project, one line each.
// All are off. Most are constants, so that the code behind a switch that is
// off costs nothing: edit this file to turn one on, and edit it back before
// committing. Those that tests turn on for a while are variables.
package debug

const (
	// ReverseChunks hands out the chunks of unordered stages from the last to
	// the first (runtime), which shows dependences between chunks.
	ReverseChunks = false

	// TraceStages prints on standard error each stage that has run, with the
	// memory then in use (runtime).
	TraceStages = false
)

// Set these before any session is made or program run that they shall affect.
var (
	// PoisonMemory fills memory that a program did not ask to have zeroed with
	// the byte 0xA5 (runtime), so that a kernel that reads what it never wrote
	// shows itself.
	PoisonMemory = false

	// ChunkGrain, when not 0, is the work of one chunk of parallel loops in the
	// sessions made from then on (lower), so that small data is cut into many.
	ChunkGrain int64

	// QuickOnly has LLVM compile in a hurry, for programs that run once: for this processor
	// with few passes and the simplest code (llvm.Draft), for a GPU as programs are compiled
	// first, and not again behind their runs. Nothing is kept on disk (runtime, codegen/aot).
	QuickOnly = false

	// OneTier has programs for this processor compiled with care before they first run, so that it is this code
	// that a test runs (runtime).
	OneTier = false

	// TraceCompilation prints on standard error when each part of a program for a GPU
	// was translated, compiled and loaded (runtime).
	TraceCompilation = false

	// Workspace, when not "", is the kind of every workspace in the sessions
	// made from then on: dense, hash or sort (lower).
	Workspace string

	// EagerOptimiser has the logical optimiser take every chance to reorder in the
	// sessions made from then on (ir/logic), however small the data is.
	EagerOptimiser bool

	// Overlap, when not 0, decides what ranks decide by the time that they wait: 1 has them compute what needs nothing
	// of others while messages travel, wherever that is possible, and -1 never (runtime/dist).
	Overlap int

	// Compiled, when not nil, finds what LLVM made before under a key that says all that it depends on, or has it
	// compiled (internal/llvm).
	Compiled func(key string, compile func() ([]byte, error)) ([]byte, error)
)
