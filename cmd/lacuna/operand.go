package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// operand is an argument about one tensor of a program:
//
//	NAME=FILE[:QUALIFIERS]
//	NAME=random(…)[:QUALIFIERS]
//	NAME=3.5[:QUALIFIERS]
//	NAME=[1,2.5,3][:QUALIFIERS]
//	NAME:FORMAT[TYPE]            a declaration, without a value
type operand struct {
	name   string
	source source // nil for a declaration
	qual   qualifiers
}

// standard is the path that means standard input or output.
const standard = "-"

// fileExists is how files are told apart from their qualifiers.
func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil || path == standard
}

// parseOperand reads one argument.
func parseOperand(arg string) (operand, error) {
	at := strings.IndexAny(arg, "=:")
	if at < 0 {
		if fileExists(arg) {
			return operand{}, usagef("%q is a file: write NAME=%s, with the tensor's name in the program", arg, arg)
		}
		return operand{}, usagef("%q is not an operand: write NAME=FILE, NAME=random(…), NAME=NUMBER or NAME:FORMAT", arg)
	}
	name := arg[:at]
	if !isName(name) {
		return operand{}, usagef("%q in %q is not a name of a tensor: write NAME=FILE or NAME:FORMAT", name, arg)
	}
	if arg[at] == ':' {
		q, err := parseQualifiers(arg[at+1:])
		if err != nil {
			return operand{}, usagef("%s: %s", arg, err)
		}
		if q.ofFile() {
			return operand{}, usagef("%s: options of files need a file: write %s=FILE:…", arg, name)
		}
		return operand{name: name, qual: q}, nil
	}
	src, q, err := parseSource(arg[at+1:], fileExists)
	if err != nil {
		return operand{}, usagef("%s: %s", arg, err)
	}
	return operand{name: name, source: src, qual: q}, nil
}

// parseOperands reads the arguments behind the program, which one rank runs.
func parseOperands(args []string) ([]operand, error) {
	list, err := parsePlaced(args)
	for _, o := range list {
		if err == nil {
			err = o.qual.notPlaced()
		}
	}
	return list, err
}

// parsePlaced reads the arguments behind the program. The n-th random tensor
// without a seed gets the seed n, so that no two are alike.
func parsePlaced(args []string) ([]operand, error) {
	var list []operand
	seen := map[string]bool{}
	seed, stdin := uint64(0), ""
	for _, arg := range args {
		o, err := parseOperand(arg)
		if err != nil {
			return nil, err
		}
		if seen[o.name] {
			return nil, usagef("%s is given twice: write a format behind the value, as %s=FILE:CSR; a tensor that the program updates stays as it is stored", o.name, o.name)
		}
		if o.source == source(diskFile(standard)) {
			if stdin != "" {
				return nil, usagef("%s and %s are both read from standard input, which can be read once: put one of them in a file", stdin, o.name)
			}
			stdin = o.name
		}
		seen[o.name] = true
		if g, ok := o.source.(*generator); ok && g.name == "random" {
			if seed++; !g.seeded {
				g.seed = seed
			}
		}
		list = append(list, o)
	}
	return list, nil
}

// isName says whether s is a name of the language.
func isName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r) && !unicode.IsMark(r)) {
			return false
		}
	}
	return s != ""
}

