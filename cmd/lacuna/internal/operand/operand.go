// Package operand is how arguments of lacuna name tensors, and how these are made, read and written.
//
// An argument is read by operand.go (NAME=FILE), qualifier.go and storedqualifier.go (what follows a colon), literal.go (numbers) and
// generate.go (random ones); spell.go writes it again, and completesource.go completes it. A tensor comes from source.go and goes there, in
// the format that store.go brings it into; list.go tells what a file of several things holds. outofcore.go is for what is larger than memory.
package operand

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// Operand is an argument about one tensor of a program:
//
//	NAME=FILE[:QUALIFIERS]
//	NAME=random(…)[:QUALIFIERS]
//	NAME=3.5[:QUALIFIERS]
//	NAME=[1,2.5,3][:QUALIFIERS]
//	NAME:FORMAT[TYPE]            a declaration, without a value
type Operand struct {
	Name   string     // in the program
	Source Source     // nil for a declaration
	Qual   Qualifiers // what follows behind colons
}

// Standard is the path that means standard input or output.
const Standard = "-"

// FileExists is how files are told apart from their qualifiers.
func FileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil || path == Standard
}

// Parse reads one argument.
func Parse(arg string) (Operand, error) {
	at := strings.IndexAny(arg, "=:")
	if at < 0 {
		if FileExists(arg) {
			return Operand{}, cli.Usagef("%q is a file: write NAME=%s, with the tensor's name in the program", arg, arg)
		}
		return Operand{}, cli.Usagef("%q is not an operand: write NAME=FILE, NAME=random(…), NAME=NUMBER or NAME:FORMAT", arg)
	}
	name := arg[:at]
	if !IsName(name) {
		return Operand{}, cli.Usagef("%q in %q is not a name of a tensor: write NAME=FILE or NAME:FORMAT", name, arg)
	}
	if arg[at] == ':' {
		q, err := ParseQualifiers(arg[at+1:])
		if err != nil {
			return Operand{}, cli.Usagef("%s: %s", arg, err)
		}
		if q.OfFile() {
			return Operand{}, cli.Usagef("%s: options of files need a file: write %s=FILE:…", arg, name)
		}
		return Operand{Name: name, Qual: q}, nil
	}
	src, q, err := parseSource(arg[at+1:], FileExists)
	if err != nil {
		return Operand{}, cli.Usagef("%s: %s", arg, err)
	}
	return Operand{Name: name, Source: src, Qual: q}, nil
}

// ParseAll reads the arguments behind the program, which one rank runs.
func ParseAll(args []string) ([]Operand, error) {
	list, err := ParsePlaced(args)
	for _, o := range list {
		if err == nil {
			err = o.Qual.notPlaced()
		}
	}
	return list, err
}

// ParsePlaced reads the arguments behind the program. The n-th random tensor
// without a seed gets the seed n, so that no two are alike.
func ParsePlaced(args []string) ([]Operand, error) {
	var list []Operand
	seen := map[string]bool{}
	seed, stdin := uint64(0), ""
	for _, arg := range args {
		o, err := Parse(arg)
		if err != nil {
			return nil, err
		}
		if seen[o.Name] {
			return nil, cli.Usagef("%s is given twice: write a format behind the value, as %s=FILE:CSR; a tensor that the program updates stays as it is stored", o.Name, o.Name)
		}
		if o.Source == Source(DiskFile(Standard)) {
			if stdin != "" {
				return nil, cli.Usagef("%s and %s are both read from standard input, which can be read once: put one of them in a file", stdin, o.Name)
			}
			stdin = o.Name
		}
		seen[o.Name] = true
		if g, ok := o.Source.(*generator); ok && g.name == "random" {
			if seed++; !g.seeded {
				g.seed = seed
			}
		}
		list = append(list, o)
	}
	return list, nil
}

// IsName says whether s is a name of the language.
func IsName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r) && !unicode.IsMark(r)) {
			return false
		}
	}
	return s != ""
}

// parseSource reads what may stand behind "NAME=". exists tells which files
// there are: names with colons are theirs before they are qualifiers.
func parseSource(text string, exists func(string) bool) (Source, Qualifiers, error) {
	if text == "" {
		return nil, Qualifiers{}, cli.Usagef("nothing behind the %q: want a file, a number, [1,2,3] or random(…)", "=")
	}
	if !exists(text) {
		if text[0] == ':' {
			return nil, Qualifiers{}, cli.Usagef("no file in front of %q", text)
		}
		if text[0] == '[' {
			head, rest := cutBracketed(text)
			q, err := qualifiersBehind(rest)
			return literal(head), q, err
		}
		if head, rest, ok := cutGenerator(text); ok {
			q, err := qualifiersBehind(rest)
			if err != nil {
				return nil, q, err
			}
			g, err := parseGenerator(head)
			return g, q, err
		}
		if number, rest, more := strings.Cut(text, ":"); IsNumber(number) && !exists(number) {
			if !more {
				return literal(number), Qualifiers{}, nil
			}
			q, err := ParseQualifiers(rest)
			return literal(number), q, err
		}
		if list := strings.Split(text, ","); len(list) > 1 && !slices.ContainsFunc(list, func(x string) bool { return !IsNumber(x) }) {
			return nil, Qualifiers{}, cli.Usagef("a vector stands in brackets: [%s]", text)
		}
	}
	return splitFile(text, exists)
}

// ParseFile reads the argument that is a file, a number or random(…), and what flags say of its format and type.
func ParseFile(text, format, dtype string) (Source, Qualifiers, error) {
	src, q, err := parseSource(text, FileExists)
	if err != nil {
		return nil, q, cli.Usagef("%s: %s", text, err)
	}
	if err := q.NoParts(); err != nil {
		return nil, q, err
	}
	return src, q, q.override(format, dtype)
}

