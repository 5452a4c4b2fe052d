// Package explorer tests the page that shows, runs and explains programs in a real browser, Chromium without a window. Its
// tests run in the long suite where Chromium is installed.
package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lacuna-sparse/lacuna/internal/explorer"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// The folder with the page, and the command, made once for all tests.
var built struct {
	once          sync.Once
	site, command string
	err           error
}

// site makes the page, or takes that of $LACUNA_WEB, and serves it.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	build(t)
	s := httptest.NewServer(http.FileServer(http.Dir(built.site)))
	t.Cleanup(s.Close)
	return s
}

func build(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser's tests are part of the long suite")
	}
	if _, err := browserPath(); err != nil {
		t.Skip("Chromium is not installed: sh scripts/setup.sh test installs it")
	}
	if _, err := exec.LookPath("npm"); err != nil && os.Getenv("LACUNA_WEB") == "" {
		t.Skip("npm is not installed, with which the page is built: sh scripts/setup.sh test installs it")
	}
	built.once.Do(func() { built.err = buildAll() })
	if built.err != nil && strings.Contains(built.err.Error(), "npm ci") {
		t.Skipf("what the page takes from npm cannot be fetched here: %v", built.err)
	}
	if built.err != nil {
		t.Fatal(built.err)
	}
}

// buildAll makes the page and the command beside each other. The page does not go to web/dist, which other tests embed while they build:
// the command finds it by an overlay.
func buildAll() error {
	dir, err := os.MkdirTemp("", "lacuna-explorer")
	if err != nil {
		return err
	}
	built.command = filepath.Join(dir, "lacuna")
	if built.site = os.Getenv("LACUNA_WEB"); built.site == "" {
		built.site = filepath.Join(dir, "site")
		if err := command("go", "run", "github.com/lacuna-sparse/lacuna/web/build", "-o", built.site); err != nil {
			return err
		}
	}
	overlay, err := embedded(built.site)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o666); err != nil {
		return err
	}
	return command("go", "build", "-overlay", file, "-o", built.command, "github.com/lacuna-sparse/lacuna/cmd/lacuna")
}

// embedded is an overlay of the go command that has the files of site in the folder that package web embeds.
func embedded(site string) ([]byte, error) {
	dist, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "web", "dist"))
	if err != nil {
		return nil, err
	}
	replace := map[string]string{}
	err = filepath.WalkDir(site, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(site, path)
		replace[filepath.Join(dist, rel)] = path
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"Replace": replace})
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.cancel != nil {
		browser.cancel()
	}
	if built.command != "" {
		os.RemoveAll(filepath.Dir(built.command))
	}
	os.Exit(code)
}

func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

func browserPath() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// A tab is a page in a browser. What its console says is a failure of the test.
type tab struct {
	*testing.T
	ctx context.Context
	mu  sync.Mutex
	bad []string
}

// browser is the one that all tabs are in.
var browser struct {
	once   sync.Once
	ctx    context.Context
	cancel context.CancelFunc
}

// newTab opens a page of a certain width, and waits until it is ready.
func newTab(t *testing.T, url string, width int64) *tab {
	t.Helper()
	browser.once.Do(func() {
		path, _ := browserPath()
		opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
		ctx, _ := chromedp.NewExecAllocator(context.Background(), opts...)
		browser.ctx, browser.cancel = chromedp.NewContext(ctx)
		if err := chromedp.Do(browser.ctx); err != nil {
			t.Fatal(err)
		}
	})
	ctx, cancel := chromedp.NewContext(browser.ctx)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.bad = append(b.bad, m.String())
			b.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, text := range b.bad {
			t.Errorf("console: %s", text)
		}
	})
	b.do(chromedp.EmulateViewport(width, max(700, width*9/16)), chromedp.Navigate(url))
	b.wait(`document.documentElement.dataset.ready`)
	return b
}

// limit bounds each thing that is done with a page.
const limit = 100 * time.Second

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, limit)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// wait waits until an expression holds.
func (b *tab) wait(expression string) {
	b.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[chromedp.Void]("!!("+expression+")", chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(limit))); err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`JSON.stringify([document.activeElement.outerHTML.slice(0, 200), {...document.querySelector('#view').dataset}, location.hash.length]) + document.querySelector('#diagnostics').innerText + document.querySelector('#view').innerText.slice(0, 500)`))
		b.Fatalf("waiting for %s: %v\n%s", expression, err, text)
	}
}

