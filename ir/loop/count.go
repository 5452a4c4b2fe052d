package loop

import "fmt"

// Stats counts what a function or a program is made of. Golden tests record it,
// so that a lost optimisation shows as a changed number.
type Stats struct {
	Stages     int // of a program
	Buffers    int // allocated by a program
	Statements int // of any kind but comments
	Loops      int // counted loops
	Whiles     int
	Branches   int
	Loads      int
	Stores     int
	Calls      int

	// Of grid functions.
	Barriers int
	Shuffles int // and ballots
	Atomics  int
}

// String lists the counts on one line, such as "statements 4 loops 2 …". Stages
// and buffers are listed for programs only, barriers, shuffles and atomics where
// there are any.
func (s Stats) String() string {
	head := ""
	if s.Stages > 0 {
		head = fmt.Sprintf("stages %d buffers %d ", s.Stages, s.Buffers)
	}
	tail := ""
	if s.Barriers+s.Shuffles+s.Atomics > 0 {
		tail = fmt.Sprintf(" barriers %d shuffles %d atomics %d", s.Barriers, s.Shuffles, s.Atomics)
	}
	return head + fmt.Sprintf("statements %d loops %d whiles %d branches %d loads %d stores %d calls %d",
		s.Statements, s.Loops, s.Whiles, s.Branches, s.Loads, s.Stores, s.Calls) + tail
}

// Stats counts what f is made of.
func (f *Func) Stats() Stats {
	var s Stats
	s.body(f.Body)
	return s
}

// Stats counts what the program's stages are made of, together.
func (prog *Program) Stats() Stats {
	s := Stats{Stages: len(prog.Stages)}
	for _, stage := range prog.Stages {
		s.Buffers += len(stage.Allocs) + len(stage.PartitionAllocs)
		if stage.Func != nil {
			s.body(stage.Func.Body)
		}
	}
	return s
}

func (s *Stats) body(body []Stmt) {
	WalkStmts(body, func(st Stmt) {
		s.Statements++
		switch st.(type) {
		case *For:
			s.Loops++
		case *While:
			s.Whiles++
		case *If:
			s.Branches++
		case *Store:
			s.Stores++
		case *Barrier:
			s.Barriers++
		case *Shuffle, *Ballot:
			s.Shuffles++
		case *Atomic:
			s.Atomics++
		case *Comment:
			s.Statements--
		}
	})
	for e := range AllExprs(body) {
		switch e.(type) {
		case *Load:
			s.Loads++
		case *Call:
			s.Calls++
		}
	}
}
