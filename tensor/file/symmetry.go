package file

import (
	"bytes"
	"fmt"
	"math"
)

// symmetry says which entries of a matrix a file leaves out because others
// imply them.
type symmetry uint8

const (
	general       symmetry = iota
	symmetric              // a(j,i) = a(i,j)
	skewSymmetric          // a(j,i) = -a(i,j), zero on the diagonal
	hermitian              // a(j,i) = conj a(i,j), real on the diagonal
)

// restrict narrows the values that v accepts to those whose mirror image it can
// hold too, or says why there are none.
func (sym symmetry) restrict(v *valueSpec) error {
	if sym != skewSymmetric {
		return nil
	}
	if v.class == uintClass {
		return fmt.Errorf("a skew-symmetric matrix has negative values, which %v cannot hold", v.dtype)
	}
	v.lo = -int64(v.hi)
	return nil
}

// mirror turns the value of entry (i,j) into that of (j,i).
func (sym symmetry) mirror(v *valueSpec, w *[2]uint64) {
	switch sym {
	case skewSymmetric:
		v.negate(w)
	case hermitian:
		v.conjugate(w)
	}
}

// checkDiagonal says what is wrong with value w on the diagonal; "" if nothing is.
func (sym symmetry) checkDiagonal(v *valueSpec, w *[2]uint64) string {
	switch {
	case sym == skewSymmetric && !v.zero(w):
		return "the diagonal of a skew-symmetric matrix is zero, but this entry is not"
	case sym == hermitian && math.Float64frombits(w[1]) != 0:
		return "the diagonal of a hermitian matrix is real, but this entry is not"
	}
	return ""
}

// entrySpec describes the lines of a coordinate text: rank indices and a value.
type entrySpec struct {
	value   valueSpec
	rank    int
	dims    []uint64 // exclusive bound of the indices of each axis, counted from 0
	base    uint64   // the index that means the first: 0 or 1
	sym     symmetry // other than general: rank is 2
	comment byte     // a line that starts with it is skipped
	several bool     // an entry need not have a line of its own: values of a dense text, whose rank is 0 here
	leading bool     // what stands on a line behind the entry is not looked at
}

// minBytes returns the fewest bytes that an entry takes up in the text: a
// character and a separator for every field.
func (s *entrySpec) minBytes() int64 { return 2 * int64(max(1, s.rank+s.value.tokens)) }

// reserve makes room in b for all the entries that its text can hold.
func (s *entrySpec) reserve(b *batch) {
	n := len(b.data)/int(s.minBytes()) + 1
	if s.sym != general {
		n *= 2
	}
	if len(b.coords) != s.rank {
		b.coords = make([][]int64, s.rank)
	}
	for k := range b.coords {
		if len(b.coords[k]) < n {
			b.coords[k] = make([]int64, n)
		}
	}
	if len(b.words) < n*s.value.words {
		b.words = make([]uint64, n*s.value.words)
	}
}

// parse reads the entries of a block.
func (s *entrySpec) parse(b *batch) {
	s.reserve(b)
	d, coords, wide := b.data, b.coords, s.value.words == 2
	p, stored := 0, 0
	var w [2]uint64
	for p < len(d) {
		switch c := d[p]; {
		case c == '\n':
			p++
			b.lines++
			continue
		case blank(c):
			p++
			continue
		case c == s.comment:
			p = lineEnd(d, p)
			continue
		case b.entries == b.limit:
			b.fail(b.lines, "too many entries")
			return
		}
		for k := range coords {
			for blank(d[p]) {
				p++
			}
			v, end, st := scanUint(d, p)
			v -= s.base // 0 wraps round and fails the bound if indices start at 1
			if st != numOK || v >= s.dims[k] || d[end] > ' ' {
				b.fail(b.lines, s.explainIndex(d, p, k))
				return
			}
			coords[k][stored] = int64(v)
			p = end
		}
		for blank(d[p]) {
			p++
		}
		end, st := s.value.scan(d, p, &w)
		if st != numOK || d[end] > ' ' && s.value.tokens > 0 {
			b.fail(b.lines, s.explainValue(d, p, st))
			return
		}
		p = skipBlanks(d, end)
		if s.leading {
			p += bytes.IndexByte(d[p:], '\n')
		}
		if d[p] != '\n' && !s.several {
			b.fail(b.lines, fmt.Sprintf("unexpected %s after the entry: expected %s on a line",
				quote(d[p:tokenEnd(d, p)]), s.fields()))
			return
		}
		b.entries++
		if wide {
			b.words[2*stored], b.words[2*stored+1] = w[0], w[1]
		} else {
			b.words[stored] = w[0]
		}
		stored++
		if s.sym != general {
			i, j := coords[0][stored-1], coords[1][stored-1]
			if i == j {
				if msg := s.sym.checkDiagonal(&s.value, &w); msg != "" {
					b.fail(b.lines, msg)
					return
				}
			} else {
				s.sym.mirror(&s.value, &w)
				coords[0][stored], coords[1][stored] = j, i
				if wide {
					b.words[2*stored], b.words[2*stored+1] = w[0], w[1]
				} else {
					b.words[stored] = w[0]
				}
				stored++
			}
		}
		b.stored = stored
	}
}

// fields describes a line.
func (s *entrySpec) fields() string {
	indices := "no index"
	switch {
	case s.rank == 1:
		indices = "one index"
	case s.rank > 1:
		indices = fmt.Sprintf("%d indices", s.rank)
	}
	switch s.value.tokens {
	case 0:
		return indices + " (and no value)"
	case 1:
		return indices + " and a value"
	}
	return indices + " and two numbers (real, imaginary)"
}

// explainIndex says what is wrong with the index of axis k at d[p:].
func (s *entrySpec) explainIndex(d []byte, p, k int) string {
	field := d[p:tokenEnd(d, p)]
	if len(field) == 0 {
		return fmt.Sprintf("the line ends early: expected %s", s.fields())
	}
	v, end, st := scanUint(d, p)
	first, last := s.base, s.dims[k]-1+s.base
	switch {
	case end != p+len(field) && field[0] == '-':
		return fmt.Sprintf("negative index %s", quote(field))
	case end != p+len(field):
		return fmt.Sprintf("%s is not an index: expected %s on a line", quote(field), s.fields())
	case st == numOK && v == 0 && s.base == 1:
		return "index 0: indices start at 1 (if this file counts from 0, read it with IndexBase(0), on the command line :base=0)"
	case s.dims[k] == 0:
		return fmt.Sprintf("index %s of axis %d, which has size 0", field, k)
	case s.dims[k] == math.MaxInt64:
		return fmt.Sprintf("index %s is beyond the largest possible, 2^63-1", quote(field))
	}
	return fmt.Sprintf("index %s of axis %d is out of range: expected %d to %d", field, k, first, last)
}

// explainValue says what is wrong with the value at d[p:].
func (s *entrySpec) explainValue(d []byte, p int, st numStatus) string {
	if st == numOK {
		st = numSyntax // rubbish sticks to the number
	}
	if s.value.tokens == 2 {
		if _, first, ok := s.value.scanFloat(d, p); ok == numOK && d[first] <= ' ' {
			p = skipBlanks(d, first) // the real part is fine
		}
	}
	if d[p] == '\n' {
		return fmt.Sprintf("the line ends early: expected %s", s.fields())
	}
	return s.value.explain(d, p, st)
}
