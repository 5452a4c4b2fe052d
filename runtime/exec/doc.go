// Package exec runs programs: it plans and compiles them for the operands that are declared, binds tensors to them,
// chooses among the alternatives of a step by what a run brings, converts operands, runs the steps, and says what is
// wrong with data in terms of the program. Package lacuna is its face.
//
// The files, in the order in which a program meets them:
//
//	session.go        a session: engine, limits, kernels that were made; eval.go: the kernel for a text and its operands
//	kernel.go         a program planned and compiled, all steps at once; ordersbysizes.go: loops by what operands store; optimise.go: orders of computing
//	run.go            a run, step after step; prepared.go: what follows from patterns found out before; caller.go: operands by position
//	binding.go        operands checked and stored; extents.go, admission.go: whether results fit in memory; describe.go: statistics, on a device
//
//	specialise.go     a step for the index types and the choices of a run; chooseversion.go makes these:
//	workspaces.go     how workspaces store entries; heavy.go: cuts inside rows; privatise.go: copies that scatters add to
//	replan.go         plans to fall back on
//	again.go          runs on a device that are told again
//	lifetime.go       which results are a caller's own; memo.go: what is remembered beside an operand
//	diagnostics.go    errors in data, with their places; warnings.go: what may not be meant, or takes long
//
//	gradient.go       gradients; gradformats.go: how they are stored
//	planahead.go      programs for package aot: planned, not compiled
//	schedule.go       what a schedule says; alternatives.go: programs with other choices, which tune.go measures
//	measure.go        what steps take on this machine
//	explain.go        stages as text; sourcemap.go: where their lines come from; explainchoices.go: what was weighed; profile.go: what it took
package exec