// js runs statements.
func (b *tab) js(statements string) {
	b.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](statements))
}

// eval is the value of an expression.
func eval[T any](b *tab, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatal(err)
	}
	return v
}

// settled waits until the view is that of the latest state.
func (b *tab) settled(action string) {
	b.Helper()
	b.js(`document.querySelector('#view').dataset.version = ''; ` + action + `; undefined`)
	b.wait(`document.querySelector('#view').dataset.version !== ''`)
}

// open shows a tab of the page.
func (b *tab) open(name string) {
	b.Helper()
	b.settled(`document.querySelector('#tab-` + name + `').click()`)
	if text := eval[string](b, `document.querySelector('#view > .error')?.textContent ?? ''`); text != "" {
		b.Fatalf("view %s: %s", name, text)
	}
}

func (b *tab) choose(example int) {
	b.Helper()
	b.settled(fmt.Sprintf(`{const g = document.querySelector('#gallery'); g.value = '%d'; g.dispatchEvent(new Event('change'))}`, example))
}

// tables are the cells of the results in view, by name.
func (b *tab) tables() map[string][]string {
	return eval[map[string][]string](b, `Object.fromEntries([...document.querySelectorAll('[data-result]')].map((s) => [s.dataset.result,
		s.querySelector('td') ? [...s.querySelectorAll('td')].map((c) => c.title.startsWith('fill ') ? c.title.slice(5) : c.title || c.textContent) : [s.querySelector('p').textContent.split(' = ')[1]]]))`)
}

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

// TestErrors types programs that are wrong, or may be.
func TestErrors(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL, 1400)
	b.type_("y(i) = A(i,j)*x(j")
	b.wait(`document.querySelector('#diagnostics .error')?.textContent.includes('E104')`)
	b.wait(`document.querySelector('.cm-lintRange-error')`)
	// A warning with a quick fix, which a button makes.
	b.type_("y(i) = x(i) / (A(i,j)*z(j))")
	b.wait(`document.querySelector('#diagnostics button')`)
	b.do(chromedp.Click(`#diagnostics button`))
	b.wait(`document.querySelector('#diagnostics').textContent === '' && document.querySelector('.cm-content').textContent.includes('sum_j')`)
	// A word that is misspelt.
	b.type_("y(i) = summ_j A(i,j)*x(j)")
	b.wait(`[...document.querySelectorAll('#diagnostics button')].some((e) => e.textContent === 'write sum_j')`)
	b.do(chromedp.Click(`#diagnostics button`))
	b.wait(`document.querySelector('#diagnostics').textContent === '' && document.querySelector('.cm-content').textContent === 'y(i) = sum_j A(i,j)*x(j)'`)
	// A function that is, which is taken for an operand.
	b.type_("y(i) = A(i,j)*sqrtt(x(j))")
	b.wait(`document.querySelector('#diagnostics')?.textContent.includes('did you mean sqrt?')`)
	b.do(chromedp.Click(`#diagnostics button`))
	b.wait(`document.querySelector('#diagnostics').textContent === '' && document.querySelector('.cm-content').textContent === 'y(i) = A(i,j)*sqrt(x(j))' && !document.querySelector('[data-operand=sqrtt]')`)
	// Operands appear as the program names them, and an extent that does not fit is said.
	b.type_("y(i) = B(i,j)*v(j)")
	b.wait(`document.querySelector('[data-operand=B]') && document.querySelector('[data-operand=v]') && !document.querySelector('[data-operand=A]')`)
	b.settled(`{const i = document.querySelector('[aria-label="shape of v"]'); i.value = '9'; i.dispatchEvent(new Event('change'))}`)
	b.wait(`document.querySelector('#view .error')?.textContent.includes('E303')`)
}

// type_ puts a text into the editor as a person pastes it.
func (b *tab) type_(text string) {
	b.Helper()
	quoted, _ := json.Marshal(text)
	b.js(`{const e = document.querySelector('.cm-content'); e.focus(); document.execCommand('selectAll'); const d = new DataTransfer(); d.setData('text/plain', ` + string(quoted) + `);
		e.dispatchEvent(new ClipboardEvent('paste', {clipboardData: d, bubbles: true, cancelable: true}))}`)
}

