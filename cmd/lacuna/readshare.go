package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// shareFrom is the size in bytes from which on each process reads its part of a file: to send entries on takes longer than to read a smaller one.
const shareFrom = 1 << 20

// shared reports whether processes that mpirun has started may each read a part of an operand's file. Ranks of one process read it once, together.
func (e *evaluation) shared(o operand.Operand) bool {
	path, ok := o.Source.(operand.DiskFile)
	if e.app.group == nil || !ok || path == operand.Standard || o.Qual.Stored != "" || e.fill(o.Name) != nil || operand.PlacedBy(e.operands)[o.Name] {
		return false
	}
	chosen := e.chosen()
	for _, s := range e.program.file.Stmts {
		if s.LHS.Name == o.Name || chosen && s.Op != lang.Set { // what is summed into may have its extents from the whole
			return false
		}
	}
	switch l, err := placement.Parse(o.Qual.Layout, -1); {
	case chosen:
		if !slices.Contains([]string{".mtx", ".tns", ".npy", ".h5"}, filepath.Ext(string(path))) { // others may have labels
			return false
		}
	case err != nil || l.String() == "replicated" || slices.ContainsFunc(e.operands, auto):
		return false // what operands are says where others should be
	}
	st, err := os.Stat(string(path))
	return err == nil && st.Mode().IsRegular() && st.Size() >= shareFrom
}

// auto reports whether it is asked to choose where an operand is.
func auto(o operand.Operand) bool {
	l, err := placement.Parse(o.Qual.Layout, -1)
	return err == nil && l.Auto
}

// chosen reports whether nobody says where any operand or result is.
func (e *evaluation) chosen() bool {
	return !slices.ContainsFunc(e.operands, func(o operand.Operand) bool { return o.Qual.Layout != "" && !auto(o) })
}

// shares reads those operands whose places follow from what all ranks have read: each has a block of their rows, or of what the file has first.
func (run *rankRun) shares(ctx context.Context, t transport.Transport, session *exec.Session) error {
	if !run.e.chosen() || run.e.app.group == nil {
		return nil
	}
	var err error
	if run.line, err = dist.New(ctx, session, t, nil); err != nil {
		return err
	}
	for _, o := range run.e.operands {
		if o.Source != nil && run.e.args[o.Name] == nil {
			if run.read[o.Name], err = run.share(ctx, run.line, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// at is where an operand is as it says, or else in blocks along an axis.
func (run *rankRun) at(r *dist.Rank, o operand.Operand, t placement.Tensor, axis int) (*placement.Placement, error) {
	if l, ok := run.layouts[o.Name]; ok && !l.Auto {
		return l.On(r.Grid(), t)
	}
	if len(t.Shape) == 0 {
		return placement.Replicated(r.Grid(), 0), nil
	}
	return placement.OneAxis(r.Grid(), len(t.Shape), axis, placement.Blocks(t.Shape[axis], r.Grid().Sizes[0]), 0), nil
}

// share reads an operand's file together with the other ranks, each a part, or whole where it is not read in parts.
func (run *rankRun) share(ctx context.Context, r *dist.Rank, o operand.Operand) (*dist.Tensor, error) {
	a, size := run.e.app, r.Grid().Ranks()
	opts := append(o.Qual.Options(), file.BuildWith(operand.Builder(ctx)))
	if a.MaxBytes > 0 {
		opts = append(opts, file.MaxBytes(int64(a.MaxBytes)))
	}
	path := string(o.Source.(operand.DiskFile))
	s, err := file.ReadShare(path, r.Rank(), size, opts...)
	if errors.Is(err, file.ErrNoShares) || err == nil && s.Block != nil && len(r.Grid().Sizes) > 1 {
		return run.readWhole(ctx, r, o)
	}
	if err != nil {
		return nil, run.mistake(ctx, o, err)
	}
	run.bytes += s.Bytes
	if s.Block == nil {
		lines, err := r.Total(ctx, false, s.Lines)
		if err != nil {
			return nil, err
		}
		if s.Promised >= 0 && lines[0] != s.Promised {
			return nil, run.mistake(ctx, o, fmt.Errorf("%s: %d entries, and %d are promised", path, lines[0], s.Promised))
		}
	}
	if s.Open {
		if s.Shape, err = r.Total(ctx, true, s.Shape...); err != nil {
			return nil, err
		}
	}
	axis := s.Axis
	if s.Block == nil {
		axis = s.Format.Order()[0]
	}
	p, err := run.at(r, o, placement.Tensor{
		Shape: s.Shape, Weights: func(axis int) ([]int64, error) { return weights(ctx, r, s, axis) }, List: listed(run.e.args),
	}, axis)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	if s.Block != nil {
		return r.Blocks(ctx, s.Shape, s.Axis, s.Block, p)
	}
	return r.Deal(ctx, s.Shape, s.Format, dist.Entries{Coords: s.Coords, Values: s.Values}, p)
}

// mistake is what is wrong with a file that a rank has found something wrong with. Who reads all of it can say in which line.
func (run *rankRun) mistake(ctx context.Context, o operand.Operand, err error) error {
	if _, better := o.Source.Load(ctx, run.e.app.Env, o.Qual, nil); better != nil {
		return better
	}
	return err
}

// readWhole has every rank read all, and keep its part.
func (run *rankRun) readWhole(ctx context.Context, r *dist.Rank, o operand.Operand) (*dist.Tensor, error) {
	whole, err := o.Source.Load(ctx, run.e.app.Env, o.Qual, nil)
	if err != nil {
		return nil, err
	}
	p, err := run.at(r, o, described(whole, run.e.args), 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	return r.Cut(whole, p)
}

// weights are the entries that all ranks together have read at each coordinate of an axis.
func weights(ctx context.Context, r *dist.Rank, s *file.Share, axis int) ([]int64, error) {
	mine := make([]int64, s.Shape[axis])
	if s.Block == nil {
		for i := range s.Values.Len() {
			x := s.Coords[axis].At64(i)
			mine[x]++
		}
		return r.Total(ctx, false, mine...)
	}
	list, err := dist.Weights(s.Block, axis)
	if err != nil {
		return nil, err
	}
	lo := int64(0)
	if axis == s.Axis {
		lo = s.Lo
	}
	copy(mine[lo:], list)
	return r.Total(ctx, false, mine...)
}

// listed finds vectors that say how others are placed.
func listed(args map[string]tensor.Operand) func(name string) ([]int64, error) {
	return func(name string) ([]int64, error) {
		p, ok := args[name].(*tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("there is no operand %s that says which rank each coordinate belongs to", name)
		}
		return dist.Integers(name, p)
	}
}
