// Package web embeds the explorer, a page that shows, runs and explains programs. Its sources are in src; "make web" makes the
// folder dist of them, which is not in the repository: binaries that were built without it say so.
package web

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// ErrNotBuilt says that the explorer was not made before the binary.
var ErrNotBuilt = errors.New(`this binary was built without the explorer: run "make web" in the source tree and build again`)

// Files are those of the explorer.
func Files() (fs.FS, error) {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil, ErrNotBuilt
	}
	return files, nil
}

// Page is the explorer as one file that needs no other and asks nobody: what it shows is recorded
// (see package internal/explorer), JSON without "<".
func Page(recorded []byte) ([]byte, error) {
	files, err := Files()
	if err != nil {
		return nil, err
	}
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		return nil, err
	}
	style, err := fs.ReadFile(files, "main.css")
	if err != nil {
		return nil, err
	}
	script, err := fs.ReadFile(files, "main.js")
	if err != nil {
		return nil, err
	}
	// "</script" occurs in strings and patterns only, where the backslash changes nothing.
	script = bytes.ReplaceAll(script, []byte("</script"), []byte(`<\/script`))
	for _, part := range []struct{ old, new string }{
		{`<meta charset="utf-8">`, `<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">`},
		{`<script async src="start.js"></script>`, ""},
		{`<a id="docs" href="docs/index.html">Docs</a>`, ""},
		{`<link rel="stylesheet" href="main.css">`, "<style>" + string(style) + "</style>"},
		{`<script type="module" src="main.js"></script>`,
			`<script type="application/json" id="recorded">` + string(recorded) + "</script>\n<script type=\"module\">" + string(script) + "</script>"},
	} {
		if !bytes.Contains(page, []byte(part.old)) {
			return nil, fmt.Errorf("BUG: the explorer's page has no %s", part.old)
		}
		page = bytes.Replace(page, []byte(part.old), []byte(part.new), 1)
	}
	return page, nil
}

// ServerPage is the page of a server that answers questions under "api".
func ServerPage() ([]byte, error) {
	files, err := Files()
	if err != nil {
		return nil, err
	}
	page, err := fs.ReadFile(files, "index.html")
	return bytes.Replace(page, []byte("<head>"), []byte("<head>\n<meta name=\"lacuna-server\" content=\"\">"), 1), err
}
