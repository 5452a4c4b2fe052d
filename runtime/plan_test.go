package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Programs that do not hang together are refused with the place and the rule.
func TestPlanRefuses(t *testing.T) {
	for _, tt := range []struct {
		spoil func(p *loop.Program) // changes filterProgram
		want  string
	}{
		{func(p *loop.Program) {}, ""},
		{func(p *loop.Program) { p.Scalars[0].Bound = false }, "stage count: partition elements: scalar n is used before it is defined"},
		{func(p *loop.Program) { p.Buffers[0].Elem = loop.Invalid }, "buffer x: has no element type"},
		{func(p *loop.Program) { p.Buffers[0].Elem = 99 }, "buffer x: has no element type"},
		{func(p *loop.Program) { p.Buffers[0].Role = 9 }, "unknown role 9"},
		{func(p *loop.Program) { p.Buffers[0].Elem = loop.F32 }, "buffer x of f32 is given for parameter x of f64"},
		{func(p *loop.Program) { p.Buffers[1].Role = loop.Input }, "buffer counts is the caller's and cannot be allocated"},
		{func(p *loop.Program) { p.Buffers[2].Role = loop.Input; p.Stages[2].Allocs = nil }, "function fill may write parameter out, but buffer out is an input"},
		{func(p *loop.Program) { p.Stages[2].Allocs = nil }, "buffer out is used before it is allocated"},
		{func(p *loop.Program) { p.Stages = p.Stages[:2] }, "buffer out: no stage allocates this output"},
		{func(p *loop.Program) { p.Stages[2].Allocs[0].Buffer = 1 }, "buffer counts is allocated twice"},
		{func(p *loop.Program) { p.Stages[2].Allocs[0].Buffer = -1 }, "no buffer -1"},
		{func(p *loop.Program) { p.Stages[2].Allocs[0].Len = nil }, "size expression is missing"},
		{func(p *loop.Program) { p.Stages[2].Lets[0].Scalar = 1 }, "scalar chunks is defined twice"},
		{func(p *loop.Program) { p.Stages[2].Lets[0].Scalar = 17 }, "no scalar 17"},
		{func(p *loop.Program) { p.Stages[2].Lets[0].Value = loop.SizeScalar(2) }, "scalar found is used before it is defined"},
		{func(p *loop.Program) { p.Stages[2].Lets[0].Value = loop.SizeScalar(-2) }, "no scalar -2"},
		{func(p *loop.Program) {
			p.Stages[2].Lets[0].Value = &loop.SizeLoad{Buffer: 0, Index: loop.SizeConst(0)}
		}, "a size reads buffer x of f64, want integers"},
		{func(p *loop.Program) {
			p.Stages[2].Lets[0].Value = &loop.SizeLoad{Buffer: 9, Index: loop.SizeConst(0)}
		}, "no buffer 9"},
		{func(p *loop.Program) { p.Partitions[0].Grain = 0 }, "partition elements: the grain is 0, want at least 1"},
		{func(p *loop.Program) { p.Partitions[0].Weights = 0 }, "weights x are of f64, want integers"},
		{func(p *loop.Program) { p.Partitions[0].Weights = 1 }, "buffer counts is used before it is allocated"},
		{func(p *loop.Program) { p.Partitions[0].Chunks = 0 }, "scalar n is defined twice"},
		{func(p *loop.Program) { p.Partitions[0].N = nil }, "size expression is missing"},
		{func(p *loop.Program) { p.Stages[0].Partition = 1 }, "no partition 1"},
		{func(p *loop.Program) { p.Stages[0].Partition = -1 }, "after a partition, but no partition"},
		{func(p *loop.Program) { p.Stages[0].Bufs = p.Stages[0].Bufs[:1] }, "function count takes 2 buffers and 0 scalars, the stage gives 1 and 0"},
		{func(p *loop.Program) { p.Stages[1].Args = []loop.ScalarID{2} }, "scalar found is used before it is defined"},
		{func(p *loop.Program) { p.Stages[0].Bufs = []loop.BufferID{0, 0} }, "buffer x of f64 is given for parameter counts of i64"},
		{func(p *loop.Program) {
			p.Buffers[0].Role = loop.InOut
			p.Stages[2].Bufs = []loop.BufferID{0, 1, 0}
		}, "buffer x is given for parameters x and out, one of which is written"},
	} {
		p := filterProgram(t)
		tt.spoil(p)
		_, err := newPlan(p)
		var pe *ProgramError
		if tt.want == "" {
			if err != nil {
				t.Error(err)
			}
		} else if !errors.As(err, &pe) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want one with %q", err, tt.want)
		}
	}
}

// An empty program runs: there is nothing to refuse.
func TestPlanOfNothing(t *testing.T) {
	r := mustRun(t, withKernels(t, &loop.Program{Name: "empty"}), &Bindings{}, Options{})
	if len(r.Buffers)+len(r.Scalars) != 0 {
		t.Errorf("results %+v of an empty program", r)
	}
}

func TestPlanLastUses(t *testing.T) {
	p, err := newPlan(filterProgram(t))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 0, 1} {
		if got := len(p.stages[i].lastUses); got != want {
			t.Errorf("stage %d frees %d buffers, want %d", i, got, want)
		}
	}
}