// drop drops a file on an operand.
func (b *tab) drop(operand, name string, data []byte) {
	b.Helper()
	list, _ := json.Marshal(data)
	b.settled(fmt.Sprintf(`{const t = new DataTransfer(); t.items.add(new File([Uint8Array.from(atob(%s), (c) => c.charCodeAt(0))], '%s'));
		document.querySelector('[data-operand=%s]').dispatchEvent(new DragEvent('drop', {dataTransfer: t, bubbles: true, cancelable: true}))}`, list, name, operand))
}

// TestFiles drops a file that is right, and some that are not, on an operand.
func TestFiles(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL, 1400)
	b.drop("A", "a.mtx", []byte("%%MatrixMarket matrix coordinate real general\n2 8 2\n1 1 3\n2 8 5\n"))
	b.open("result")
	if got := len(b.tables()["y"]); got != 2 {
		t.Errorf("y has %d elements, want 2: %v", got, b.tables())
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

// TestLink opens what the address holds in another tab.
func TestLink(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL, 1400)
	b.choose(5)
	b.open("stages")
	b.do(chromedp.Click("#link"))
	b.wait(`location.hash.length > 10`)
	url := eval[string](b, `location.href`)
	c := newTab(t, url, 1400)
	c.wait(`document.querySelector('#tab-stages').getAttribute('aria-selected') === 'true' && document.querySelector('.stage')`)
	if got := eval[string](c, `document.querySelector('.cm-content').textContent`); !strings.Contains(got, "A(i,j) + B(i,j)") {
		t.Errorf("the link holds %q", got)
	}
	// Pointing at a word lights it in other stages.
	c.js(`document.querySelector('[data-stage=plan] [data-s]').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))`)
	if n := eval[int](c, `new Set([...document.querySelectorAll('[data-s].lit')].map((e) => e.closest('[data-stage]')?.dataset.stage)).size`); n < 3 {
		t.Errorf("a word lights up in %d stages", n)
	}
	// Pointing at a loop lights its index variable in the program, and the lines of other stages that come from there: here the merge.
	point := `.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))`
	c.js(`[...document.querySelectorAll('[data-stage=loops] .l')].find((l) => l.textContent.trim().startsWith('while '))` + point)
	if got := eval[string](c, `[...document.querySelectorAll('.cm-content .place')].map((e) => e.textContent).join(' ')`); got != "j j j" {
		t.Errorf("the loop of j lights up %q in the program", got)
	}
	lines := func(stage string) string {
		return eval[string](c, `[...document.querySelectorAll('[data-stage=`+stage+`] .l.lit')].map((l) => l.textContent.trim()).join('|')`)
	}
	if plan, lattice := lines("plan"), lines("lattice"); plan != "forall j" || !strings.HasPrefix(lattice, "j: A ∪ B") {
		t.Errorf("it lights up %q and %q", plan, lattice)
	}
	// And the other way: what one points at in the program, which here is B(i,j).
	c.js(`{const text = document.querySelector('.cm-line'); const r = document.createRange(); const find = (n) => n.nodeType === 3 ? (n.data.includes('B') ? n : null) : [...n.childNodes].map(find).find(Boolean);
		const node = find(text); r.setStart(node, node.data.indexOf('B')); r.setEnd(node, node.data.indexOf('B') + 1); const box = r.getBoundingClientRect();
		document.querySelector('.cm-content').dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: box.x + box.width / 2 - 1, clientY: box.y + box.height / 2}))}`)
	if plan, loops := lines("plan"), lines("loops"); !strings.Contains(plan, "C(i,j) = (A(i,j) + B(i,j))") || !strings.Contains(loops, "B_vals[") || strings.Contains(loops, "A_vals[") {
		t.Errorf("B lights up %q and %q", plan, loops)
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

// TestContrast looks at all texts of the views, light and dark: each stands out from its ground as WCAG 2.1 wants of level AA, and
// no view makes a telephone's page wider than its screen.
func TestContrast(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL, 360)
	for range 2 {
		b.do(chromedp.Click("#theme"))
		for _, view := range []string{"result", "storage", "stages", "watch", "grad", "times", "copy"} {
			b.open(view)
			if view == "stages" {
				b.js(`document.querySelector('[data-stage=plan] .l[data-p]').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))`)
			}
			if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
				t.Errorf("%s: the page is wider than the window", view)
			}
			if faint := eval[[]string](b, contrast); len(faint) > 0 {
				t.Errorf("%s: hard to read: %s", view, strings.Join(faint, ", "))
			}
		}
	}
}

