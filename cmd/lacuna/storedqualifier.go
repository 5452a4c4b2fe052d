package main

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Ways to store an operand other than as one tensor of all its elements.
const (
	hybridParts = "hbcsf"
	mixedParts  = "mmcsf"
)

// setStored reads the value of stored=.
func (q *qualifiers) setStored(value string) error {
	q.stored = strings.ToLower(value)
	if q.stored == hybridParts || q.stored == mixedParts {
		return nil
	}
	s, err := tensor.ParseStructure(value)
	switch {
	case err != nil:
		return fmt.Errorf("stored=%s: want %s or %s, which are parts, or a triangle: %w", value, hybridParts, mixedParts, err)
	case s == tensor.General:
		q.stored = ""
	}
	return nil
}

// storedWords are what stored= takes.
func storedWords() []string {
	words := []string{hybridParts, mixedParts}
	for s := tensor.General + 1; s.Lower() || s.Upper(); s++ {
		words = append(words, s.String())
	}
	return words
}

// structure is the triangle that the qualifiers ask for, General if none.
func (q qualifiers) structure() tensor.Structure {
	s, err := tensor.ParseStructure(q.stored)
	if err != nil {
		return tensor.General
	}
	return s
}

// operand stores a tensor as the qualifiers say.
func (q qualifiers) operand(name string, t *tensor.Tensor) (tensor.Operand, error) {
	var o tensor.Operand
	var err error
	switch q.stored {
	case "":
		return t, nil
	case hybridParts:
		o, err = tensor.HBCSF(t, nil)
	case mixedParts:
		o, err = tensor.MMCSF(t)
	default:
		o, err = t.Triangle(q.structure())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

// noParts refuses stored= where there is no program.
func (q qualifiers) noParts() error {
	if q.stored != "" {
		return usagef("stored=%s is for operands of programs", q.stored)
	}
	return q.notPlaced()
}

// notPlaced refuses a placement where there are no ranks.
func (q qualifiers) notPlaced() error {
	if q.layout != "" {
		return usagef("%s says what ranks have: it goes with lacuna eval --ranks", q.layout)
	}
	return nil
}
