package nccl

import (
	"errors"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
)

// lanes are the streams of a rank's GPU: what its engine computes stands in work, and messages go beside that, in others. Marks keep the order between
// them, and between GPUs.
type lanes struct {
	device *cuda.Device
	work   *cuda.Stream
	wires  []*cuda.Stream // for messages; those after the first are made when they are used

	mu    sync.Mutex
	spare []*mark
}

// mark is a place in a stream.
type mark struct {
	event *cuda.Event
	set   int // how often it was
}

func newLanes(device *cuda.Device) (*lanes, error) {
	l := &lanes{device: device}
	var err error
	if l.work, err = device.NewStream(); err != nil {
		return nil, err
	}
	if _, err = l.wire(0); err != nil {
		return nil, errors.Join(err, l.work.Close())
	}
	return l, nil
}

// wire is one of the streams for messages.
func (l *lanes) wire(n int) (*cuda.Stream, error) {
	for len(l.wires) <= n {
		s, err := l.device.NewStream()
		if err != nil {
			return nil, err
		}
		l.wires = append(l.wires, s)
	}
	return l.wires[n], nil
}

// mark is the place that is reached in a stream, as one that there is or, if that is nil, a spare or a new one.
func (l *lanes) mark(m *mark, in *cuda.Stream) (*mark, error) {
	if m == nil {
		l.mu.Lock()
		if n := len(l.spare); n > 0 {
			m, l.spare = l.spare[n-1], l.spare[:n-1]
		}
		l.mu.Unlock()
	}
	if m == nil {
		e, err := l.device.NewMark()
		if err != nil {
			return nil, err
		}
		m = &mark{event: e}
	}
	m.set++
	return m, m.event.Record(in)
}

// keep takes back a mark that nothing has to wait for any more.
func (l *lanes) keep(m *mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare = append(l.spare, m)
}

func (l *lanes) close() error {
	var err error
	for _, s := range l.wires {
		err = errors.Join(err, s.Close())
	}
	return errors.Join(err, l.work.Close(), l.device.Close())
}
