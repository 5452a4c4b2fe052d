package lacuna

import (
	"context"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// executable makes a lowered program ready to run on the session's engine. Engines run
// programs as they are, so one for a GPU is mapped to its threads here.
func (s *Session) executable(ctx context.Context, p *loop.Program) (*runtime.Executable, error) {
	if runtime.OnGrids(s.engine) {
		how := gpu.Options{}
		if s.engine.Name() == runtime.SimulatedName {
			how = gpu.Simulated
		}
		mapped, err := gpu.Lower(p, how)
		if err != nil {
			return nil, &runtime.ProgramError{Program: p.Name, Err: err}
		}
		p = mapped
	}
	return s.cache.Compile(ctx, s.engine, p)
}
