package loop

import "strings"

// A kernel can be compiled so that somebody who looks now and then can tell which of its loops the time goes to: it keeps in memory which
// loop it is in, and how often each was reached. That is a store or two for each visit of a loop, and none for an iteration of a For, where
// reading a clock would take as long as some ten entries of a row, and have the processor wait for what it does at the same time otherwise.

// InstrumentedLoop is a loop that an instrumented kernel tells of.
type InstrumentedLoop struct {
	Loop   Stmt // a For or a While
	Text   string
	Around int // the loop around it, by its place in the list; -1: none is
}

// InstrumentedLoops are the loops of f that are told of, in the order of the text: all but those that plainly have few iterations.
func InstrumentedLoops(f *Func) []InstrumentedLoop {
	p := printer{lines: map[Stmt]int{}}
	p.fn(f)
	text := strings.Split(p.w.String(), "\n")
	var list []InstrumentedLoop
	var block func(body []Stmt, around int)
	add := func(s Stmt, body []Stmt, around int) {
		list = append(list, InstrumentedLoop{s, strings.TrimSuffix(strings.TrimSpace(text[p.lines[s]-1]), " {"), around})
		block(body, len(list)-1)
	}
	block = func(body []Stmt, around int) {
		for _, s := range body {
			switch s := s.(type) {
			case *For:
				if s.IsShort() {
					block(s.Body, around)
				} else {
					add(s, s.Body, around)
				}
			case *While:
				add(s, s.Body, around)
			case *If:
				block(s.Then, around)
				block(s.Else, around)
			}
		}
	}
	block(f.Body, -1)
	return list
}

// shortLoop is the number of iterations that count as straight code.
const shortLoop = 64

// IsShort reports whether a loop plainly has few iterations.
func (s *For) IsShort() bool {
	lo, ok1 := s.Lo.(*Const)
	hi, ok2 := s.Hi.(*Const)
	return ok1 && ok2 && hi.Bits-lo.Bits <= shortLoop
}

// Instruments is what a call of an instrumented kernel writes, as it runs: first which loop it is in, 1 for the first of InstrumentedLoops
// and 0 outside; then for each loop how often it was reached, and how many iterations it had.
type Instruments []int64

// NewInstruments is for a kernel with so many loops.
func NewInstruments(loops int) Instruments { return make(Instruments, 1+2*loops) }

// VisitsAt is the place of a loop's visits. That of its iterations follows.
func VisitsAt(number int) int { return 1 + 2*number }
