package runtime

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/admission"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A result whose entries are counted before they are stored may have so many that
// counting them takes hours, only for the memory limit to refuse it. So counts are added
// up as chunks end. Once no memory within the limit holds what was counted, counting goes on
// for a while, since the error can name the size if it comes to an end, and then the
// run is refused.

// entryBytes is what an entry takes at least: a coordinate.
const entryBytes = 4

// patience is how long a stage may count entries for an error alone. Tests change it.
var patience = 4 * time.Second

// tallyPlan says where the chunks of a stage store what they count: chunk c at
// first + c*stride of an I64 buffer.
type tallyPlan struct {
	buffer        loop.BufferID
	first, stride int64
}

// findTallies notes which stages count the entries of levels, chunk by chunk: those that
// write what a later stage sums, up to a limit, one count for each chunk.
func (p *plan) findTallies() {
	for j := range p.program.Stages {
		for _, sum := range p.program.Stages[j].Prefixes {
			n, ok := sum.N.(loop.SizeScalar)
			if !ok || sum.Limit <= 0 || sum.Total < 0 || p.program.Buffers[sum.Buffer].Elem != loop.I64 {
				continue
			}
			for i := j - 1; i >= 0; i-- {
				s := &p.program.Stages[i]
				if s.Func == nil || !slices.Contains(s.Bufs, sum.Buffer) {
					continue
				}
				if s.Partition >= 0 && p.program.Partitions[s.Partition].Chunks == loop.ScalarID(n) {
					p.stages[i].tallies = append(p.stages[i].tallies, tallyPlan{sum.Buffer, sum.First, sum.Stride})
				}
				break
			}
		}
	}
}

// tally adds up what the chunks of one stage count.
type tally struct {
	plans  []tallyPlan
	mem    []Memory
	counts []atomic.Int64 // by plan
	begun  time.Time
	most   atomic.Int64 // entries that may fit

	mu      sync.Mutex
	account *admission.Account
	option  int64
	machine func() admission.Machine
}

// open starts adding up for a stage.
func (t *tally) open(s *state, st *stagePlan, o Options, machine func() admission.Machine) {
	t.plans, t.mem, t.account, t.option, t.machine = st.tallies, s.mem, &s.account, o.MemoryLimit, machine
	if len(t.counts) < len(st.tallies) {
		t.counts = make([]atomic.Int64, len(st.tallies))
	}
	for i := range t.counts {
		t.counts[i].Store(0)
	}
	t.most.Store((s.account.Limit - s.account.InUse) / entryBytes)
	if o.Spill != nil {
		t.most.Store(math.MaxInt64)
	}
	t.begun = time.Now()
}

// add takes the counts of a chunk, and reports whether to go on.
func (t *tally) add(chunk int64) bool {
	for i, p := range t.plans {
		m := t.mem[p.buffer]
		n, ok := loadInt(m, loop.I64, p.first+chunk*p.stride)
		if !ok || n < 0 || n > math.MaxInt64/2 {
			return true // the sum will say
		}
		if sum := t.counts[i].Add(n); sum > t.most.Load() && !t.mayFit(sum) && time.Since(t.begun) > patience {
			return false
		}
	}
	return true
}

// mayFit looks at the machine's memory, if that was not done yet.
func (t *tally) mayFit(entries int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.account.Settled {
		t.account.Settle(t.option, t.machine())
		t.most.Store((t.account.Limit - t.account.InUse) / entryBytes)
	}
	return entries <= t.most.Load()
}

// admits refuses a run of which it is known beforehand that its result does not fit.
func (x *Executable) admits(s *state, b *Bindings, o Options) error {
	need := bytesOf(b.Entries, b.EntryBytes)
	if o.Spill != nil || s.account.Fits(need) {
		return nil
	}
	if !s.account.Settled {
		s.account.Settle(o.MemoryLimit, x.memory.Machine())
	}
	if s.account.Fits(need) {
		return nil
	}
	return &MemoryLimitError{Program: s.plan.program.Name, Len: b.Entries, Need: need, AtLeast: true,
		Limit: s.account.Limit, Source: s.account.Source}
}

// tooMany is the error of a run whose result has more entries than fit.
func (s *state) tooMany(st *stagePlan) error {
	most := s.tally.most.Load()
	return &MemoryLimitError{Program: s.plan.program.Name, Stage: st.name, Len: most, Need: bytesOf(most, entryBytes), AtLeast: true,
		InUse: s.account.InUse, Limit: s.account.Limit, Source: s.account.Source}
}
