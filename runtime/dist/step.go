package dist

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// step is one statement of a program, with what the inspector has found for the operands of the latest run.
type step struct {
	program *Program
	text    string

	read      []*Tensor // the operands inspected, by use of the statement
	st        *statement
	asked     *placement.Placement // of the result; nil: none
	how       *cutting
	local     string // the statement as the rank runs it
	gets      []*get
	narrowed  map[*lang.Index]bool          // of the indices that are cut: whether the rank's coordinates are just those that are touched
	some      map[*lang.Index]placement.Set // of those of indices that keep their numbers, at which operands are wanted
	touched   map[*lang.Index]placement.Set // the rank's coordinates of indices that are cut, or numbered anew
	same      bool                          // nothing has changed since the run before, on any rank
	parts     *header                       // what all parts of a dense result have in common, which follows from the operands' patterns; nil: not known
	entries   int64                         // of the dense result
	tables    map[int]tensor.Array          // the numbers that those of the result get back, by axis, on a device
	runs      int                           // since it was inspected
	brought   time.Duration                 // the least time in one of them that it took to bring values
	pieces    *pieces                       // nil: what it computes, it computes at once
	idle      []bool                        // by rank, whether it has nothing to compute; nil: not known
	gives     []given                       // by rank, what this one said last of its summands
	heard     []heard                       // by rank, what this one heard last of theirs
	scattered *bool                         // whether a rank's summands go to some other in more than one stretch; nil: not known
	after     *fetch                        // that places the result as asked
	result    *tensor.Tensor                // the structure for which after was made
}

// get is one operand of a rank's statement.
type get struct {
	name string // there
	use  *use
	*fetch
	along []*lang.Index // by axis of the operand, an index of whose coordinates not all are got; nil: all are
	some  []*lang.Index // the same for those that are got, but not all with their values
	drove []*lang.Index // those whose coordinates are those of its entries
}

// run runs the statement on the tensors that there are.
func (st *step) run(ctx context.Context, env map[string]*Tensor) (string, *Tensor, error) {
	if st.st != nil {
		var name string
		var t *Tensor
		agreed, err := st.unchanged(ctx, env)
		if err == nil {
			name, t, err = st.execute(ctx, env, agreed)
		}
		if !errors.Is(err, errChanged) {
			return name, t, err
		}
		st.forget()
	}
	if err := st.plan(ctx, env); err != nil {
		return "", nil, err
	}
	if err := st.inspect(ctx); err != nil {
		return "", nil, err
	}
	return st.execute(ctx, env, &agreement{known: true})
}

// execute brings what is needed, and computes. The error is errChanged where the ranks do not agree that this is what was inspected: that is heard meanwhile, before
// anything of other ranks is used or the ranks do something else together.
func (st *step) execute(ctx context.Context, env map[string]*Tensor, agreed *agreement) (string, *Tensor, error) {
	r := st.program.rank
	st.same = agreed.Voting != nil
	began := time.Now()
	var under []*getting
	sends := false
	for _, g := range st.gets {
		t := env[g.use.name]
		if agreed.no {
			t = nil
		}
		got, err := g.start(ctx, t, false)
		if err != nil {
			return "", nil, r.abort(err)
		}
		under, sends = append(under, got), sends || got.pending != nil
	}
	wait := func() (exec.Args, error) {
		args := exec.Args{}
		for k, got := range under {
			t, err := got.wait(ctx)
			if err != nil {
				return nil, err
			}
			args[st.gets[k].name] = t
		}
		if sends || agreed.no {
			return args, agreed.wait(ctx)
		}
		return args, nil
	}
	var t *tensor.Tensor
	var args exec.Args
	var err error
	if st.pieces != nil && !agreed.no {
		t, args, err = st.inPieces(ctx, under, wait)
	} else {
		args, err = wait()
	}
	brought := time.Since(began)
	if err == nil && st.pieces == nil && len(st.how.along) > 0 {
		t, err = st.compute(ctx, args)
	}
	if err == nil {
		err = agreed.wait(ctx)
	}
	if err != nil {
		return "", nil, err
	}
	var out *Tensor
	switch {
	case len(st.how.along) == 0:
		out, err = st.alone(ctx, args)
	case len(st.how.summed()) == 0:
		out, err = st.describe(ctx, t, st.st.shape, st.how.left(r.grid, len(st.st.shape)))
	default:
		out, err = st.combined(ctx, t)
	}
	if err != nil {
		return "", nil, err
	}
	if st.pieces == nil {
		st.pays(brought)
	}
	for k, got := range under {
		if !got.whole { // a device's memory would be short before the collector noticed, and the next run needs as much
			args[st.gets[k].name].(*tensor.Tensor).Release()
			if err := got.done(ctx); err != nil {
				return "", nil, err
			}
		}
	}
	if st.asked != nil && !out.Placement.Equal(st.asked) {
		if out, err = st.placed(ctx, out); err != nil {
			return "", nil, err
		}
	}
	return st.st.LHS.Tensor.Name, out, nil
}

