package file

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// benchmarkText is a Matrix Market text of about 20 MB: values of the given printf verb.
func benchmarkText(verb string) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	const entries = 600_000
	var b bytes.Buffer
	fmt.Fprintf(&b, "%%%%MatrixMarket matrix coordinate real general\n1000000 1000000 %d\n", entries)
	for range entries {
		fmt.Fprintf(&b, "%d %d "+verb+"\n", 1+rng.IntN(1e6), 1+rng.IntN(1e6), rng.NormFloat64())
	}
	return b.Bytes()
}

// BenchmarkParse measures text to coordinate lists, without building a tensor.
func BenchmarkParse(b *testing.B) {
	for _, values := range []struct{ name, verb string }{{"short", "%.3f"}, {"full", "%.17g"}} {
		text := benchmarkText(values.verb)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/threads=%d", values.name, threads), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					in, err := open("a.mtx", bytes.NewReader(text), &config{base: 1, threads: threads, memory: heap{}, progress: func(int64, int64) {}})
					if err != nil {
						b.Fatal(err)
					}
					h, err := readMTXHeader(in)
					if err != nil {
						b.Fatal(err)
					}
					value, err := h.values(in)
					if err != nil {
						b.Fatal(err)
					}
					spec := &entrySpec{value: value, rank: 2, dims: []uint64{1e6, 1e6}, base: 1, comment: '%'}
					if _, err := readCoords(in, in.r, spec, h.lines, h.entries); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkRead measures the same text to a tensor, sorted and compressed.
func BenchmarkRead(b *testing.B) {
	text := benchmarkText("%.17g")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := ReadFrom("a.mtx", bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrite measures a tensor to text.
func BenchmarkWrite(b *testing.B) {
	t, err := ReadFrom("a.mtx", bytes.NewReader(benchmarkText("%.17g")))
	if err != nil {
		b.Fatal(err)
	}
	var n bytes.Buffer
	if err := WriteTo("a.mtx", &n, t); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(n.Len()))
	for b.Loop() {
		if err := WriteTo("a.mtx", io.Discard, t); err != nil {
			b.Fatal(err)
		}
	}
}
