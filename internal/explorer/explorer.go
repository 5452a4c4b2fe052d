// Package explorer answers the questions of the page that shows, runs and explains programs: what is wrong with a text, how a
// tensor is stored, what a program becomes in each stage of the compiler, what it computes, and each step of a run.
//
// A question is a [Request] and an answer a value, both of which JSON can say; [Service.Answer] goes from text to text. The
// package knows nothing of browsers: the page has it in a worker, as WebAssembly (web/wasm), or behind "lacuna serve", and
// "lacuna explain --html" keeps its answers in a file.
//
// Places in texts are counted in UTF-16 code units, as JavaScript counts.
package explorer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// Service answers. Its fields are set before the first question and not changed.
type Service struct {
	Engine runtime.Engine // that runs programs; nil is the interpreter
	// MemoryLimit bounds what a run may allocate, and a file that is read; 0 is a limit for a browser.
	MemoryLimit int64
	// Open opens a file that an operand names, on a machine that has some. Nil: there are none.
	Open  func(name string) (io.ReadCloser, error)
	Files func() []string // the names that Open takes; nil: none
}

// browserLimit is what a page may allocate for a run.
const browserLimit = 256 << 20

// maxProgram bounds the text of a program, in bytes: longer ones are no programs that a person reads.
const maxProgram = 64 << 10

// Request is a question. What each operation looks at beside the program and its operands is said there.
type Request struct {
	Op       string    `json:"op"` // a key of operations
	Program  string    `json:"program"`
	Operands []Operand `json:"operands"`
	Options  Options   `json:"options"`
	Name     string    `json:"name"`  // storage: of the operand; grad: of the operand to derive by
	Limit    int       `json:"limit"` // steps: how many to tell of at most
}

// Options say how a program runs, where it is not as usual.
type Options struct {
	Strict    bool     `json:"strict,omitempty"`    // 0*inf is nan, also where the 0 is not stored
	AsWritten bool     `json:"asWritten,omitempty"` // in the order in which it is written
	Schedule  []string `json:"schedule,omitempty"`
}

// list are the options as a session takes them.
func (o *Options) list() []lacuna.Option {
	var list []lacuna.Option
	if o.Strict {
		list = append(list, lacuna.StrictIEEE())
	}
	if o.AsWritten {
		list = append(list, lacuna.AsWritten())
	}
	for _, text := range o.Schedule {
		list = append(list, lacuna.Schedule(text))
	}
	return list
}

// flags are the options at the command line.
func (o *Options) flags() string {
	flags := ""
	if o.Strict {
		flags += " --strict-ieee"
	}
	if o.AsWritten {
		flags += " --as-written"
	}
	for _, text := range o.Schedule {
		flags += " --schedule " + quote(text)
	}
	return flags
}

// operations are what may be asked.
var operations = map[string]func(*Service, context.Context, *Request) (any, error){
	"about":   (*Service).about,
	"check":   (*Service).check,
	"copy":    (*Service).copies,
	"eval":    (*Service).eval,
	"explain": (*Service).explain,
	"grad":    (*Service).grad,
	"profile": (*Service).profile,
	"steps":   (*Service).steps,
	"storage": (*Service).storage,
}

// Answer answers a question in JSON. What goes wrong is an answer too, a [Failure].
func (s *Service) Answer(ctx context.Context, question []byte) []byte {
	var r Request
	if err := json.Unmarshal(question, &r); err != nil {
		return encode(&Failure{Message: "the question is no JSON of a request: " + err.Error()})
	}
	return encode(s.ask(ctx, &r))
}

func encode(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		text, _ = json.Marshal(&Failure{Message: "BUG: " + err.Error()})
	}
	return text
}

// ask answers a question. A panic becomes an answer: users never see one.
func (s *Service) ask(ctx context.Context, r *Request) (answer any) {
	defer func() {
		if p := recover(); p != nil {
			answer = &Failure{Message: fmt.Sprintf("BUG: %v", p)}
		}
	}()
	op, ok := operations[r.Op]
	if !ok {
		return &Failure{Message: fmt.Sprintf("unknown operation %q", r.Op)}
	}
	if len(r.Program) > maxProgram {
		return &Failure{Message: fmt.Sprintf("the program has %d bytes: want %d at most", len(r.Program), maxProgram)}
	}
	v, err := op(s, ctx, r)
	if err != nil {
		return failure(r.Program, err)
	}
	return v
}

