package cpu

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// blockComment is the comment behind a label of assembly that names the block of LLVM IR
// which it begins.
var blockComment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:#|//) %((?:for|while)\.\S+)$`) })

// functionLabel is the label of a function's code.
var functionLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^"?([^\s."]+)\.body"?:`) })

// Annotate adds to assembly with comments, behind the labels where loops begin, the lines of the
// loop language that they come from.
func Annotate(assembly string, funcs []*loop.Func) string {
	headers := map[string]map[string]string{}
	for _, f := range funcs {
		headers[f.Name] = loopHeaders(f)
	}
	var current map[string]string
	lines := strings.Split(assembly, "\n")
	for i, line := range lines {
		if m := functionLabel().FindStringSubmatch(line); m != nil {
			current = headers[m[1]]
		}
		if m := blockComment().FindStringSubmatch(line); m != nil && current[m[1]] != "" {
			lines[i] = line + ": " + current[m[1]]
		}
	}
	return strings.Join(lines, "\n")
}

// loopHeaders gives for the names that codegen/llvm has for the blocks of loops the first
// lines of those, without the brace. Blocks of one name are numbered in the order of the
// text.
func loopHeaders(f *loop.Func) map[string]string {
	var blocks []string
	seen := map[string]int{}
	block := func(name string) {
		if n := seen[name]; n > 0 {
			blocks = append(blocks, fmt.Sprintf("%s.%d", name, n))
		} else {
			blocks = append(blocks, name)
		}
		seen[name]++
	}
	loop.WalkStmts(f.Body, func(s loop.Stmt) {
		switch s := s.(type) {
		case *loop.For:
			block("for." + f.Vars[s.Var].Name)
		case *loop.While:
			block("while.body")
		}
	})
	headers := map[string]string{}
	for line := range strings.Lines(f.String()) {
		line = strings.TrimSpace(line)
		if len(blocks) == 0 || !strings.HasPrefix(line, "for ") && !strings.HasPrefix(line, "while ") {
			continue
		}
		headers[blocks[0]] = strings.TrimSuffix(line, " {")
		blocks = blocks[1:]
	}
	return headers
}
