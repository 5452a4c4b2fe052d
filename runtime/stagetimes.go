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
}

type stageTimes struct{}

// WithStageTimes makes runs under the context call f after each stage that ran on a processor. Runs call it
// from their goroutines.
func WithStageTimes(ctx context.Context, f func(StageTime)) context.Context {
	return context.WithValue(ctx, stageTimes{}, f)
}
