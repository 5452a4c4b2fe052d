package main

import (
	"context"
	"errors"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// deliver writes results to those files to which every rank writes its part, whose paths it returns, and gives rank 0 the other results
// whole.
func (run *rankRun) deliver(ctx context.Context, t transport.Transport, r *dist.Rank, results map[string]*dist.Tensor) (out lacuna.Outputs, written []string, err error) {
	whole := map[string]bool{}
	for _, d := range run.e.writes {
		done, err := run.writePart(ctx, t, r, d, results[d.Name])
		if err != nil {
			return nil, nil, err
		}
		if done {
			written = append(written, d.Path)
		} else {
			whole[d.Name] = true
		}
	}
	out = lacuna.Outputs{}
	for _, name := range run.e.program.results() {
		if results[name] == nil || len(run.e.writes) > 0 && !whole[name] {
			continue
		}
		if out[name], err = r.Collect(ctx, results[name]); err != nil {
			return nil, nil, err
		}
		if out[name] != nil {
			if err := out[name].Fetch(); err != nil { // a GPU has it, for as long as there is the group
				return nil, nil, err
			}
		}
	}
	return out, written, nil
}

// writePart writes the rank's part of a result. It reports whether that was done: some files one rank writes alone.
func (run *rankRun) writePart(ctx context.Context, t transport.Transport, r *dist.Rank, d operand.Destination, result *dist.Tensor) (bool, error) {
	if result == nil || d.Path == operand.Standard || d.OfReading() {
		return false, nil
	}
	axis, ok := file.ShareAxis(d.Path, result.Format, d.Options()...)
	if !ok {
		return false, nil
	}
	slab, err := r.Slab(ctx, result, axis)
	if err != nil {
		return false, err
	}
	var part *tensor.Tensor
	if !slab.Copy {
		if part = slab.Part; part != nil {
			if err := part.Fetch(); err != nil {
				return false, err
			}
		}
	}
	writing, stop := context.WithCancel(ctx)
	defer stop()
	go func() { // who writes does not hear of others
		select {
		case <-t.Failed():
			stop()
		case <-writing.Done():
		}
	}()
	with := file.Sharing{Number: r.Rank(), Exchange: func(message []byte) ([][]byte, error) {
		return t.Exchange(ctx, slices.Repeat([][]byte{message}, t.Size()))
	}}
	err = file.WriteShare(writing, d.Path, part, result.Shape, slab.Lo, with, append(d.Options(), file.BuildWith(operand.Builder(ctx)))...)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, file.ErrNoShares):
		return false, nil
	}
	select {
	case <-t.Failed():
		return false, transport.Barrier(ctx, t) // which says why
	default:
	}
	return false, err
}
