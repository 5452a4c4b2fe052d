package hdf5

import "math/bits"

// maxRank is the most dimensions that the format allows.
const maxRank = 32

// space is a dataspace: the shape of a dataset or attribute.
type space struct {
	dims []uint64
	max  []uint64 // the sizes it may grow to; undefined for any
	null bool     // no elements at all
}

// parseSpace reads a dataspace message (IV.A.2.b).
func parseSpace(c *cursor) (space, error) {
	const what = "the dataspace message"
	var s space
	version, rank, flags := c.u8(), int(c.u8()), c.u8()
	switch version {
	case 1:
		c.skip(5)
	case 2:
		s.null = c.u8() == 2
	default:
		return s, unsupported("%s has version %d; 1 and 2 are read", what, version)
	}
	if rank > maxRank {
		return s, errorf("%s has %d dimensions; %d is the most", what, rank, maxRank)
	}
	read := func() []uint64 {
		d := make([]uint64, rank)
		for i := range d {
			d[i] = c.length()
			if c.f.lengthSize < 8 && d[i] == 1<<(8*c.f.lengthSize)-1 {
				d[i] = undefined
			}
		}
		return d
	}
	s.dims = read()
	s.max = s.dims
	if flags&1 != 0 {
		s.max = read()
	}
	for i, d := range s.dims {
		if s.max[i] < d {
			return s, errorf("dimension %d has size %d, but %d is its maximum", i, d, s.max[i])
		}
	}
	return s, c.err(what)
}

// count returns the number of elements, and of bytes if each has size bytes; both must be below 2^63.
func (s space) count(size int) (elements, bytes int64, err error) {
	if s.null {
		return 0, 0, nil
	}
	n := uint64(1)
	over := false
	for _, d := range s.dims {
		if d == 0 {
			return 0, 0, nil
		}
		hi, lo := bits.Mul64(n, d)
		over = over || hi != 0
		n = lo
	}
	hi, total := bits.Mul64(n, uint64(size))
	if over || hi != 0 || total > 1<<63-1 {
		return 0, 0, errorf("the dimensions %d of elements of %d bytes are too large to be counted", s.dims, size)
	}
	return int64(n), int64(total), nil
}
