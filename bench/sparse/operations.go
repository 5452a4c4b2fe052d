package main

import "slices"

// operation is one thing that several sides can do.
type operation struct {
	name, title string
	// sides can do it; ours is among them unless the row is only for information.
	sides []string
	// ways are what peers are asked for if not for name: the fastest counts.
	ways []string
	// loops are what the C side is asked for where it shows what the machine can do: the
	// fastest is in the table, and is no peer.
	loops []string
	// anyPattern: results may differ in explicit zeros.
	anyPattern bool
	// inputs are the only ones that it is for, if not nil.
	inputs []string
	// bytes is how much it reads and writes at least, nil if nobody asks.
	bytes func(in inputFacts) int64
}

// takes reports whether the operation is for an input.
func (o operation) takes(input string) bool {
	return o.inputs == nil || slices.Contains(o.inputs, input)
}

// waysOf are what a side other than ours is asked for.
func (o operation) waysOf(side string) []string {
	switch {
	case side == cLoop && o.loops != nil:
		return o.loops
	case o.ways != nil:
		return o.ways
	}
	return []string{o.name}
}

// isPeer reports whether ours is compared with a side.
func (o operation) isPeer(side string) bool {
	return side != ours && (side != cLoop || o.loops == nil)
}

// suite is a list of operations and the inputs that they are measured on.
type suite struct {
	name, notes string
	inputs      []matrixInput
	operations  []operation
	operands    uint64 // how many matrices of a kind the operations need
	peaksOf     string // the operation whose peak memory is measured, if any
}

var suites = []suite{
	{"results", resultsNotes, inputs, operations, manyOperands, operations[0].name},
	{"reductions", reductionsNotes, append(inputs[:len(inputs):len(inputs)], reductionInputs...), reductions, 1, ""},
}

// Names of the sides, which head the columns.
const (
	ours      = "lacuna"
	scipy     = "SciPy"
	numpy     = "NumPy"
	torch     = "PyTorch"
	eigen     = "Eigen"
	graphblas = "GraphBLAS"
	cLoop     = "C"
	cFast     = "C -ffast-math"
)

// withLibraries can do what all libraries can.
var withLibraries = []string{ours, scipy, eigen, graphblas}

// operations have sparse results.
var operations = []operation{
	{name: "spgemm", title: "A·A, rows sorted", sides: withLibraries},
	{name: "spgemm-unsorted", title: "A·A, rows as they come", sides: []string{ours, scipy, graphblas}},
	{name: "min-plus-spgemm", title: "A·A over (min, +), rows sorted", sides: []string{ours, graphblas}},
	{name: "masked", title: "L·L where L has entries", sides: []string{ours, graphblas}, anyPattern: true},
	{name: "triangles", title: "triangles: sum of L·L where L has entries", sides: []string{ours, graphblas}},
	{name: "sddmm", title: "SDDMM, 64 dense columns", sides: []string{ours, cLoop, cFast}},
	{name: "min-plus-spmv", title: "A·x over (min, +), x dense", sides: []string{ours, graphblas, cLoop, cFast}},
	{name: "add", title: "A+B", sides: withLibraries},
	{name: "add8", title: "sum of 8", sides: withLibraries, ways: []string{"add8", "add8-running"}},
	{name: "add16", title: "sum of 16", sides: withLibraries, ways: []string{"add16", "add16-running"}},
	{name: "csc", title: "CSR to CSC", sides: withLibraries},
	{name: "coo-shuffled", title: "COO to CSR, shuffled", sides: withLibraries},
	{name: "coo-sorted", title: "COO to CSR, sorted", sides: withLibraries},
}

// manyOperands is how many matrices of a kind the longest sum adds.
const manyOperands = 16

// depth is the number of columns of the dense operands of SDDMM.
const depth = 64
