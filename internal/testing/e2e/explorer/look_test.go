package explorer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

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
		if p.view == "storage" { // an entry that one points at
			b.js(`document.querySelector('#tabs').scrollIntoView(); document.querySelector('section[aria-label="storage of A"] [data-e="5"]').dispatchEvent(new PointerEvent('pointerover', {bubbles: true}))`)
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
