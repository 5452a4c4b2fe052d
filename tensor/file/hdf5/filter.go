package hdf5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
)

// Registered filters. Those that are not read are here for their names.
const (
	filterDeflate    = 1
	filterShuffle    = 2
	filterFletcher32 = 3
	filterLZF        = 32000
)

var filterNames = map[uint16]string{
	filterDeflate: "deflate", filterShuffle: "shuffle", filterFletcher32: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset",
	305: "lzo", 307: "bzip2", filterLZF: "lzf", 32001: "blosc", 32004: "lz4", 32008: "bitshuffle", 32013: "zfp", 32015: "zstd",
	32017: "sz", 32026: "blosc2",
}

// filter is a step of the pipeline that chunks went through when they were written.
type filter struct {
	id     uint16
	values []uint32
}

// parseFilters reads a filter pipeline message (IV.A.2.l). Unknown filters are refused here, by name.
func parseFilters(c *cursor) ([]filter, error) {
	const what = "the filter pipeline message"
	version, n := c.u8(), int(c.u8())
	switch version {
	case 1:
		c.skip(6)
	case 2:
	default:
		return nil, unsupported("%s has version %d; 1 and 2 are read", what, version)
	}
	if n > 32 {
		return nil, errorf("%s has %d filters; 32 is the most", what, n)
	}
	var filters []filter
	compressions := 0
	for range n {
		var f filter
		nameSize := uint64(0)
		f.id = c.u16()
		if version == 1 || f.id >= 256 {
			nameSize = uint64(c.u16())
		}
		c.skip(2) // flags: whether the filter may be left out on writing
		values := int(c.u16())
		if version == 1 {
			nameSize = (nameSize + 7) &^ 7
		}
		name := c.take(nameSize)
		for range values {
			f.values = append(f.values, c.u32())
			if c.bad {
				break
			}
		}
		if version == 1 && values%2 == 1 {
			c.skip(4)
		}
		if err := c.err(what); err != nil {
			return nil, err
		}
		switch f.id {
		case filterDeflate, filterLZF:
			compressions++
		case filterShuffle, filterFletcher32:
		default:
			return nil, unsupported("the chunks went through the filter %s, which is not read (deflate, shuffle, fletcher32 and lzf are)", filterName(f.id, name))
		}
		filters = append(filters, f)
	}
	if compressions > 1 {
		return nil, unsupported("the chunks were compressed %d times; once is read", compressions)
	}
	return filters, nil
}

// filterName names a filter by its number, or as the file does.
func filterName(id uint16, name []byte) string {
	if known := filterNames[id]; known != "" {
		return fmt.Sprintf("%s (%d)", known, id)
	}
	name, _, _ = bytes.Cut(name, []byte{0})
	return fmt.Sprintf("%d %q", id, short(name))
}

// decoder undoes filters. It is reused from chunk to chunk.
type decoder struct {
	a, b    []byte // stages read from one and write to the other
	inflate io.ReadCloser
	source  bytes.Reader
}

// decode undoes the filters that were applied to a chunk, last first, and returns its bytes,
// of which there must be as many as dst has. They are in dst if the last step put them
// there, else elsewhere, until the next call. raw may be changed.
func (d *decoder) decode(dst, raw []byte, filters []filter, mask uint32) ([]byte, error) {
	// A later filter may have been given a few bytes more than the chunk.
	const slack = 4 * 32
	for i := len(filters) - 1; i >= 0; i-- {
		if mask&(1<<i) != 0 {
			continue
		}
		f := &filters[i]
		if f.id == filterFletcher32 {
			var err error
			if raw, err = checkFletcher32(raw); err != nil {
				return nil, err
			}
			continue
		}
		out := dst
		if appliesBefore(i, mask) { // then this is not the last step
			d.a = grow(d.a, uint64(len(dst)+slack))
			out = d.a
		}
		var n int
		var err error
		switch f.id {
		case filterDeflate:
			n, err = d.deflated(out, raw)
		case filterLZF:
			n, err = lzf(out, raw)
		case filterShuffle:
			if n = len(raw); n > len(out) {
				err = errorf("it has more than %d bytes", len(out))
				break
			}
			size := 0
			if len(f.values) > 0 {
				size = int(f.values[0])
			}
			unshuffle(out[:n], raw, size)
		}
		if err != nil {
			return nil, err
		}
		raw = out[:n]
		d.a, d.b = d.b, d.a
	}
	if len(raw) != len(dst) {
		return nil, errorf("it has %d bytes, expected %d", len(raw), len(dst))
	}
	return raw, nil
}

