// Package gpu maps programs of loops to the threads of a GPU. Map takes what package
// lower makes, stages whose functions are called once for each chunk of a partition, and
// returns a program that computes the same with stages whose functions are run by a grid
// of blocks: the same inputs and outputs, more stages and temporaries. Whoever compiles
// for a GPU does that, with Lower, before an engine gets the program.
//
// Each stage gets a mapping:
//
//   - elements: a function that does not ask for the number of its chunk is right
//     for any cut, so each thread takes single elements of the domain.
//   - blocked: the same, where rows and columns of a matrix are folded with each other, as in a product of dense
//     matrices: blocks take tiles, and what these share goes through shared memory (blocked.go).
//   - rows: the same, where the elements are rows with loops in them that lanes can
//     share (rows.go), or blocks, if rows are long (wholerows.go). Pairs of coordinates are
//     rows, too (pairs.go).
//   - positions: the same, where most of the time goes into reads of x[crd[p]], at places
//     that the entries tell: a block takes so many entries, whatever their rows (positions.go). If there are few
//     entries in all, one grid of lanes for each row does it (fewrows.go).
//   - columns: the same, where a row adds to a line of a dense result, or folds for each of
//     its elements: lanes share the line and keep its elements, single ones or vectors
//     (columns.go, linefolds.go, vectors.go); long rows are cut into pieces (pieces.go).
//   - line elements: the same, where a row computes a line of a dense result, an element
//     after another, in any type (linestores.go); by vectors, if lines are long (longlines.go).
//   - entries: the same, where a row appends an entry for each of an operand's: teams
//     take entries, whatever their rows (entries.go); where each is a fold over a dense
//     dimension, they share the folds of several (dots.go).
//   - chunks: each thread takes whole chunks, of which there are as many as threads
//     pay for; what every thread has a copy of is cut from one buffer (chunks.go).
//   - blocks: each block takes whole chunks, its threads sharing the loop over them
//     (blocks.go).
//   - independent: the iterations of a loop that is independent (independent.go).
//   - atomics: the iterations of a loop that folds integers into elements (atomics.go).
//   - extremes: the same, by min or max of floats (extremes.go).
//   - updates: the iterations of a loop that folds into elements in order are sorted by
//     their elements and folded (scatter.go, sortpairs.go, foldruns.go).
//   - owners: the same, where they are few: every warp goes through all of them, and
//     does what falls to its elements (owners.go).
//   - serial: one thread does it all, or one block (a few sizes and sums).
//   - prefix: a running sum in three steps (prefix.go).
//
// A stage that has a grid function already stays as it is.
//
// A mapping is a file that registers it: when it is tried among those of such stages, the word that schedules have for
// it, and what the stages do that it makes. It asks facts.go whether it can take a stage, and may give up
// at any point: what it has added until then is taken back.
//
// How a stage was mapped is in its name, which explain shows. The files:
//
//	gpu.go          Lower, Map, the options
//	choose.go       the mappings, which register here, the order in which they are tried, and what a schedule says of it
//	facts.go        what functions tell mappings of their loops: which one goes over what, and what it leaves others
//	describe.go     what the mappings are in words, for explain
//	function.go     a grid function under construction
//	chunks.go       cuts of a domain, and threads that take whole chunks
//
//	elements.go     one thread for each element; pairs.go: pairs of coordinates as elements
//	rows.go         lanes for each row; wholerows.go: blocks; longrows.go: rows that teams leave out; longest.go: whether there are any
//	positions.go    blocks take entries, whatever their rows; fewrows.go: one grid, where there are few
//	entries.go      an entry of the result for each of an operand's; dots.go: each a fold over a dense dimension
//	columns.go      lanes share the line of a dense result that a row adds to or folds:
//	                lines.go recognises the nests, linework.go writes what a thread does, vectors.go by vectors,
//	                linefolds.go where lines are folded, pieces.go where rows are long, line.go where all elements are one line
//	blocked.go      tiles of products of dense matrices
//	linestores.go   elements of a line one after another; longlines.go: tiles of long lines
//	blocks.go       a block for each chunk; shareloops.go: how the threads of a team share a loop
//	independent.go  iterations that touch nothing in common
//	atomics.go      integers folded into elements; extremes.go: min and max of floats
//	updates.go      updates where there are few elements
//	scatter.go      updates that are listed (listupdates.go), sorted (sortpairs.go, flatten.go makes one loop of two)
//	                and folded (foldruns.go); owners.go: where they are few
//	prefix.go       running sums
//	counting.go     loops that only count; folds.go: the folds that a loop contains
package gpu
