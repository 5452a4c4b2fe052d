package tensorio

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
