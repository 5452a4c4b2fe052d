package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/show"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/ranks"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// drawing is what inspect shows of a run on ranks.
type drawing struct {
	mu       sync.Mutex
	parts    map[string][]*dist.Tensor // by tensor and rank
	sent     []sent                    // by rank
	notes    []string                  // how statements were cut
	proposal *dist.Proposal            // nil: nothing was chosen
}

// add keeps what a rank has.
func (d *drawing) add(r *dist.Rank, tensors ...map[string]*dist.Tensor) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, list := range tensors {
		for name, t := range list {
			if d.parts[name] == nil {
				d.parts[name] = make([]*dist.Tensor, r.Grid().Ranks())
			}
			d.parts[name][r.Rank()] = t
		}
	}
}

// inspectProgram runs a program on ranks and draws which has what, and what each sends. Operands that name no placement have the one given.
func (a *app) inspectProgram(ctx context.Context, args []string, text string, g *rankFlags) (err error) {
	if _, err := placement.Parse(text, -1); err != nil {
		return cli.Usagef("--placement: %s", err)
	}
	e := &evaluation{app: a, ranks: *g, repeat: 1, drawing: &drawing{parts: map[string][]*dist.Tensor{}}}
	if e.operands, err = operand.ParsePlaced(args[1:]); err != nil {
		return err
	}
	if e.program, err = parseProgram(args[0]); err != nil {
		return err
	}
	lists := operand.PlacedBy(e.operands)
	for k, o := range e.operands {
		u := e.program.uses[o.Name]
		if o.Source != nil && o.Qual.Layout == "" && !lists[o.Name] && (u == nil || u.rank > 0) { // every rank has a number
			e.operands[k].Qual.Layout = text
		}
	}
	if err := e.load(ctx); err != nil {
		return err
	}
	if _, _, err := e.onRanks(ctx, runtime.Auto(a.Notice)); err != nil {
		return err
	}
	d := e.drawing
	if d.proposal != nil {
		a.Printf("%s\n", d.proposal)
	}
	names := e.program.results()
	for k := len(e.operands) - 1; k >= 0; k-- {
		if o := e.operands[k]; o.Source != nil {
			names = append([]string{o.Name}, names...)
		}
	}
	shown := map[string]bool{}
	for _, name := range names {
		if parts := d.parts[name]; parts != nil && !shown[name] {
			shown[name] = true
			a.Printf("\n%s  %s %s, grid %s\n", name, parts[0].Format, parts[0].Placement, parts[0].Placement.Grid)
			a.drawParts(parts, nil)
			a.Printf("\n")
		}
	}
	a.Printf("\n")
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	for r, s := range d.sent {
		fmt.Fprintf(w, "  rank %d\tsends %s of operands\t%s of sums\tand before that, once, %s about who needs what\n", r, units.FormatBytes(s.Values), units.FormatBytes(s.Combination), units.FormatBytes(s.Inspection))
	}
	w.Flush()
	for _, note := range d.notes {
		a.Printf("  %s\n", note)
	}
	return nil
}

// inspectPlacement draws which rank has what of a tensor.
func (a *app) inspectPlacement(ctx context.Context, src operand.Source, q operand.Qualifiers, text string, g *rankFlags) error {
	t, err := src.Load(ctx, a.Env, q, nil)
	if err != nil {
		return err
	}
	if err := show.Summary(ctx, a.Env, src, t); err != nil {
		return err
	}
	return a.printPlacement(ctx, t, text, g)
}

// timesVector is for what printPlacement tells what ranks send.
const timesVector = "y(i) = sum_j A(i,j)*x(j)"

