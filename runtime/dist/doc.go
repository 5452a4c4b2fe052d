// Package dist runs programs on a group of ranks, each of which has a part of every tensor. It cuts a statement along one of
// its indices, so that a rank computes the part of the result that belongs to its coordinates, or adds up over them; finds out from the
// patterns what each rank needs of the others' parts (inspector); has it brought over, and runs the kernels that there are
// on what has come (executor). The inspector's findings are kept as long as the patterns stay the same. The split is that of Saltz et al.,
// "Run-Time Parallelization and Scheduling of Loops", IEEE Trans. Computers 40(5), 1991; cutting by the placements of
// tensors is that of Yadav et al., "SpDISTAL", SC 2022.
//
// No transport adds anything up. Where a sum is not cut its bits are those of one rank; where it is, the ranks' parts are added
// in a tree that depends on the number of ranks alone (combine.go).
//
// The files:
//
//	rank.go           one rank; tensor.go: its part of a tensor; program.go: programs on ranks
//	statement.go      one statement, with what is known of its tensors; cuttable.go: along which indices it can be cut, and why not along others
//	choose.go         along which it is; spread.go: what is known of entries for that; propose.go: where operands best are; forecast.go: what will be sent
//	step.go           a statement inspected and run; agreement.go: whether what was found still holds
//	inspect.go        which coordinates of operands a rank needs
//	fetch.go          which values go where; match.go: where they are in arrays; getting.go: on their way; overlap.go: what is computed meanwhile
//	direct.go         from device to device; ondevice.go: a rank's arrays on its device
//	summands.go       parts of sums on their way; combine.go adds them up
//	shares.go         entries that ranks have read, dealt out; slab.go: blocks for what ranks write
package dist