// appliesBefore reports whether any filter before number i of the pipeline was applied.
func appliesBefore(i int, mask uint32) bool { return mask|^uint32(0)<<i != ^uint32(0) }

// deflated decompresses src into dst, and returns how many bytes that made.
func (d *decoder) deflated(dst, src []byte) (int, error) {
	d.source.Reset(src)
	var err error
	if d.inflate == nil {
		d.inflate, err = zlib.NewReader(&d.source)
	} else {
		err = d.inflate.(zlib.Resetter).Reset(&d.source, nil)
	}
	if err != nil {
		d.inflate = nil
		return 0, errorf("it is not compressed by deflate: %v", err)
	}
	n, _ := io.ReadFull(d.inflate, dst)
	// Its errors stay, and the end (where the checksum is) must be seen anyway.
	var more [1]byte
	extra, err := io.ReadFull(d.inflate, more[:])
	if extra > 0 {
		return 0, errorf("it has more than %d bytes", len(dst))
	}
	if err != io.EOF {
		return 0, errorf("cannot decompress it: %v", err)
	}
	return n, nil
}

// checkFletcher32 verifies and drops the checksum at the end of a chunk.
func checkFletcher32(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, errorf("it has %d bytes, too few for a checksum", len(b))
	}
	body := b[:len(b)-4]
	want, have := binary.LittleEndian.Uint32(b[len(body):]), fletcher32(body)
	// Some versions of the HDF5 library wrote the bytes of each half in the other order.
	swapped := have&0xff00ff<<8 | have>>8&0xff00ff
	if want != have && want != swapped {
		return nil, errorf("its checksum is wrong: stored %#08x, computed %#08x", want, have)
	}
	return body, nil
}

// fletcher32 is the checksum of the HDF5 library: Fletcher's, of big-endian words of 16 bits.
func fletcher32(b []byte) uint32 {
	var lo, hi uint32
	for len(b) >= 2 {
		n := min(len(b)/2, 360) // words before the sums might overflow
		for range n {
			lo += uint32(b[0])<<8 | uint32(b[1])
			hi += lo
			b = b[2:]
		}
		lo, hi = lo&0xffff+lo>>16, hi&0xffff+hi>>16
	}
	if len(b) == 1 {
		lo += uint32(b[0]) << 8
		hi += lo
		lo, hi = lo&0xffff+lo>>16, hi&0xffff+hi>>16
	}
	lo, hi = lo&0xffff+lo>>16, hi&0xffff+hi>>16
	return hi<<16 | lo
}

// lzf decompresses LibLZF's format, h5py's filter of that name, and returns how many bytes that made.
func lzf(dst, src []byte) (int, error) {
	n := 0
	for i := 0; i < len(src); {
		ctrl := int(src[i])
		i++
		if ctrl < 32 { // as many bytes as they are, and one
			run := ctrl + 1
			if run > len(src)-i || run > len(dst)-n {
				return 0, errorf("cannot decompress it: a run of %d bytes does not fit", run)
			}
			n += copy(dst[n:], src[i:i+run])
			i += run
			continue
		}
		length := ctrl>>5 + 2
		if ctrl>>5 == 7 {
			if i >= len(src) {
				return 0, errorf("cannot decompress it: it is cut short")
			}
			length += int(src[i])
			i++
		}
		if i >= len(src) {
			return 0, errorf("cannot decompress it: it is cut short")
		}
		back := (ctrl&31)<<8 + int(src[i]) + 1
		i++
		if back > n || length > len(dst)-n {
			return 0, errorf("cannot decompress it: %d bytes from %d back do not fit", length, back)
		}
		for range length { // may overlap
			dst[n] = dst[n-back]
			n++
		}
	}
	return n, nil
}
