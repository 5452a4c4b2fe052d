package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/lang"
)

// Directives are what a schedule says about lowering a step: choices that else wait for a run.
type Directives struct {
	// Workspace is the kind of workspaces ("dense", "hash", "sort"), "" if that is open.
	Workspace string
	// Intersect is how innermost loops intersect two operands: "table" or "merge", "" if that is open.
	Intersect string
	// Assemble is how the entries of a sparse result get their places: "counted", "appended" or "joined"; "" if that is open.
	Assemble string
	// Serial says that one thread runs all loops.
	Serial bool
	// Grain is the work of one chunk of the parallel loop, 0 if that is open.
	Grain int64
	// Unroll is how many iterations of loops are written out at a time, by the names of their indices.
	Unroll map[string]int64
	// Split is in blocks of how many steps loops run, Vectorize how many iterations are one vector's, by the names of their indices.
	Split, Vectorize map[string]int64
	// Tile are loops that stand directly in each other and run block by block.
	Tile []Block
	// Mapping is how stages are mapped to the threads of a GPU, where that is not open.
	Mapping []Mapping
	// Commands are what was asked for, for errors.
	Commands []*lang.Command
}

// Block is how many steps of the loop over an index a block has.
type Block struct {
	Index string
	Steps int64
}

// Mapping is how a stage of a statement's program, or with the name "" all that can, are mapped to the threads of a GPU.
type Mapping struct{ Stage, Way string }

// String is the mapping as an argument of a command.
func (m Mapping) String() string {
	if m.Stage == "" {
		return m.Way
	}
	return m.Stage + ": " + m.Way
}

// Mappings are the words for ways to map a stage, in alphabetical order: those that files of package lower/gpu have added.
var Mappings []string

// AddMapping adds a word for a way to map a stage.
func AddMapping(word string) {
	if at, there := slices.BinarySearch(Mappings, word); !there {
		Mappings = slices.Insert(Mappings, at, word)
	}
}

// Fail is the error of a command, of which there is one, that turns out not to hold once loops are there; nil if it was not
// asked for.
func (d *Directives) Fail(command, why string) error {
	for _, c := range d.Commands {
		if c.Name == command {
			return c.Fail(c.Pos, "", "%s does not hold: %s", c, why)
		}
	}
	return nil
}

// Way is a kind of plan for a statement: with or without workspaces, and with or without
// operands that are stored again.
type Way struct{ Workspaces, Conversions bool }

// String says what a plan of this kind has.
func (w Way) String() string {
	switch {
	case w.Workspaces && w.Conversions:
		return "with a workspace and a conversion"
	case w.Workspaces:
		return "with a workspace"
	case w.Conversions:
		return "with a conversion"
	}
	return "with neither"
}

// WayCost is the cost of the cheapest plan of a kind that was tried, in iterations of its loops, by an estimate
// by the statistics of operands; without any it takes 1000 for an extent and 8 for the entries of a line.
type WayCost struct {
	Way        Way
	Iterations float64
}

// Nest is a nest of loops that was weighed: its order, as arguments of the command, and what it costs in iterations by the estimate
// of WayCost.
type Nest struct {
	Order      string
	Iterations float64
}

// FormatWays writes the comparison as a line of a plan.
func FormatWays(list []WayCost) string {
	var parts []string
	for i, w := range list {
		text := fmt.Sprintf("%s %s", units.Rounded(w.Iterations), w.Way)
		if i == 0 {
			text += " (chosen)"
		}
		parts = append(parts, text)
	}
	if len(list) == 1 {
		parts = append(parts, "nothing else does")
	}
	return "# estimated iterations: " + strings.Join(parts, ", ")
}
