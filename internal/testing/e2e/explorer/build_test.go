// Package explorer tests the page that shows, runs and explains programs in a real browser, Chromium without a window. Its
// tests run in the long suite where Chromium is installed.
package explorer

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
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
