package site

import (
	"encoding/json"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// section is what is found by search: a heading with the text under it.
type section struct {
	Page    string `json:"page"` // its title
	Heading string `json:"heading"`
	Link    string `json:"link"` // from the root of the site
	Text    string `json:"text"`
}

// index lists the sections of all pages, as a script: pages that are opened as files may not fetch anything else.
func (b *builder) index() []byte {
	list := []section{}
	for _, name := range b.order {
		if p := b.pages[name]; p.doc != nil && !strings.HasPrefix(name, "bench/") {
			list = append(list, p.sections()...)
		}
	}
	text, err := json.Marshal(list)
	if err != nil { // strings have no errors
		panic("BUG: " + err.Error())
	}
	return append(append([]byte("globalThis.lacunaSections = "), text...), ";\n"...)
}

// sections are those of a page.
func (p *page) sections() []section {
	list := []section{{Page: p.title, Heading: p.title, Link: target(p.source)}}
	for n := p.doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok {
			id, _ := h.AttributeString("id")
			list = append(list, section{Page: p.title, Heading: plain(h, p.text), Link: target(p.source) + "#" + string(id.([]byte))})
			continue
		}
		last := &list[len(list)-1]
		last.Text = strings.TrimSpace(last.Text + " " + plain(n, p.text))
	}
	return list
}

// plain is the text of a node, without marks, blanks as one.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}
