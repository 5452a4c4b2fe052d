package object

// flushInstructions makes code that has been written visible to instruction
// fetches of every processor (Arm Architecture Reference Manual, B2.4.4).
//
//go:noescape
func flushInstructions(start, length uintptr)
