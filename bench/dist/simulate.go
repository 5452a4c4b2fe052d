//go:build linux && (amd64 || arm64)

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/dist/transport"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// simulation is how products would scale on a network that is not there. The product's own inspector tells the messages and bytes of every
// rank (dist.Forecast), on as many ranks as there would be; the busiest rank's part of the work is run and timed here; and a
// model of the network says how long messages take.
type simulation struct {
	scale, degree int
	ranks         []int
	net           network
	seconds       float64 // that a kernel is run at least
	only          string  // the product; "": all
}

// network is the model: what a rank sends and receives goes through one link, in both directions at the same time, and each
// message costs its time at both ends (LogGP with o = g: Alexandrov et al., SPAA 1995).
type network struct {
	latency, message, bandwidth float64
}

// exchange is how long it takes.
func (n network) exchange(messages, bytes int64) float64 {
	if messages == 0 {
		return 0
	}
	return n.latency + float64(messages)*n.message + float64(bytes)/n.bandwidth
}

// vote is how long one takes: up a binary tree and down again.
func (n network) vote(ranks int) float64 {
	return 2 * math.Ceil(math.Log2(float64(ranks))) * n.exchange(1, 8)
}

// expression is one of the products that are simulated.
type expression struct {
	name, program string
	bigger        int // the rows are times 2 to this
	degree        int // entries of a row at most; 0: no limit
	dense         map[string]int64
	agreements    int                             // how often all ranks agree in a run: whether patterns are the same and, of a sparse result, what it is
	split         string                          // the operand whose columns may be cut over a second axis of the grid, along which A is there again and again; "": none
	work          func(a, b *tensor.Tensor) int64 // of a rank with rows a, where the whole is b
}

const columns = 128

func entries(a, _ *tensor.Tensor) int64 { return a.NNZ() }

var expressions = []expression{
	{"SpMV", "y(i) = sum_j A(i,j)*x(j)", 2, 0, map[string]int64{"x": 0}, 1, "", entries},
	{"SpMM-128", "Y(i,k) = sum_j A(i,j)*X(j,k)", 0, 0, map[string]int64{"X": columns}, 1, "X", entries},
	{"SDDMM-128", "S(i,j) = A(i,j)*sum_k U(i,k)*V(j,k)", 0, 0, map[string]int64{"U": columns, "V": columns}, 2, "", entries},
	{"SpGEMM", "C(i,k) = sum_j A(i,j)*B(j,k)", -2, 8, nil, 2, "B", func(a, b *tensor.Tensor) (n int64) {
		pos := b.Window()
		rows := make([]int64, b.Dims()[0])
		for _, i := range pos.Coords(0, b.Values().Len())[0] {
			rows[i]++
		}
		for _, j := range a.Window().Coords(0, a.Values().Len())[1] {
			n += rows[j]
		}
		return n
	}},
}

// point is one number of ranks.
type point struct {
	ranks                 int
	grid                  *placement.Grid
	places                map[string]*placement.Placement
	chosen                bool     // it is what the product chooses
	memory                int64    // bytes of a rank: its parts, what comes, and its part of a dense result; the most
	best                  bool     // the least time of this number of ranks
	one                   float64  // seconds on one rank, measured in turns with local
	local, moving, agreed float64  // seconds
	imbalance             float64  // the most work of a rank over the mean
	messages, bytes       [2]int64 // of a rank: the mean, and the most that one sends or receives
	inspection            int64    // bytes that a rank sends once for a pattern, the mean
	speedup, efficiency   float64
}

func (p point) time() float64 { return p.local + p.moving + p.agreed }

// curve is one product of one matrix.
type curve struct {
	matrix string
	rows   int64
	nnz    int64
	one    float64 // seconds on one rank: the median of what was measured beside the points
	points []point
	notes  []string // what the product says of what it chooses
}

