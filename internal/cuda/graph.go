package cuda

import "slices"

// Graph is work of a stream that was recorded, to be put into streams again as a whole: what costs the host a few
// microseconds for each launch otherwise costs about one for all of them.
type Graph struct {
	r       *resource
	modules []*resource // of the kernels in it
}

// Record makes a Graph of what work puts into the stream: launches, Set8 and CopyOnDevice alone. Nothing of it
// runs before Launch, so work must not wait for the stream, nor may others use the stream meanwhile. The error is that of work, or the driver's
// where it cannot record such work; the stream is as before in either case.
func (s *Stream) Record(work func() error) (*Graph, error) {
	f, err := s.r.enter()
	if err != nil {
		return nil, err
	}
	defer f.leave()
	f.ctx.recording.RLock()
	defer f.ctx.recording.RUnlock()
	api := &f.ctx.driver.api
	if err := f.call(&api.streamBeginCapture, s.r.handle, captureRelaxed); err != nil {
		return nil, err
	}
	g := &Graph{}
	s.recording = g
	err = work()
	s.recording = nil
	f.clear()
	if ended := f.call(&api.streamEndCapture, s.r.handle, f.address(0)); err == nil {
		err = ended
	}
	recorded := uintptr(f.out[0])
	if recorded == 0 {
		return nil, err
	}
	defer func() { _ = f.call(&api.graphDestroy, recorded) }()
	if err != nil {
		return nil, err
	}
	f.clear()
	if err := f.call(&api.graphInstantiate, f.address(0), recorded, 0); err != nil {
		return nil, err
	}
	g.r = newResource(f.ctx, uintptr(f.out[0]), &api.graphExecDestroy)
	return closeWhenForgotten(g, g.r), nil
}

// uses notes that a kernel of a module is in the graph.
func (g *Graph) uses(module *resource) {
	if !slices.Contains(g.modules, module) {
		g.modules = append(g.modules, module)
	}
}

// Launch puts the graph's work into a stream, once more. The modules of its kernels must be open. It allocates no Go memory.
func (g *Graph) Launch(s *Stream) error {
	if g.r.ctx != s.r.ctx {
		return ErrMixedDevices
	}
	for i, m := range g.modules {
		if err := m.hold(); err != nil {
			dropAll(g.modules[:i])
			return err
		}
	}
	defer dropAll(g.modules)
	return g.r.with(s.r, &g.r.ctx.driver.api.graphLaunch, g.r.handle, s.r.handle)
}

func dropAll(list []*resource) {
	for _, r := range list {
		_ = r.drop()
	}
}

// Close gives the graph back. What was put into streams runs all the same.
func (g *Graph) Close() error { return g.r.close() }
