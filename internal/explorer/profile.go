package explorer

import (
	"context"
	"time"

	"github.com/lacuna-sparse/lacuna"
)

// Profile is what the steps of a run took, beside what they were estimated to take. Times are in milliseconds.
type Profile struct {
	Compile  float64    `json:"compile"`
	Run      float64    `json:"run"` // of a run that nothing watches
	Steps    []StepTime `json:"steps"`
	Places   []Place    `json:"places"`  // of the program, that loops were made for
	Guessed  []string   `json:"guessed"` // operands whose statistics are guesses
	Warnings []string   `json:"warnings"`
}

// StepTime is a step: a statement, a part of one, or an operand that is stored again.
type StepTime struct {
	Result    string      `json:"result"`
	What      string      `json:"what"`
	Took      float64     `json:"took"`
	Estimated *float64    `json:"estimated,omitempty"` // of steps that are weighed
	Entries   int64       `json:"entries"`             // of the result, that are not its fill
	Expected  *float64    `json:"expected,omitempty"`  // how many were
	Stages    []StageTime `json:"stages"`
}

// StageTime is a stage of a step's loop program.
type StageTime struct {
	Name  string     `json:"name"`
	Took  float64    `json:"took"`
	Loops []LoopTime `json:"loops"` // that were reached
	Looks int64      `json:"looks"` // that the times of loops come from; 0: these are not known
}

// LoopTime is a loop of a stage.
type LoopTime struct {
	Text       string  `json:"text"`
	Depth      int     `json:"depth"` // how many loops are around it, which come before it
	Took       float64 `json:"took"`
	Visits     int64   `json:"visits"`
	Iterations int64   `json:"iterations"`
	Place      int     `json:"place"` // -1 if it is not known
}

func (s *Service) profile(ctx context.Context, r *Request) (any, error) {
	if r.Program == "" {
		return nil, errNoProgram
	}
	args, opts, err := s.operands(ctx, r)
	if err != nil {
		return nil, err
	}
	p := &Profile{Steps: []StepTime{}, Guessed: []string{}, Warnings: []string{}}
	start := time.Now()
	kernel, err := s.session(s.engine()).Compile(ctx, r.Program, opts...)
	if err != nil {
		return nil, err
	}
	p.Compile = milliseconds(time.Since(start))
	if s.native() { // compiled and warm, so that times are those of running
		if _, err := kernel.RunAll(ctx, args); err != nil {
			return nil, err
		}
	}
	start = time.Now()
	if _, err := kernel.RunAll(ctx, args); err != nil {
		return nil, err
	}
	p.Run = milliseconds(time.Since(start))
	watched, _, err := kernel.Profile(ctx, args)
	if err != nil {
		return nil, err
	}
	places := newPlaces(r.Program, namesOf(r.Program))
	p.Guessed, p.Warnings = append(p.Guessed, watched.Guessed...), append(p.Warnings, watched.Warnings...)
	for _, st := range watched.Steps {
		step := StepTime{Result: st.Result, What: st.What, Took: milliseconds(st.Took), Entries: st.Entries, Stages: []StageTime{}}
		if e := st.Estimate; e != nil {
			took := e.Time / 1e6
			step.Estimated, step.Expected = &took, &e.Entries
		}
		for _, stage := range st.Stages {
			step.Stages = append(step.Stages, StageTime{stage.Name, milliseconds(stage.Took), loopTimes(stage.Loops, places), stage.Looks})
		}
		p.Steps = append(p.Steps, step)
	}
	p.Places = places.list
	return p, nil
}

func loopTimes(loops []lacuna.LoopProfile, places *places) []LoopTime {
	list := []LoopTime{}
	for _, l := range loops {
		if l.Visits == 0 {
			continue
		}
		t := LoopTime{l.Text, l.Depth, milliseconds(l.Took), l.Visits, l.Iterations, -1}
		if l.Pos >= 0 {
			t.Place = places.at(l.Pos)
		}
		list = append(list, t)
	}
	return list
}
