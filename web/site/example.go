package site

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"go/token"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// state is what the explorer shows, as it is written in its address (web/src/link.js). Operands are those of package
// internal/explorer; what a program reads and is not given, the page makes up.
type state struct {
	Program  string    `json:"program"`
	Operands []operand `json:"operands"`
	Tab      string    `json:"tab"`
	WRT      string    `json:"wrt,omitempty"`
}

type operand struct {
	Name   string  `json:"name"`
	Format string  `json:"format,omitempty"`
	DType  string  `json:"dtype,omitempty"`
	Fill   string  `json:"fill,omitempty"`
	Shape  []int64 `json:"shape,omitempty"`
	Random *random `json:"random,omitempty"`
	Text   string  `json:"text,omitempty"`
	Number string  `json:"number,omitempty"`
	Data   []byte  `json:"data,omitempty"`
	File   string  `json:"file,omitempty"`
}

type random struct {
	Shape   []int64  `json:"shape"`
	Density *float64 `json:"density,omitempty"`
	Seed    uint64   `json:"seed,omitempty"`
	Range   bool     `json:"range,omitempty"`
}

// fragment is a state as the explorer takes it behind the # of its address: deflated, in base 64 for addresses.
func (s *state) fragment() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	var b bytes.Buffer
	z, _ := flate.NewWriter(&b, flate.BestCompression) // the level is one of those that there are
	z.Write(text)
	z.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// codeRenderer renders blocks of code, with buttons at those that are examples.
type codeRenderer struct{ *builder }

// RegisterFuncs implements renderer.NodeRenderer.
func (c codeRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, c.render)
}

func (c codeRenderer) render(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	block := n.(*ast.FencedCodeBlock)
	at, _ := n.OwnerDocument().AttributeString("page")
	p := at.(*page)
	text := string(block.Lines().Value(source))
	w.WriteString("<pre tabindex=\"0\"><code>")
	examples := c.examples(p.source, string(block.Language(source)), text)
	for i, line := range strings.SplitAfter(text, "\n") {
		w.WriteString(template.HTMLEscapeString(strings.TrimRight(line, "\n")))
		if s := examples[i]; s != nil {
			fmt.Fprintf(w, ` <a class="run" href="%s#%s" title="Open this example in the explorer">▶ run</a>`, relative(p, "index.html"), s.fragment())
		}
		if strings.HasSuffix(line, "\n") {
			w.WriteByte('\n')
		}
	}
	w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

// whole is the page whose blocks are a program each, and not each line.
const whole = "docs/errors.md"

// examples are those of a block, by the line that their button stands on.
func (b *builder) examples(source, language, text string) map[int]*state {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	switch language {
	case "lacuna":
		return programs(lines, source == whole)
	case "schedule", "refused":
		return programs(lines, true)
	case "", "sh", "console":
		list := map[int]*state{}
		for i, line := range lines {
			if s := b.command(strings.TrimPrefix(line, "$ ")); s != nil {
				list[i] = s
			}
		}
		return list
	}
	return nil
}

// programs are those of a block of programs: each line, or all together. Comments before them declare their operands.
func programs(lines []string, together bool) map[int]*state {
	list := map[int]*state{}
	var declared, shapes string
	var all []string
	last := -1
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, "# operands:"); ok {
			declared = rest
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# shapes:"); ok {
			shapes = rest
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# "); ok && len(all) == 0 && together {
			declared = formatsOf(rest)
			continue
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		all, last = append(all, line), i
		if !together {
			program, _, _ := strings.Cut(line, "# ")
			list[i] = &state{Program: strings.TrimSpace(program), Tab: "result", Operands: declare(declared, shapes, program)}
		}
	}
	if together && last >= 0 {
		program := strings.Join(all, "\n")
		list[last] = &state{Program: program, Tab: "result", Operands: declare(declared, shapes, program)}
	}
	return list
}

// formatsOf makes declarations of "A:CSR B:CSC".
func formatsOf(text string) string {
	var list []string
	for _, f := range strings.Fields(text) {
		if name, format, ok := strings.Cut(f, ":"); ok {
			list = append(list, name+" "+format)
		}
	}
	return strings.Join(list, ",")
}

// usual is the extent of what has none.
const usual = 6

var elementTypes = strings.Fields("bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128")

// declare reads declarations such as "A(2) f64 CSR, x(1), result y(1) i32 shape=4 fill=inf" and shapes such as "A=3x4 x=5", and
// makes operands of them.
func declare(declarations, shapes, program string) []operand {
	list := []operand{}
	for part := range strings.SplitSeq(declarations, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			continue
		}
		result := words[0] == "result"
		if result || words[0] == "in-out" {
			words = words[1:]
		}
		name, _, _ := strings.Cut(words[0], "(")
		o := operand{Name: name}
		for _, w := range words[1:] {
			key, value, has := strings.Cut(w, "=")
			switch {
			case slices.Contains(elementTypes, w):
				o.DType = w
			case has && key == "fill":
				o.Fill = value
			case has && key == "shape":
				o.Shape = extents(value)
			case !has:
				o.Format = w
			}
		}
		if !result && reads(program, name) {
			o.fill(rankOf(words[0], program), shapes)
		} else if !slices.Contains(names.FindAllString(program, -1), name) {
			continue
		}
		list = append(list, o)
	}
	return list
}

var names = regexp.MustCompile(`[\pL_][\pL\pN_]*`)

var accessed = regexp.MustCompile(`^([^(]+)\(([0-9]+)\)$`)

