// Package debug holds every debugging switch of the project, one line each.
// All are off. They are constants, so that the code behind a switch that is
// off costs nothing: edit this file to turn one on, and edit it back before
// committing.
package debug

const (
	// PoisonMemory fills memory that a program did not ask to have zeroed with
	// the byte 0xA5 (runtime), so that a kernel that reads what it never wrote
	// shows itself.
	PoisonMemory = false

	// ReverseChunks hands out the chunks of unordered stages from the last to
	// the first (runtime), which shows dependences between chunks.
	ReverseChunks = false

	// TraceStages prints on standard error each stage that has run, with the
	// memory then in use (runtime).
	TraceStages = false
)