// run prints the tables, and draws the chart.
func (s *simulation) run(ctx context.Context, w io.Writer, chart string) error {
	fmt.Fprintf(w, "## Products on ranks that are not there\n\nMatrices of 2^%d rows with about %d entries in each, unless the line says other. A is cut `over (r by entries)`, dense operands where its rows are, B too; the columns of X and of B over c, where the grid has that axis, along which every rank has A's rows. "+
		"The inspector of the product tells what ranks send. *Local* is the processor time that the busiest rank's rows take here, with copies to and from messages, where nobody waits; "+
		"a message takes %s and %s at both ends, and bytes %.3g GB/s. *Agreement*: ranks vote in a run, up a tree and down again, and all tell all if the result is sparse. Nothing is overlapped. One rank and a part are timed in turns. "+
		"Efficiency is the time on one rank (the kernel, without copies; the median of a table's) over ranks and time; *free*: with messages that take no time.\n\n",
		s.scale, s.degree, time.Duration(s.net.latency*1e9), time.Duration(s.net.message*1e9), s.net.bandwidth/1e9)
	panels := make([][]curve, len(expressions))
	for k, x := range expressions {
		if s.only != "" && s.only != x.name {
			continue
		}
		for _, kind := range kinds {
			c, err := s.curve(ctx, x, kind)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", x.name, kind.name, err)
			}
			c.print(w, x)
			panels[k] = append(panels[k], *c)
		}
	}
	if chart == "" {
		return nil
	}
	return draw(chart, panels)
}

func (c *curve) print(w io.Writer, x expression) {
	fmt.Fprintf(w, "### %s, %s: %d rows, %d entries, %s on one rank\n\n", x.name, c.matrix, c.rows, c.nnz, duration(c.one))
	fmt.Fprintln(w, "| grid | local | transfer | agreement | speed-up | efficiency | free | most work / mean | messages a rank, mean | most | bytes a rank, mean | most | inspection, bytes, mean | memory, MB |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, p := range c.points {
		grid := p.grid.String()
		if p.best {
			grid = "**" + grid + "**"
		}
		if p.chosen {
			grid += ", chosen"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.1f | %.0f %% | %.0f %% | %.2f | %d | %d | %d | %d | %d | %.2f |\n", grid, duration(p.local), duration(p.moving), duration(p.agreed),
			p.speedup, 100*p.efficiency, 100*c.one/p.local/float64(p.ranks), p.imbalance, p.messages[0], p.messages[1], p.bytes[0], p.bytes[1], p.inspection, float64(p.memory)/1e6)
	}
	fmt.Fprintln(w)
	for _, line := range c.notes {
		fmt.Fprintf(w, "* %s\n", line)
	}
	fmt.Fprintln(w)
}

// curve simulates one product of one matrix.
func (s *simulation) curve(ctx context.Context, x expression, kind kind) (*curve, error) {
	degree := s.degree
	if x.degree > 0 {
		degree = min(degree, x.degree)
	}
	A, err := kind.matrix(s.scale+x.bigger, degree)
	if err != nil {
		return nil, err
	}
	session := exec.NewSession(exec.WithEngine(runtime.Auto(nil)), exec.WithThreads(1))
	c := &curve{matrix: kind.name, rows: A.Dims()[0], nnz: A.NNZ()}
	args, err := x.operands(A)
	if err != nil {
		return nil, err
	}
	one := func() error {
		_, err := session.EvalAll(ctx, x.program, args, declare.AsWritten())
		return err
	}
	weights, err := dist.Weights(A, 0)
	if err != nil {
		return nil, err
	}
	for _, n := range s.ranks {
		first := len(c.points)
		list := []*point{}
		for _, g := range x.grids(n) {
			list = append(list, x.point(g, args, placement.Weighted(weights, g.Sizes[0])))
		}
		if n > 1 {
			chosen, err := propose(ctx, x, args, n)
			if err != nil {
				return nil, err
			}
			list = append(list, &point{ranks: n, grid: chosen.Grid, places: chosen.Placements, chosen: true})
			c.notes = append(c.notes, fmt.Sprintf("%d ranks: %s", n, chosen))
		}
		for _, p := range list {
			if err := s.forecast(ctx, session, x, args, p, one); p.chosen && err != nil {
				c.notes[len(c.notes)-1] += fmt.Sprintf(" (not simulated: %v)", err)
				continue
			} else if err != nil {
				return nil, err
			}
			p.agreed = s.net.vote(n) + float64(x.agreements-1)*s.net.exchange(int64(n-1), 0)
			c.points = append(c.points, *p)
		}
		fastest := slices.MinFunc(c.points[first:], func(a, b point) int { return cmp.Compare(a.time(), b.time()) })
		for k := range c.points[first:] {
			c.points[first+k].best = c.points[first+k].grid == fastest.grid && c.points[first+k].chosen == fastest.chosen
		}
	}
	ones := make([]float64, len(c.points))
	for k, p := range c.points {
		ones[k] = p.one
	}
	slices.Sort(ones)
	c.one = ones[len(ones)/2]
	for k := range c.points {
		p := &c.points[k]
		p.speedup = c.one / p.time()
		p.efficiency = p.speedup / float64(p.ranks)
	}
	return c, nil
}

