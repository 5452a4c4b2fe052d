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
	return k.env.workspace(workspaceFor(keys, entries, k.env.limits()))
}

// workspaceFor is the kind for so many keys and entries of the operands on a processor.
func workspaceFor(keys, entries int64, limits *cost.Limits) lower.WorkspaceKind {
	switch {
	case keys <= limits.DenseKeys || keys <= entries:
		return lower.DenseWorkspace
	case entries <= cost.SortEntries:
		return lower.SortWorkspace
	}
	return lower.HashWorkspace
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
