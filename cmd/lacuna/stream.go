package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/internal/admission"
	"github.com/lacuna-sparse/lacuna/internal/distribute"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/file"
)

// sliceEntries is how many entries a slice has, about. Sums over rows depend on it in their last bits: it does not follow from
// the memory there is. Tests set it.
var sliceEntries int64 = 1 << 24

// stream is an operand that does not fit in memory, or of which a slice makes what does not: slices of it are read, one after the other.
type stream struct {
	name   string
	slices slicer
	dtype  tensor.DType
}

// slicer cuts a matrix along an axis: a file (file.Slices), or what lies in mapped memory (distribute.Panels).
type slicer interface {
	Axis() int
	Shape() []int64
	Next(first, entries int64) (t *tensor.Tensor, next int64, err error)
	Close() error
}

// openStream opens an operand as a stream if it is a file that can be read in slices and would take more than half of the memory
// there is for a run. Otherwise the stream is nil.
func (e *evaluation) openStream(ctx context.Context, o operand.Operand) (*stream, error) {
	path, ok := o.Source.(operand.DiskFile)
	if !ok || path == operand.Standard || o.Qual.Stored != "" || e.fill(o.Name) != nil {
		return nil, nil
	}
	s, err := file.OpenSlices(string(path), o.Qual.Options()...)
	if err != nil {
		return nil, nil // reading says what is wrong
	}
	limit := e.limit
	if limit == 0 {
		limit = admission.Read().Available / 4 * 3
	}
	inPlace := s.Contiguous() && s.Bytes() >= operand.OutOfCoreIn(ctx).From() && operand.Mappable(string(path)) // which needs no memory, for any program
	if inPlace || s.Bytes() <= limit/2 {
		return nil, s.Close()
	}
	if e.wishes.given() {
		return nil, errors.Join(s.Close(), fmt.Errorf("%s does not fit in memory, and read in slices it does not go with --shape, --fill, --strict-ieee and --as-written", o.Name))
	}
	first, _, err := s.Next(0, 1)
	if err != nil {
		return nil, errors.Join(s.Close(), err)
	}
	e.app.Notice(fmt.Sprintf("%s does not fit in memory: it is read in slices, for each pass over it", o.Name))
	return &stream{o.Name, s, first.DType()}, nil
}

// streamed is one statement of a program that reads a stream, and how the results of slices become one.
type streamed struct {
	name  string // of the result
	index string // by which the stream is read along the axis of its slices
	text  string // the statement, with every sum written out
	st    *lang.Assign
	at    int    // the axis of the result along which those of slices follow each other; -1: they are combined
	with  string // how: a program of a and b
	into  bool   // each slice updates the result of those before
	parts []*tensor.Tensor
	file  *distribute.Appended // with --memory: parts that follow each other
}

// combinations are the programs that combine results of a reduction over slices; "%s" is where indices stand.
var combinations = map[string]string{
	"sum": "r%s = a%s + b%s", "count": "r%s = a%s + b%s", "prod": "r%s = a%s * b%s", "min": "r%s = min(a%s, b%s)", "max": "r%s = max(a%s, b%s)",
	"any": "r%s = a%s or b%s", "all": "r%s = a%s and b%s",
}