// propose is what the product itself chooses where nobody places anything.
func propose(ctx context.Context, x expression, args exec.Args, n int) (*dist.Proposal, error) {
	described := map[string]*dist.Tensor{}
	for name, v := range args {
		var err error
		if described[name], err = dist.Whole(v.(*tensor.Tensor)); err != nil {
			return nil, err
		}
	}
	return dist.Propose(ctx, x.program, described, n, nil, dist.Options{}, nil)
}

// grids are those that are tried for so many ranks: all along r, and half of it each time, or where there are many ranks a quarter.
func (x expression) grids(ranks int) (list []*placement.Grid) {
	step := 2
	if ranks > 64 {
		step = 4
	}
	for c := 1; c <= min(ranks, columns); c *= step {
		list = append(list, &placement.Grid{Names: []string{"r", "c"}, Sizes: []int{ranks / c, c}})
		if x.split == "" {
			break
		}
	}
	return list
}

// operands are those of a program for a matrix.
func (x expression) operands(A *tensor.Tensor) (exec.Args, error) {
	args, n := exec.Args{"A": A}, A.Dims()[0]
	if x.dense == nil {
		args["B"] = A
	}
	r := rand.New(rand.NewPCG(3, 4))
	for name, columns := range x.dense {
		shape := []int64{n}
		if columns > 0 {
			shape = append(shape, columns)
		}
		values := make([]float64, n*max(1, columns))
		for k := range values {
			values[k] = r.Float64()
		}
		t, err := tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(values))
		if err != nil {
			return nil, err
		}
		args[name] = t
	}
	return args, nil
}

// onRank compiles the program for one of the ranks, with operands that are placed on them.
func (x expression) onRank(ctx context.Context, session *exec.Session, t transport.Transport, g *placement.Grid, args exec.Args,
	place func(r *dist.Rank, name string, whole *tensor.Tensor) (*dist.Tensor, error)) (*dist.Rank, *dist.Program, map[string]*dist.Tensor, error) {
	r, err := dist.New(ctx, session, t, g)
	if err != nil {
		return nil, nil, nil, err
	}
	placed := map[string]*dist.Tensor{}
	for name, v := range args {
		if placed[name], err = place(r, name, v.(*tensor.Tensor)); err != nil {
			return nil, nil, nil, err
		}
	}
	k, err := r.Compile(ctx, x.program, placed, dist.Options{})
	return r, k, placed, err
}

// point has rows where those of A are, and columns of the operand that may be split over the second axis of the grid.
func (x expression) point(g *placement.Grid, args exec.Args, cut *placement.Cut) *point {
	p := &point{ranks: g.Ranks(), grid: g, places: map[string]*placement.Placement{}}
	for name, v := range args {
		whole := v.(*tensor.Tensor)
		at := placement.OneAxis(g, whole.Rank(), 0, cut, 0)
		if name == x.split {
			at.Cuts[1], at.Over[1] = placement.Blocks(whole.Shape()[1], g.Sizes[1]), 1
		}
		p.places[name] = at
	}
	return p
}