// forget gives up what the inspector has found.
func (st *step) forget() {
	for _, g := range st.gets {
		g.free()
	}
	if st.after != nil {
		st.after.free()
	}
	if st.pieces != nil {
		for _, s := range st.pieces.of {
			for k := range 3 {
				if s != nil {
					s.release(k)
				}
			}
		}
	}
	*st = step{program: st.program, text: st.text}
}

// plan chooses how the statement is cut. What it does follows from what all ranks know, so that all do the same.
func (st *step) plan(ctx context.Context, env map[string]*Tensor) error {
	r, o := st.program.rank, st.program.o
	given := func(name string) bool { return st.program.given[name] }
	s, err := read(st.text, env, given, o)
	if err != nil {
		return err
	}
	if st.st = s; o.Chosen != nil {
		s.knowSpreads(o.Chosen.spread, given)
	}
	for _, u := range s.uses {
		st.read = append(st.read, u.tensor)
	}
	if st.asked, err = s.asked(r.grid, env, o); err != nil {
		st.forget() // the next run inspects anew
		return err
	}
	st.how = s.choose(r.grid, st.asked)
	return nil
}

// asked is where the result is asked for; nil: nowhere.
func (s *statement) asked(g *placement.Grid, env map[string]*Tensor, o Options) (*placement.Placement, error) {
	l := o.Results[s.LHS.Tensor.Name].Layout
	if l == nil {
		return nil, nil
	}
	return l.On(g, placement.Tensor{Shape: s.shape, Weights: func(int) ([]int64, error) {
		return nil, fmt.Errorf("how many entries %s has is not known before: entries are for operands", s.LHS.Tensor.Name)
	}, List: func(name string) ([]int64, error) { return listOf(env, name) }})
}

// listOf are the elements of a vector of integers that every rank has.
func listOf(env map[string]*Tensor, name string) ([]int64, error) {
	t := env[name]
	switch {
	case t == nil:
		return nil, fmt.Errorf("there is no operand %s", name)
	case !t.Placement.IsReplicated():
		return nil, fmt.Errorf("%s says how another tensor is cut, so it must be replicated", name)
	}
	return Integers(name, t.Part)
}

// Integers are the elements of a vector of integers.
func Integers(name string, t *tensor.Tensor) ([]int64, error) {
	if t.Rank() != 1 || !t.DType().IsInteger() {
		return nil, fmt.Errorf("%s has elements of type %s and rank %d: a vector of integers says how an axis is cut", name, t.DType(), t.Rank())
	}
	dense, err := t.ToDense()
	if err != nil {
		return nil, err
	}
	list := make([]int64, dense.Len())
	for i := range list {
		list[i] = dense.At64(i)
	}
	return list, nil
}

// unusedName is the name of an operand or, if another part of it has that, one like it.
func (st *step) unusedName(name string) string {
	used := func(name string) bool {
		return slices.ContainsFunc(st.gets, func(g *get) bool { return g.name == name })
	}
	if !used(name) {
		return name
	}
	for n := 2; ; n++ {
		other := name + "_" + strconv.Itoa(n)
		if !used(other) && !slices.ContainsFunc(st.st.program.Tensors, func(t *lang.Tensor) bool { return t.Name == other }) {
			return other
		}
	}
}

