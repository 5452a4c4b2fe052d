package ops

import "errors"

// errComplexOrder refuses complex numbers where elements are compared.
var errComplexOrder = errors.New("complex numbers have no order: take abs, real or imag first")

// given is an option by name, and whether a call has it.
type given struct {
	name string
	is   bool
}

// refuse is an error if a call has an option that means nothing to what it does: ignoring it
// would give another result than was asked for.
func (op *operation) refuse(what string, options ...given) error {
	for _, o := range options {
		if o.is {
			return op.failf("%s means nothing to %s: leave it out", o.name, what)
		}
	}
	return nil
}

// ofScans are the options of scans.
func (s *settings) ofScans() []given {
	return []given{{"Exclusive", s.exclusive}, {"Reverse", s.reverse}, {"Steps", s.steps}}
}

// ofSorts are the options of sorts and of unique elements.
func (s *settings) ofSorts() []given {
	return append([]given{{"Descending", s.descending}, {"Smallest", s.smallest}}, s.ofUnique()...)
}

// ofUnique is the option of unique elements.
func (s *settings) ofUnique() []given { return []given{{"Inverse", s.inverse}} }

// ofQuantiles is the option of quantiles.
func (s *settings) ofQuantiles() []given { return []given{{"With", s.method != ""}} }
