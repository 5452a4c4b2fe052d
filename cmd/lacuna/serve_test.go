package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lacuna-sparse/lacuna/internal/explorer"
)

// TestServe asks as the page does, and as others would.
func TestServe(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	outside := filepath.Join(filepath.Dir(folder), "secret.mtx")
	text := []byte("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 7\n")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside, filepath.Join(folder, "a.mtx")} {
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link.mtx")); err != nil {
		t.Fatal(err)
	}
	folders, err := openFolders([]string{folder})
	if err != nil {
		t.Fatal(err)
	}
	if got := folders.files(); !slices.Equal(got, []string{"data/a.mtx"}) {
		t.Errorf("files %v", got)
	}
	const address = "127.0.0.1:1234"
	h, token := serveHandler(&explorer.Service{Open: folders.open}, address, fstest.MapFS{"main.js": {Data: []byte("js")}}, []byte("the page"))
	storage := func(name string) string {
		return `{"op":"storage","name":"A","operands":[{"name":"A","file":"` + name + `"}]}`
	}
	for _, test := range []struct {
		method, host, path, origin, kind, body string
		status                                 int
		want                                   string
	}{
		{"GET", address, "/" + token + "/", "", "", "", 200, "the page"},
		{"GET", address, "/" + token + "/main.js", "", "", "", 200, "js"},
		{"POST", address, "/" + token + "/api", "http://" + address, "application/json", storage("data/a.mtx"), 200, `"values":["7"]`},
		{"POST", address, "/" + token + "/api", "http://" + address, "application/json", storage("data/link.mtx"), 200, "error"},
		{"POST", address, "/" + token + "/api", "http://" + address, "application/json", storage("data/../secret.mtx"), 200, "error"},
		{"POST", address, "/" + token + "/api", "http://" + address, "application/json", storage(outside), 200, "none of the folders"},
		{"POST", address, "/" + token + "/api", "http://" + address, "text/plain", storage("data/a.mtx"), 403, ""},
		{"POST", address, "/" + token + "/api", "http://elsewhere", "application/json", storage("data/a.mtx"), 403, ""},
		{"POST", address, "/" + token + "/api", "", "application/json", storage("data/a.mtx"), 403, ""},
		{"POST", "elsewhere:1234", "/" + token + "/api", "http://" + address, "application/json", storage("data/a.mtx"), 404, ""},
		{"GET", address, "/", "", "", "", 404, ""},
		{"GET", address, "/" + strings.Repeat("0", len(token)) + "/", "", "", "", 404, ""},
	} {
		r := httptest.NewRequest(test.method, test.path, strings.NewReader(test.body))
		r.Host = test.host
		r.Header.Set("Content-Type", test.kind)
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Result().Body)
		if w.Code != test.status || !strings.Contains(string(body), test.want) || w.Code != http.StatusOK && strings.Contains(string(body), "values") {
			t.Errorf("%+v: status %d, %s", test, w.Code, body)
		}
	}
}
