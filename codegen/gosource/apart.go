package gosource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Go passes so many words and floats in registers on x86-64, and more on other processors.
const maxWords, maxFloats = 9, 15

// apart writes an innermost loop along rows as a function of its own, and calls it: between other loops the Go compiler keeps what
// such a loop counts and reads in memory. It reports whether it did: what the loop needs must fit in registers, and functions of two loops
// are small enough as they are. A loop from 0 runs over a dense dimension, and is often too short for a call.
func (w *writer) apart(s *loop.For, rows []row, lo string) bool {
	first := slices.IndexFunc(rows, func(r row) bool { return !r.one })
	if w.loops < 3 || lo == "" || first < 0 || slices.ContainsFunc(s.Body, func(st loop.Stmt) bool { return countLoops([]loop.Stmt{st}) > 0 }) {
		return false
	}
	outer := w.rows
	w.rows = rows
	text := w.text(func() { w.block(s.Body) })
	w.rows = outer
	used := words(text)

	var params, args, results, types []string
	taken, floats := 0, 0
	param := func(name, typ string) {
		params, args = append(params, name+" "+typ), append(args, name)
		switch {
		case strings.HasPrefix(typ, "[]"):
			taken += 3
		case strings.HasPrefix(typ, "float"):
			floats++
		case strings.HasPrefix(typ, "complex"):
			floats += 2
		default:
			taken++
		}
	}
	lines := ""
	for k, r := range rows {
		switch {
		case r.one && used[r.name] > 0:
			param(r.name, goTypes[w.elems[r.buf]])
		case !r.one:
			param(r.name, "[]"+goTypes[w.elems[r.buf]])
			if k != first {
				lines += fmt.Sprintf("%s = %s[:len(%s)]\n", r.name, r.name, rows[first].name)
			}
		}
	}
	for k, name := range w.bufs {
		if used[name] > 0 {
			param(name, "[]"+goTypes[w.elems[k]])
		}
	}
	defined, assigned := map[loop.VarID]bool{s.Var: true}, map[loop.VarID]bool{}
	loop.WalkStmts(s.Body, func(st loop.Stmt) {
		switch st := st.(type) {
		case *loop.Let:
			defined[st.Var] = true
		case *loop.Assign:
			assigned[st.Var] = true
		}
	})
	for k, name := range w.names {
		id := loop.VarID(k)
		if used[name] == 0 || defined[id] {
			continue
		}
		param(name, goTypes[w.vars[k].Type])
		if assigned[id] {
			results, types = append(results, name), append(types, goTypes[w.vars[k].Type])
		}
	}
	v := w.names[s.Var]
	at := place(v)
	if used[v] > 0 {
		param(lo, "int64")
		text = fmt.Sprintf("%s := %s + %s\n", v, lo, at) + text
	}
	if taken > maxWords || floats > maxFloats {
		return false
	}
	name := fmt.Sprintf("%s_loop%d", w.current, len(w.inner)+1)
	w.inner = append(w.inner, fmt.Sprintf("\n//go:noinline\nfunc %s(%s) (%s) {\n%sfor %s := int64(0); %s < int64(len(%s)); %s++ {\n%s}\nreturn %s\n}\n",
		name, strings.Join(params, ", "), strings.Join(types, ", "), lines, at, at, rows[first].name, at, text, strings.Join(results, ", ")))
	call := fmt.Sprintf("%s(%s)", name, strings.Join(args, ", "))
	if len(results) > 0 {
		call = strings.Join(results, ", ") + " = " + call
	}
	w.line("%s", call)
	return true
}

// countLoops is the number of loops in a body.
func countLoops(body []loop.Stmt) int {
	n := 0
	loop.WalkStmts(body, func(st loop.Stmt) {
		switch st.(type) {
		case *loop.For, *loop.While:
			n++
		}
	})
	return n
}