// contrast are the texts in view whose contrast is less than 4.5.
const contrast = `(() => {
	const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
	const rgba = (c) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
	const luminance = ([r, g, b]) => [r, g, b].map((x) => x / 255).map((x) => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4).reduce((a, x, i) => a + x * [0.2126, 0.7152, 0.0722][i], 0);
	const ground = (e) => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] > 200) return c; } return [255, 255, 255]; };
	const out = new Set();
	for (const e of document.querySelectorAll('body *')) {
		if (e.closest('svg, option, canvas, #toast') || e.disabled || !e.getClientRects().length) continue;
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
		const [a, b] = [luminance(rgba(getComputedStyle(e).color)), luminance(ground(e))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) out.add(e.tagName + '.' + e.className + ' "' + e.textContent.trim().slice(0, 20) + '" ' + ratio.toFixed(2));
	}
	return [...out].slice(0, 10);
})()`

// TestKeyboard runs, steps and goes through the tabs without a mouse.
func TestKeyboard(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL, 1400)
	b.open("watch")
	b.do(chromedp.Focus(`#watch pre`), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowLeft))
	if words := eval[string](b, `document.querySelector('#step-words').textContent`); !strings.HasPrefix(words, "Step 1 of") {
		t.Errorf("after two steps on and one back: %s", words)
	}
	b.do(chromedp.Focus(`#tab-watch`), chromedp.KeyEvent(kb.ArrowLeft))
	b.wait(`document.activeElement.id === 'tab-stages' && document.querySelector('.stage')`)
	// All that one can press or type in has a name.
	if bare := eval[[]string](b, `[...document.querySelectorAll('button, input, select, textarea, [role=img]')].filter((e) => !e.hidden &&
		!(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).map((e) => e.outerHTML)`); len(bare) > 0 {
		t.Errorf("without a name: %s", strings.Join(bare, "\n"))
	}
}

// TestTyping types while the worker is busy with a run that is too long to watch, and tells how long things took.
func TestTyping(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL, 1400)
	b.wait(`document.querySelector('[data-result] td')`)
	t.Logf("first paint %.0f ms, first result %.0f ms", eval[float64](b, `performance.getEntriesByName('first-contentful-paint')[0].startTime`),
		eval[float64](b, `Number(document.documentElement.dataset.ready)`))
	b.keys()
	b.type_("C(i,j) = u(i)*u(j)")
	b.wait(`document.querySelector('[data-operand=u]')`)
	b.settled(`{const i = document.querySelector('[aria-label="shape of u"]'); i.value = '600'; i.dispatchEvent(new Event('change'))}`)
	b.js(`document.querySelector('#tab-watch').click()`)
	b.type_("v = 1")
	if !eval[bool](b, `document.querySelector('#view').ariaBusy === 'true' && document.querySelector('.cm-content').textContent === 'v = 1'`) {
		t.Error("the page waited for the worker")
	}
	b.wait(`document.querySelector('[data-operand=u]') === null`)
}

// keys types a name letter by letter into a program whose stages are shown, and looks at how long the page's thread works, in time of the
// processor: for a key and for what follows from it when the worker has answered.
func (b *tab) keys() {
	b.Helper()
	b.choose(2)
	b.open("stages")
	if _, err := chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		b.Fatal(err)
	}
	worked := func() float64 {
		m, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			b.Fatal(err)
		}
		for _, x := range m.Metrics {
			if x.Name == "TaskDuration" {
				return x.Value * 1000
			}
		}
		b.Fatal("no TaskDuration")
		return 0
	}
	b.do(chromedp.Focus(".cm-content"))
	b.do(chromedp.KeyEvent(kb.End))
	var key, follows []float64
	for _, letter := range "+ABAB" {
		start := worked()
		b.js(`document.querySelector('#view').dataset.version = ''`)
		b.do(chromedp.KeyEvent(string(letter)))
		typed := worked()
		b.wait(`document.querySelector('#view').dataset.version !== ''`)
		key, follows = append(key, typed-start), append(follows, worked()-typed)
	}
	slices.Sort(key)
	slices.Sort(follows)
	b.Logf("a key takes %.1f ms, what follows %.1f ms", key, follows)
	if median := key[len(key)/2]; median > 50 {
		b.Errorf("a key takes %.1f ms", median)
	}
}