// passes runs the program statement by statement. Statements one after the other that read the stream share a pass over it, if none needs
// the result of another.
func (e *evaluation) passes(ctx context.Context, engine runtime.Engine) (lacuna.Outputs, error) {
	s := e.stream
	defer s.slices.Close()
	session := e.newSession(engine)
	decls := map[string]lang.Decl{s.name: {Rank: 2, DType: s.dtype, HasDType: true}}
	for name, o := range e.args {
		t, ok := o.(*tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("%s is stored in parts, which does not go with %s, which is read in slices", name, s.name)
		}
		decls[name] = lang.Decl{Rank: t.Rank(), DType: t.DType(), HasDType: true}
	}
	checked, err := lang.Check(e.program.file, decls)
	if err != nil {
		return nil, err
	}
	run := &streamRun{e: e, session: session, stream: s, out: lacuna.Outputs{}}
	var batch []*streamed
	for _, st := range checked.Stmts {
		text := st.String()
		f, err := lang.Parse(text)
		if err != nil {
			return nil, err
		}
		reads := map[string]bool{}
		lang.EachRef(f.Stmts[0].RHS, func(r *lang.Ref) { reads[r.Name] = true })
		if !reads[s.name] || slices.ContainsFunc(batch, func(b *streamed) bool { return reads[b.name] || b.name == st.LHS.Tensor.Name }) {
			if err := run.pass(ctx, batch); err != nil {
				return nil, err
			}
			batch = nil
		}
		if !reads[s.name] {
			if err := run.whole(ctx, st.LHS.Tensor.Name, text); err != nil {
				return nil, err
			}
			continue
		}
		part, err := s.plan(f.Stmts[0], text)
		if err != nil {
			return nil, err
		}
		batch = append(batch, part)
	}
	return run.out, run.pass(ctx, batch)
}

// plan says how results of a statement over slices become one, or why they cannot.
func (s *stream) plan(st *lang.Assign, text string) (*streamed, error) {
	refuse := func(why string) error {
		return fmt.Errorf("%s: %s does not fit in memory, and %s", text, s.name, why)
	}
	index, own := "", false
	lang.EachRef(st.RHS, func(r *lang.Ref) {
		if r.Name == s.name && index == "" && len(r.Indices) == 2 {
			index = plainIndex(r.Indices[s.slices.Axis()])
		}
		own = own || r.Name == st.LHS.Name
	})
	plan := &streamed{name: st.LHS.Name, index: index, text: text, st: st, at: -1}
	if own {
		return nil, refuse("the statement reads what it assigns")
	}
	if index == "" || !onlyCuts(st, s, index) {
		return nil, refuse(fmt.Sprintf("a program on slices of it reads axis %d at one index, and nothing else by that index but whole axes", s.slices.Axis()))
	}
	gathered := false
	for k, x := range st.LHS.Indices {
		if name := plainIndex(x); name == index && plan.at < 0 {
			plan.at = k
		} else if mentions(x, index) {
			gathered = gathered || len(x.Terms) == 1 && x.Terms[0].Gather != nil && cutsAll(x.Terms[0].Gather, index)
			if !gathered || plan.at >= 0 {
				return nil, refuse("its slices do not make slices of the result")
			}
		}
	}
	along := notCut(st.RHS, index)
	switch {
	case along != "" && (plan.at >= 0 || gathered):
		return nil, refuse(fmt.Sprintf("%s goes along all of %s at once, which is cut", along, index))
	case plan.at >= 0 && !gathered && st.Op == lang.Set:
		return plan, nil
	case gathered && plan.at < 0 && st.Op != lang.Set:
		plan.into = true
		return plan, nil
	case plan.at >= 0 || gathered || st.Op != lang.Set:
		return nil, refuse("only = , and scatters by an index of its rows, are computed from slices")
	}
	op, ok := outermost(st.RHS, index)
	if plan.with = combinations[op]; !ok || plan.with == "" || along != "" {
		return nil, refuse(fmt.Sprintf("the result does not follow from results of slices: write a sum, prod, min, max, any, all or count over %s as a statement of its own", index))
	}
	return plan, nil
}

// plainIndex is the variable that an index is; "" of anything else.
func plainIndex(x *lang.RefIndex) string {
	if x.Slice == nil && len(x.Terms) == 1 && x.Terms[0].Gather == nil && x.Terms[0].Coef == 1 {
		return x.Terms[0].Name
	}
	return ""
}

// mentions reports whether an index has to do with a variable.
func mentions(x *lang.RefIndex, name string) bool {
	return slices.ContainsFunc(x.Terms, func(t *lang.IndexTerm) bool {
		return t.Name == name || t.Gather != nil && slices.ContainsFunc(t.Gather.Indices, func(x *lang.RefIndex) bool { return mentions(x, name) })
	})
}

// cutsAll reports whether a variable stands in a reference by itself only.
func cutsAll(r *lang.Ref, name string) bool {
	for _, x := range r.Indices {
		if plainIndex(x) != name && mentions(x, name) {
			return false
		}
	}
	return r.Name != name || len(r.Indices) > 0
}

