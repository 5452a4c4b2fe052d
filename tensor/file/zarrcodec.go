package file

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// zarrCodec is a codec or filter as metadata has it: version 2 names it by "id", version 3 by "name" with its settings apart.
type zarrCodec map[string]any

func (c zarrCodec) name() string {
	for _, key := range []string{"name", "id"} {
		if s, ok := c[key].(string); ok {
			return s
		}
	}
	return ""
}

func (c zarrCodec) setting(key string) any {
	if m, ok := c["configuration"].(map[string]any); ok {
		return m[key]
	}
	return c[key]
}

// zarrCodecs are the codecs that are read; each unpacks to at most so many bytes.
var zarrCodecs = map[string]func(b []byte, most int64) ([]byte, error){
	"gzip": func(b []byte, most int64) ([]byte, error) {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		return readMost(r, most)
	},
	"zlib":   unzlib,
	"zstd":   unzstd,
	"blosc":  unblosc,
	"crc32c": uncrc32c,
}

// known says what is wrong with a codec that is not read.
func (c zarrCodec) known() error {
	if zarrCodecs[c.name()] == nil {
		return fmt.Errorf("the codec %q is not read: expected gzip, zlib, zstd, blosc or crc32c", c.name())
	}
	return nil
}

func (c zarrCodec) decode(b []byte, most int64) ([]byte, error) { return zarrCodecs[c.name()](b, most) }

// readMost reads all of r, which must not be more than so many bytes.
func readMost(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("it unpacks to more than %d bytes", most)
	}
	return b, err
}

func unzlib(b []byte, most int64) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return readMost(r, most)
}

func unzstd(b []byte, most int64) ([]byte, error) {
	r, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(most)+1<<20))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return readMost(r, most)
}

func uncrc32c(b []byte, _ int64) ([]byte, error) {
	n := len(b) - 4
	if n < 0 || crc32.Checksum(b[:n], crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(b[n:]) {
		return nil, errors.New("its checksum is wrong")
	}
	return b[:n], nil
}

// The header of a buffer of Blosc, version 1 (c-blosc, README_CHUNK_FORMAT.rst).
const (
	bloscVersion   = 2 // of the format
	bloscHeader    = 16
	bloscShuffled  = 0x1
	bloscMemcpy    = 0x2
	bloscBitShuf   = 0x4
	bloscUnsplit   = 0x10
	bloscMaxSplits = 16
	bloscMinBuffer = 128
)

// unblosc unpacks a buffer of Blosc: blocks, each of which is split into as many streams as an element has bytes, or one.
func unblosc(b []byte, most int64) ([]byte, error) {
	if len(b) < bloscHeader {
		return nil, errors.New("it is shorter than its header")
	}
	flags, typeSize := b[2], int(b[3])
	size, blockSize, packed := int64(binary.LittleEndian.Uint32(b[4:])), int64(binary.LittleEndian.Uint32(b[8:])), int64(binary.LittleEndian.Uint32(b[12:]))
	switch {
	case b[0] > bloscVersion:
		return nil, fmt.Errorf("version %d of Blosc's format is not read: expected at most %d, that of c-blosc 1", b[0], bloscVersion)
	case size > most:
		return nil, fmt.Errorf("it unpacks to %d bytes, expected at most %d", size, most)
	case packed != int64(len(b)):
		return nil, fmt.Errorf("it says that it has %d bytes, but has %d", packed, len(b))
	case size == 0:
		return []byte{}, nil
	case flags&bloscMemcpy != 0:
		if packed != size+bloscHeader {
			return nil, errors.New("its size is wrong")
		}
		return b[bloscHeader:], nil
	case blockSize <= 0 || typeSize == 0:
		return nil, errors.New("its blocks are empty")
	}
	blocks := (size + blockSize - 1) / blockSize
	if blocks > int64(len(b)-bloscHeader)/4 {
		return nil, errors.New("it has more blocks than bytes")
	}
	out := make([]byte, 0, size)
	var scratch []byte
	for i := range blocks {
		n := min(blockSize, size-i*blockSize)
		splits := int64(1)
		if flags&bloscUnsplit == 0 && typeSize <= bloscMaxSplits && n == blockSize && blockSize/int64(typeSize) >= bloscMinBuffer {
			splits = int64(typeSize)
		}
		start := int64(binary.LittleEndian.Uint32(b[bloscHeader+4*i:]))
		scratch = slices.Grow(scratch[:0], int(n))[:n]
		if err := bloscBlock(scratch, b, start, splits, flags>>5); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		at := len(out)
		out = out[:int64(at)+n]
		switch {
		case flags&bloscShuffled != 0 && typeSize > 1:
			unshuffleBytes(out[at:], scratch, typeSize)
		case flags&bloscBitShuf != 0:
			unshuffleBits(out[at:], scratch, typeSize)
		default:
			copy(out[at:], scratch)
		}
	}
	return out, nil
}

// bloscBlock unpacks the streams of a block, each behind its length, into dst.
func bloscBlock(dst, b []byte, at, splits int64, codec byte) error {
	if int64(len(dst))%splits != 0 {
		return errors.New("it cannot be split evenly")
	}
	each := int64(len(dst)) / splits
	for k := range splits {
		if at < bloscHeader || at > int64(len(b)-4) {
			return errors.New("it begins outside the buffer")
		}
		n := int64(binary.LittleEndian.Uint32(b[at:]))
		if at += 4; n > int64(len(b))-at {
			return errors.New("it ends outside the buffer")
		}
		part, src := dst[k*each:][:each], b[at:][:n]
		if at += n; n == each { // not packed
			copy(part, src)
			continue
		}
		if err := bloscStream(part, src, codec); err != nil {
			return err
		}
	}
	return nil
}

// bloscStream unpacks a stream by one of Blosc's codecs.
func bloscStream(dst, src []byte, codec byte) error {
	var got []byte
	var err error
	switch codec {
	case 1:
		var n int
		n, err = lz4.UncompressBlock(src, dst)
		got = dst[:max(n, 0)]
	case 3:
		got, err = unzlib(src, int64(len(dst)))
	case 4:
		got, err = unzstd(src, int64(len(dst)))
	default:
		return fmt.Errorf("the codec %s of Blosc is not read: expected lz4, zlib or zstd", bloscName(codec))
	}
	if err != nil {
		return err
	}
	if len(got) != len(dst) {
		return fmt.Errorf("it unpacks to %d bytes, expected %d", len(got), len(dst))
	}
	copy(dst, got)
	return nil
}

// bloscName is what a codec is called in the metadata of arrays.
func bloscName(codec byte) string {
	switch codec {
	case 0:
		return "blosclz"
	case 2:
		return "snappy"
	}
	return fmt.Sprintf("number %d", codec)
}

// unshuffleBytes brings the bytes of elements together: those of one significance stand side by side. What is no whole element
// at the end is as it was.
func unshuffleBytes(dst, src []byte, size int) {
	n := len(src) / size
	for j := range size {
		for i, v := range src[j*n : (j+1)*n] {
			dst[i*size+j] = v
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// unshuffleBits does the same with bits (bitshuffle: K. Masui et al., 2015). c-blosc leaves blocks alone whose number of elements eight
// does not divide.
func unshuffleBits(dst, src []byte, size int) {
	n := len(src) / size
	if n%8 != 0 {
		copy(dst, src)
		return
	}
	clear(dst[:n*size])
	for bit := range size * 8 {
		row := src[bit*n/8 : (bit+1)*n/8]
		for i, v := range row {
			for k := range 8 {
				dst[(i*8+k)*size+bit/8] |= v >> k & 1 << (bit % 8)
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}
