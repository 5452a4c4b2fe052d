package file

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/lacuna-sparse/lacuna/tensor"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

// describe writes a tensor for the eye: what it is, then its entries.
func describe(t *tensor.Tensor, err error) string {
	if err != nil {
		return "error: " + err.Error() + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%v %v %v\n", t.DType(), t.Format(), t.Shape())
	coords, values, err := t.ToCoords()
	if err != nil {
		return "error: " + err.Error()
	}
	for i := range values.Len() {
		for k := range coords {
			fmt.Fprintf(&b, "%d ", coords[k][i])
		}
		fmt.Fprintln(&b, values.Scalar(i))
	}
	return b.String()
}

func TestTextFiles(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		wants := map[string]string{}
		for _, f := range a.Files {
			if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
				wants[name] = string(f.Data)
			}
		}
		out := &txtar.Archive{Comment: a.Comment}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".want") {
				continue
			}
			got := describe(ReadFrom(f.Name, strings.NewReader(string(f.Data))))
			out.Files = append(out.Files, f, txtar.File{Name: f.Name + ".want", Data: []byte(got)})
			t.Run(filepath.Base(path)+"/"+f.Name, func(t *testing.T) {
				if diff := cmp.Diff(wants[f.Name], got); diff != "" && !*update {
					t.Errorf("-want +got:\n%s", diff)
				}
				// A stream whose size is not known and other line ends must give the same.
				stream := struct{ *strings.Reader }{strings.NewReader(string(f.Data))}
				if diff := cmp.Diff(got, describe(ReadFrom(f.Name, onlyReader{stream}))); diff != "" &&
					!strings.Contains(got, "header promises") {
					t.Errorf("as a stream: -want +got:\n%s", diff)
				}
				crlf := strings.ReplaceAll(string(f.Data), "\n", "\r\n")
				if diff := cmp.Diff(got, describe(ReadFrom(f.Name, strings.NewReader(crlf)))); diff != "" &&
					!strings.Contains(got, "header promises") {
					t.Errorf("with CRLF: -want +got:\n%s", diff)
				}
				if body, ok := strings.CutSuffix(string(f.Data), "\n"); ok && len(body) > 0 {
					if diff := cmp.Diff(got, describe(ReadFrom(f.Name, strings.NewReader(body)))); diff != "" &&
						!strings.Contains(got, "header promises") {
						t.Errorf("without the last newline: -want +got:\n%s", diff)
					}
				}
			})
		}
		if *update {
			if err := os.WriteFile(path, txtar.Format(out), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestProgressOfWriting: the reports rise and end at the whole, for every kind.
func TestProgressOfWriting(t *testing.T) {
	var text strings.Builder
	const n = 3*chunkEntries + 5
	fmt.Fprintf(&text, "%%%%MatrixMarket matrix coordinate real general\n%d 1 %d\n", n, n)
	for i := range n {
		fmt.Fprintln(&text, i+1, 1, i)
	}
	x, err := ReadFrom("a.mtx", strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.mtx", "a.tns", "a.npy", "a.npz"} {
		var reports []int64
		want := int64(n)
		if strings.HasPrefix(name, "a.np") {
			want *= 8
		}
		err := WriteTo(name, io.Discard, x, Progress(func(done, total int64) {
			if total != want {
				t.Errorf("%s: the whole is %d, want %d", name, total, want)
			}
			reports = append(reports, done)
		}))
		if err != nil || len(reports) == 0 || !slices.IsSorted(reports) || reports[len(reports)-1] != want {
			t.Errorf("%s: %v, reports %v", name, err, reports)
		}
	}
}

// TestWriteThreads: the text does not depend on the number of threads, and an error
// of the writer ends the work.
func TestWriteThreads(t *testing.T) {
	x, err := ReadFrom("a.mtx", bytes.NewReader(largeMTX(100_000)))
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := WriteTo("a.mtx", &want, x, Threads(1)); err != nil {
		t.Fatal(err)
	}
	for _, threads := range []int{2, 3, 16} {
		var got bytes.Buffer
		if err := WriteTo("a.mtx", &got, x, Threads(threads)); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d threads: another text (%v)", threads, err)
		}
		if err := WriteTo("a.mtx", &fullDisk{left: 1 << 20}, x, Threads(threads)); !errors.Is(err, errFull) {
			t.Errorf("%d threads: %v on a full disk", threads, err)
		}
	}
}

var errFull = errors.New("no space")

// fullDisk takes so many bytes and no more.
type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}
