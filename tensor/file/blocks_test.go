package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// onlyReader hides everything that a reader can do besides Read.
type onlyReader struct{ io.Reader }

// largeMTX makes a text of several blocks, with comments and blank lines, so that
// it is parsed in parallel.
func largeMTX(entries int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	fmt.Fprintf(&b, "%%%%MatrixMarket matrix coordinate real general\n100000 100000 %d\n", entries)
	for i := range entries {
		if i%1000 == 0 {
			b.WriteString("% a comment\n\n")
		}
		fmt.Fprintf(&b, "%d %d %v\n", 1+rng.IntN(100000), 1+rng.IntN(100000), rng.NormFloat64())
	}
	return b.Bytes()
}

func TestParallelParseEqualsSequential(t *testing.T) {
	text := largeMTX(200_000)
	if len(text) < (soloBlocks+2)*blockSize {
		t.Fatalf("%d bytes are not enough to start the parallel parser", len(text))
	}
	want, err := ReadFrom("a.mtx", bytes.NewReader(text), Threads(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{2, 3, 8} {
		for name, r := range map[string]io.Reader{
			"sized":  bytes.NewReader(text),
			"stream": onlyReader{bytes.NewReader(text)},
			"halves": iotest.HalfReader(bytes.NewReader(text)),
		} {
			got, err := ReadFrom("a.mtx", r, Threads(threads))
			if err != nil {
				t.Fatalf("%s, %d threads: %v", name, threads, err)
			}
			if !tensor.Equal(got, want) {
				t.Errorf("%s, %d threads: a different tensor", name, threads)
			}
		}
	}
}

// TestParallelErrors plants errors in a large text: the first in the file must be
// reported, with its line, whatever the number of threads.
func TestParallelErrors(t *testing.T) {
	lines := strings.SplitAfter(string(largeMTX(200_000)), "\n")
	broken := append([]string(nil), lines...)
	const first, second = 170_000, 195_000
	broken[first-1], broken[second-1] = "1 2 x\n", "0 0 0\n"
	for _, tt := range []struct{ name, text, want string }{
		{"bad line", strings.Join(broken, ""), "a.mtx:170000: \"x\" is not a number"},
		{"surplus", strings.Join(lines, "") + "\n\n1 1 1\n", fmt.Sprintf("a.mtx:%d: an entry more than the 200000", len(lines)+2)},
		{"missing", strings.Join(lines[:len(lines)-2], ""), fmt.Sprintf("a.mtx:%d: the file ends after 199999 of the 200000 entries", len(lines)-2)},
	} {
		for _, threads := range []int{1, 2, 5} {
			_, err := ReadFrom("a.mtx", strings.NewReader(tt.text), Threads(threads))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%s, %d threads: %v; want %s…", tt.name, threads, err, tt.want)
			}
		}
	}
}

func TestReadErrorsArePassedOn(t *testing.T) {
	broken := errors.New("the disk is on fire")
	text := largeMTX(200_000)
	for _, cut := range []int{3, 100, blockSize, len(text) - 5} {
		r := io.MultiReader(bytes.NewReader(text[:cut]), iotest.ErrReader(broken))
		if _, err := ReadFrom("a.mtx", r, Threads(2)); !errors.Is(err, broken) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func TestLongLines(t *testing.T) {
	head := "%%MatrixMarket matrix coordinate real general\n1 1 1\n"
	long := strings.Repeat(" ", 3*blockSize)
	if _, err := ReadFrom("a.mtx", strings.NewReader(head+"\n"+long)); err == nil || !strings.HasPrefix(err.Error(), "a.mtx:4: a line is longer") {
		t.Errorf("in the body: %v", err)
	}
	if _, err := ReadFrom("a.mtx", strings.NewReader("%%MatrixMarket "+long)); err == nil || !strings.Contains(err.Error(), "a line of the header is longer") {
		t.Errorf("in the header: %v", err)
	}
	fits := strings.Repeat(" ", blockSize/2)
	if _, err := ReadFrom("a.mtx", strings.NewReader(head+fits+"1 1 1\n")); err != nil {
		t.Errorf("half a block: %v", err)
	}
}

func TestLineBlocks(t *testing.T) {
	var text strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	text.WriteString("the last")
	blocks := &lineBlocks{r: iotest.DataErrReader(strings.NewReader(text.String()))}
	var got []byte
	for {
		b, err := blocks.next(nil)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if b[len(b)-1] != '\n' || len(b) > blockSize {
			t.Fatalf("a block of %d bytes ends in %q", len(b), b[len(b)-1])
		}
		got = append(got, b...)
	}
	if string(got) != text.String()+"\n" {
		t.Error("the blocks are not the text")
	}
}