// forecast asks the inspector of n ranks what they send, and times what the busiest one does by itself.
func (s *simulation) forecast(ctx context.Context, session *exec.Session, x expression, args exec.Args, p *point, one func() error) error {
	A, n, g := args["A"].(*tensor.Tensor), p.ranks, p.grid
	var mu sync.Mutex
	var others sync.WaitGroup
	others.Add(n - 1)
	traffic, inspection, work := make([][]transport.Traffic, n), make([]int64, n), make([]int64, n)
	err := together(n, func(end *alone) error {
		r, k, placed, err := x.onRank(ctx, session, end, g, args, func(r *dist.Rank, name string, whole *tensor.Tensor) (*dist.Tensor, error) {
			p := p.places[name]
			if !whole.Format().IsDense() {
				return r.Cut(whole, p)
			}
			return &dist.Tensor{
				Shape: whole.Shape(), Format: whole.Format(), DType: whole.DType(), Fill: whole.Fill(), Placement: p,
				Entries: whole.NNZ(), Sets: p.Part(r.Rank(), whole.Shape()),
			}, nil
		})
		if err != nil {
			return err
		}
		me := r.Rank()
		work[me] = x.work(placed["A"].Part, A)
		before, calls := r.Sent().Inspection, end.calls
		if traffic[me], err = k.Forecast(ctx, placed); err != nil {
			return err
		}
		inspection[me] = r.Sent().Inspection - before
		mu.Lock()
		p.memory = max(p.memory, x.memory(placed))
		mu.Unlock()
		calls = end.calls - calls
		if err := transport.Barrier(ctx, end); err != nil {
			return err
		}
		busiest := slices.Index(work, slices.Max(work))
		if me != busiest { // the same inspection
			defer others.Done()
			_, err := k.Forecast(ctx, placed)
			return err
		}
		for name := range args {
			if whole := args[name].(*tensor.Tensor); whole.Format().IsDense() {
				if placed[name], err = r.Cut(whole, p.places[name]); err != nil {
					return err
				}
			}
		}
		end.stays = end.calls + calls
		run := func() error {
			_, err := k.Run(ctx, placed)
			return err
		}
		if err := run(); err != nil {
			return err
		}
		others.Wait()
		took, err := s.timed(one, run)
		p.one, p.local = took[0], took[1]
		return err
	})
	if err != nil {
		return err
	}
	in := make([]transport.Traffic, n)
	var total int64
	for r, to := range traffic {
		var out transport.Traffic
		for q, t := range to {
			out.Messages, out.Bytes = out.Messages+t.Messages, out.Bytes+t.Bytes
			in[q].Messages, in[q].Bytes = in[q].Messages+t.Messages, in[q].Bytes+t.Bytes
		}
		p.add(s.net, out)
		p.messages[0], p.bytes[0] = p.messages[0]+out.Messages, p.bytes[0]+out.Bytes
		p.inspection += inspection[r]
		total += work[r]
	}
	for _, t := range in {
		p.add(s.net, t)
	}
	p.messages[0], p.bytes[0], p.inspection = p.messages[0]/int64(n), p.bytes[0]/int64(n), p.inspection/int64(n)
	p.memory += p.bytes[1] // what comes
	most := slices.Max(work)
	p.imbalance = float64(most) * float64(n) / float64(total)
	return nil
}

// add counts what one rank sends, or receives.
func (p *point) add(net network, t transport.Traffic) {
	p.moving = max(p.moving, net.exchange(t.Messages, t.Bytes))
	p.messages[1], p.bytes[1] = max(p.messages[1], t.Messages), max(p.bytes[1], t.Bytes)
}

// memory is that of a rank's parts, and of its part of a result that is as large as the columns of X.
func (x expression) memory(placed map[string]*dist.Tensor) (n int64) {
	for _, t := range placed {
		if t.Part != nil {
			n += t.Part.Bytes()
			continue
		}
		size := int64(8)
		for _, s := range t.Sets {
			size *= s.Len()
		}
		n += size
	}
	if x.dense != nil && x.agreements == 1 {
		wide := int64(8)
		if X := placed["X"]; X != nil {
			wide *= X.Sets[1].Len()
		}
		n += placed["A"].Sets[0].Len() * wide
	}
	return n
}