// parseSource reads what may stand behind "NAME=". exists tells which files
// there are: names with colons are theirs before they are qualifiers.
func parseSource(text string, exists func(string) bool) (source, qualifiers, error) {
	if text == "" {
		return nil, qualifiers{}, usagef("nothing behind the %q: want a file, a number, [1,2,3] or random(…)", "=")
	}
	if !exists(text) {
		if text[0] == ':' {
			return nil, qualifiers{}, usagef("no file in front of %q", text)
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
		if number, rest, more := strings.Cut(text, ":"); isNumber(number) && !exists(number) {
			if !more {
				return literal(number), qualifiers{}, nil
			}
			q, err := parseQualifiers(rest)
			return literal(number), q, err
		}
		if list := strings.Split(text, ","); len(list) > 1 && !slices.ContainsFunc(list, func(x string) bool { return !isNumber(x) }) {
			return nil, qualifiers{}, usagef("a vector stands in brackets: [%s]", text)
		}
	}
	return splitFile(text, exists)
}

// qualifiersBehind reads what follows a closing parenthesis.
func qualifiersBehind(rest string) (qualifiers, error) {
	if rest == "" {
		return qualifiers{}, nil
	}
	if rest = strings.TrimSpace(rest); rest[0] == ';' {
		return qualifiers{}, usagef("%q behind a value: only programs have several statements in a line", rest)
	}
	if rest[0] != ':' {
		return qualifiers{}, usagef("%q behind the closing bracket: a format follows a colon", rest)
	}
	return parseQualifiers(rest[1:])
}

// splitFile separates a path from its qualifiers. The longest part that is
// there is the path; if none is, all that can be read as qualifiers is not
// path.
func splitFile(text string, exists func(string) bool) (source, qualifiers, error) {
	if exists(text) {
		return diskFile(text), qualifiers{}, nil
	}
	for at := strings.LastIndexByte(text, ':'); at > 0; at = strings.LastIndexByte(text[:at], ':') {
		if exists(text[:at]) {
			q, err := parseQualifiers(text[at+1:])
			return diskFile(text[:at]), q, err
		}
	}
	for at, r := range text {
		if r != ':' || at == 0 {
			continue
		}
		q, err := parseQualifiers(text[at+1:])
		key, _, ok := strings.Cut(text[at+1:], "=")
		if err == nil || ok && slices.Contains(qualifierKeys, key) { // no file is called so: it is an option with a mistake
			return diskFile(text[:at]), q, err
		}
		if near := err.Error(); strings.Contains(near, "did you mean") || ok && !strings.Contains(key, ":") {
			return nil, q, usagef("there is no file %s; and behind it: %s", text[:at], near)
		}
	}
	return diskFile(text), qualifiers{}, nil
}

// destination is a file to write, and which result.
type destination struct {
	name  string // "" for the last result
	path  string
	qual  qualifiers
	names axisNames // the labels along its axes
	last  bool      // nothing is done with the tensor afterwards
}

// options are those of writing the file.
func (d destination) options() []file.Option {
	opts := d.qual.options()
	for axis, names := range d.names {
		opts = append(opts, file.AxisNames(axis, names))
	}
	return opts
}

// parseDestination reads FILE or NAME=FILE, with qualifiers.
func parseDestination(text string) (destination, error) {
	d := destination{}
	if name, rest, ok := strings.Cut(text, "="); ok && isName(name) {
		d.name, text = name, rest
	}
	if text == "" {
		return d, usagef("-o needs a file")
	}
	src, q, err := splitFile(text, func(string) bool { return false })
	if err != nil {
		return d, usagef("-o %s: %v", text, err)
	}
	if q.dtype.Valid() {
		return d, usagef("-o %s: the type of a result is declared as NAME:[%s] among the operands", text, q.dtype)
	}
	d.path, d.qual = string(src.(diskFile)), q
	return d, nil
}

// parseDestinations reads the values of -o, of which no two may name one file.
func parseDestinations(outputs []string) ([]destination, error) {
	var list []destination
	paths := map[string]bool{}
	for _, text := range outputs {
		d, err := parseDestination(text)
		if err != nil {
			return nil, err
		}
		path := filepath.Clean(d.path)
		if paths[path] {
			return nil, usagef("-o writes %s twice", d.path)
		}
		paths[path] = true
		list = append(list, d)
	}
	return list, nil
}

// isNumber says whether text is a number or truth value.
func isNumber(text string) bool {
	_, err := parseNumber(text, tensor.Invalid)
	return err == nil
}

// parseNumber reads a number of type dt; if that is Invalid the spelling says
// whether it is a bool, an i64, an f64 or a c128.
func parseNumber(text string, dt tensor.DType) (tensor.Scalar, error) {
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
