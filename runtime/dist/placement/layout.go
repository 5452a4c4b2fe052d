package placement

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Layout is a placement as it is written: without the tensor's shape and the number of ranks. The zero Layout is replicated.
type Layout struct {
	Items []Item // by axis of the tensor; those left out are not cut
	Auto  bool   // it is to be chosen
}

// Item says how one axis is cut.
type Item struct {
	Over  string // the grid's axis; "": the axis is not cut
	By    How
	Block int64  // of Cyclic
	List  string // of Listed: the vector with the part of each coordinate
}

// How is a way to cut an axis.
type How uint8

// The ways to cut an axis.
const (
	ByBlock   How = iota // blocks of coordinates
	ByCyclic             // dealt out, Block coordinates at a time
	ByEntries            // blocks with about the same number of stored entries
	ByList               // as a vector says
)

// String prints the layout as Parse reads it.
func (l Layout) String() string {
	if l.Auto {
		return "auto"
	}
	items := l.Items
	for len(items) > 0 && items[len(items)-1].Over == "" {
		items = items[:len(items)-1]
	}
	if len(items) == 0 {
		return "replicated"
	}
	words := make([]string, len(items))
	for k, x := range items {
		words[k] = x.String()
	}
	return "over (" + strings.Join(words, ", ") + ")"
}

// String prints the item.
func (x Item) String() string {
	switch {
	case x.Over == "":
		return "*"
	case x.By == ByCyclic && x.Block == 1:
		return x.Over + " by cyclic"
	case x.By == ByCyclic:
		return fmt.Sprintf("%s by cyclic(%d)", x.Over, x.Block)
	case x.By == ByEntries:
		return x.Over + " by entries"
	case x.By == ByList:
		return x.Over + " by " + x.List
	}
	return x.Over
}

// Error says what is wrong with a layout or a grid as it is written, and where.
type Error struct {
	Text   string
	Offset int // in bytes
	Msg    string
	Hint   string // what to write instead
}

// Error shows the place with a caret.
func (e *Error) Error() string {
	column := utf8.RuneCountInString(e.Text[:min(e.Offset, len(e.Text))])
	return fmt.Sprintf("%s\n  %s\n  %s^\n%s", e.Msg, e.Text, strings.Repeat(" ", column), e.Hint)
}

const layoutHint = "write one grid axis or * for each axis of the tensor, such as over (r), over (*, r), over (r by entries), over (r by cyclic(64)) or over (r, c); or replicated, or auto"

// Parse reads a layout for tensors of the given rank, or of any rank if that is -1.
func Parse(text string, rank int) (Layout, error) {
	p := &parser{text: text}
	l, err := p.layout(rank)
	if err != nil {
		return Layout{}, err
	}
	return l, nil
}

// parser reads words and signs.
type parser struct {
	text string
	at   int // where the token after the current one begins
	from int // where the current one begins
	word string
}

// next goes to the next word, number or sign; "" is the end.
func (p *parser) next() string {
	rest := strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace)
	p.from = len(p.text) - len(rest)
	end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	switch {
	case rest == "":
		end = 0
	case end < 0:
		end = len(rest)
	case end == 0:
		_, end = utf8.DecodeRuneInString(rest)
	}
	p.at, p.word = p.from+end, rest[:end]
	return p.word
}

func (p *parser) fail(hint, format string, args ...any) error {
	return &Error{p.text, p.from, fmt.Sprintf(format, args...), hint}
}

// expected is an error about the current word.
func (p *parser) expected(what string) error {
	found := strconv.Quote(p.word)
	if p.word == "" {
		found = "the end"
	}
	return p.fail(layoutHint, "expected %s, found %s", what, found)
}

func (p *parser) end() error {
	if p.next() != "" {
		return p.expected("the end")
	}
	return nil
}

func isName(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return unicode.IsLetter(r) || r == '_'
}

func (p *parser) layout(rank int) (Layout, error) {
	var l Layout
	switch p.next() {
	case "replicated":
		return l, p.end()
	case "auto":
		l.Auto = true
		return l, p.end()
	case "over":
	default:
		return l, p.expected("over, replicated or auto")
	}
	if p.next() != "(" {
		return l, p.expected("(")
	}
	if p.next() == ")" {
		return l, p.end()
	}
	for {
		if rank >= 0 && len(l.Items) == rank {
			return l, p.fail(layoutHint, "the tensor has %s", axes(rank))
		}
		x, err := p.item()
		if err != nil {
			return l, err
		}
		if x.Over != "" && slices.ContainsFunc(l.Items, func(y Item) bool { return y.Over == x.Over }) {
			return l, p.fail("cut each axis of the tensor over another axis of the grid", "two axes are cut over %s", x.Over)
		}
		l.Items = append(l.Items, x)
		switch p.word {
		case ")":
			return l, p.end()
		case ",":
			p.next()
		default:
			return l, p.expected(", or )")
		}
	}
}

func axes(n int) string {
	if n == 1 {
		return "1 axis"
	}
	return fmt.Sprintf("%d axes", n)
}

