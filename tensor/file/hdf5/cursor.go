package hdf5

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// undefined is the address of what is not there: all bits set, in whatever width.
const undefined = ^uint64(0)

// cursor takes a block of metadata apart. Reading beyond its end gives zeros and
// is remembered, so that a parser can go on and look once, at the end, by err.
type cursor struct {
	b   []byte
	f   *File // for the widths of addresses and lengths
	bad bool
}

// take returns the next n bytes, or nil at the end.
func (c *cursor) take(n uint64) []byte {
	if uint64(len(c.b)) < n {
		c.bad = true
		c.b = nil
		return nil
	}
	p := c.b[:n]
	c.b = c.b[n:]
	return p
}

func (c *cursor) skip(n uint64) { c.take(n) }

// uint reads a little-endian number of n bytes, at most 8.
func (c *cursor) uint(n int) uint64 {
	var v uint64
	for i, b := range c.take(uint64(n)) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

func (c *cursor) u8() byte    { return byte(c.uint(1)) }
func (c *cursor) u16() uint16 { return uint16(c.uint(2)) }
func (c *cursor) u32() uint32 { return uint32(c.uint(4)) }

// addr reads an address, which may be undefined.
func (c *cursor) addr() uint64 {
	v := c.uint(c.f.offsetSize)
	if v == undefined>>(64-8*c.f.offsetSize) {
		return undefined
	}
	return v
}

// length reads a length or size.
func (c *cursor) length() uint64 { return c.uint(c.f.lengthSize) }

// text reads bytes up to a zero, which is passed over.
func (c *cursor) text() string {
	i := bytes.IndexByte(c.b, 0)
	if i < 0 {
		c.bad = true
		c.b = nil
		return ""
	}
	s := string(c.b[:i])
	c.b = c.b[i+1:]
	return s
}

// err reports whether anything was missing.
func (c *cursor) err(what string) error {
	if c.bad {
		return errorf("%s is cut short", what)
	}
	return nil
}

// within returns the place in the reader of n bytes at an address of the file, if they are all there.
func (f *File) within(addr, n uint64, what string) (int64, error) {
	if addr == undefined {
		return 0, errorf("%s has no address", what)
	}
	room := uint64(f.size) - f.base
	if addr > room || n > room-addr {
		return 0, errorf("%s (%d bytes at address %d) reaches beyond the end of the file, which has %d bytes", what, n, addr, f.size)
	}
	return int64(f.base + addr), nil
}

// read returns n bytes at an address.
func (f *File) read(addr, n uint64, what string) ([]byte, error) {
	at, err := f.within(addr, n, what)
	if err != nil {
		return nil, err
	}
	if n > math.MaxInt {
		return nil, unsupported("%s has %d bytes, more than this machine can address", what, n)
	}
	b := make([]byte, n)
	return b, f.readAt(b, at, what)
}

// readAt fills b from a place in the reader that was checked before.
func (f *File) readAt(b []byte, at int64, what string) error {
	if n, err := f.r.ReadAt(b, at); n < len(b) {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return &Error{Msg: "cannot read " + what + ": " + err.Error(), Err: err}
	}
	return nil
}

// block returns a cursor over n bytes at an address, which begin with a signature that is passed over.
func (f *File) block(addr, n uint64, signature, what string) (*cursor, error) {
	b, err := f.read(addr, n, what)
	if err != nil {
		return nil, err
	}
	if len(b) < len(signature) || string(b[:len(signature)]) != signature {
		return nil, errorf("expected the signature %s of %s at address %d", signature, what, addr)
	}
	return &cursor{b: b[len(signature):], f: f}, nil
}

// sealed is block for blocks whose last four bytes are a checksum of the others,
// which is verified and left out.
func (f *File) sealed(addr, n uint64, signature, what string) (*cursor, error) {
	b, err := f.read(addr, n, what)
	if err != nil {
		return nil, err
	}
	if len(b) < len(signature)+4 || string(b[:len(signature)]) != signature {
		return nil, errorf("expected the signature %s of %s at address %d", signature, what, addr)
	}
	if b, err = f.unseal(b, what); err != nil {
		return nil, err
	}
	return &cursor{b: b[len(signature):], f: f}, nil
}

// unseal verifies and drops the checksum at the end of b, which has at least four bytes.
func (f *File) unseal(b []byte, what string) ([]byte, error) {
	body := b[:len(b)-4]
	return body, f.verify(binary.LittleEndian.Uint32(b[len(b)-4:]), body, what)
}

// verify compares a stored checksum with that of b.
func (f *File) verify(stored uint32, b []byte, what string) error {
	if f.unverified {
		return nil
	}
	if have := lookup3(b); stored != have {
		return errorf("the checksum of %s is wrong: stored %#08x, computed %#08x", what, stored, have)
	}
	return nil
}

// visited remembers addresses, so that no block is read twice on one way through
// the file: a cycle is an error, and so is work beyond the size of the file.
type visited map[uint64]struct{}

func (v visited) add(addr uint64, what string) error {
	if _, again := v[addr]; again {
		return errorf("%s at address %d is reached twice", what, addr)
	}
	v[addr] = struct{}{}
	return nil
}
