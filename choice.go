package lacuna

import (
	"fmt"
	"github.com/lacuna-sparse/lacuna/runtime"
	"math"
	"math/bits"
	goruntime "runtime"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
)

// choice is what a compiled step depends on besides the types of its operands'
// arrays: decisions that wait for the extents and entry counts of a run.
type choice struct {
	crd  loop.Type // of the result's coordinates
	work lower.WorkspaceKind
	// tables makes the plan's tables.
	tables bool
	// assembly is how sparse results are assembled.
	assembly lower.Assembly
}

// oneThread reports whether runs of the kernel use one thread only.
func (k *planned) oneThread() bool {
	if runtime.OnGrids(k.session.engine) {
		return false
	}
	return k.options.Threads == 1 || k.options.Threads == 0 && goruntime.GOMAXPROCS(0) == 1
}

// assembly is how sparse results are assembled where nothing of it is kept for later
// runs: without counting the entries first, if that is possible.
func (k *planned) assembly() lower.Assembly {
	switch {
	case runtime.OnGrids(k.session.engine):
		return lower.Counted
	case k.oneThread():
		return lower.Appended
	}
	return lower.Joined
}

// small reports whether one thread, which need not count the entries of the result
// first, is done before several would be. They do 1.8 times the work of it at least,
// and have to be woken twice, while it goes through handOver entries. It is for steps
// that several threads do not do in one pass, and without workspaces, the work of which
// the entries tell.
func (k *Kernel) small(st *step, b *stepBinding, v *variant, vals values) bool {
	const handOver, counted = 1 << 15, 1.8
	c, ok := st.plan.(*ir.Compute)
	if onePass := v.assembly == lower.Joined && v.lower.OnePass; !ok || onePass || c.Result.Format.IsDense() || len(c.Workspaces) > 0 || b.tabled > 0 || k.session.grain > 0 {
		return false
	}
	threads := goruntime.GOMAXPROCS(0)
	if k.options.Threads > 0 {
		threads = min(threads, k.options.Threads)
	}
	return float64(v.entries(vals))*(float64(threads)-counted) < handOver*float64(threads)
}

// patience is after how many small runs the program for them is compiled: compiling
// takes as long as what so many lose without it.
const patience = 32

// workspaceKeys is the largest number of elements that one of the step's
// workspaces stands for, 0 if it has none; not ok if that does not fit 63 bits.
func workspaceKeys(c *ir.Compute, extents []int64) (most int64, ok bool) {
	for _, w := range c.Workspaces {
		keys := uint64(1)
		if slices.ContainsFunc(w.Indices, func(x ir.IndexExpr) bool { return extents[x.Plain().ID] == 0 }) {
			continue
		}
		for _, x := range w.Indices { // plain
			hi, lo := bits.Mul64(keys, uint64(extents[x.Plain().ID]))
			if hi != 0 || lo >= math.MaxInt64 {
				return 0, false
			}
			keys = lo
		}
		most = max(most, int64(keys))
	}
	return most, true
}

// A workspace with a place for each key is the fastest as long as the places stay
// within reach of the caches or within the size of the operands.
const (
	denseKeys = 1 << 20
	// On grids each of thousands of threads has such a workspace.
	gridKeys = 1 << 12
	// Up to so many operand entries a sorted list will do: it may have as many
	// elements as there are pairs of them.
	sortEntries = 1 << 8
)

// keysError says that no plan has workspaces with few enough keys: several
// dimensions into which values are scattered must be gathered at once.
func keysError(c *ir.Compute) *lang.Error {
	e := lang.Unsupported("scattering into dimensions whose extents multiply to 2^63 or more", c.Stmt.LHS.Pos)
	e.Hint = fmt.Sprintf("store %s so that its outermost levels are indexed plainly, or use smaller extents", c.Result.Name)
	return e
}

// tableKeys is the largest number of places that one of the step's tables has, 0 if
// it has none.
func tableKeys(c *ir.Compute, extents []int64) int64 {
	var most int64
	for _, t := range c.Tables {
		most = max(most, extents[t.Index.ID])
	}
	return most
}

// mayTabulate reports whether a step has tables to choose. On grids those of a scatter are not made: a table is
// for a loop that one thread goes through, and the updates are shared only without.
func (k *planned) mayTabulate(st *step) bool {
	if c, ok := st.plan.(*ir.Compute); ok && c.Scatter && c.Result.Format.IsDense() && runtime.OnGrids(k.session.engine) {
		return false
	}
	return len(st.tables()) > 0
}

// placesPerEntry bounds the places of a table, which all have to be cleared first,
// for each entry of the operands.
const placesPerEntry = 16

