package exec

import (
	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lower"
)

// workspaceKind chooses how workspaces store their entries: with a place for each key as long as the places stay
// within reach of the caches or within the size of the operands.
func (k *Kernel) workspaceKind(keys, entries int64) lower.WorkspaceKind {
	if k.env.OnGrids() && keys > cost.GridKeys {
		return k.env.workspace(lower.HashWorkspace)
	}
	if keys <= k.env.limits().DenseKeys {
		return k.env.workspace(lower.DenseWorkspace)
	}
	switch {
	case keys <= entries:
		return k.env.workspace(lower.DenseWorkspace)
	case entries <= cost.SortEntries:
		return k.env.workspace(lower.SortWorkspace)
	}
	return k.env.workspace(lower.HashWorkspace)
}

// workspace is the given kind, unless a debugging switch asks for another.
func (env *environment) workspace(kind lower.WorkspaceKind) lower.WorkspaceKind {
	for _, forced := range []lower.WorkspaceKind{lower.DenseWorkspace, lower.HashWorkspace, lower.SortWorkspace} {
		if env.work == forced.String() {
			return forced
		}
	}
	return kind
}
