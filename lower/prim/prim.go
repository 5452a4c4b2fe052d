// Package prim lowers scans, sorts and selections of fibres: the elements of a tensor along some of its axes. Each is
// written for one thread that has a part of the work, and for teams of a GPU's threads.
package prim

import "github.com/lacuna-sparse/lacuna/ir/loop"

// Options steer lowering.
type Options struct {
	// Coordinates and Positions are the types of the result's index arrays.
	Coordinates, Positions loop.Type
	// Grids is for engines that share loops among threads.
	Grids bool
	// Grain, when not 0, is the work of one chunk of every parallel loop, so that
	// tests cut small data too.
	Grain int64
}