// rankOf is that of a declaration, or of the first access in the program.
func rankOf(declaration, program string) int {
	if m := accessed.FindStringSubmatch(declaration); m != nil {
		n, _ := strconv.Atoi(m[2])
		return n
	}
	m := regexp.MustCompile(`(?:^|[^\pL\pN_])` + regexp.QuoteMeta(declaration) + `\(([^()]*)\)`).FindStringSubmatch(program)
	if m == nil {
		return 0
	}
	return 1 + strings.Count(m[1], ",")
}

// fill gives an operand random entries; a vector of integers counts, so that it may be an index.
func (o *operand) fill(rank int, shapes string) {
	shape := o.Shape
	o.Shape = nil
	for s := range strings.FieldsSeq(shapes) {
		if name, text, _ := strings.Cut(s, "="); name == o.Name {
			shape, rank = extents(text), strings.Count(text, "x")+1
		}
	}
	for len(shape) < rank {
		shape = append(shape, usual)
	}
	integer := strings.HasPrefix(o.DType, "i") || strings.HasPrefix(o.DType, "u")
	switch {
	case rank == 0:
		o.Number = "2"
	case rank == 1 && integer:
		o.Random = &random{Shape: shape, Range: true}
	case rank == 1:
		o.Random = &random{Shape: shape, Seed: seedOf(o.Name)}
	default:
		density := 0.3
		o.Random = &random{Shape: shape, Density: &density, Seed: seedOf(o.Name)}
		if o.Format == "" {
			o.Format = "CSR"
			if rank > 2 {
				o.Format = "CSF"
			}
		}
	}
}

// seedOf lets operands differ.
func seedOf(name string) uint64 {
	sum := uint64(0)
	for _, r := range name {
		sum = 31*sum + uint64(r)
	}
	return sum%1000 + 1
}

func extents(text string) []int64 {
	var list []int64
	for part := range strings.SplitSeq(text, "x") {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// words are those of a command line, as a shell cuts it.
func words(line string) []string {
	var list []string
	for _, m := range regexp.MustCompile(`(?:'[^']*'|[^'\s])+`).FindAllString(line, -1) {
		list = append(list, strings.ReplaceAll(m, "'", ""))
	}
	return list
}

// views are the commands that have a view in the explorer.
var views = map[string]string{"eval": "result", "explain": "stages", "grad": "grad"}

// switches are the flags that have no value.
var switches = []string{"--time", "--json", "--strict-ieee", "--as-written", "--tuned"}

var given = regexp.MustCompile(`^([\pL_][\pL\pN_]*)([=:])(.+)$`)

// command is what a command line shows in the explorer; nil if that is nothing, or about a file of several things.
func (b *builder) command(line string) *state {
	list := words(line)
	if len(list) < 3 || path.Base(list[0]) != "lacuna" || views[list[1]] == "" || !strings.Contains(list[2], "=") || strings.Contains(line, ":entry=") {
		return nil
	}
	s := &state{Program: list[2], Operands: []operand{}, Tab: views[list[1]]}
	for i := 3; i < len(list); i++ {
		flag, value, has := strings.Cut(list[i], "=")
		if !strings.HasPrefix(flag, "-") {
			if m := given.FindStringSubmatch(list[i]); m != nil {
				s.Operands = append(s.Operands, b.given(m[1], m[2], m[3], s.Program))
			}
			continue
		}
		if slices.Contains(switches, flag) {
			continue
		}
		if !has && i+1 < len(list) {
			i++
			value = list[i]
		}
		switch flag {
		case "--wrt":
			s.WRT = value
		case "--schedule":
			s.Program += " with " + value
		case "--fill":
			name, fill, _ := strings.Cut(value, "=")
			for k := range s.Operands {
				if s.Operands[k].Name == name {
					s.Operands[k].Fill = fill
				}
			}
		}
	}
	return s
}

var recipe = regexp.MustCompile(`^(random|range)\(([^()]*)\)$`)

// given is an operand of a command line: NAME=SOURCE:FORMAT or NAME:FORMAT.
func (b *builder) given(name, sign, text, program string) operand {
	o := operand{Name: name}
	source, format := "", text
	if sign == "=" {
		source, format, _ = strings.Cut(text, ":")
	}
	format, _, _ = strings.Cut(format, "over (") // among ranks, of which a page has one
	format = strings.TrimSpace(format)
	if kind, ok := strings.CutPrefix(format, "["); ok {
		format, o.DType = "", strings.TrimSuffix(kind, "]")
	}
	o.Format = format
	m := recipe.FindStringSubmatch(source)
	switch _, err := strconv.ParseFloat(source, 64); {
	case err == nil:
		o.Number = source
	case strings.HasPrefix(source, "["):
		o.Text = strings.NewReplacer("],[", "\n", "[", "", "]", "", ",", " ").Replace(source)
	case m != nil && m[1] == "range":
		o.Random = &random{Shape: extents(m[2]), Range: true}
	case sign == ":" && !reads(program, name): // how a result is stored
	default:
		if data, err := fs.ReadFile(b.root, source); err == nil && len(data) < 1<<12 {
			o.File, o.Data = path.Base(source), data
			break
		}
		o.fill(rankOf(name, program), "")
	}
	return o
}

// reads reports whether a program reads a tensor that it has not assigned.
func reads(program, name string) bool {
	for statement := range strings.SplitSeq(strings.ReplaceAll(program, "\n", ";"), ";") {
		left, right, _ := strings.Cut(statement, "=")
		lhs := names.FindAllString(left, -1)
		if len(lhs) == 0 {
			continue
		}
		assigned := strings.TrimSpace(left)
		changed := !strings.HasSuffix(assigned, ")") && !token.IsIdentifier(assigned) // by +=, min= and the like
		switch found := names.FindAllString(right, -1); {
		case slices.Contains(found, name) || lhs[0] == name && changed || slices.Contains(lhs[1:], name):
			return true
		case lhs[0] == name:
			return false
		}
	}
	return false
}