// eval runs the rank's statement.
func (st *step) eval(ctx context.Context, args exec.Args) (*tensor.Tensor, error) {
	r, name := st.program.rank, st.st.LHS.Tensor.Name
	opts := st.program.o.kernel()
	if !st.st.LHS.Tensor.Operand {
		extents := map[int]int64{}
		for _, a := range st.how.along {
			if a.at >= 0 {
				extents[a.at] = st.touched[a.index].Len()
			}
		}
		opts = append(opts, st.program.o.result(name, extents)...)
		if t := st.st.env[name]; t != nil && st.program.given[name] { // which is assigned whole
			opts = append(opts, declare.Result(name, t.Format), declare.ResultType(name, t.DType), declare.Fill(name, t.Fill))
		}
	}
	local := name
	if k := slices.IndexFunc(st.gets, func(g *get) bool { return g.use.left }); k >= 0 {
		local = st.gets[k].name
	}
	out, err := r.session.EvalAll(ctx, st.local, args, opts...)
	if err != nil {
		return nil, r.abort(err)
	}
	return out[local].Canonical()
}

// computes reports whether a rank has something to compute. If it has not, the program might complain.
func (st *step) computes(rank int) bool {
	if st.idle == nil { // coordinates of a cut may be a long list
		st.idle = make([]bool, st.program.rank.transport.Size())
		for q := range st.idle {
			st.idle[q] = !st.hasCoords(q)
		}
	}
	return !st.idle[rank]
}

// hasCoords reports whether a rank has a coordinate of each index that is cut.
func (st *step) hasCoords(rank int) bool {
	at := st.program.rank.grid.At(rank)
	return !slices.ContainsFunc(st.how.along, func(a along) bool {
		nothing := a.cut.Extent == 0 && (a.at >= 0 || at[a.over] == 0) // of nothing there is one sum
		return a.cut.Coords(at[a.over]).Len() == 0 && !nothing
	})
}

// compute runs the rank's statement; nil: there is nothing to compute. Along the axes that are cut the result has the rank's coordinates, and all
// along others.
func (st *step) compute(ctx context.Context, args exec.Args) (*tensor.Tensor, error) {
	if !st.computes(st.program.rank.Rank()) {
		return nil, nil
	}
	t, err := st.eval(ctx, args)
	if err != nil {
		return nil, err
	}
	shape := t.Shape()
	sets := all(shape)
	for v, touched := range st.touched {
		switch k, a := axis(st.st.LHS, v), st.how.of(v); {
		case !v.Free:
		case a == nil:
			shape[k], sets[k] = st.st.extents[v.ID], touched
		case st.narrowed[v]:
			own := a.cut.Coords(st.program.rank.grid.At(st.program.rank.Rank())[a.over])
			shape[k], sets[k] = own.Len(), within(own, touched)
		}
	}
	if !slices.Equal(shape, t.Shape()) {
		full, err := st.program.rank.renumbered(ctx, t, shape, st.tables, func(axis int, x int64) int64 { return sets[axis].At(x) })
		if err != nil {
			return nil, st.program.rank.abort(err)
		}
		old := t
		t = tensor.NewTrusted(shape, t.Format(), full.Levels(), t.Values(), t.Fill())
		full.Release()
		old.Release()
	}
	return t, nil
}

// describe makes a tensor that is placed of the rank's part, which is nil if it has none: it agrees with the other ranks on what all parts have
// in common, and adds up their entries.
func (st *step) describe(ctx context.Context, part *tensor.Tensor, shape []int64, p *placement.Placement) (*Tensor, error) {
	r := st.program.rank
	if st.same && st.parts != nil {
		return st.parts.placed(r, part, st.entries, p)
	}
	var message []byte
	if part != nil {
		message = headerOf(part, shape).append(binary.LittleEndian.AppendUint64(nil, uint64(part.NNZ())))
	}
	in, err := r.toAll(ctx, &r.sent.Agreement, message)
	if err != nil {
		return nil, err
	}
	var entries int64
	var first []byte
	for q, b := range in {
		switch {
		case len(b) < 8:
			continue
		case first == nil:
			first = b[8:]
		case string(first) != string(b[8:]):
			ours, theirs := (&reader{b: first}).header(), (&reader{b: b[8:]}).header()
			return nil, r.abort(fmt.Errorf("%s: a part is %s, and that of rank %d %s", st.text, ours, q, theirs))
		}
		if p.First(q) {
			entries += int64(binary.LittleEndian.Uint64(b))
		}
	}
	read := &reader{b: first}
	h := read.header()
	if read.err != nil {
		return nil, r.abort(read.err)
	}
	if h.format.IsDense() {
		st.parts, st.entries = &h, entries
	}
	return h.placed(r, part, entries, p)
}

