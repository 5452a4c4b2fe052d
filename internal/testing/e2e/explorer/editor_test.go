package explorer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

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
	// From entry to entry, in all three drawings.
	b.open("storage")
	b.do(chromedp.Focus(`section[aria-label="storage of A"]`), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowLeft))
	if got := eval[string](b, `[...document.querySelectorAll('section[aria-label="storage of A"] .lit')].map((e) => e.dataset.n ?? e.dataset.e).join(' ')`); got != "0:7 1:17 17 0:7 1:17 17 17" {
		t.Errorf("the last entry but one lights up %s", got)
	}
	// What one changes on the way keeps its place: Tab goes on from there.
	b.do(chromedp.Focus(`[aria-label="density of A"]`))
	b.settled(`{const e = document.activeElement; e.value = '0.5'; e.dispatchEvent(new Event('change'))}`)
	b.wait(`document.activeElement.ariaLabel === 'density of A'`)
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
	b.choose(2)
	b.open("stages")
	b.keys("+ABAB")
	b.type_("C(i,j) = u(i)*u(j)")
	b.wait(`document.querySelector('[data-operand=u]')`)
	b.settled(`{const i = document.querySelector('[aria-label="shape of u"]'); i.value = '200'; i.dispatchEvent(new Event('change'))}`)
	b.open("result")
	b.keys("*2+12")
	for view, extent := range map[string]string{"storage": "48", "watch": "60"} { // about the largest that are drawn
		b.type_("C(i,j) = u(i)*u(j)")
		b.settled(`{const i = document.querySelector('[aria-label="shape of u"]'); i.value = '` + extent + `'; i.dispatchEvent(new Event('change'))}`)
		b.open(view)
		b.keys("*2+12")
	}
	b.type_("C(i,j) = u(i)*u(j)")
	b.settled(`{const i = document.querySelector('[aria-label="shape of u"]'); i.value = '600'; i.dispatchEvent(new Event('change'))}`)
	b.js(`document.querySelector('#tab-watch').click()`)
	b.type_("v = 1")
	if !eval[bool](b, `document.querySelector('#view').ariaBusy === 'true' && document.querySelector('.cm-content').textContent === 'v = 1'`) {
		t.Error("the page waited for the worker")
	}
	b.wait(`document.querySelector('[data-operand=u]') === null`)
}

// keys types letters at the end of the program, and looks at how long the page's thread works without a pause, in time of the processor, for a
// key and for what follows from it when the worker has answered.
func (b *tab) keys(letters string) {
	b.Helper()
	b.do(chromedp.Focus(".cm-content"))
	b.do(chromedp.KeyEvent(kb.End))
	var longest []float64
	for _, letter := range letters {
		longest = append(longest, b.longestTask(func() {
			b.js(`document.querySelector('#view').dataset.version = ''`)
			b.do(chromedp.KeyEvent(string(letter)))
			b.wait(`document.querySelector('#view').dataset.version !== ''`)
		}))
	}
	slices.Sort(longest)
	b.Logf("for a key the page works %.1f ms at a stretch", longest)
}

// longestTask is how many milliseconds of the processor's time the longest task of a page's thread takes while f runs.
func (b *tab) longestTask(f func()) float64 {
	b.Helper()
	type event struct {
		Name     string
		PID, TID int64
		TDur     float64 // in microseconds
		Args     struct{ Name string }
	}
	var events []event
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	if err := chromedp.ListenBrowser(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			for _, text := range ev.Value {
				var e event
				if err := json.Unmarshal(text, &e); err == nil {
					events = append(events, e)
				}
			}
		case *tracing.EventTracingComplete:
			close(done)
		}
	}); err != nil {
		b.Fatal(err)
	}
	start := tracing.StartParams{TraceConfig: &tracing.TraceConfig{IncludedCategories: []string{"toplevel", "__metadata"}}}
	if _, err := chromedp.CallBrowser(ctx, tracing.Start, start); err != nil {
		b.Fatal(err)
	}
	f()
	if _, err := chromedp.CallBrowser(ctx, tracing.End, cdp.Empty{}); err != nil {
		b.Fatal(err)
	}
	<-done
	pages := map[[2]int64]bool{} // threads of pages
	for _, e := range events {
		if e.Name == "thread_name" && e.Args.Name == "CrRendererMain" {
			pages[[2]int64{e.PID, e.TID}] = true
		}
	}
	longest := 0.0
	for _, e := range events {
		if pages[[2]int64{e.PID, e.TID}] && strings.HasSuffix(e.Name, "RunTask") {
			longest = max(longest, e.TDur/1000)
		}
	}
	if longest == 0 {
		b.Fatalf("%d events, and no task among them", len(events))
	}
	return longest
}
