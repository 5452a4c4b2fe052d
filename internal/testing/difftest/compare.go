package difftest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/oracle"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Outcome counts what a comparison could check.
type Outcome struct {
	Refused bool // as predicted
	// Elements were compared with the oracle; Open were not, because rounding or
	// the reading of implicit zeros decides them.
	Elements, Open int
}

// Compare runs the case in every session and checks that each result is a valid
// tensor, right by the oracle, and the same in all sessions to the bit. A nil
// error means agreement.
func (c *Case) Compare(ctx context.Context, sessions ...*lacuna.Session) (Outcome, error) {
	var out Outcome
	want, err := c.judge(c.Strict)
	refused := c.Refused
	if refused == "" && hasCode(err, lang.ErrEmptyReduction) {
		refused = lang.ErrEmptyReduction // a list of no orders, say
	}
	if refused != "" {
		out.Refused = true
		for _, s := range sessions {
			if _, err := c.run(ctx, s, c.Strict); !hasCode(err, refused) && !c.unsupported(err) {
				return out, c.failure(s, fmt.Errorf("want the error %s, got %v", refused, err))
			}
		}
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("%s\noracle: %w", c, err)
	}
	var first lacuna.Outputs
	for i, s := range sessions {
		got, err := c.run(ctx, s, c.Strict)
		if c.unsupported(err) {
			out.Refused = true
			return out, nil
		}
		if err != nil {
			return out, c.failure(s, err)
		}
		if i > 0 {
			// Grids add in another order.
			alike := same
			if runtime.OnGrids(s.Engine()) {
				alike = sameStored
			}
			if err := alike(first, got); err != nil {
				return out, c.failure(s, fmt.Errorf("not as %s: %w", sessions[0].Engine().Name(), err))
			}
			if !runtime.OnGrids(s.Engine()) {
				continue
			}
		} else {
			first = got
		}
		disputed, err := c.check(got, want, c.Strict, &out)
		if err != nil {
			return out, c.failure(s, err)
		}
		if disputed {
			if err := c.compareStrict(ctx, s); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// unsupported reports whether an error is the one that the case may give.
func (c *Case) unsupported(err error) bool {
	return c.MayRefuse != "" && hasCode(err, lang.ErrUnsupported) && strings.Contains(err.Error(), c.MayRefuse)
}

// compareStrict runs the case in strict arithmetic, where nothing is disputed.
func (c *Case) compareStrict(ctx context.Context, s *lacuna.Session) error {
	want, err := c.judge(true)
	if err != nil {
		return fmt.Errorf("%s\noracle: %w", c, err)
	}
	got, err := c.run(ctx, s, true)
	if c.unsupported(err) {
		return nil
	}
	if err == nil {
		_, err = c.check(got, want, true, &Outcome{})
	}
	if err != nil {
		return c.failure(s, fmt.Errorf("in strict arithmetic: %w", err))
	}
	return nil
}

func (c *Case) failure(s *lacuna.Session, err error) error {
	return fmt.Errorf("%s\nengine %s: %w", c, s.Engine().Name(), err)
}

// run compiles and runs the case.
func (c *Case) run(ctx context.Context, s *lacuna.Session, strict bool) (lacuna.Outputs, error) {
	opts := c.Options()
	if strict {
		opts = append(opts, lacuna.StrictIEEE())
	}
	return s.EvalAll(ctx, c.Text, c.args(), opts...)
}

func (c *Case) args() lacuna.Args {
	args := lacuna.Args{}
	for name, t := range c.Operands {
		args[name] = t
	}
	for name, o := range c.Stored {
		args[name] = o
	}
	return args
}

// Options are the declarations of results.
func (c *Case) Options() []lacuna.Option {
	var opts []lacuna.Option
	if c.AsWritten {
		opts = append(opts, lacuna.AsWritten())
	}
	for name, d := range c.Results {
		if d.Shape != nil {
			opts = append(opts, lacuna.Shape(name, d.Shape...))
		}
		if d.HasFormat {
			opts = append(opts, lacuna.Result(name, d.Format))
		}
		if d.DType.Valid() {
			opts = append(opts, lacuna.ResultType(name, d.DType))
		}
		if d.Fill != nil {
			opts = append(opts, lacuna.Fill(name, *d.Fill))
		}
	}
	return opts
}

// judge evaluates the case with the oracle.
func (c *Case) judge(strict bool) (map[string]*oracle.Dense, error) {
	file, err := lang.Parse(c.Text)
	if err != nil {
		return nil, err
	}
	decls := map[string]lang.Decl{}
	for name, d := range c.Results {
		decls[name] = lang.Decl{Rank: lang.AnyRank, Shape: d.Shape, DType: d.DType, HasDType: d.DType.Valid(), Format: d.Format, HasFormat: d.HasFormat, Fill: d.Fill, Result: true}
	}
	shapes := map[string][]int64{}
	for name, t := range c.Operands {
		fill := t.Fill()
		decls[name] = lang.Decl{Rank: t.Rank(), DType: t.DType(), HasDType: true, Format: t.Format(), HasFormat: true, Fill: &fill}
		shapes[name] = t.Shape()
	}
	p, err := lang.Check(file, decls)
	if err != nil {
		return nil, err
	}
	ext, err := lang.Bind(p, shapes)
	if err != nil {
		return nil, err
	}
	how := oracle.Gaps
	if strict {
		how = oracle.StrictIEEE
	}
	return oracle.Eval(p, c.Operands, ext, how)
}

// same compares the results of two sessions bit by bit.
func same(a, b lacuna.Outputs) error {
	for name, x := range a {
		if d := tensor.Diff(inOrder(x), inOrder(b[name])); d != "" {
			return fmt.Errorf("%s: %s", name, d)
		}
	}
	return nil
}

// inOrder is a result with its entries in order: those that may come in any differ with the workspaces.
func inOrder(t *tensor.Tensor) *tensor.Tensor {
	out, err := t.Canonical()
	if err != nil || out.NNZ() != t.NNZ() { // something is stored twice
		return t // which the comparison says
	}
	return out
}

// sameStored compares which elements the results of two sessions store.
func sameStored(a, b lacuna.Outputs) error {
	for name, x := range a {
		x, y := inOrder(x), inOrder(b[name])
		for k, level := range x.Levels() {
			other := y.Levels()[k]
			for _, arrays := range [][2]tensor.Array{{level.Pos, other.Pos}, {level.Crd, other.Crd}} {
				if arrays[0].Len() != arrays[1].Len() {
					return fmt.Errorf("%s: level %d has %d and %d elements", name, k, arrays[0].Len(), arrays[1].Len())
				}
				for i := range arrays[0].Len() {
					if v, w := arrays[0].Scalar(i).Int64(), arrays[1].Scalar(i).Int64(); v != w {
						return fmt.Errorf("%s: level %d has %d and %d at %d", name, k, v, w, i)
					}
				}
			}
		}
	}
	return nil
}

// CompareLast evaluates the last result alone, for which an optimiser may leave out other results. Programs that are refused pass.
func (c *Case) CompareLast(ctx context.Context, s *lacuna.Session) error {
	opts := c.Options()
	if c.Strict {
		opts = append(opts, lacuna.StrictIEEE())
	}
	all, err := s.EvalAll(ctx, c.Text, c.args(), opts...)
	if err != nil {
		return nil
	}
	want, err := c.judge(c.Strict)
	if err != nil {
		return fmt.Errorf("%s\noracle: %w", c, err)
	}
	got, err := s.Eval(ctx, c.Text, c.args(), opts...)
	if err == nil {
		err = valid(got)
	}
	if err != nil {
		return c.failure(s, fmt.Errorf("the last result alone: %w", err))
	}
	lines := strings.Split(strings.TrimSpace(c.Text), "\n")
	name := word.FindString(lines[len(lines)-1])
	if got.Format() != all[name].Format() || !got.Fill().Same(all[name].Fill()) {
		return c.failure(s, fmt.Errorf("the last result alone is stored as %s, fill %s, else as %s, fill %s", got.Format(), got.Fill(), all[name].Format(), all[name].Fill()))
	}
	if _, err := c.checkResult(name, got, want[name], c.Strict, &Outcome{}); err != nil {
		return c.failure(s, fmt.Errorf("the last result alone: %w", err))
	}
	return nil
}

// word is a name.
var word = regexp.MustCompile(`\w+`)

// check compares results with the oracle's, element by element, and says whether
// some element is disputed (and then not compared, unless strict).
func (c *Case) check(got lacuna.Outputs, want map[string]*oracle.Dense, strict bool, out *Outcome) (disputed bool, err error) {
	for name, w := range want {
		t := got[name]
		if t == nil {
			return false, fmt.Errorf("no result %s", name)
		}
		if err := valid(t); err != nil {
			return false, fmt.Errorf("%s is not a tensor: %w", name, err)
		}
		d, err := c.checkResult(name, t, w, strict, out)
		if err != nil {
			return false, err
		}
		disputed = disputed || d
	}
	return disputed && !strict, nil
}

// valid rebuilds a tensor from its arrays, with every check.
func valid(t *tensor.Tensor) error {
	_, err := tensor.New(t.Shape(), t.Format(), t.Levels(), t.Values(), tensor.WithFill(t.Fill()))
	return err
}

func (c *Case) checkResult(name string, got *tensor.Tensor, want *oracle.Dense, strict bool, out *Outcome) (disputed bool, err error) {
	if fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape) {
		return false, fmt.Errorf("%s has shape %v, want %v", name, got.Shape(), want.Shape)
	}
	if d := c.Results[name]; d.HasFormat && got.Format() != d.Format || d.DType.Valid() && got.DType() != d.DType {
		return false, fmt.Errorf("%s is stored as %s %s, not as declared", name, got.DType(), got.Format())
	} else if d.Fill != nil && !got.Format().IsDense() && !got.Fill().Same(*d.Fill) {
		return false, fmt.Errorf("%s has fill %s, not as declared", name, got.Fill())
	}
	dense, err := got.ToDense()
	if err != nil {
		return false, err
	}
	for i, w := range want.Values {
		disputed = disputed || w.Disputed
		if w.Open() || w.Disputed && !strict {
			out.Open++
			continue
		}
		out.Elements++
		if g := oracle.FromScalar(dense.Scalar(i)); !w.Accepts(got.DType(), g) {
			return false, fmt.Errorf("%s: element %d is %v, want %v ± %g (format %s, fill %s)",
				name, i, dense.Scalar(i), w.Scalar(got.DType()), w.Err, got.Format(), got.Fill())
		}
	}
	return disputed, c.checkPattern(name, got, want)
}

// Results whose entries arise in no order go through a dense tensor, and lose their zeros; lines that store
// nothing may stay out of the result of a scan, a sort or an order statistic.
var (
	backwards = regexp.MustCompile(`(?m)^\w+\([^)]*-[a-z]`)
	lines     = regexp.MustCompile(`cum|sort_|median_|quantile_`)
)

// checkPattern checks that a sparse result stores what the oracle says is stored. It may not
// where all is, as the value of the rest may be a fill that only a run can tell; and has to store what
// has other values than its fill.
func (c *Case) checkPattern(name string, got *tensor.Tensor, want *oracle.Dense) error {
	if got.Format().HasBlocks() || got.Rank() == 0 || got.Format().Relaxed() || backwards.MatchString(c.Text) {
		return nil
	}
	coords, _, err := got.ToCoords()
	if err != nil {
		return err
	}
	stored := make([]bool, len(want.Values))
	for k := range got.NNZ() {
		p := int64(0)
		for a, n := range want.Shape {
			p = p*n + coords[a][k]
		}
		stored[p] = true
	}
	fill := oracle.FromScalar(got.Fill())
	loose := int(got.NNZ()) == len(want.Values)
	whole := true
	for _, w := range want.Values {
		whole = whole && w.State == oracle.Stored
		loose = loose || w.Disputed || w.State == oracle.Unknown || w.State != oracle.Stored && (w.Err != 0 || !w.Accepts(got.DType(), fill))
	}
	if whole {
		return nil
	}
	for i, w := range want.Values {
		switch {
		case w.State == oracle.Stored && !w.Omissible && !w.Disputed && !stored[i] && !lines.MatchString(c.Text):
			return fmt.Errorf("%s: element %d is not stored (format %s, fill %s)", name, i, got.Format(), got.Fill())
		case w.State != oracle.Stored && !w.Varies && stored[i] && !loose:
			return fmt.Errorf("%s: element %d is stored (format %s, fill %s)", name, i, got.Format(), got.Fill())
		}
	}
	return nil
}

// String describes the case so that a person can repeat it.
func (c *Case) String() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(c.Text, "\n", "\n    "))
	if c.Strict {
		b.WriteString("\n  strict")
	}
	for _, name := range sorted(c.Results) {
		d := c.Results[name]
		fmt.Fprintf(&b, "\n  result %s:", name)
		if d.Shape != nil {
			fmt.Fprintf(&b, " shape %v", d.Shape)
		}
		if d.HasFormat {
			fmt.Fprintf(&b, " format %s", d.Format)
		}
		if d.DType.Valid() {
			fmt.Fprintf(&b, " type %s", d.DType)
		}
		if d.Fill != nil {
			fmt.Fprintf(&b, " fill %s", d.Fill)
		}
	}
	for _, name := range sorted(c.Operands) {
		t := c.Operands[name]
		fmt.Fprintf(&b, "\n  %s: %s %s %v fill %s", name, t.DType(), t.Format(), t.Shape(), t.Fill())
		for k, l := range t.Levels() {
			if l.Crd.Len() > 0 && l.Crd.DType() != tensor.Uint32 {
				fmt.Fprintf(&b, " level %d %s/%s", k, l.Pos.DType(), l.Crd.DType())
			}
		}
		switch stored := c.Stored[name].(type) {
		case *tensor.Tensor:
			fmt.Fprintf(&b, " stored as %s", stored.Structure())
		case *tensor.Parts, *tensor.Blocks:
			fmt.Fprintf(&b, " stored as %s", stored)
		}
		coords, vals, err := t.ToCoords()
		if err != nil {
			fmt.Fprintf(&b, " %v", err)
			continue
		}
		fmt.Fprintf(&b, " coords %v values", coords)
		for i := range vals.Len() {
			fmt.Fprintf(&b, " %s", vals.Scalar(i))
		}
	}
	return b.String()
}

func sorted[T any](m map[string]T) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// isInternal reports whether an error is the compiler's own mistake.
func isInternal(err error) bool {
	var internal *lacuna.InternalError
	return errors.As(err, &internal)
}

// hasCode reports whether an error is one of the language with a code.
func hasCode(err error, code lang.Code) bool {
	var e *lang.Error
	return errors.As(err, &e) && e.Code == code
}
