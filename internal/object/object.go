// Package object loads the relocatable ELF objects that LLVM makes of kernels into
// executable memory: what a linker and a dynamic loader do, for the little that
// such objects need. It works without LLVM, so that a process that finds its
// kernels compiled already does not start a compiler.
//
//	bytes ──parse──▶ sections, symbols, relocations ──place──▶ offsets ──relocate──▶ memory
//
// One mapping holds three runs of pages: code, then constants, which include the
// addresses that code takes from a table (the GOT). It is written while it is
// readable and writable, and then made executable and readable only: never both
// writable and executable. Objects with variables, thread-local or not, are
// refused, for kernels have none.
//
// An object is a file, and files get damaged: what is parsed here is checked
// against the bounds of the file and of the memory, an address that does not fit its
// place is an error, and memory is allocated in proportion to the file. That does not
// make the code itself trustworthy; where it comes from is for the caller to know.
package object

import (
	"errors"
	"fmt"
	"sync"
)

// ErrUnsupported is wrapped by the errors of Load for objects that are well formed
// as far as this package knows, but are not for this system or need something that
// it does not do.
var ErrUnsupported = errors.New("not supported")

// Resolve finds a function of the C library that an object calls; 0 if there is
// none of that name.
type Resolve func(name string) uintptr

// Code is machine code in memory that is ready to run.
type Code struct {
	functions map[string]uintptr

	mu     sync.Mutex
	memory []byte // nil once closed
}

// Load makes the functions of an object callable in this process. Errors wrap
// ErrUnsupported where another loader may do better; the object is damaged
// otherwise.
func Load(object []byte, resolve Resolve) (*Code, error) {
	m, ok := hostMachine()
	if !ok {
		return nil, fmt.Errorf("%w: objects for this system", ErrUnsupported)
	}
	f, err := parse(object, m)
	if err != nil {
		return nil, err
	}
	l, err := f.place(pageSize())
	if err != nil {
		return nil, err
	}
	memory, err := newMemory(l.size)
	if err != nil {
		return nil, fmt.Errorf("%w: memory for %d bytes of code: %w", ErrUnsupported, l.size, err)
	}
	base := addressOf(memory)
	if err := l.write(memory, base, resolve); err != nil {
		return nil, errors.Join(err, freeMemory(memory))
	}
	if err := protect(memory, l.code); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: making memory executable: %w", ErrUnsupported, err), freeMemory(memory))
	}
	c := &Code{functions: map[string]uintptr{}, memory: memory}
	for _, s := range f.functions() {
		c.functions[s.name] = uintptr(uint64(base) + l.offset[s.section] + s.value)
	}
	return c, nil
}

// Func returns the address of a function that the object defines for others to
// call. It is good until Close.
func (c *Code) Func(name string) (uintptr, error) {
	if address, ok := c.functions[name]; ok {
		return address, nil
	}
	return 0, fmt.Errorf("the object has no function %q", name)
}

// Close frees the memory. No function of the object may run now or later. Closing
// again does nothing.
func (c *Code) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	memory := c.memory
	c.memory = nil
	if memory == nil {
		return nil
	}
	return freeMemory(memory)
}
