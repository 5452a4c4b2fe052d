package hdf5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"testing"
)

const benchBytes = 64 << 20

// benchData returns values as they are stored: indices that grow by a little, or smooth floats.
func benchData(t Type) []byte {
	b := make([]byte, 0, benchBytes)
	for i := uint64(0); len(b) < benchBytes; i++ {
		if t.Class == Float {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(i*i%10007)/16))
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(i*5+i*i%7))
		}
	}
	return b
}

var benchCases = []struct {
	name string
	typ  Type
	o    Options
}{
	{"contiguous", Float64, Options{}},
	{"chunked", Float64, Options{Chunk: []uint64{1 << 17}}},
	{"deflate", Int32, Options{Deflate: 4}},
	{"deflate-shuffle", Int32, Options{Deflate: 4, Shuffle: true}},
	{"deflate-shuffle", Float64, Options{Deflate: 4, Shuffle: true}},
	{"shuffle", Float64, Options{Shuffle: true}},
	{"fletcher32", Float64, Options{Fletcher32: true}},
}

func BenchmarkRead(b *testing.B) {
	for _, c := range benchCases {
		var buf Buffer
		w := Create(&buf)
		data := benchData(c.typ)
		must(b, w.Dataset("x", c.typ, []uint64{uint64(len(data) / c.typ.Size)}, data, c.o))
		must(b, w.Close())
		f := open(b, buf.Bytes())
		b.Run(fmt.Sprintf("%s/%v", c.name, c.typ), func(b *testing.B) {
			b.SetBytes(benchBytes)
			for b.Loop() {
				d, err := f.Dataset("x")
				must(b, err)
				must(b, d.ReadInto(data))
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, c := range benchCases {
		data := benchData(c.typ)
		buf := Buffer{data: make([]byte, 0, benchBytes+benchBytes/4)}
		b.Run(fmt.Sprintf("%s/%v", c.name, c.typ), func(b *testing.B) {
			b.SetBytes(benchBytes)
			for b.Loop() {
				buf.data = buf.data[:0]
				w := Create(&buf)
				must(b, w.Dataset("x", c.typ, []uint64{uint64(len(data) / c.typ.Size)}, data, c.o))
				must(b, w.Close())
			}
		})
	}
}

// BenchmarkBare is what reading is measured by: a copy of memory, and decompression alone on one core, of the
// same chunks as in BenchmarkRead.
func BenchmarkBare(b *testing.B) {
	data := benchData(Int32)
	b.Run("copy", func(b *testing.B) {
		dst := make([]byte, len(data))
		b.SetBytes(benchBytes)
		for b.Loop() {
			copy(dst, data)
		}
	})
	for _, shuffled := range []string{"inflate", "inflate-shuffled"} {
		var packed [][]byte
		plain := make([]byte, 1<<20)
		for at := 0; at < len(data); at += len(plain) {
			copy(plain, data[at:])
			if shuffled != "inflate" {
				shuffle(plain, data[at:at+len(plain)], 4)
			}
			var z bytes.Buffer
			w, err := zlib.NewWriterLevel(&z, 4)
			must(b, err)
			w.Write(plain)
			must(b, w.Close())
			packed = append(packed, z.Bytes())
		}
		b.Run(shuffled, func(b *testing.B) {
			b.SetBytes(benchBytes)
			for b.Loop() {
				for _, p := range packed {
					r, err := zlib.NewReader(bytes.NewReader(p))
					must(b, err)
					_, err = io.ReadFull(r, plain)
					must(b, err)
				}
			}
		})
	}
}
