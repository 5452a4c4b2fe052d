// Package difftest makes random programs with random operands and compares what
// the engines compute with the oracle. The generator writes program text, so
// that parser, checker, planner, lowerer and engines are all on trial.
//
// What the generator avoids by rule, each with the reason where the rule is:
// `in` over tensors that the program makes, reads outside such tensors unless
// their fill is declared, gathers on the left.
package difftest
