package mpi

import (
	"context"
	"os"
)

// affinity is which processors of its machine a process may use, a bit for each.
type affinity [128]byte

func (a affinity) has(p int) bool { return a[p/8]>>(p%8)&1 != 0 }

// share finds out how many processors are this process's. Launchers do not say: that of Open MPI binds processes to processors of their own, that of MPICH lets
// all use all. Where the group fails meanwhile, as another rank is through and has found a mistake, the next call tells that.
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
	g.processors = mine.share(here)
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

// Processors is how many processors this process may compute with, at least 1: those that it has been bound to, or its share of what it shares with others.
func (g *Group) Processors() int { return max(1, int(g.processors+1e-9)) }
