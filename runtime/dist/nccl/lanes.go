package nccl

import (
	"errors"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
)

// lanes are the streams of a rank's GPU: what its engine computes stands in work, and messages go beside that, in wire. Marks keep the order between
// them, and between GPUs.
type lanes struct {
	device     *cuda.Device
	work, wire *cuda.Stream

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
	if l.wire, err = device.NewStream(); err != nil {
		return nil, errors.Join(err, l.work.Close())
	}
	return l, nil
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
	return errors.Join(l.wire.Close(), l.work.Close(), l.device.Close())
}
