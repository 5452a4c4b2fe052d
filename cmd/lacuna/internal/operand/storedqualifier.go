package operand

import (
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Ways to store an operand other than as one tensor of all its elements.
const (
	hybridParts = "hbcsf"
	mixedParts  = "mmcsf"
)

// setStored reads the value of stored=.
func (q *Qualifiers) setStored(value string) error {
	q.Stored = strings.ToLower(value)
	if q.Stored == hybridParts || q.Stored == mixedParts {
		return nil
	}
	s, err := tensor.ParseStructure(value)
	switch {
	case err != nil:
		return fmt.Errorf("stored=%s: want %s or %s, which are parts, or a triangle: %w", value, hybridParts, mixedParts, err)
	case s == tensor.General:
		q.Stored = ""
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

// Structure is the triangle that the qualifiers ask for, General if none.
func (q Qualifiers) Structure() tensor.Structure {
	s, err := tensor.ParseStructure(q.Stored)
	if err != nil {
		return tensor.General
	}
	return s
}

// Operand stores a tensor as the qualifiers say.
func (q Qualifiers) Operand(name string, t *tensor.Tensor) (tensor.Operand, error) {
	var o tensor.Operand
	var err error
	switch q.Stored {
	case "":
		return t, nil
	case hybridParts:
		o, err = tensor.HBCSF(t, nil)
	case mixedParts:
		o, err = tensor.MMCSF(t)
	default:
		o, err = t.Triangle(q.Structure())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return o, nil
}

// NoParts refuses stored= where there is no program.
func (q Qualifiers) NoParts() error {
	if q.Stored != "" {
		return cli.Usagef("stored=%s is for operands of programs", q.Stored)
	}
	return q.notPlaced()
}

// notPlaced refuses a placement where there are no ranks.
func (q Qualifiers) notPlaced() error {
	if q.Layout != "" {
		return cli.Usagef("%s says what ranks have: it goes with lacuna eval --ranks", q.Layout)
	}
	return nil
}
