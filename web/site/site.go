// Package site makes web pages of the documentation, beside the explorer: the pages are those of the repository, in folders as
// there, and every example has a button that opens it in the explorer. They need no server, and no network.
package site

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// repository is where what has no page here is shown: folders.
const repository = "https://github.com/lacuna-sparse/lacuna/blob/main/"

// entrance is the page with the list of pages.
const entrance = "docs/README.md"

// page is one of the site.
type page struct {
	source string // its path in the repository, with slashes
	text   []byte
	doc    ast.Node // nil of a file that is shown as it is
	title  string
	ids    map[string]bool
}

// target is the path of a page in the site.
func target(source string) string {
	if source == entrance {
		return "docs/index.html"
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

// builder makes a site of a repository.
type builder struct {
	root     fs.FS
	out      string
	markdown goldmark.Markdown
	pages    map[string]*page
	order    []string // as they are found
	wrong    []error
}

// Build makes the pages of the repository at root in the folder out. A link that leads nowhere is an error.
func Build(root, out string) error {
	b := &builder{root: os.DirFS(root), out: out, pages: map[string]*page{}}
	b.setup()
	first := []string{entrance, "README.md", "CHANGELOG.md", "RATIONALE.md", "CONTRIBUTING.md"}
	for _, pattern := range []string{"docs/*.md", "docs/internals/*.md"} {
		list, err := fs.Glob(b.root, pattern)
		if err != nil {
			return err
		}
		first = append(first, list...)
	}
	for _, name := range first {
		b.find(name)
	}
	for i := 0; i < len(b.order); i++ { // links find more
		b.links(b.pages[b.order[i]])
	}
	if err := errors.Join(b.wrong...); err != nil {
		return err
	}
	for _, name := range b.order {
		if err := b.write(b.pages[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return b.save("search.js", b.index())
}

func (b *builder) setup() {
	b.markdown = goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(html.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(codeRenderer{b}, 1))))
}

// find reads a page, once.
func (b *builder) find(name string) *page {
	if p := b.pages[name]; p != nil {
		return p
	}
	data, err := fs.ReadFile(b.root, name)
	if err != nil {
		b.wrong = append(b.wrong, err)
		return &page{}
	}
	p := &page{source: name, text: data, title: name, ids: map[string]bool{}}
	if path.Ext(name) == ".md" {
		p.doc = b.markdown.Parser().Parse(text.NewReader(data), parser.WithContext(parser.NewContext(parser.WithIDs(&headings{p.ids}))))
		if h := firstHeading(p.doc); h != nil {
			p.title = plain(h, data)
		}
	}
	b.pages[name] = p
	b.order = append(b.order, name)
	return p
}

func firstHeading(doc ast.Node) ast.Node {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindHeading {
			return n
		}
	}
	return nil
}

// links makes the links of a page those of the site, and finds the pages that they lead to.
func (b *builder) links(p *page) {
	if p.doc == nil {
		return
	}
	ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Link:
				n.Destination = []byte(b.follow(p, string(n.Destination)))
			case *ast.Image:
				b.copy(p, string(n.Destination))
			case *ast.HTMLBlock, *ast.RawHTML:
				for _, m := range imageSource.FindAllStringSubmatch(raw(n, p.text), -1) {
					b.copy(p, m[1])
				}
			}
		}
		return ast.WalkContinue, nil
	})
}

var imageSource = regexp.MustCompile(`<img [^>]*src="([^"]+)"`)

// raw is the text of a piece of HTML.
func raw(n ast.Node, source []byte) string {
	if r, ok := n.(*ast.RawHTML); ok {
		return string(r.Segments.Value(source))
	}
	return string(n.Lines().Value(source))
}

// outside reports whether a link leads out of the repository.
func outside(link string) bool {
	return strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:")
}

// follow is what a link of a page is in the site.
func (b *builder) follow(p *page, link string) string {
	if outside(link) {
		return link
	}
	file, anchor, anchored := strings.Cut(link, "#")
	to := p
	if file != "" {
		name := path.Join(path.Dir(p.source), file)
		info, err := fs.Stat(b.root, name)
		if err != nil {
			b.wrong = append(b.wrong, fmt.Errorf("%s links to %s, which is not there", p.source, link))
			return link
		}
		if info.IsDir() {
			return repository + name
		}
		if pictured(name) {
			b.copy(p, file)
			return link
		}
		to = b.find(name)
	}
	if !anchored {
		return relative(p, target(to.source))
	}
	if !to.ids[anchor] && to.doc != nil {
		b.wrong = append(b.wrong, fmt.Errorf("%s links to %s: there is no such heading", p.source, link))
	}
	if to == p {
		return "#" + anchor
	}
	return relative(p, target(to.source)) + "#" + anchor
}

