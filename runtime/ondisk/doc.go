// Package ondisk keeps for processes to come what takes this one long to find out: machine code of programs (disk.go),
// which LLVM there is and what it says of the processor (host.go), and what steps take on this machine (measuredtimes.go).
// An entry is under a key of everything that it depends on, which executable this is (build_*.go) among it.
package ondisk