// notCut is what an expression has of an index that parts of it do not give: a scan, a sort or a statistic; "": nothing.
func notCut(n lang.Node, index string) (name string) {
	lang.Inspect(n, func(n lang.Node) {
		if fold, ok := n.(*lang.Fold); ok && combinations[fold.Name] == "" && slices.ContainsFunc(fold.Vars, func(v *lang.FoldVar) bool { return v.Name == index }) {
			name = fold.Name
		}
	})
	return name
}

// onlyCuts reports whether an expression reads a stream at one index along the axis of its slices, other tensors at that index by itself,
// and does not compute with the index.
func onlyCuts(st *lang.Assign, s *stream, index string) bool {
	good, cuts := true, map[string]int{} // along which axis each tensor is cut
	look := func(r *lang.Ref) {
		at := -1
		for k, x := range r.Indices {
			if plainIndex(x) == index {
				good = good && at < 0
				at = k
			}
		}
		if before, seen := cuts[r.Name]; len(r.Indices) > 0 {
			good = good && (!seen || before == at)
			cuts[r.Name] = at
		}
		good = good && cutsAll(r, index) && (r.Name != s.name || len(r.Indices) == 0 || at == s.slices.Axis())
	}
	lang.EachRef(st.RHS, look)
	st.LHS.EachGather(look)
	return good
}

// outermost is the reduction over an index that nothing but reductions of the same kind is around.
func outermost(n lang.Node, index string) (op string, ok bool) {
	for {
		switch fold := n.(type) {
		case *lang.Paren:
			n = fold.X
			continue
		case *lang.Fold:
			if op != "" && op != fold.Name || len(fold.Options) > 0 {
				return "", false
			}
			op = fold.Name
			for _, v := range fold.Vars {
				if v.Name == index {
					return op, v.In == ""
				}
			}
			n = fold.Body
			continue
		}
		return "", false
	}
}

// streamRun is a run over a stream: the results so far.
type streamRun struct {
	e       *evaluation
	session *lacuna.Session
	stream  *stream
	out     lacuna.Outputs
}

// args are the operands of a program: results of statements before, and what was given.
func (r *streamRun) args(reads lang.Node, lhs *lang.Ref) lacuna.Args {
	args := lacuna.Args{}
	add := func(ref *lang.Ref) {
		if t := r.out[ref.Name]; t != nil {
			args[ref.Name] = t
		} else if t := r.e.args[ref.Name]; t != nil {
			args[ref.Name] = t
		}
	}
	lang.EachRef(reads, add)
	if lhs != nil {
		add(lhs)
		lhs.EachGather(add)
	}
	return args
}

// whole runs a statement that does not read the stream.
func (r *streamRun) whole(ctx context.Context, name, text string) error {
	p, err := parseProgram(text)
	if err != nil {
		return err
	}
	st := p.file.Stmts[0]
	var lhs *lang.Ref
	if p.uses[name].needed {
		lhs = st.LHS
	}
	args := r.args(st.RHS, lhs)
	t, err := r.session.Eval(ctx, text, args, r.e.declared[name]...)
	r.out[name] = t
	return err
}