// Failure is the answer where there is no other.
type Failure struct {
	Message     string       `json:"error"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
}

func failure(program string, err error) *Failure {
	f := &Failure{Message: lang.OutsideGo(err).Error()}
	var list lang.Errors
	var one *lang.Error
	switch {
	case errors.As(err, &list):
	case errors.As(err, &one):
		list = lang.Errors{one}
	}
	for _, e := range list {
		f.Diagnostics = append(f.Diagnostics, errorAt(program, e))
	}
	return f
}

// About is what the page asks first.
type About struct {
	Engine    string    `json:"engine"`
	Native    bool      `json:"native"` // machine code and measured times are there
	Stages    []string  `json:"stages"` // that explain answers
	Gallery   []Example `json:"gallery"`
	Samples   []Example `json:"samples"` // tensors, each as the one operand of no program
	Functions []Word    `json:"functions"`
	Files     []string  `json:"files,omitempty"`
}

// Word is something to complete in an editor.
type Word struct {
	Word string `json:"word"`
	Kind string `json:"kind"` // function, reduction, scan, type or constant
}

func (s *Service) about(context.Context, *Request) (any, error) {
	a := &About{Engine: s.engine().Name(), Native: s.native(), Gallery: Gallery(), Samples: samples(), Functions: words(), Stages: s.stages()}
	if s.Files != nil {
		a.Files = s.Files()
	}
	return a, nil
}

func (s *Service) engine() runtime.Engine {
	if s.Engine == nil {
		return runtime.Interp()
	}
	return s.Engine
}

func (s *Service) native() bool { return s.engine().Name() != runtime.InterpName }

func (s *Service) limit() int64 {
	if s.MemoryLimit == 0 {
		return browserLimit
	}
	return s.MemoryLimit
}

// session is one that runs on an engine, on one thread so that what it tells comes in order.
func (s *Service) session(e runtime.Engine, more ...lacuna.SessionOption) *lacuna.Session {
	return lacuna.NewSession(append(more, lacuna.WithEngine(e), lacuna.WithMemoryLimit(s.limit()), lacuna.WithNotice(func(string) {}))...)
}

// Symbol is what spans of texts are about: an index variable or a tensor.
type Symbol struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // index or tensor
}

// Names are what a program names.
type Names struct {
	Symbols  []Symbol `json:"symbols"`
	Operands []Named  `json:"operands"`
	Results  []Named  `json:"results"`
}

// Named is a tensor of a program.
type Named struct {
	Name string `json:"name"`
	Rank int    `json:"rank"`
}

// checked is a program whose text is right, with any operands; else nil. What it reads and nobody declares is a dense tensor.
func checked(program string) *lang.Program {
	if len(program) > maxProgram {
		return nil
	}
	file, err := lang.Parse(program)
	if err != nil {
		return nil
	}
	decls := map[string]lang.Decl{}
	for {
		p, err := lang.Check(file, decls)
		var list lang.Errors
		if !errors.As(err, &list) {
			return p
		}
		found := false
		for _, e := range list {
			at := e.Pos.Offset
			name := program[at:wordEnd(program, at)]
			if _, known := decls[name]; e.Code == lang.ErrUnknownName && !known {
				decls[name], found = lang.Decl{Rank: lang.AnyRank}, true
			}
		}
		if !found {
			return nil
		}
	}
}

// namesOf reads the names of a program whose text is right; else nothing.
func namesOf(program string) Names {
	n := Names{Symbols: []Symbol{}, Operands: []Named{}, Results: []Named{}}
	p := checked(program)
	if p == nil {
		return n
	}
	for _, t := range p.Tensors {
		if t.StoredOf != nil {
			continue
		}
		n.add(t.Name, "tensor")
		if t.Operand {
			n.Operands = append(n.Operands, Named{t.Name, t.Rank})
		}
		if t.Result {
			n.Results = append(n.Results, Named{t.Name, t.Rank})
		}
	}
	for _, st := range p.Stmts {
		for _, x := range st.Indices {
			if x.Name != "" {
				n.add(x.Name, "index")
			}
		}
	}
	return n
}

func (n *Names) add(name, kind string) {
	if s := (Symbol{name, kind}); !slices.Contains(n.Symbols, s) {
		n.Symbols = append(n.Symbols, s)
	}
}

// units is how many UTF-16 code units a text has up to a byte.
func units(text string, offset int) int {
	n := 0
	for _, r := range text[:max(0, min(offset, len(text)))] {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
