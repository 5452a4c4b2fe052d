package product

import "github.com/lacuna-sparse/lacuna/ir/loop"

// Nest is the nest of the result in a function.
type Nest struct {
	// Entries are how many entries have been appended to each segment.
	Entries []*loop.Ref
	// Lead is told when a thread is the one of a team that stores what all have.
	Lead func(leader loop.Expr)
	// Run writes the nest, with the parts that a team takes over.
	Run func(t *Team)
}

// Loop is a loop of the nest that is about to be written.
type Loop struct {
	Begin, End loop.Expr
	// Visit writes the body for position or index p of the loop.
	Visit func(p loop.Expr)
	// Plain says that the loop is no more than its body for each p from Begin to End, so
	// that other threads may run other turns.
	Plain bool
	// Narrow gives the ends of the part of the loop with indices from lo to below hi.
	Narrow func(lo, hi loop.Expr) (begin, end loop.Expr)
	// Root: it is the outermost one, over rows. Inner: each turn puts one value into the workspace. Outer: it stands around such a one.
	Root, Inner, Outer bool
	Columns            bool // an inner one goes through columns
}

// Row is what is to be made of a row.
type Row struct {
	Coords  []loop.Expr // of the levels of the last segment but the last one
	Produce func()      // writes the loops that put values into the workspace
	// Others are operands whose entries are taken, whether the workspace has them or not. It is not ok where more than
	// entries are.
	Others func() (list []Keys, ok bool)
	// Choose calls take, where the result has an entry of a column, with what gives its value; value, nil in a
	// function that counts, gives that of the workspace.
	Choose func(column loop.Expr, value func() loop.Expr, take func(result func() loop.Expr))
}

// Keys are a loop over entries of an operand whose columns Key gives.
type Keys struct {
	Loop
	Key func(p loop.Expr) loop.Expr
}