// placed is a tensor of which the rank has a part; nil: none.
func (h *header) placed(r *Rank, part *tensor.Tensor, entries int64, p *placement.Placement) (_ *Tensor, err error) {
	t := &Tensor{Shape: h.shape, Format: h.format, DType: h.dtype, Fill: h.fill, Placement: p, Entries: entries, Part: part, Sets: p.Part(r.Rank(), h.shape)}
	if part == nil {
		if t.Part, err = h.empty(lengths(t.Sets)); err != nil {
			return nil, r.abort(err)
		}
	}
	return t, nil
}

// placed is the result as it was asked for.
func (st *step) placed(ctx context.Context, t *Tensor) (*Tensor, error) {
	r := st.program.rank
	same := st.after != nil && t.Format.IsDense()
	var err error
	if st.after != nil && !same { // where entries are may follow from values, of which one rank has others
		if same, err = r.sameStructure(ctx, st.result, t.Part); err != nil {
			return nil, r.abort(err)
		}
		if same, err = r.allSay(ctx, same); err != nil {
			return nil, err
		}
	}
	if !same {
		if st.after != nil {
			st.after.free()
		}
		if st.after, err = r.inspect(ctx, t, st.asked.Part(r.Rank(), t.Shape)); err != nil {
			return nil, r.abort(err)
		}
		st.result = t.Part
	}
	out, err := st.after.placed(ctx, t, st.asked)
	if err != nil {
		return nil, r.abort(err)
	}
	return out, nil
}

// first reports whether the rank is one of those that compute what is not cut: on a line, rank 0.
func (r *Rank) first() bool { return r.grid.At(r.Rank())[0] == 0 }

// alone computes the statement where it is not cut.
func (st *step) alone(ctx context.Context, args exec.Args) (*Tensor, error) {
	r := st.program.rank
	var t *tensor.Tensor
	out := make([][]byte, r.transport.Size())
	if r.first() {
		var err error
		if t, err = st.eval(ctx, args); err != nil {
			return nil, err
		}
	}
	if r.Rank() == 0 {
		message := headerOf(t, t.Shape()).append(binary.LittleEndian.AppendUint64(nil, uint64(t.NNZ())))
		if t.Rank() == 0 {
			message = append(message, t.Values().Raw()...)
		}
		out = slices.Repeat([][]byte{message}, len(out))
	}
	in, err := r.exchange(ctx, &r.sent.Agreement, out)
	if err != nil {
		return nil, err
	}
	if len(in[0]) < 8 {
		return nil, r.abort(errMessage)
	}
	read := &reader{b: in[0][8:]}
	h := read.header()
	if read.err != nil {
		return nil, r.abort(read.err)
	}
	d := &Tensor{Shape: h.shape, Format: h.format, DType: h.dtype, Fill: h.fill, Entries: int64(binary.LittleEndian.Uint64(in[0])), Part: t}
	d.Placement = placement.Replicated(r.grid, len(d.Shape))
	if len(d.Shape) > 0 {
		d.Placement = placement.OneAxis(r.grid, len(d.Shape), 0, placement.Single(d.Shape[0], r.grid.Sizes[0], 0), 0)
	}
	d.Sets = d.Placement.Part(r.Rank(), d.Shape)
	switch {
	case d.Part != nil:
	case len(d.Shape) > 0:
		d.Part, err = h.empty(lengths(d.Sets))
	default:
		var value tensor.Array
		if value, err = tensor.MakeArray(h.dtype, 1); err == nil {
			copy(value.Raw(), read.b)
			d.Part = tensor.NewTrusted(nil, h.format, nil, value, h.fill)
		}
	}
	if err != nil {
		return nil, r.abort(err)
	}
	return d, nil
}
