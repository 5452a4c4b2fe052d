package gpu

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// ways says what the mappings are that names of stages end in, behind "_by_" or alone.
var ways = map[string]string{
	"elements":      "a thread for each element of the stage's domain, which may be an entry, a row or a line",
	"tiles":         "a block for each tile",
	"tile_sums":     "a block for each tile: its sum",
	"sums_of_tiles": "one block: running sums of the tiles' sums",

	"warp":        "a warp for each row or line that fits one",
	"block":       "a block for each row or line that fits one",
	"slices":      "a block for each 2048 columns of a row that fits no hash table in shared memory",
	"join_slices": "joins the slices of each row",
	"longest":     "a thread for each row: the length of the longest, which the host reads",
	"classes":     "sorts rows by how many products they have",
	"marks":       "a thread for each entry: marks where others begin",
	"ranks":       "a thread for each entry, whatever its row: its rank in the other operands",
	"fill":        "a thread or a block for so many entries",
	"count":       "a block for 3072 entries: counts digits in shared memory",
	"move":        "a block for 3072 entries: moves them by digits through shared memory",
	"select":      "a block for each line: selects by digits in shared memory",
}

// Text prints a mapped program, with the mapping of each stage before it.
func Text(p *loop.Program) string {
	text := p.String()
	if how := Mappings(p); how != "" {
		text = "mappings:\n" + how + "\n" + text
	}
	return text
}

// Mappings says for each stage of a mapped program to which threads its work goes, and
// why to one alone where that is so.
func Mappings(p *loop.Program) string {
	var lines []string
	width := 0
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Func != nil {
			width = max(width, len(s.Name))
		}
	}
	for i := range p.Stages {
		s := &p.Stages[i]
		if s.Func == nil {
			continue
		}
		if way := wayOf(s); way != "" {
			line := fmt.Sprintf("  %-*s  %s\n", width, s.Name, way)
			if !slices.Contains(lines, line) { // digits are sorted by one after the other
				lines = append(lines, line)
			}
		}
	}
	return strings.Join(lines, "")
}

// wayOf describes the mapping of a stage; "" where its name says nothing of it.
func wayOf(s *loop.Stage) string {
	how := s.Name
	if at := strings.LastIndex(how, "_by_"); at >= 0 {
		how = how[at+len("_by_"):]
	}
	if how != "one_thread" {
		return ways[how]
	}
	written, loops := carried(s.Func)
	switch {
	case !loops:
		return "one thread: a few numbers"
	case len(written) == 0:
		return "one thread of the device, in order: the loop is one over few elements, or counts up a number that later iterations use"
	}
	return fmt.Sprintf("one thread of the device, in order: iterations read what earlier ones wrote to %s", strings.Join(written, ", "))
}

// carried lists the buffers that loops of a function both read and write, and reports whether there are loops.
func carried(f *loop.Func) (names []string, loops bool) {
	read, written := map[loop.BufID]bool{}, map[loop.BufID]bool{}
	loop.WalkStmts(f.Body, func(s loop.Stmt) {
		body := bodyOf(s)
		loops = loops || body != nil
		maps.Copy(written, stored(body))
		for l := range loop.Loads(body) {
			read[l.Buf] = true
		}
		loop.WalkStmts(body, func(s loop.Stmt) {
			if a, ok := s.(*loop.Atomic); ok {
				read[a.Buf], written[a.Buf] = true, true
			}
		})
	})
	for b := range f.Bufs {
		if id := loop.BufID(b); read[id] && written[id] && !slices.Contains(names, f.Bufs[b].Name) {
			names = append(names, f.Bufs[b].Name)
		}
	}
	return names, loops
}
