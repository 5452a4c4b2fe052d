package explorer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// TestFiles drops a file that is right, and some that are not, on an operand.
func TestFiles(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL, 1400)
	b.drop("A", "a.mtx", []byte("%%MatrixMarket matrix coordinate real general\n2 8 2\n1 1 3\n2 8 5\n"))
	b.open("result")
	if got := len(b.tables()["y"]); got != 2 {
		t.Errorf("y has %d elements, want 2: %v", got, b.tables())
	}
	// The same in each kind of file that there is.
	coo, err := tensor.FromCoords([]int64{2, 8}, tensor.CSR, [][]int64{{0, 1}, {0, 7}}, tensor.ArrayOf([]float64{3, 5}))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join(b.tables()["y"], " ")
	for _, name := range []string{"a.tns", "a.npy", "a.npz", "a.bsp.h5"} {
		path := filepath.Join(t.TempDir(), name)
		if err := file.Write(path, coo); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b.drop("A", name, data)
		if got := strings.Join(b.tables()["y"], " "); got != want {
			t.Errorf("%s: y is %s, want %s", name, got, want)
		}
	}
	for _, bad := range []struct{ name, data string }{
		{"a.mtx", "%%MatrixMarket matrix coordinate real general\n999999999 999999999 1\n5 5 x\n"},
		{"a.npy", "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999,), }"},
		{"a.h5", "\x89HDF\r\n\x1a\n" + strings.Repeat("\xff", 200)},
		{"a.npz", "PK\x03\x04" + strings.Repeat("\x00", 100)},
	} {
		b.drop("A", bad.name, []byte(bad.data))
		if text := eval[string](b, `document.querySelector('#view .error')?.textContent ?? ''`); !strings.Contains(text, "a.") {
			t.Errorf("%s: the page says %q", bad.name, text)
		}
	}
	// A program of 1 MB, and one that would not end, leave the page alive.
	b.type_(strings.Repeat("y(i) = A(i,j)*x(j)\n", 1<<20/19))
	b.wait(`document.querySelector('#diagnostics .error')?.textContent.includes('bytes: want')`)
	b.type_("s = sum_{a,b,c,d} x(a)*x(b)+x(c)^x(d)")
	b.wait(`document.querySelector('[data-operand=x]')`)
	b.choose(0)
	b.open("result")
	if got := len(b.tables()["y"]); got != 8 {
		t.Errorf("afterwards y has %d elements, want 8", got)
	}
}

// TestOperands chooses formats level by level, samples, and how the program runs.
func TestOperands(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL, 1400)
	pick := func(label, value string) {
		b.settled(fmt.Sprintf(`{const e = document.querySelector('[aria-label="%s"]'); e.value = '%s'; e.dispatchEvent(new Event('change'))}`, label, value))
	}
	b.open("storage")
	arrays := func() string {
		return eval[string](b, `[...document.querySelectorAll('section[aria-label="storage of A"] .array b')].map((e) => e.textContent).join(' ')`)
	}
	if got := arrays(); got != "A1_pos A1_crd A_vals" {
		t.Errorf("CSR has arrays %s", got)
	}
	b.js(`document.querySelector('[data-operand=A] .picker').open = true`)
	b.wait(`document.querySelector('[aria-label="level 0 of A"]')`)
	pick("level 0 of A", "DC")
	if got := arrays(); got != "A0_pos A0_crd A1_pos A1_crd A_vals" {
		t.Errorf("DCSR has arrays %s", got)
	}
	pick("axes of A", "1,0")
	if got := eval[string](b, `document.querySelector('section[aria-label="storage of A"] h3').textContent`); !strings.Contains(got, "DCSC") {
		t.Errorf("by columns it is %s", got)
	}
	pick("level 1 of A", "D") // with which no level of pointers goes
	if got := arrays(); strings.Contains(got, "A1_crd") {
		t.Errorf("with dense rows it has arrays %s", got)
	}
	b.type_("y(i) = A(i,j)*A(j,i)")
	b.wait(`document.querySelector('[data-operand=x]') === null`)
	pick("what A is", "sample 1")
	b.open("result")
	if got := strings.Join(b.tables()["y"], " "); got != "5 6 6 6 6 5" {
		t.Errorf("of second differences y is %s", got)
	}
	// Numbers in brackets have the type that their spelling tells.
	b.type_("y(i) = 2*q(i)")
	b.wait(`document.querySelector('[data-operand=q]')`)
	pick("what q is", "text")
	pick("q(2)", "7")
	b.open("result")
	if got := b.tables()["y"]; len(got) != 6 || got[2] != "14" {
		t.Errorf("with 7 typed into the grid, twice q is %s", got)
	}
	b.settled(`document.querySelector('[aria-label="type q as text"]').click()`)
	pick("elements of q; a dot is not stored", "[1,2,3]")
	if got := eval[string](b, `document.querySelector('[data-result=y] h3').textContent`); !strings.Contains(got, "3 i64") {
		t.Errorf("y is %s", got)
	}
	// A loop over all coordinates, as 0*inf is to be nan.
	b.choose(0)
	b.open("stages")
	b.settled(`document.querySelector('#options input').click()`)
	b.wait(`document.querySelector('[data-stage=lattice]').textContent.includes('j: ⊤, by whole dimension')`)
	if got := eval[string](b, `(document.querySelector('#tab-copy').click(), '')`); got != "" {
		t.Error(got)
	}
	b.wait(`document.querySelector('#view').textContent.includes('--strict-ieee')`)
}