// tables decides whether tables are made, with a place for each of keys: as long as
// those stay within reach of the caches or within the size of the operands.
func (k *Kernel) tables(keys int64, v *variant, vals values) bool {
	if keys > lower.MaxTableKeys || k.session.workspace(lower.DenseWorkspace) != lower.DenseWorkspace {
		return false
	}
	entries := v.entries(vals)
	return keys <= sortEntries || keys <= entries || keys <= denseKeys && keys/placesPerEntry <= entries
}

// galloping bounds the entries of a line for each entry of a vector that is in a table: a merge takes the vector's,
// times what finding each in the line costs, and the table all of the line's.
const galloping = 32

// gallops reports whether merges with a vector of few entries take less than a table of it.
func (k *Kernel) gallops(st *step, b *stepBinding, v *variant, vals values) bool {
	c := st.plan.(*ir.Compute)
	for _, t := range c.Tables {
		if len(t.Access.Indices) != 1 {
			return false
		}
		few := vals[t.Access.Tensor.ID].NNZ()
		others := v.entries(vals) - few
		for _, x := range c.Indices {
			if x != t.Index && b.indices[x.ID] > 0 {
				others /= b.indices[x.ID]
			}
		}
		if others/galloping <= few {
			return false
		}
	}
	return true
}

// entries is the number of elements that the operands of a variant store.
func (v *variant) entries(vals values) int64 {
	var entries int64
	for _, in := range v.lower.Inputs {
		if in.Kind == lower.Values {
			entries += vals[in.Tensor.ID].NNZ()
		}
	}
	return entries
}

// workspaceKind chooses how workspaces store their entries.
func (k *Kernel) workspaceKind(keys, entries int64) lower.WorkspaceKind {
	if runtime.OnGrids(k.session.engine) && keys > gridKeys {
		return k.session.workspace(lower.HashWorkspace)
	}
	if keys <= denseKeys {
		return k.session.workspace(lower.DenseWorkspace)
	}
	switch {
	case keys <= entries:
		return k.session.workspace(lower.DenseWorkspace)
	case entries <= sortEntries:
		return k.session.workspace(lower.SortWorkspace)
	}
	return k.session.workspace(lower.HashWorkspace)
}

// whyWorkspace explains the kind of a step's workspaces.
func (k *Kernel) whyWorkspace(st *step, v *variant) string {
	c, ok := st.plan.(*ir.Compute)
	if !ok || len(c.Workspaces) == 0 {
		return ""
	}
	kind, keys, entries := v.choice.work, st.keys.Load(), st.entries.Load()
	switch {
	case k.session.work != "":
		return "workspaces: asked for"
	case keys == 0:
		return fmt.Sprintf("workspaces: %s until a run tells the extents", kind)
	case kind == lower.DenseWorkspace && keys <= denseKeys:
		return fmt.Sprintf("workspaces: %s, as %s keys are no more than %s: %s for each thread", kind, withCommas(keys), withCommas(denseKeys), placesSize(c, keys))
	case kind == lower.DenseWorkspace:
		return fmt.Sprintf("workspaces: %s, as %s keys are no more than the operands have entries, %s: %s for each thread",
			kind, withCommas(keys), withCommas(entries), placesSize(c, keys))
	case runtime.OnGrids(k.session.engine):
		return fmt.Sprintf("workspaces: %s, as each of thousands of threads would need %s for a place for each of %s keys", kind, placesSize(c, keys), withCommas(keys))
	case kind == lower.SortWorkspace:
		return fmt.Sprintf("workspaces: %s, as %s keys are too many for a place each (%s), and the operands have only %s entries",
			kind, withCommas(keys), placesSize(c, keys), withCommas(entries))
	}
	return fmt.Sprintf("workspaces: %s, as %s keys are too many for a place each (%s), and the operands have %s entries, too many for a list to sort",
		kind, withCommas(keys), placesSize(c, keys), withCommas(entries))
}

// placesSize is the memory of a dense workspace: a value and a bit for each key.
func placesSize(c *ir.Compute, keys int64) string {
	size := 0.0
	for _, w := range c.Workspaces {
		size = max(size, float64(keys)*(float64(w.Tensor.DType.Size())+1.0/8))
	}
	for _, unit := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		if size < 1024 {
			return fmt.Sprintf("%.3g %s", size, unit)
		}
		size /= 1024
	}
	return fmt.Sprintf("%.3g PiB", size)
}

// withCommas writes a number with commas between thousands.
func withCommas(n int64) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// workspace is the given kind, unless a debugging switch asks for another.
func (s *Session) workspace(kind lower.WorkspaceKind) lower.WorkspaceKind {
	for _, forced := range []lower.WorkspaceKind{lower.DenseWorkspace, lower.HashWorkspace, lower.SortWorkspace} {
		if s.work == forced.String() {
			return forced
		}
	}
	return kind
}
