package mpi

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// affinity is which processors of its machine a process may use, a bit for each.
type affinity [128]byte

func (a affinity) has(p int) bool { return a[p/8]>>(p%8)&1 != 0 }

// share finds out how many processors are this process's. Launchers do not say: that of Open MPI binds processes to processors of their own, that of MPICH lets
// all use all. A container's processes have its quota together. Where the group fails meanwhile, as another rank is through and has found a mistake, the next call tells that.
func (g *Group) share(ctx context.Context) {
	name, err := os.Hostname()
	if err != nil {
		g.Abort(err.Error())
		return
	}
	mine := mayUse()
	out := make([][]byte, g.size)
	for r := range out {
		out[r] = append(mine[:], name...)
	}
	in, err := g.Exchange(ctx, out)
	if err != nil {
		return
	}
	clear(g.sent)
	var here []affinity
	for _, b := range in {
		if len(b) >= len(mine) && string(b[len(mine):]) == name {
			here = append(here, affinity(b))
		}
	}
	g.processors = min(mine.share(here), quota("/sys/fs/cgroup", "/proc/self/cgroup")/float64(max(1, len(here))))
	g.roomy.Store(g.processors >= 1)
}

// share is how many processors a process has if it shares each fairly with those of its machine that may use it, too. It is one of them.
func (a affinity) share(here []affinity) (n float64) {
	for p := range 8 * len(a) {
		if !a.has(p) {
			continue
		}
		users := 0
		for _, other := range here {
			if other.has(p) {
				users++
			}
		}
		n += 1 / float64(users)
	}
	return n
}

// quota is how many processors the control groups of this process may use, with whatever else is in them: the least cpu.max from its own one up (Linux,
// Documentation/admin-guide/cgroup-v2.rst); infinite: as many as there are.
func quota(root, own string) float64 {
	least := math.Inf(1)
	groups, _ := os.ReadFile(own)
	for line := range strings.Lines(string(groups)) {
		path, found := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for ; found; path = filepath.Dir(path) {
			limit, _ := os.ReadFile(filepath.Join(root, path, "cpu.max"))
			var time, period float64
			if n, _ := fmt.Sscan(string(limit), &time, &period); n == 2 && period > 0 {
				least = min(least, time/period)
			}
			found = path != "/" && path != "."
		}
	}
	return least
}

// Processors is how many processors this process may compute with, at least 1: those that it has been bound to, or its share of what it shares with others.
func (g *Group) Processors() int { return max(1, int(g.processors+1e-9)) }
