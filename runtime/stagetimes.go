package runtime

import (
	"context"
	"time"
)

// StageTime is when a stage of a program ran on a processor, and for how long.
type StageTime struct {
	Program, Stage string
	Start          time.Time
	Took           time.Duration
	Code           time.Duration // in the stage's function: without memory and partition
	// Loops are told WithLoopTimes, in the order of the text. Samples is how many looks found a call in none of them.
	Loops   []LoopTime
	Samples int64
}

type stageTimes struct{}

// stageWatch is who is told of stages.
type stageWatch struct {
	tell    func(StageTime)
	sampler *sampler // nil: nobody looks at loops
}

// WithStageTimes makes runs under the context call f after each stage that ran on a processor. Runs call it
// from their goroutines.
func WithStageTimes(ctx context.Context, f func(StageTime)) context.Context {
	return context.WithValue(ctx, stageTimes{}, &stageWatch{f, nil})
}

// begin prepares the watch of a run.
func (w *stageWatch) begin(ctx context.Context, x *Executable, s *state) (err error) {
	if w.sampler == nil {
		return nil
	}
	s.telling, err = x.instrumented.get(ctx, x.plan.funcs)
	return err
}

// code is the kernel of a stage for a run under watch, and what is to be done behind its calls.
func (w *stageWatch) code(s *state, st *stagePlan, k kernel) (kernel, func()) {
	if s.told = nil; s.telling != nil {
		s.told = newInstrumentedKernel(s.telling[st.kernel], w.sampler)
		k = s.told
	}
	start := time.Now()
	return k, func() { s.code = time.Since(start) }
}

// done tells of a stage.
func (w *stageWatch) done(s *state, st *stagePlan, start time.Time) {
	t := StageTime{Program: s.plan.program.Name, Stage: st.name, Start: start, Took: time.Since(start), Code: s.code}
	if s.told != nil {
		s.told.tell(&t)
	}
	s.told, s.code = nil, 0
	w.tell(t)
}
