package explorer

import (
	"context"
	"encoding/json"
)

// recording is what a page shows that has no compiler: the state that it begins with and the answers to all that
// it may ask, by operation and, where there is one, name.
type recording struct {
	State   recordedState  `json:"state"`
	Answers map[string]any `json:"answers"`
}

type recordedState struct {
	Program  string    `json:"program"`
	Operands []Operand `json:"operands"`
	Options  Options   `json:"options"`
	Tab      string    `json:"tab"`
}

// Record answers all questions about a program for a page of its own, in JSON without "<". What has no answer, such as a run
// where there are no data, is left out. The error is that of the program itself.
func (s *Service) Record(ctx context.Context, program *Request) ([]byte, error) {
	rec := recording{recordedState{program.Program, program.Operands, program.Options, "stages"}, map[string]any{}}
	ask := func(key string, r Request) error {
		r.Program, r.Operands, r.Options = program.Program, program.Operands, program.Options
		answer, err := operations[r.Op](s, ctx, &r)
		if err == nil {
			rec.Answers[key] = answer
		}
		return err
	}
	if err := ask("explain", Request{Op: "explain"}); err != nil {
		return nil, err
	}
	for _, op := range []string{"about", "check", "copy", "eval", "profile", "steps"} {
		if ask(op, Request{Op: op}) == nil && op == "eval" {
			rec.State.Tab = "result"
		}
	}
	for _, o := range program.Operands {
		if o.given() {
			_ = ask("storage "+o.Name, Request{Op: "storage", Name: o.Name})
			_ = ask("grad "+o.Name, Request{Op: "grad", Name: o.Name})
		}
	}
	return json.Marshal(&rec) // which writes "<" as \u003c
}
