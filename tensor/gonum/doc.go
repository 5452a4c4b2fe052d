// Package gonum has tensors as matrices and graphs of gonum.org/v1/gonum, and those as tensors. It is the only one that
// depends on gonum.
//
// Memory is shared where both sides store elements alike: what is shared must not be written to afterwards, on either side.
package gonum
