// Package lang is the front end of the expression language: it turns the text of a
// program into checked statements that the planner trusts.
//
//	y(i) = A(i,j)*x(j) + 1
//
// A program passes through three forms.
//
// Parse reads the text by the grammar in grammar.ebnf and gives a File, the syntax
// tree. The lexer does more than usual: it knows functions from tensors and sees
// sum_j as one word, so that one token decides every choice of the grammar, and it
// bounds nesting before the recursive parser starts. A File prints as a program that
// parses back to it.
//
// Check resolves the names of a File against declarations of the operands and
// gives a Program: every index is a variable, free or bound by one reduction; the sums
// that the Einstein convention leaves out are there (einsum.go); every expression has
// a type and every conversion is a node (typing.go). A Program prints in explicit
// form, in the same language:
//
//	y(i) = sum_j (A(i,j)*x(j)) + 1.0
//
// Programs are generic in extents. Bind computes, for the shapes of given operands, how
// far each index runs and which shapes the results have.
//
// What is wrong with a program is an Error with a code, a place and advice. No text
// makes the package panic, and limits (MaxSource, MaxNesting, MaxHeight, MaxIndices) keep time
// and stack bounded for it and for the stages behind. docs/language.md describes
// the language, docs/errors.md the errors.
package lang
