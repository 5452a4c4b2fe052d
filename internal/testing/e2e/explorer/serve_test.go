package explorer

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
