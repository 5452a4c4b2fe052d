package explorer

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

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
