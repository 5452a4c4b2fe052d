package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/parts"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// File is a tensor whose arrays lie in a file that is mapped into memory: nothing is
// read before it is used, and what is used need not fit in memory.
type File struct {
	tensor *tensor.Tensor
	copied []string
	memory *tensor.Foreign
}

// opened are the mappings of files that nobody has closed. A slice of the memory
// does not keep its mapping, so one goes only after the caller has said that it may.
var opened struct {
	sync.Mutex
	memory map[*tensor.Foreign]bool
}

// Open opens the file at path and makes a tensor of it as [Read] does, with the same
// options and the same checks, but uses the arrays where they lie in the file. That
// takes uncompressed arrays in this machine's byte order, aligned to their type and not
// converted by an option; of other arrays Open makes copies, which [File.Copied] lists.
// An array in Fortran order becomes a dense tensor whose axes are stored in reverse
// order. Where the system is not Linux everything is copied.
//
// The file must not be changed in place or cut short while it is mapped: values could
// change under a computation, and to read beyond its end ends the process. To replace a
// file by another of the same name, as [Write] does, is safe.
func Open(path string, opts ...Option) (*File, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if isDirectory(path) {
		t, err := readDirectory(path, cfg)
		if err != nil {
			return nil, err
		}
		return &File{tensor: t, copied: []string{"all: the files of a directory are read into memory"}}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathError(path, err)
	}
	defer f.Close() // a mapping does not need it
	cfg.mapped = mapFile(f)
	if m := cfg.mapped.memory; m != nil {
		cfg.memory.Mapped(cfg.mapped.bytes)
	}
	file := &File{}
	err = guarded(func() (err error) {
		file.tensor, err = read(path, f, cfg)
		return err
	})
	if err != nil {
		return nil, wrapError(path, err)
	}
	file.copied = cfg.mapped.reasons
	if m := cfg.mapped.memory; m != nil && usesMemory(file.tensor, m) {
		file.memory = m
		opened.Lock()
		defer opened.Unlock()
		if opened.memory == nil {
			opened.memory = map[*tensor.Foreign]bool{}
		}
		opened.memory[m] = true
	} else if len(file.copied) == 0 {
		file.copied = []string{"all: the tensor is not made of arrays as the file has them"}
	}
	return file, nil
}

// Tensor is the tensor in the file. It stays valid after Close.
func (f *File) Tensor() *tensor.Tensor { return f.tensor }

// Copied lists the arrays that were copied into memory because they could not be used
// in place, each with the reason; it is empty if all lie in the mapped file.
func (f *File) Copied() []string { return slices.Clone(f.copied) }

// Close says that slices of the tensor's memory (of [tensor.View]) are no longer used
// on their own. The mapping ends once no tensor or array in it is reachable, which
// may be now or later: Close never takes memory away from a tensor. A file that is not
// closed stays mapped, at the cost of address space, not of memory.
func (f *File) Close() error {
	if f == nil {
		return errors.New("the file is nil: open one with file.Open")
	}
	opened.Lock()
	defer opened.Unlock()
	delete(opened.memory, f.memory)
	f.memory = nil
	return nil
}

// usesMemory reports whether any array of t lies in m.
func usesMemory(t *tensor.Tensor, m *tensor.Foreign) bool {
	if t.Values().Foreign() == m {
		return true
	}
	return slices.ContainsFunc(t.Levels(), func(l tensor.Level) bool {
		return l.Pos.Foreign() == m || l.Crd.Foreign() == m || l.Group.Foreign() == m
	})
}

// mappedFile is a file on its way to be read in place. The methods may be called on
// nil, which stands for a file that is read as a stream.
type mappedFile struct {
	bytes   []byte          // nil if the file cannot be mapped
	memory  *tensor.Foreign // the same
	reasons []string        // what was copied, and why
}

// mapFile maps an open file, if that can be done.
func mapFile(f *os.File) *mappedFile {
	bytes, release, err := mapBytes(f)
	if err != nil {
		return &mappedFile{reasons: []string{"all: " + err.Error()}}
	}
	return &mappedFile{bytes: bytes, memory: tensor.NewForeign(bytes, release)}
}

// copied notes that an array was copied, and why.
func (m *mappedFile) copied(name, reason string) {
	if m != nil {
		m.reasons = append(m.reasons, name+": "+reason)
	}
}

// drop gives the mapping up because the bytes of the file are not those to read.
func (m *mappedFile) drop(reason string) {
	if m != nil {
		*m = mappedFile{reasons: []string{"all: " + reason}}
	}
}

// place says where in a file the elements of an array lie, without gaps.
type place struct {
	name   string // for messages
	offset int64  // of the first element, in bytes from the start of the file
	n      int64  // elements
	dtype  tensor.DType
	swap   int // bytes that big-endian elements have reversed together; 0 for little-endian ones
}

// array returns the elements at a place: in place where they are aligned and in
// this machine's byte order, else a copy, which is noted. A place outside the file is
// an error.
func (m *mappedFile) array(p place) (tensor.Array, error) {
	size := int64(p.dtype.Size())
	if p.offset < 0 || p.n < 0 || p.offset > int64(len(m.bytes)) || p.n > (int64(len(m.bytes))-p.offset)/size {
		return tensor.Array{}, fmt.Errorf("%s: %d elements of %v at byte %d do not lie within the file, which has %d bytes",
			p.name, p.n, p.dtype, p.offset, len(m.bytes))
	}
	swap := p.swap
	if !littleEndian && p.swap == 0 {
		swap = int(size)
		if p.dtype.IsComplex() {
			swap /= 2
		}
	} else if !littleEndian {
		swap = 0
	}
	if swap <= 1 {
		a, err := m.memory.Array(p.dtype, int(p.offset), int(p.n))
		switch {
		case err != nil: // within the file, so it is the alignment
			m.copied(p.name, err.Error())
		case p.dtype == tensor.Bool && !allBools(a.Raw()):
			m.copied(p.name, "true is not always the byte 1")
		default:
			return a, nil
		}
	} else {
		m.copied(p.name, "the bytes are in the other order")
	}
	a, err := tensor.MakeArray(p.dtype, int(p.n))
	if err != nil {
		return a, err
	}
	copy(a.Raw(), m.bytes[p.offset:])
	if swap > 1 {
		swapBytes(a.Raw(), swap)
	}
	if p.dtype == tensor.Bool {
		normaliseBools(a.Raw())
	}
	return a, nil
}

// littleEndian reports the byte order of this machine.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// allBools reports whether every byte is 0 or 1. Large arrays are looked at on
// several goroutines.
func allBools(b []byte) bool {
	var bad [parts.Most]bool
	parts.Do(len(b), 1<<20, func(part, lo, hi int) {
		var seen byte
		for _, v := range b[lo:hi] {
			seen |= v
		}
		bad[part] = seen > 1
	})
	return !slices.Contains(bad[:], true)
}

// normaliseBools makes every byte but 0, which is true to NumPy, 1.
func normaliseBools(b []byte) {
	for i, v := range b {
		b[i] = min(v, 1)
	}
}

// guarded calls f. To read from a mapped file beyond its end, which another process
// may have cut off, is an error rather than the end of this process.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			err = errors.New("the file became shorter while it was read")
		default:
			panic(r)
		}
	}()
	return f()
}
