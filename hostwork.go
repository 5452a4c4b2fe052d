package lacuna

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file sees to it that a session with a device says what it does on the processor
// instead.

// HostError says that an operation on tensors that only the session's device has cannot be
// done there. [WithNotice] lets the session do it on the processor; so does fetching the tensors
// first ([tensor.Tensor.Fetch]).
type HostError struct {
	Op     string // what was to be done, such as "convert CSR to S-S{unsorted}"
	Engine string // the name of the session's engine
	Why    string // what the device cannot do
	Bytes  int64  // how much would have to come from the device
}

// Error says what to do instead.
func (e *HostError) Error() string {
	return fmt.Sprintf("engine %s cannot %s: %s; to have it done on the processor, fetch the operand first (Tensor.Fetch), which brings %d bytes here, or make the session with lacuna.WithNotice",
		e.Engine, e.Op, e.Why, e.Bytes)
}

// WithNotice lets a session whose engine is a device do on the processor what the device
// cannot do with a tensor that only it has, and calls f with a sentence that says so. Without it
// such an operation is an error, a *[HostError]. f is also told of conversions of tensors that are in
// this process's memory and are done there; it may be called by several
// goroutines at once, and again for the same.
func WithNotice(f func(note string)) SessionOption { return func(s *Session) { s.notice = f } }

// onHost is called before the processor does what the session's device might have done. The
// error says that it must not; after it, the tensors are here.
func (s *Session) onHost(op, why string, tensors ...*tensor.Tensor) error {
	if !runtime.OnGrids(s.engine) {
		return nil
	}
	away := int64(0)
	for _, t := range tensors {
		away += bytesAway(t)
	}
	if s.notice == nil {
		if away > 0 {
			return &HostError{Op: op, Engine: s.engine.Name(), Why: why, Bytes: away}
		}
		return nil
	}
	for _, t := range tensors {
		if err := t.Fetch(); err != nil {
			return err
		}
	}
	s.tell(op, why, away)
	return nil
}

// fetchFor is onHost for arrays that are no tensor yet.
func (s *Session) fetchFor(op, why string, arrays []tensor.Array) error {
	away := int64(0)
	for _, a := range arrays {
		if !a.Fetched() {
			away += a.Bytes()
		}
	}
	if away == 0 || !runtime.OnGrids(s.engine) {
		return nil
	}
	if s.notice == nil {
		return &HostError{Op: op, Engine: s.engine.Name(), Why: why, Bytes: away}
	}
	for _, a := range arrays {
		if err := a.Fetch(); err != nil {
			return err
		}
	}
	s.tell(op, why, away)
	return nil
}

// tell gives a note of what is done here, and how many bytes came for it.
func (s *Session) tell(op, why string, away int64) {
	note := fmt.Sprintf("the processor, not engine %s, has to %s: %s", s.engine.Name(), op, why)
	if away > 0 {
		note += fmt.Sprintf("; %d bytes came from the device", away)
	}
	s.notice(note)
}

// bytesAway is how much of a tensor is not in this process's memory, in bytes.
func bytesAway(t *tensor.Tensor) (n int64) {
	count := func(a tensor.Array) {
		if !a.Fetched() {
			n += a.Bytes()
		}
	}
	for _, l := range t.Levels() {
		count(l.Pos)
		count(l.Crd)
	}
	count(t.Values())
	return n
}

// onDevice reports whether the session's device has arrays of one of the tensors, and
// they are long or nowhere else.
func (s *Session) onDevice(tensors ...*tensor.Tensor) bool {
	there := func(a tensor.Array) bool {
		r, ok := a.Remote().(*runtime.Resident)
		return ok && r.On(s.engine) && (a.Len() >= fewEntries || !a.Fetched())
	}
	return runtime.OnGrids(s.engine) && slices.ContainsFunc(tensors, func(t *tensor.Tensor) bool {
		return there(t.Values()) || slices.ContainsFunc(t.Levels(), func(l tensor.Level) bool { return there(l.Pos) || there(l.Crd) })
	})
}

// outsideReason is why a list of coordinates is none for kernels that one of them is outside of.
const outsideReason = "a coordinate is out of range, and the processor says which"

// flagsReason is why no kernel makes tensors in a format with flags.
func flagsReason(format tensor.Format) string {
	return fmt.Sprintf("kernels make sorted tensors, not %s", format)
}

// notForKernels is errPlain with the reason.
func notForKernels(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errPlain, fmt.Sprintf(format, args...))
}

// reasonOf is the reason of an error that notForKernels made; "" of errPlain alone, where
// there is nothing to do but to share arrays or to fail.
func reasonOf(err error) string {
	if err == nil || errors.Is(errPlain, err) {
		return ""
	}
	return strings.TrimPrefix(err.Error(), errPlain.Error()+": ")
}