// item reads one, and the word behind it.
func (p *parser) item() (x Item, err error) {
	if p.word == "*" {
		p.next()
		return x, nil
	}
	if !isName(p.word) {
		return x, p.expected("an axis of the grid, such as r, or *")
	}
	x.Over = p.word
	if p.next() != "by" {
		return x, nil
	}
	if !isName(p.next()) {
		return x, p.expected("block, cyclic, entries or the name of a vector")
	}
	switch p.word {
	case "block":
	case "entries":
		x.By = ByEntries
	case "cyclic":
		x.By, x.Block = ByCyclic, 1
		if p.next() != "(" {
			return x, nil
		}
		n, err := strconv.ParseInt(p.next(), 10, 64)
		if err != nil || n < 1 {
			return x, p.expected("how many coordinates are dealt out at a time, such as 64")
		}
		x.Block = n
		if p.next() != ")" {
			return x, p.expected(")")
		}
	default:
		x.By, x.List = ByList, p.word
	}
	p.next()
	return x, nil
}

// ParseGrid reads a grid such as r=2,c=3.
func ParseGrid(text string) (*Grid, error) {
	p := &parser{text: text}
	const hint = "write the number of ranks along each axis, such as r=4 or r=2,c=2"
	g := &Grid{}
	for ranks := int64(1); ; {
		if !isName(p.next()) || slices.Contains(g.Names, p.word) {
			return nil, p.fail(hint, "expected the name of an axis of its own, found %q", p.word)
		}
		g.Names = append(g.Names, p.word)
		if p.next() != "=" {
			return nil, p.fail(hint, "expected =, found %q", p.word)
		}
		n, err := strconv.ParseInt(p.next(), 10, 32)
		if err != nil || n < 1 || ranks*n > 1<<20 {
			return nil, p.fail(hint, "expected a number of ranks, found %q", p.word)
		}
		ranks *= n
		g.Sizes = append(g.Sizes, int(n))
		switch p.next() {
		case "":
			return g, nil
		case ",":
		default:
			return nil, p.fail(hint, "expected a comma, found %q", p.word)
		}
	}
}

// GridFor is the grid that layouts speak of when nobody says how large it is: all ranks along its one axis, or as square
// as they can be along two.
func GridFor(layouts []Layout, ranks int) (*Grid, error) {
	var names []string
	for _, l := range layouts {
		for _, x := range l.Items {
			if x.Over != "" && !slices.Contains(names, x.Over) {
				names = append(names, x.Over)
			}
		}
	}
	switch len(names) {
	case 0:
		return Line("r", ranks), nil
	case 1:
		return Line(names[0], ranks), nil
	case 2:
		n := 1
		for d := 1; d*d <= ranks; d++ {
			if ranks%d == 0 {
				n = d
			}
		}
		return &Grid{names, []int{ranks / n, n}}, nil
	}
	return nil, fmt.Errorf("placements are over a grid with the axes %s: say how many ranks there are along each, such as %s=2,%s=2,%s=%d",
		strings.Join(names, ", "), names[0], names[1], names[2], max(1, ranks/4))
}

// Tensor is what a placement follows from besides the layout.
type Tensor struct {
	Shape []int64
	// Weights are the entries that the tensor stores at each coordinate of an axis.
	Weights func(axis int) ([]int64, error)
	// List is the vector of a name.
	List func(name string) ([]int64, error)
}

// On is the placement that a layout means for a tensor on a grid.
func (l Layout) On(g *Grid, t Tensor) (*Placement, error) {
	if l.Auto {
		return nil, errors.New("the placement auto is chosen for a program")
	}
	p := Replicated(g, len(t.Shape))
	for k, x := range l.Items {
		if x.Over == "" {
			continue
		}
		over := slices.Index(g.Names, x.Over)
		if k >= len(t.Shape) {
			return nil, fmt.Errorf("%s is for %s, but the tensor has %s", l, axes(len(l.Items)), axes(len(t.Shape)))
		}
		if over < 0 {
			return nil, fmt.Errorf("%s: the grid %s has no axis %s", l, g, x.Over)
		}
		c, err := x.cut(k, g.Sizes[over], t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l, err)
		}
		p.Cuts[k], p.Over[k] = c, over
	}
	return p, nil
}

// longestList is how many coordinates an axis may have that is cut by what stands for each of them.
const longestList = 1 << 31

func (x Item) cut(axis, parts int, t Tensor) (*Cut, error) {
	n := t.Shape[axis]
	if (x.By == ByEntries || x.By == ByList || x.By == ByCyclic) && n > longestList {
		return nil, fmt.Errorf("an axis of %d coordinates is cut by block only", n)
	}
	switch x.By {
	case ByCyclic:
		return Cyclic(n, parts, x.Block), nil
	case ByEntries:
		weights, err := t.Weights(axis)
		if err != nil {
			return nil, err
		}
		return Weighted(weights, parts), nil
	case ByList:
		list, err := t.List(x.List)
		if err != nil {
			return nil, err
		}
		if int64(len(list)) != n {
			return nil, fmt.Errorf("%s has %d elements, but the axis %d coordinates", x.List, len(list), n)
		}
		return Given(list, parts)
	}
	return Blocks(n, parts), nil
}