func pictured(name string) bool { return slices.Contains([]string{".png", ".svg"}, path.Ext(name)) }

// relative is the address of a file of the site, from a page.
func relative(p *page, to string) string {
	rel, err := filepath.Rel(filepath.FromSlash(path.Dir(p.source)), filepath.FromSlash(to))
	if err != nil { // of two relative paths there is always one
		panic("BUG: " + err.Error())
	}
	return filepath.ToSlash(rel)
}

// copy copies a picture.
func (b *builder) copy(p *page, link string) {
	if outside(link) || strings.HasPrefix(link, "data:") {
		return
	}
	name := path.Join(path.Dir(p.source), link)
	data, err := fs.ReadFile(b.root, name)
	if err == nil {
		err = b.save(name, data)
	}
	if err != nil {
		b.wrong = append(b.wrong, fmt.Errorf("%s shows %s: %w", p.source, link, err))
	}
}

func (b *builder) save(name string, data []byte) error {
	name = filepath.Join(b.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o666)
}

//go:embed page.html
var pageText string

var layout = template.Must(template.New("page").Parse(pageText))

// entry is a link in a list.
type entry struct {
	Title, Link string
	Here        bool
}

// write writes a page.
func (b *builder) write(p *page) error {
	var body bytes.Buffer
	var contents []entry
	if p.doc == nil {
		fmt.Fprintf(&body, "<h1>%s</h1>\n<pre><code>%s</code></pre>\n", template.HTMLEscapeString(p.title), template.HTMLEscapeString(string(p.text)))
	} else {
		p.doc.SetAttributeString("page", p) // for the renderer of examples
		if err := b.markdown.Renderer().Render(&body, p.text, p.doc); err != nil {
			return err
		}
		for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
			if h, ok := n.(*ast.Heading); ok && h.Level == 2 {
				id, _ := h.AttributeString("id")
				contents = append(contents, entry{Title: plain(h, p.text), Link: "#" + string(id.([]byte))})
			}
		}
	}
	var out bytes.Buffer
	err := layout.Execute(&out, map[string]any{
		"Title": p.title, "Root": relative(p, "."), "Docs": relative(p, target(entrance)), "Body": template.HTML(wide(body.String())), "Contents": contents, "Pages": b.menu(p),
	})
	if err != nil {
		return err
	}
	return b.save(target(p.source), out.Bytes())
}

// wide lets tables scroll by themselves, where a page is narrow.
func wide(body string) string {
	return strings.NewReplacer("<table>", `<div class="wide"><table>`, "</table>", "</table></div>").Replace(body)
}

// menu are the pages that the entrance links to, in its order.
func (b *builder) menu(p *page) []entry {
	list := []entry{{"Documentation", relative(p, target(entrance)), p.source == entrance}}
	seen := map[string]bool{}
	ast.Walk(b.pages[entrance].doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			to := path.Join("docs", string(l.Destination))
			for _, name := range b.order {
				if target(name) == to && strings.HasPrefix(name, "docs/") && !seen[name] {
					seen[name] = true
					list = append(list, entry{b.pages[name].title, relative(p, to), p.source == name})
				}
			}
		}
		return ast.WalkContinue, nil
	})
	for _, name := range []string{"README.md", "CHANGELOG.md", "RATIONALE.md", "CONTRIBUTING.md"} {
		list = append(list, entry{b.pages[name].title, relative(p, target(name)), p.source == name})
	}
	return list
}

// headings gives headings the names that they have where Markdown is shown elsewhere: lower case, hyphens for blanks, no
// punctuation.
type headings struct{ taken map[string]bool }

var punctuation = regexp.MustCompile(`[^\pL\pN_\- ]`)

// Generate implements parser.IDs.
func (h *headings) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.ReplaceAll(punctuation.ReplaceAllString(strings.ToLower(string(value)), ""), " ", "-")
	for i := 1; h.taken[name]; i++ {
		if next := fmt.Sprintf("%s-%d", name, i); !h.taken[next] {
			name = next
		}
	}
	h.taken[name] = true
	return []byte(name)
}

// Put implements parser.IDs.
func (h *headings) Put(value []byte) { h.taken[string(value)] = true }
