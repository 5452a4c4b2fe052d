package explorer

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// ready waits until an expression holds, while pages come and go.
func (b *tab) ready(expression string) {
	b.Helper()
	for start := time.Now(); time.Since(start) < limit; time.Sleep(50 * time.Millisecond) {
		if holds, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("!!("+expression+" && document.documentElement.dataset.ready)")); err == nil && holds {
			return
		}
	}
	b.Fatalf("waiting for %s", expression)
}

// on is an expression that holds on a page.
func on(path string) string { return `location.pathname.endsWith("` + path + `")` }

// TestDocumentation reads the pages on a telephone: they fit, in light and dark; what is searched for is found; and the button
// of an example runs it.
func TestDocumentation(t *testing.T) {
	s := site(t)
	b := newTab(t, s.URL+"/docs/index.html", 360)
	for _, page := range []string{"index", "language", "errors", "formats", "cli", "internals"} {
		b.do(chromedp.Navigate(s.URL + "/docs/" + page + ".html"))
		b.ready(on(strings.TrimSuffix(page+".html", "index.html")))
		if w := eval[int](b, `document.documentElement.scrollWidth`); w > 360 {
			t.Errorf("%s is %d pixels wide on a screen of 360", page, w)
		}
	}
	ground := func() string { return eval[string](b, `getComputedStyle(document.body).backgroundColor`) }
	before := ground()
	b.js(`document.querySelector('#theme').click()`)
	if ground() == before {
		t.Error("the button for light and dark changes nothing")
	}

	b.picture("docs-360.png")
	b.js(`{ const i = document.querySelector('#search input'); i.focus(); i.value = 'extents disagree'; i.dispatchEvent(new Event('input')); }`)
	b.wait(`document.querySelector('#search li a')`)
	if first := eval[string](b, `document.querySelector('#search li a').innerText`); !strings.Contains(first, "E303") {
		t.Errorf("the first that is found is %q", first)
	}
	b.js(`document.querySelector('#search li a').click()`)
	b.ready(on("errors.html"))
	if y := eval[float64](b, `document.getElementById('e303-extents-disagree').getBoundingClientRect().top`); y < 0 || y > 300 {
		t.Errorf("the heading that was found is at %g", y)
	}

	b.do(chromedp.Navigate(s.URL + "/docs/language.html"))
	b.ready(on("language.html"))
	b.js(`document.querySelector('a.run').click()`)
	b.ready(`document.querySelector('#view') && document.querySelector('#view').dataset.shown === 'result'`)
	if program := eval[string](b, `document.querySelector('#editor .cm-content').innerText`); !strings.Contains(program, "y(i) = sum_j A(i,j)*x(j) + b(i)") {
		t.Errorf("the button opened the program %q", program)
	}
	if y := b.tables()["y"]; len(y) != 6 || slices.Contains(y, "") {
		t.Errorf("y is %q: %s", y, eval[string](b, `document.querySelector('#view').innerText`))
	}
	b.js(`document.querySelector('#docs').click()`)
	b.ready(on("/docs/"))
}

// TestDocumentationAsFiles: the pages need no server.
func TestDocumentationAsFiles(t *testing.T) {
	site(t)
	folder, err := filepath.Abs(built.site)
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t, "file://"+filepath.ToSlash(folder)+"/docs/gradients.html", 1400)
	b.js(`{ const i = document.querySelector('#search input'); i.focus(); i.value = 'annihilator'; i.dispatchEvent(new Event('input')); }`)
	b.wait(`document.querySelector('#search li a')`)
	b.picture("docs-search-1400.png")
}

// picture takes one, to be looked at, if $LACUNA_PICTURES names a folder.
func (b *tab) picture(name string) {
	b.Helper()
	folder := os.Getenv("LACUNA_PICTURES")
	if folder == "" {
		return
	}
	image, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), image, 0o666)
	}
	if err != nil {
		b.Fatal(err)
	}
}