// TestServe asks a server as its page does, and as others would.
func TestServe(t *testing.T) {
	build(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.mtx"), []byte("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(folder, "out.mtx")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, built.command, "serve", folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); cmd.Wait() })
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(string(line[:n]))
	origin := strings.Join(strings.SplitN(url, "/", 4)[:3], "/")
	post := func(address, from, body string) (int, string) {
		r, _ := http.NewRequest("POST", address, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", from)
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		var b bytes.Buffer
		b.ReadFrom(reply.Body)
		return reply.StatusCode, b.String()
	}
	read := func(name string) string {
		_, text := post(url+"api", origin, `{"op":"storage","name":"A","operands":[{"name":"A","file":"`+filepath.Base(folder)+`/`+name+`"}]}`)
		return text
	}
	if text := read("a.mtx"); !strings.Contains(text, `"values":["3","5"]`) {
		t.Error(text)
	}
	for _, name := range []string{"out.mtx", "../../etc/hostname", "/etc/hostname"} {
		if text := read(name); !strings.Contains(text, `"error"`) || strings.Contains(text, "values") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if status, _ := post(url+"api", "http://example.org", `{"op":"about"}`); status != http.StatusForbidden {
		t.Errorf("another origin: %d", status)
	}
	if status, _ := post(origin+"/api", origin, `{"op":"about"}`); status != http.StatusNotFound {
		t.Errorf("without the token: %d", status)
	}
	b := newTab(t, url, 1400)
	b.open("times")
	if n := eval[int](b, `document.querySelectorAll('.flame').length`); n < 3 {
		t.Errorf("%d bars in the flame chart", n)
	}
	if n := eval[int](b, `document.querySelectorAll('[data-bar=estimate]').length`); n != 1 {
		t.Errorf("%d estimates beside them", n)
	}
	// Loops have their times too, which light up what they were made for.
	b.wait(`document.querySelectorAll('.times tr[tabindex]').length >= 2`)
	b.js(`[...document.querySelectorAll('.times tr[tabindex]')].find((r) => r.textContent.startsWith('for i')).focus()`)
	if got := eval[string](b, `[...document.querySelectorAll('.cm-content .place')].map((e) => e.textContent).join(' ')`); got != "i i" {
		t.Errorf("the loop of i lights up %q in the program", got)
	}
	b.open("stages")
}

// TestPage opens what explain --html writes from the disk.
func TestPage(t *testing.T) {
	build(t)
	path := filepath.Join(t.TempDir(), "page.html")
	if err := command(built.command, "explain", "y(i) = sum_j A(i,j)*x(j) + 0*(1 < 2)", "A=random(6,6,density=0.3):CSR", "x=random(6)", "--html", path); err != nil {
		t.Fatal(err)
	}
	b := newTab(t, "file://"+path, 1400)
	if got := len(b.tables()["y"]); got != 6 {
		t.Errorf("y has %d elements", got)
	}
	for _, view := range []string{"storage", "stages", "watch", "times", "copy", "grad"} {
		b.open(view)
	}
	b.settled(`document.querySelector('#view button').click()`)
	b.wait(`document.querySelector('[data-result]')`)
}

// TestPictures takes pictures for the documentation at three widths, if $LACUNA_PICTURES names a folder.
func TestPictures(t *testing.T) {
	folder := os.Getenv("LACUNA_PICTURES")
	if folder == "" {
		t.Skip("LACUNA_PICTURES names no folder for pictures")
	}
	s := site(t)
	for _, p := range []struct {
		width   int64
		example int
		view    string
		dark    bool
	}{{360, 0, "storage", false}, {1400, 5, "watch", false}, {1400, 5, "stages", false}, {3840, 2, "stages", true}} {
		b := newTab(t, s.URL, p.width)
		b.choose(p.example)
		b.open(p.view)
		if p.dark {
			b.do(chromedp.Click("#theme"))
		}
		if p.view == "watch" {
			b.js(`{const r = document.querySelector('#watch input[type=range]'); r.value = r.max / 2; r.dispatchEvent(new Event('input'))}`)
		}
		if p.view == "stages" { // a loop that one points at
			b.js(`{const l = [...document.querySelectorAll('[data-stage=loops] .l')].find((l) => /^(while|for p_)/.test(l.textContent.trim())); l.scrollIntoView({block: 'center'});
				scrollTo(0, 0); l.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))}`)
		}
		if wide := eval[bool](b, `document.documentElement.scrollWidth > innerWidth`); wide {
			t.Errorf("%d: the page is wider than the window", p.width)
		}
		b.do(chromedp.Sleep(3 * time.Second)) // the toast fades
		image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("explorer-%s-%d.png", p.view, p.width)
		if err := os.WriteFile(filepath.Join(folder, name), image, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
