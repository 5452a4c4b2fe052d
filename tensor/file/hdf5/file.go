package hdf5

import (
	"io"
	"sync"
	"sync/atomic"
)

// File is an open HDF5 file. Its methods, and those of its objects, may be called
// by several goroutines at once.
type File struct {
	r    io.ReaderAt
	size int64

	base       uint64 // where the superblock is; addresses count from there
	offsetSize int    // bytes of an address
	lengthSize int    // bytes of a length
	rootAddr   uint64 // of the root group's object header

	unverified bool // checksums do not count: set by tests, whose damage they would all find

	charged atomic.Uint64 // see charge

	mu      sync.Mutex                   // guards what follows; held while a header is read
	headers map[uint64]result[[]message] // object headers that were read, by address

	treeMu sync.Mutex                         // guards what follows; held while it is read
	links  map[uint64]result[map[string]link] // of groups that were looked into, by the address of their headers
	attrs  map[uint64]result[[]message]       // attributes of objects that keep them in a heap, likewise
	heaps  map[uint64]*fractalHeap            // by address

	attrTexts *globalHeap // for all attributes, as there may be many that refer to one collection
}

// result is what reading some metadata gave. Errors are kept like all else, so that a bad part of
// a file is not read, and charged for, again and again.
type result[T any] struct {
	value T
	err   error
}

const signature = "\x89HDF\r\n\x1a\n"

// Open reads the superblock of a file of size bytes. The reader stays in use:
// everything else is read when it is asked for. Closing it is the caller's.
// A file that is not HDF5 at all gives an error that wraps ErrFormat.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := newFile(r, size)
	if err := f.readSuperblock(); err != nil {
		return nil, err
	}
	return f, nil
}

func newFile(r io.ReaderAt, size int64) *File {
	f := &File{
		r:       r,
		size:    size,
		headers: make(map[uint64]result[[]message]),
		links:   make(map[uint64]result[map[string]link]),
		attrs:   make(map[uint64]result[[]message]),
		heaps:   make(map[uint64]*fractalHeap),
	}
	f.attrTexts = newGlobalHeap(f)
	return f
}

// findSuperblock looks for the signature at 0 and behind user blocks of 512, 1024, 2048 … bytes
// (II.A). Addresses count from there, whatever the base address in the superblock says: a user
// block may have been added or taken away since it was written, and the HDF5 library does so too.
func (f *File) findSuperblock() error {
	var b [len(signature)]byte
	for at := int64(0); at <= f.size-int64(len(b)); {
		if err := f.readAt(b[:], at, "the signature"); err != nil {
			return err
		}
		if string(b[:]) == signature {
			f.base = uint64(at)
			return nil
		}
		switch {
		case at == 0:
			at = 512
		case at > f.size/2:
			at = f.size
		default:
			at *= 2
		}
	}
	return &Error{Msg: "there is no HDF5 signature in the file", Err: ErrFormat}
}

// readSuperblock reads the superblock, versions 0 to 3 (II.A).
func (f *File) readSuperblock() error {
	const what = "the superblock"
	if err := f.findSuperblock(); err != nil {
		return err
	}
	head, err := f.read(0, min(uint64(f.size)-f.base, 128), what)
	if err != nil {
		return err
	}
	c := &cursor{b: head[len(signature):], f: f}
	version := c.u8()
	switch version {
	case 0, 1:
		c.skip(4)
		f.offsetSize, f.lengthSize = int(c.u8()), int(c.u8())
		c.skip(9)
		if version == 1 {
			c.skip(4)
		}
	case 2, 3:
		f.offsetSize, f.lengthSize = int(c.u8()), int(c.u8())
		c.skip(1)
	default:
		return unsupported("the superblock has version %d; 0 to 3 are read", version)
	}
	if err := c.err(what); err != nil {
		return err
	}
	for _, n := range []int{f.offsetSize, f.lengthSize} {
		if n != 2 && n != 4 && n != 8 {
			return errorf("the superblock says that addresses and lengths have %d and %d bytes; 2, 4 and 8 are read", f.offsetSize, f.lengthSize)
		}
	}
	base := c.addr()
	c.addr() // of free space, or the superblock's extension
	end := c.addr()
	if version < 2 {
		if c.addr() != undefined {
			return unsupported("the file is one of several of a family or multi file")
		}
		c.skip(uint64(f.offsetSize))
	}
	f.rootAddr = c.addr()
	if version >= 2 {
		n := len(head) - len(c.b)
		if c.skip(4); !c.bad {
			if _, err := f.unseal(head[:n+4], what); err != nil {
				return err
			}
		}
	}
	if err := c.err(what); err != nil {
		return err
	}
	// The end, like all addresses but this one, counts from the base that was written.
	if have := uint64(f.size) - f.base; end != undefined && end >= base && end-base > have {
		return errorf("the file is cut short: it should have %d bytes, but has %d", end-base+f.base, f.size)
	}
	return nil
}

// charge counts metadata that was read and is kept, so that it is not read again. In a sound
// file the parts do not overlap, and all of them fit into it. Without a limit, a hostile one of
// n bytes could have n/100 objects that each claim the same n/2 bytes.
func (f *File) charge(n uint64) error {
	if f.charged.Add(n) > 4*uint64(f.size)+1<<20 {
		return errorf("parts of the file overlap: more metadata were read than it can hold")
	}
	return nil
}

// Root returns the group at "/".
func (f *File) Root() *Group {
	return &Group{newObject(f, "/", f.rootAddr)}
}

// Lookup returns the *Group or *Dataset at a path of names separated by slashes, from the root.
// "" and "/" are the root. The error wraps ErrNotFound if there is no such object.
func (f *File) Lookup(path string) (Object, error) { return f.Root().Lookup(path) }

// Group returns the group at a path, or an error if there is none or it is a dataset.
func (f *File) Group(path string) (*Group, error) { return f.Root().Group(path) }

// Dataset returns the dataset at a path, or an error if there is none or it is a group.
func (f *File) Dataset(path string) (*Dataset, error) { return f.Root().Dataset(path) }