// printPlacement draws which rank has what of a tensor and, of a matrix A, how much each sends for A(i,j)*x(j) with x cut as the rows
// are, or into blocks where A is not square.
func (a *app) printPlacement(ctx context.Context, t *tensor.Tensor, text string, g *rankFlags) error {
	l, err := placement.Parse(text, t.Rank())
	if err != nil {
		return cli.Usagef("--placement: %s", err)
	}
	t, err = t.Canonical()
	if err != nil {
		return err
	}
	operands := exec.Args{"A": t}
	if t.Rank() == 2 {
		x, err := zeros(t.DType(), t.Shape()[1])
		if err != nil {
			return err
		}
		operands["x"] = x
	}
	placements := map[string]*placement.Placement{}
	var grid *placement.Grid
	if l.Auto {
		if t.Rank() != 2 {
			return cli.Usagef("--placement auto is for matrices, and for programs: inspect PROGRAM A=FILE --placement auto --ranks %d", g.n)
		}
		described := map[string]*dist.Tensor{}
		for name, x := range operands {
			if described[name], err = dist.Whole(x.(*tensor.Tensor)); err != nil {
				return err
			}
		}
		chosen, err := dist.Propose(ctx, timesVector, described, g.n, g.grid, dist.Options{}, nil)
		if err != nil {
			return err
		}
		a.Printf("\n%s\n", chosen)
		grid, placements = chosen.Grid, chosen.Placements
	} else {
		if grid, err = g.on(g.n, []placement.Layout{l}); err != nil {
			return err
		}
		p, err := place(l, grid, t, nil)
		if err != nil {
			return err
		}
		placements["A"] = p
		if t.Rank() == 2 {
			placements["x"] = placement.OneAxis(grid, 1, 0, placement.Blocks(t.Shape()[1], grid.Sizes[0]), 0)
			if rows := p.Cuts[0]; rows != nil && rows.Extent == t.Shape()[1] {
				placements["x"] = placement.OneAxis(grid, 1, 0, rows, p.Over[0])
			}
		}
	}
	p := placements["A"]
	for k, c := range p.Cuts {
		if c != nil && c.Extent < int64(c.Parts) {
			a.Notice(fmt.Sprintf("axis %d has %d coordinates for %d ranks: some have nothing", k, c.Extent, c.Parts))
		}
	}
	parts, sent := make([]*dist.Tensor, g.n), make([]int64, g.n)
	session := exec.NewSession(exec.WithEngine(runtime.Interp()), exec.WithThreads(1))
	err = ranks.Run(ctx, g.n, ranks.Faults{}, func(ctx context.Context, tr transport.Transport) error {
		r, err := dist.New(ctx, session, tr, grid)
		if err != nil {
			return err
		}
		args := map[string]*dist.Tensor{}
		for name, x := range operands {
			if args[name], err = r.Cut(x.(*tensor.Tensor), placements[name]); err != nil {
				return err
			}
		}
		if parts[r.Rank()] = args["A"]; t.Rank() != 2 {
			return nil
		}
		if _, err := r.Eval(ctx, timesVector, args, dist.Options{}); err != nil {
			return err
		}
		sent[r.Rank()] = r.Sent().Values + r.Sent().Combination
		return nil
	})
	if err != nil {
		return err
	}
	a.Printf("\nplacement  %s, grid %s\n", p, p.Grid)
	if t.Rank() != 2 {
		sent = nil
	}
	if a.drawParts(parts, sent); sent != nil {
		a.Printf("; what ranks send is for %s", timesVector)
	}
	a.Printf("\n")
	return nil
}

// drawParts prints a line for each rank, with what it sends unless that is nil, and how even they are.
func (a *app) drawParts(parts []*dist.Tensor, sent []int64) {
	var most, total int64
	for _, part := range parts {
		most, total = max(most, part.Part.NNZ()), total+part.Part.NNZ()
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 0, 2, ' ', 0)
	for r, part := range parts {
		var has []string
		for k, s := range part.Sets {
			switch lo, hi, ok := s.Bounds(); {
			case ok && s.Len() == 0:
				has = append(has, "nothing")
			case ok:
				has = append(has, fmt.Sprintf("%d:%d", lo, hi))
			default:
				has = append(has, fmt.Sprintf("%d of %d", s.Len(), part.Shape[k]))
			}
		}
		n := part.Part.NNZ()
		bar := ""
		if most > 0 {
			bar = strings.Repeat("█", int((20*n+most-1)/most))
		}
		line := fmt.Sprintf("  rank %d\t(%s)\t%d entries\t%s", r, strings.Join(has, ", "), n, units.FormatBytes(part.Part.Bytes()))
		if sent != nil {
			line += "\tsends " + units.FormatBytes(sent[r])
		}
		fmt.Fprintln(w, line+"\t"+bar)
	}
	w.Flush()
	if total > 0 {
		a.Printf("  the fullest rank has %.2f times the mean", float64(most)*float64(len(parts))/float64(total))
	}
}

// zeros is a dense vector.
func zeros(dt tensor.DType, n int64) (*tensor.Tensor, error) {
	values, err := tensor.MakeArray(dt, int(n))
	if err != nil {
		return nil, err
	}
	return tensor.FromDense([]int64{n}, tensor.Dense(1), values)
}
