package difftest

import (
	"context"
	"fmt"
	"regexp"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/lang"
)

// small makes blocks of loops so small that random data has several.
var small = regexp.MustCompile(`: (64|256|1024)\b`)

// CompareScheduled runs the case with some of the schedules that hold, drawn by choose, and checks that each gives
// what the oracle says and stores what the program stores without one. It returns how many ran. Programs that are refused pass.
func (c *Case) CompareScheduled(ctx context.Context, s *lacuna.Session, choose Source) (int, error) {
	args, opts := c.args(), c.Options()
	if c.Strict {
		opts = append(opts, lacuna.StrictIEEE())
	}
	for name, o := range args {
		opts = append(opts, lacuna.Operand(name, o))
	}
	want, err := c.judge(c.Strict)
	if err != nil || c.Refused != "" {
		return 0, nil
	}
	k, err := s.Compile(ctx, c.Text, opts...)
	if err != nil {
		return 0, nil
	}
	first, err := k.RunAll(ctx, args)
	if err != nil {
		return 0, nil
	}
	programs, err := k.Schedules(ctx)
	if err != nil {
		return 0, c.failure(s, err)
	}
	ran := 0
	for range min(3, len(programs)) {
		program := small.ReplaceAllString(programs[choose.Intn(len(programs))], ": 3")
		got, err := s.EvalAll(ctx, program, args, opts...)
		if hasCode(err, lang.ErrSchedule) {
			continue // known once loops are there
		}
		if err == nil {
			err = sameStored(first, got)
		}
		if err == nil {
			_, err = c.check(got, want, c.Strict, &Outcome{})
		}
		if err != nil {
			return ran, c.failure(s, fmt.Errorf("scheduled as\n%s\n%w", program, err))
		}
		ran++
	}
	return ran, nil
}
