package explorer

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

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