// qualifiersBehind reads what follows a closing parenthesis.
func qualifiersBehind(rest string) (Qualifiers, error) {
	if rest == "" {
		return Qualifiers{}, nil
	}
	if rest = strings.TrimSpace(rest); rest[0] == ';' {
		return Qualifiers{}, cli.Usagef("%q behind a value: only programs have several statements in a line", rest)
	}
	if rest[0] != ':' {
		return Qualifiers{}, cli.Usagef("%q behind the closing bracket: a format follows a colon", rest)
	}
	return ParseQualifiers(rest[1:])
}

// splitFile separates a path from its qualifiers. The longest part that is
// there is the path; if none is, all that can be read as qualifiers is not
// path.
func splitFile(text string, exists func(string) bool) (Source, Qualifiers, error) {
	if exists(text) {
		return DiskFile(text), Qualifiers{}, nil
	}
	for at := strings.LastIndexByte(text, ':'); at > 0; at = strings.LastIndexByte(text[:at], ':') {
		if exists(text[:at]) {
			q, err := ParseQualifiers(text[at+1:])
			return DiskFile(text[:at]), q, err
		}
	}
	for at, r := range text {
		if r != ':' || at == 0 {
			continue
		}
		q, err := ParseQualifiers(text[at+1:])
		key, _, ok := strings.Cut(text[at+1:], "=")
		if err == nil || ok && slices.Contains(qualifierKeys, key) { // no file is called so: it is an option with a mistake
			return DiskFile(text[:at]), q, err
		}
		if near := err.Error(); strings.Contains(near, "did you mean") || ok && !strings.Contains(key, ":") {
			return nil, q, cli.Usagef("there is no file %s; and behind it: %s", text[:at], near)
		}
	}
	return DiskFile(text), Qualifiers{}, nil
}

// Destination is a file to write, and which result.
type Destination struct {
	Name  string // "" for the last result
	Path  string // "-" is standard output
	qual  Qualifiers
	Names [][]string // the labels along its axes
	Last  bool       // nothing is done with the tensor afterwards
}

// Options are those of writing the file.
func (d Destination) Options() []file.Option {
	opts := d.qual.Options()
	for axis, names := range d.Names {
		opts = append(opts, file.AxisNames(axis, names))
	}
	return opts
}

// OfReading reports whether it has options that only files which are read have.
func (d Destination) OfReading() bool {
	return d.qual.dims != nil || d.qual.base != "" || d.qual.coords != nil
}

// ParseDestination reads FILE or NAME=FILE, with qualifiers.
func ParseDestination(text string) (Destination, error) {
	d := Destination{}
	if name, rest, ok := strings.Cut(text, "="); ok && IsName(name) {
		d.Name, text = name, rest
	}
	if text == "" {
		return d, cli.Usagef("-o needs a file")
	}
	src, q, err := splitFile(text, func(string) bool { return false })
	if err != nil {
		return d, cli.Usagef("-o %s: %v", text, err)
	}
	if q.DType.Valid() {
		return d, cli.Usagef("-o %s: the type of a result is declared as NAME:[%s] among the operands", text, q.DType)
	}
	d.Path, d.qual = string(src.(DiskFile)), q
	return d, nil
}

// ParseDestinations reads the values of -o, of which no two may name one file.
func ParseDestinations(outputs []string) ([]Destination, error) {
	var list []Destination
	paths := map[string]bool{}
	for _, text := range outputs {
		d, err := ParseDestination(text)
		if err != nil {
			return nil, err
		}
		path := filepath.Clean(d.Path)
		if paths[path] {
			return nil, cli.Usagef("-o writes %s twice", d.Path)
		}
		paths[path] = true
		list = append(list, d)
	}
	return list, nil
}

// IsNumber says whether text is a number or truth value.
func IsNumber(text string) bool {
	_, err := ParseNumber(text, tensor.Invalid)
	return err == nil
}

// ParseNumber reads a number of type dt; if that is Invalid the spelling says
// whether it is a bool, an i64, an f64 or a c128.
func ParseNumber(text string, dt tensor.DType) (tensor.Scalar, error) {
	switch {
	case dt.Valid():
		return tensor.ParseScalar(text, dt)
	case text == "true" || text == "false":
		return tensor.Truth(text == "true"), nil
	case strings.Trim(text, "+-0123456789") == "":
		if v, err := tensor.ParseScalar(text, tensor.Int64); err == nil {
			return v, nil
		}
	}
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Complex128} {
		if v, err := tensor.ParseScalar(text, dt); err == nil {
			return v, nil
		}
	}
	return tensor.Scalar{}, fmt.Errorf("%q is not a number: want one such as 0, -1.5, 1e6, inf, 1+2i, or true or false", text)
}

// cutLayout splits what stands behind a colon into a format and a placement.
func cutLayout(text string) (format, layout string) {
	if text == "replicated" || text == "auto" || strings.HasPrefix(text, "over ") || strings.HasPrefix(text, "over(") {
		return "", text
	}
	for _, word := range []string{" over ", " over(", " replicated", " auto"} {
		if at := strings.Index(text, word); at >= 0 {
			return strings.TrimSpace(text[:at]), text[at+1:]
		}
	}
	return text, ""
}

// PlacedBy are the names of the vectors that say how operands are placed.
func PlacedBy(operands []Operand) map[string]bool {
	names := map[string]bool{}
	for _, o := range operands {
		l, err := placement.Parse(o.Qual.Layout, -1)
		if o.Qual.Layout == "" || err != nil {
			continue
		}
		for _, x := range l.Items {
			names[x.List] = true
		}
	}
	return names
}
