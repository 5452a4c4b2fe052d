package dist

import (
	"context"
	"errors"

	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
)

// Forecast inspects a program of one statement, and tells what this rank sends to each for the values of operands in every run: the messages
// and bytes that Run sends, without the program being run. Of operands in dense formats it needs no more than the description: Part may be nil. It
// is for statements of which no sum is cut, for what those send besides depends on their results.
func (p *Program) Forecast(ctx context.Context, args map[string]*Tensor) ([]transport.Traffic, error) {
	if len(p.steps) != 1 {
		return nil, errors.New("what is sent is told ahead for programs of one statement: what others send depends on the results before")
	}
	st := p.steps[0]
	st.forget()
	if err := st.plan(ctx, args); err != nil {
		return nil, err
	}
	if c := st.how; len(c.along) == 0 || len(c.summed()) > 0 {
		return nil, errors.New(st.note())
	}
	if st.asked != nil && !st.asked.Equal(st.how.left(p.rank.grid, len(st.st.shape))) {
		return nil, errors.New("the result is placed elsewhere than it is computed: what is sent for that depends on it")
	}
	if err := st.inspect(ctx); err != nil {
		return nil, err
	}
	to := make([]transport.Traffic, p.rank.transport.Size())
	for _, g := range st.gets {
		for q, at := range g.send {
			if n := at.values(); n > 0 && q != p.rank.Rank() {
				to[q].Messages++
				to[q].Bytes += n * g.size
			}
		}
	}
	st.forget() // a run compares operands with those inspected, values and all
	return to, nil
}