// pass goes over the slices once, for several statements.
func (r *streamRun) pass(ctx context.Context, batch []*streamed) error {
	if len(batch) == 0 {
		return nil
	}
	axis := r.stream.slices.Axis()
	total := r.stream.slices.Shape()[axis]
	task := r.e.app.Begin("reading "+r.stream.name, total)
	defer task.End()
	defer func() {
		for _, st := range batch {
			st.file.Close()
		}
	}()
	for first := int64(0); first == 0 || first < total; {
		type block struct {
			t    *tensor.Tensor
			next int64
		}
		b, err := cli.Await(ctx, func() (block, error) {
			t, next, err := r.stream.slices.Next(first, sliceEntries)
			return block{t, next}, err
		})
		if err != nil {
			return err
		}
		for _, st := range batch {
			if err := r.slice(ctx, st, b.t, first, b.next); err != nil {
				return err
			}
		}
		first = b.next
		task.Reach(first, total)
	}
	for _, st := range batch {
		var err error
		if r.out[st.name], err = r.joined(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// joined is the result of a statement when all slices have been read.
func (r *streamRun) joined(ctx context.Context, st *streamed) (*tensor.Tensor, error) {
	switch {
	case st.file != nil:
		return st.file.Tensor()
	case len(st.parts) == 1:
		return st.parts[0], nil
	}
	return r.session.Concat(ctx, st.at, st.parts[0].Format(), st.parts...)
}

// join adds the result of a slice to those of slices before, which it follows.
func (r *streamRun) join(st *streamed, t *tensor.Tensor) error {
	if r.e.spill == nil || !distribute.Appends(t.Format(), st.at) {
		st.parts = append(st.parts, t)
		return nil
	}
	if st.file == nil {
		shape := t.Shape()
		shape[st.at] = r.stream.slices.Shape()[r.stream.slices.Axis()]
		st.file = distribute.Append(r.e.spill.Files, shape)
	}
	return st.file.Add(t)
}

// slice runs a statement on a slice of the stream, and adds its result to those of slices before.
func (r *streamRun) slice(ctx context.Context, st *streamed, slice *tensor.Tensor, first, next int64) error {
	var lhs *lang.Ref
	if st.into {
		lhs = st.st.LHS
	}
	args := r.args(st.st.RHS, lhs)
	args[r.stream.name] = slice
	cut, err := map[string]bool{r.stream.name: true}, error(nil)
	look := func(ref *lang.Ref) {
		if t, ok := args[ref.Name].(*tensor.Tensor); ok && !cut[ref.Name] && err == nil && len(ref.Indices) > 0 {
			cut[ref.Name] = true
			args[ref.Name], err = r.cut(ctx, ref, t, st.index, first, next)
		}
	}
	lang.EachRef(st.st.RHS, look)
	if lhs != nil {
		lhs.EachGather(look)
		if len(st.parts) > 0 {
			args[st.name] = st.parts[0]
		}
	}
	if err != nil {
		return err
	}
	t, err := cli.Await(ctx, func() (*tensor.Tensor, error) { return r.session.Eval(ctx, st.text, args, r.e.declared[st.name]...) })
	switch {
	case err != nil:
		return err
	case st.at >= 0:
		return r.join(st, t)
	case st.into || len(st.parts) == 0:
		st.parts = []*tensor.Tensor{t}
		return nil
	}
	indices := ""
	for k := range t.Rank() {
		indices += fmt.Sprintf(",i%d", k)
	}
	if indices != "" {
		indices = "(" + indices[1:] + ")"
	}
	st.parts[0], err = r.session.Eval(ctx, fmt.Sprintf(st.with, indices, indices, indices), lacuna.Args{"a": st.parts[0], "b": t}, lacuna.Result("r", t.Format()), lacuna.ResultType("r", t.DType()))
	return err
}

// cut is the part of a tensor that belongs to a slice of the stream: all of it, if it is not read by the index of slices.
func (r *streamRun) cut(ctx context.Context, ref *lang.Ref, t *tensor.Tensor, index string, first, next int64) (*tensor.Tensor, error) {
	at, to, from := -1, make([]string, t.Rank()), make([]string, t.Rank())
	for k, x := range ref.Indices {
		to[k] = fmt.Sprintf("i%d", k)
		from[k] = to[k]
		if plainIndex(x) == index {
			at, to[k], from[k] = k, ":", fmt.Sprintf("%d:%d", first, next)
		}
	}
	if at < 0 {
		return t, nil
	}
	if n, want := t.Shape()[at], r.stream.slices.Shape()[r.stream.slices.Axis()]; n != want {
		return nil, fmt.Errorf("axis %d of %s has %d elements, but that of %s has %d", at, ref.Name, n, r.stream.name, want)
	}
	text := fmt.Sprintf("r(%s) = t(%s)", strings.Join(to, ","), strings.Join(from, ","))
	return r.session.Eval(ctx, text, lacuna.Args{"t": t}, lacuna.Result("r", t.Format()))
}
