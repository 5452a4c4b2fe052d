package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/convert"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Session compiles and runs programs with one engine and one set of limits, and
// keeps the kernels it has compiled. It is safe for concurrent use. The zero Session is like one
// that NewSession makes without options.
type Session struct {
	env environment

	opened  sync.Once
	kernels flight.Cache[*Kernel]
	// plans are what kernels of programs share that differ in literals only.
	plans flight.Cache[*planned]
	// keepLiterals, for tests, compiles every program for the numbers that stand in it.
	keepLiterals bool

	mu      sync.Mutex
	staying *Session // see resident
}

// environment is what compiling and running need of a session.
type environment struct {
	invoke.Target
	convert convert.Service
	work    string       // debug.Workspace when the session was made
	eager   bool         // debug.EagerOptimiser then
	asked   *cost.Limits // for tests; nil: those of this machine
}

// limits are by what is chosen where that leaves the bits of results as they are.
func (env *environment) limits() *cost.Limits {
	if env.asked != nil {
		return env.asked
	}
	return ondisk.Limits()
}

// Args are the operands of a program, by name.
type Args = map[string]tensor.Operand

// Outputs are the results of a program, by name.
type Outputs = map[string]*tensor.Tensor

// SessionOption configures a Session. What each does for users stands in package lacuna.
type SessionOption func(*Session)

// WithEngine sets the engine.
func WithEngine(e runtime.Engine) SessionOption { return func(s *Session) { s.env.Engine = e } }

// WithThreads bounds the number of threads.
func WithThreads(n int) SessionOption { return func(s *Session) { s.env.Options.Threads = n } }

// WithMemoryLimit bounds the bytes that an operation of the session may allocate.
func WithMemoryLimit(bytes int64) SessionOption {
	return func(s *Session) { s.env.Options.MemoryLimit = bytes }
}

// WithSpill has files for what is too large for the session's memory. Results in them stay there until they are released.
func WithSpill(f *spill.Files) SessionOption { return func(s *Session) { s.env.Options.Spill = f } }

// WithNotice lets the session do on the processor what its device cannot do, and says so.
func WithNotice(f func(note string)) SessionOption {
	return func(s *Session) { s.env.convert.Notice = f }
}

// WithResidentResults leaves results on the session's device.
func WithResidentResults() SessionOption { return func(s *Session) { s.env.Options.Resident = true } }

// WithSureIndices says that programs gather at no coordinate that is out of range: nobody waits for a device to know.
func WithSureIndices() SessionOption { return func(s *Session) { s.env.Options.Sure = true } }

// WithConversionKernels compiles a kernel for every conversion, however small.
func WithConversionKernels() SessionOption { return func(s *Session) { s.env.convert.Always = true } }

// cachedPrograms is how many compiled programs a session keeps.
const cachedPrograms = 256

// NewSession returns a session. Options that are nil change nothing.
func NewSession(opts ...SessionOption) *Session {
	s := &Session{}
	s.empty()
	for _, o := range opts {
		if o != nil {
			o(s)
		}
	}
	if err := s.open(); err != nil {
		panic("BUG: a new session: " + err.Error())
	}
	return s
}

// empty gives a session its cache, and what it is asked for in debugging.
func (s *Session) empty() {
	s.env.Cache, s.env.Grain, s.env.work = runtime.NewCache(cachedPrograms), debug.ChunkGrain, debug.Workspace
	s.env.eager = debug.EagerOptimiser
}

// open makes what a session works with the first time. The error says that the session is nil.
func (s *Session) open() error {
	if s == nil {
		return errors.New("the session is nil: make one with lacuna.NewSession")
	}
	s.opened.Do(func() {
		if s.env.Cache == nil {
			s.empty()
		}
		if s.env.Engine == nil {
			s.env.Engine = runtime.Auto(func(note string) { fmt.Fprintln(os.Stderr, "lacuna: "+note) })
		}
		s.env.convert.Target = &s.env.Target
	})
	return nil
}

// ready is open for a call with a context, which must not be nil: every call would panic on it, sooner or later.
func (s *Session) ready(ctx context.Context) error {
	if err := s.open(); err != nil {
		return err
	}
	return checkContext(ctx)
}

// Engine is the engine that the session compiles for; nil of a nil session.
func (s *Session) Engine() runtime.Engine {
	if s.open() != nil {
		return nil
	}
	return s.env.Engine
}

// Converter is what converts for the session, for a call with a context.
func (s *Session) Converter(ctx context.Context) (*convert.Service, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	return &s.env.convert, nil
}

// checkContext refuses a context that is nil: every call would panic on it,
// sooner or later.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return errors.New("the context is nil: pass context.Background() where there is no other")
	}
	return nil
}

// resident is a session of the same engine whose results stay on the device.
func (s *Session) resident() *Session {
	if s.env.Options.Resident {
		return s
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.staying == nil {
		s.staying = &Session{env: environment{Target: s.env.Target, work: s.env.work, eager: s.env.eager}}
		s.staying.env.Options.Resident, s.staying.env.convert.Notice = true, s.env.convert.Notice
	}
	return s.staying
}
