package explorer

import (
	"context"
	"errors"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// Steps are what a run did, statement by statement.
type Steps struct {
	Names
	Places   []Place     `json:"places"`   // of the program, that lines come from
	Programs []Traced    `json:"programs"` // those that ran, in the order of their first step
	Steps    []Step      `json:"steps"`
	More     bool        `json:"more,omitempty"` // there were more steps than are told
	Loops    []LoopCount `json:"loops"`
	Results  []Result    `json:"results"`
}

// Traced is a loop program with what the steps are about.
type Traced struct {
	Text    string   `json:"text"`
	Spans   []Span   `json:"spans"`
	Origins []Origin `json:"origins"`
	Buffers []Buffer `json:"buffers"`
}

// Buffer is a buffer of a loop program.
type Buffer struct {
	Name string `json:"name"`
	Role string `json:"role"` // input, output, temp, inout or scratch
	Elem string `json:"elem"`
}

// Step is a statement that ran. Op says what it did: "set" a variable to Value, "store" it at element Index of Buffer,
// "if" found a condition to be Value, "for" and "while" began an iteration.
type Step struct {
	Program int        `json:"program"`
	Line    int        `json:"line"` // of the program's text, from 1
	Op      string     `json:"op"`
	Var     string     `json:"var,omitempty"`
	Value   string     `json:"value"`
	Buffer  int        `json:"buffer"` // -1 if it stores nothing
	Index   int64      `json:"index"`
	Reads   [][2]int64 `json:"reads,omitempty"` // buffer and element
}

// LoopCount is how often a loop ran, beside what a loop over all coordinates would.
type LoopCount struct {
	Program int    `json:"program"`
	Line    int    `json:"line"`
	Index   string `json:"index,omitempty"` // the index variable that it is over, "" if it has none
	Visits  int64  `json:"visits"`
	Dense   int64  `json:"dense"` // 0 if it is not over an index variable
}

// The steps that are told if a question does not say, and at most.
const (
	usualSteps = 5000
	mostSteps  = 50000
	// maxTraced ends a run: it is not for looking at.
	maxTraced = 1 << 20
)

var errTooLong = errors.New("the run is too long to watch: take smaller operands")

func (s *Service) steps(ctx context.Context, r *Request) (any, error) {
	if r.Program == "" {
		return nil, errNoProgram
	}
	args, opts, err := s.operands(ctx, r)
	if err != nil {
		return nil, err
	}
	w := &watcher{limit: usualSteps, funcs: map[*loop.Func]*traced{}, listings: map[*loop.Program]*listing{}, count: map[loop.Stmt]int64{}}
	if w.limit = usualSteps; r.Limit > 0 {
		w.limit = min(r.Limit, mostSteps)
	}
	w.steps.Programs, w.steps.Steps, w.steps.Results = []Traced{}, []Step{}, []Result{}
	w.steps.Names = namesOf(r.Program)
	w.places = newPlaces(r.Program, w.steps.Names)
	session := s.session(runtime.Traced(w.compiled, w.saw), lacuna.WithThreads(1), lacuna.WithConversionKernels())
	out, err := session.EvalAll(ctx, r.Program, args, opts...)
	if err != nil {
		return nil, err
	}
	for _, name := range order(r.Program, out) {
		result, err := resultOf(name, out[name])
		if err != nil {
			return nil, err
		}
		w.steps.Results = append(w.steps.Results, *result)
	}
	w.steps.Places = w.places.list
	w.countLoops(extentsOf(r, args))
	return &w.steps, nil
}

// watcher collects what a traced run tells.
type watcher struct {
	steps    Steps
	places   *places
	limit    int
	seen     int
	funcs    map[*loop.Func]*traced
	listings map[*loop.Program]*listing
	count    map[loop.Stmt]int64 // iterations
}

// listing is a program that was compiled, and its number once a step of it was told; else -1.
type listing struct {
	program *loop.Program
	text    string
	lines   map[loop.Stmt]int
	number  int
}

// traced is a function of a program. Its buffers are those of its stage.
type traced struct {
	*listing
	bufs []loop.BufferID
}

func (w *watcher) compiled(p *loop.Program) {
	l := &listing{program: p, number: -1}
	l.text, l.lines = p.Listing()
	w.listings[p] = l
	for i := range p.Stages {
		if st := &p.Stages[i]; st.Func != nil {
			w.funcs[st.Func] = &traced{l, st.Bufs}
		}
	}
}

// saw takes a step. It panics with errTooLong, which ends the run, after very many.
func (w *watcher) saw(f *loop.Func, e *interp.Event) {
	if w.seen++; w.seen > maxTraced {
		panic(errTooLong)
	}
	step := Step{Buffer: -1, Value: e.Value.String()}
	t := w.funcs[f]
	switch s := e.Stmt.(type) {
	case *loop.For:
		step.Op, step.Var = "for", f.Vars[s.Var].Name
		w.count[s]++
	case *loop.While:
		step.Op = "while"
		w.count[s]++
	case *loop.If:
		step.Op = "if"
	case *loop.Let:
		step.Op, step.Var = "set", f.Vars[s.Var].Name
	case *loop.Assign:
		step.Op, step.Var = "set", f.Vars[s.Var].Name
	case *loop.Store:
		step.Op, step.Buffer, step.Index = "store", int(t.bufs[e.Write.Buf]), e.Write.Index
	}
	if w.steps.More = len(w.steps.Steps) == w.limit; w.steps.More {
		return
	}
	if t.number < 0 {
		t.number = len(w.steps.Programs)
		w.steps.Programs = append(w.steps.Programs, w.program(t.listing))
	}
	step.Program, step.Line = t.number, t.lines[e.Stmt]
	for _, p := range e.Reads {
		step.Reads = append(step.Reads, [2]int64{int64(t.bufs[p.Buf]), p.Index})
	}
	step.Value, _, _ = strings.Cut(step.Value, ":") // the type stands in the text
	w.steps.Steps = append(w.steps.Steps, step)
}

func (w *watcher) program(l *listing) Traced {
	p := Traced{Text: l.text, Spans: spansOf(l.text, w.steps.Names), Origins: []Origin{}}
	for s, line := range l.lines {
		if offset, known := loop.OriginOf(s).Offset(); known {
			p.Origins = append(p.Origins, Origin{line, w.places.at(offset)})
		}
	}
	for _, b := range l.program.Buffers {
		p.Buffers = append(p.Buffers, Buffer{b.Name, b.Role.String(), b.Elem.String()})
	}
	return p
}

// extentsOf are the extents of the index variables of a program, as far as plain accesses of operands tell.
func extentsOf(r *Request, args lacuna.Args) map[string]int64 {
	extents := map[string]int64{}
	eachAccess(r.Program, func(name string, indices []string) {
		t := args[name]
		if t == nil || len(t.Shape()) != len(indices) {
			return
		}
		for axis, index := range indices {
			if index != "" {
				extents[index] = t.Shape()[axis]
			}
		}
	})
	return extents
}

// countLoops tells of the loops that ran, in the order of the text.
func (w *watcher) countLoops(extents map[string]int64) {
	w.steps.Loops = []LoopCount{}
	byNumber := make([]*listing, len(w.steps.Programs))
	for _, l := range w.listings {
		if l.number >= 0 {
			byNumber[l.number] = l
		}
	}
	for number, l := range byNumber {
		for i := range l.program.Stages {
			if f := l.program.Stages[i].Func; f != nil {
				w.countIn(f, f.Body, number, l, extents, 1)
			}
		}
	}
}

// countIn counts the loops of a block, around which a dense nest would have made so many iterations.
func (w *watcher) countIn(f *loop.Func, body []loop.Stmt, number int, l *listing, extents map[string]int64, around int64) {
	for _, s := range body {
		var inner []loop.Stmt
		index, within := "", around
		switch s := s.(type) {
		case *loop.For:
			inner, index = s.Body, indexOf(f, f.Vars[s.Var].Name, s.Body, extents)
		case *loop.While:
			inner, index = s.Body, indexOf(f, "", s.Body, extents)
		case *loop.If:
			w.countIn(f, s.Then, number, l, extents, around)
			w.countIn(f, s.Else, number, l, extents, around)
			continue
		default:
			continue
		}
		c := LoopCount{Program: number, Line: l.lines[s], Index: index, Visits: w.count[s]}
		if index != "" {
			c.Dense = around * extents[index]
			within = c.Dense
		}
		if c.Visits > 0 {
			w.steps.Loops = append(w.steps.Loops, c)
		}
		w.countIn(f, inner, number, l, extents, within)
	}
}

// indexOf is the index variable that a loop is over: its own variable, or the first that its body sets.
func indexOf(f *loop.Func, own string, body []loop.Stmt, extents map[string]int64) string {
	if _, ok := extents[own]; ok {
		return own
	}
	for _, s := range body {
		if let, ok := s.(*loop.Let); ok {
			if name := f.Vars[let.Var].Name; extents[name] > 0 {
				return name
			}
		}
	}
	return ""
}
