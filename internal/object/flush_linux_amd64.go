package object

// flushInstructions does nothing: x86 processors see code that has been written.
func flushInstructions(uintptr, uintptr) {}
