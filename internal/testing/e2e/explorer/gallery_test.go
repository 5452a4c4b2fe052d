package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/explorer"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// TestGallery runs every example in the page and on the command line, and compares.
func TestGallery(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL, 1400)
	for i, e := range explorer.Gallery() {
		b.choose(i)
		b.open("result")
		page := b.tables()
		dir := t.TempDir()
		for name, want := range commandLine(t, dir, e) {
			compare(t, e.Title, name, page[name], want)
		}
		for _, view := range []string{"storage", "stages", "copy", "times"} {
			b.open(view)
		}
		// Watched to the end, it gives the same.
		b.open("watch")
		b.js(`document.querySelector('[aria-label="last step"]').click()`)
		if words := eval[string](b, `document.querySelector('#step-words').textContent`); !endsWell(words) {
			t.Errorf("%s: %s", e.Title, words)
		}
		for name, got := range b.tables() {
			compare(t, e.Title+", watched", name, got, parse(t, page[name]))
		}
	}
}

// endsWell says whether a sentence is about the last of some steps: "Step 7 of 7. …".
func endsWell(words string) bool {
	var at, of int
	n, err := fmt.Sscanf(words, "Step %d of %d.", &at, &of)
	return err == nil && n == 2 && at == of && at > 0
}

// commandLine runs an example as the page says that it is run, with results in files.
func commandLine(t *testing.T, dir string, e explorer.Example) map[string][]float64 {
	t.Helper()
	question, err := json.Marshal(explorer.Request{Op: "copy", Program: e.Program, Operands: e.Operands})
	if err != nil {
		t.Fatal(err)
	}
	var c explorer.Copies
	if err := json.Unmarshal((&explorer.Service{}).Answer(context.Background(), question), &c); err != nil {
		t.Fatal(err)
	}
	question, _ = json.Marshal(explorer.Request{Op: "check", Program: e.Program, Operands: e.Operands})
	var check explorer.Check
	if err := json.Unmarshal((&explorer.Service{}).Answer(context.Background(), question), &check); err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSuffix(c.Shell, "\n")
	for _, r := range check.Results {
		line += " -o " + r.Name + "=out-" + r.Name + ".bsp.h5"
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(built.command)+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s\n%s%v", line, out, err)
	}
	results := map[string][]float64{}
	for _, r := range check.Results {
		x, err := file.Read(filepath.Join(dir, "out-"+r.Name+".bsp.h5"))
		if err != nil {
			t.Fatal(err)
		}
		results[r.Name] = elements(t, x)
	}
	return results
}

// elements are all elements of a tensor in row-major order.
func elements(t *testing.T, x *tensor.Tensor) []float64 {
	t.Helper()
	values, err := x.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	var list []float64
	for i := range values.Len() {
		list = append(list, values.Scalar(i).Convert(tensor.Float64).Float64())
	}
	return list
}

func parse(t *testing.T, cells []string) []float64 {
	t.Helper()
	var list []float64
	for _, text := range cells {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, x)
	}
	return list
}

// compare compares cells with numbers: the page's are the interpreter's, whose bits are those of machine code.
func compare(t *testing.T, title, name string, cells []string, want []float64) {
	t.Helper()
	if len(cells) != len(want) {
		t.Errorf("%s: %s has %d elements, want %d: %v", title, name, len(cells), len(want), cells)
		return
	}
	for i, x := range parse(t, cells) {
		if x != want[i] && !(math.IsNaN(x) && math.IsNaN(want[i])) {
			t.Errorf("%s: element %d of %s is %v, want %v", title, i, name, x, want[i])
		}
	}
}
