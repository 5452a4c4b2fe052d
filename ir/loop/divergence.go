package loop

// This file finds out which values are the same for all threads of a block or of a
// warp, and so where threads may have taken different ways. There they must not
// wait for each other. (For such analyses see B. Coutinho, D. Sampaio, F. Pereira
// and W. Meira, "Divergence analysis and optimizations", PACT 2011.)
//
// It is a matter of dependences: a variable is at least as uneven as what its
// values are computed from and as the conditions that decide about its
// assignments. Each variable has one level for the whole function, so a pass over
// the edges from the uneven ones finds the least solution, in time linear in the
// size of the function.
//
// A load from one place by threads that are at one statement gives one value, as
// long as there are no races; the interpreter's grid mode looks for those.

// An evenness says for which threads something is the same.
type evenness uint8

const (
	forBlock evenness = iota // for all threads of a block
	forWarp                  // for all threads of a warp
	uneven                   // for a thread alone
)

// evenFor says for whom a value is the same, as messages name it.
var evenFor = [...]string{forBlock: "block", forWarp: "warp"}

// An edge carries unevenness to a node, up to a limit.
type edge struct {
	to    int
	limit evenness
}

// A divergence is the analysis of one grid function. Its nodes are the variables
// and, behind them, the statements that decide what runs.
type divergence struct {
	v       *verifier
	level   []evenness
	edges   [][]edge
	queue   []int
	control map[Stmt]int      // the node of a For, While or If
	fails   map[Stmt]evenness // of a loop: how unevenly threads may fail in it
	gone    evenness          // how unevenly threads may have failed before
	around  []Stmt            // the deciding statements around, outermost first
}

// divergence checks that the threads that take part in a barrier, a shuffle or a
// ballot all come to it.
func (v *verifier) divergence(body []Stmt) {
	d := &divergence{
		v: v, level: make([]evenness, len(v.vars)), edges: make([][]edge, len(v.vars)),
		control: map[Stmt]int{}, fails: map[Stmt]evenness{},
	}
	d.collect(body, d.node())
	for len(d.queue) > 0 {
		n := d.queue[len(d.queue)-1]
		d.queue = d.queue[:len(d.queue)-1]
		for _, e := range d.edges[n] {
			d.raise(e.to, min(d.level[n], e.limit))
		}
	}
	d.failures(body, forBlock)
	d.check(body, forBlock)
}

// node makes a node that is even so far.
func (d *divergence) node() int {
	d.level, d.edges = append(d.level, forBlock), append(d.edges, nil)
	return len(d.level) - 1
}

func (d *divergence) raise(n int, level evenness) {
	if d.level[n] < level {
		d.level[n] = level
		d.queue = append(d.queue, n)
	}
}

// depend makes node n at least as uneven as e, up to a limit.
func (d *divergence) depend(n int, e Expr, limit evenness) {
	WalkExpr(e, func(e Expr) {
		switch e := e.(type) {
		case *Ref:
			d.edges[e.Var] = append(d.edges[e.Var], edge{n, limit})
		case *Special:
			switch e.Reg {
			case ThreadIndex, LaneIndex:
				d.raise(n, min(uneven, limit))
			case WarpIndex:
				d.raise(n, min(forWarp, limit))
			}
		}
	})
}

// collect adds the edges of a block, under the control of a node.
func (d *divergence) collect(body []Stmt, control int) {
	decide := func(s Stmt) int {
		n, again := d.control[s] // one node for a statement that stands at two places
		if !again {
			n = d.node()
			d.control[s] = n
		}
		d.edges[control] = append(d.edges[control], edge{n, uneven})
		for _, e := range Exprs(s) {
			d.depend(n, e, uneven)
		}
		return n
	}
	for _, s := range body {
		switch s := s.(type) {
		case *Let: // is not seen where control is more even than here
			d.depend(int(s.Var), s.Value, uneven)
		case *Assign:
			d.depend(int(s.Var), s.Value, uneven)
			d.edges[control] = append(d.edges[control], edge{int(s.Var), uneven})
		case *For:
			n := decide(s)
			d.edges[n] = append(d.edges[n], edge{int(s.Var), uneven})
			d.collect(s.Body, n)
		case *While:
			d.collect(s.Body, decide(s))
		case *If:
			n := decide(s)
			d.collect(s.Then, n)
			d.collect(s.Else, n)
		case *Shuffle:
			limit := uneven
			if s.Kind == ShuffleIndex && s.Width == WarpSize {
				limit = forWarp // all get the value of one lane, if they name the same
				d.depend(int(s.Var), s.Lane, uneven)
			}
			d.depend(int(s.Var), s.Value, limit)
		case *Ballot:
			d.depend(int(s.Var), s.Cond, forWarp)
		case *Atomic:
			if s.Var != NoVar {
				d.raise(int(s.Var), uneven)
			}
		}
	}
}

// failures notes for each loop how unevenly threads may fail in it, and returns
// that for the block.
func (d *divergence) failures(body []Stmt, control evenness) evenness {
	most := forBlock
	for _, s := range body {
		switch s := s.(type) {
		case *Fail:
			most = max(most, control)
		case *For:
			most = max(most, d.inLoop(s, s.Body))
		case *While:
			most = max(most, d.inLoop(s, s.Body))
		case *If:
			at := d.level[d.control[s]]
			most = max(most, d.failures(s.Then, at), d.failures(s.Else, at))
		}
	}
	return most
}

func (d *divergence) inLoop(s Stmt, body []Stmt) evenness {
	d.fails[s] = d.failures(body, d.level[d.control[s]])
	return d.fails[s]
}

// check goes through a block in the order of the text.
func (d *divergence) check(body []Stmt, control evenness) {
	under := func(s Stmt, blocks ...[]Stmt) {
		d.gone = max(d.gone, d.fails[s]) // of a loop: in the turn before
		d.around = append(d.around, s)
		for _, b := range blocks {
			d.check(b, d.level[d.control[s]])
		}
		d.around = d.around[:len(d.around)-1]
	}
	for _, s := range body {
		switch s := s.(type) {
		case *For:
			under(s, s.Body)
		case *While:
			under(s, s.Body)
		case *If:
			under(s, s.Then, s.Else)
		case *Fail:
			d.gone = max(d.gone, control)
		case *Barrier:
			if s.Scope == BlockScope {
				d.meet(s, control, forBlock)
			} else {
				d.meet(s, control, forWarp)
			}
		case *Shuffle, *Ballot:
			d.meet(s, control, forWarp)
		}
	}
}

// meet checks that all threads of a block or warp come to s.
func (d *divergence) meet(s Stmt, control, need evenness) {
	d.v.at = s
	switch {
	case control > need:
		for _, a := range d.around {
			if d.level[d.control[a]] > need {
				d.v.problem("not all threads of the %s may come here: what decides differs between them in: %s", evenFor[need], d.v.describe(a))
				return
			}
		}
	case d.gone > need:
		d.v.problem("not all threads of the %s may come here: some may have failed before; let all of them fail, or go on", evenFor[need])
	}
}
