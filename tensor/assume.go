package tensor

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// assumedExponent is that of values of which nothing is said.
const assumedExponent = 10

// An assumption is a number of entries: "16 per row", "at most 300 per column", "2e6 in all", "4 per slice of axis 2".
var (
	assumedCount = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(at most )?(\S+) (?:per (row|column|slice of axis (\d+))|(in all))$`)
	})
	assumedValues = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^values below (\S+)$`) })
)

// ParseStatistics reads what somebody assumes of a tensor that is not there yet: its extents, and how many entries it has, on average or at most, such as
//
//	1e6x1e6, 16 per row, at most 2000 per column
//	300x300x300, 2e5 in all, values below 1e9
//	1e6
//
// without entries it is full. What is no such text is a [*ParseError]. Entries are taken to be spread evenly, where nothing is said of the most, and values to be finite and below 1024 in size.
func ParseStatistics(text string) (*Statistics, error) {
	wrong := func(part, why string) (*Statistics, error) {
		return nil, &ParseError{Text: strings.TrimSpace(part), Msg: "not an assumption about a tensor", Hint: why + "; write 1e6x1e6, 16 per row"}
	}
	parts := strings.Split(text, ",")
	s := &Statistics{Entries: 1, Finite: true, Exponent: assumedExponent}
	for extent := range strings.SplitSeq(strings.TrimSpace(parts[0]), "x") {
		n, err := assumedNumber(strings.TrimSpace(extent))
		if err != nil {
			return wrong(parts[0], err.Error())
		}
		s.Axes = append(s.Axes, AxisStatistics{Extent: n})
		s.Entries *= n
	}
	most := make([]float64, len(s.Axes))
	full := s.Entries
	for _, part := range parts[1:] {
		part = strings.Join(strings.Fields(part), " ")
		if m := assumedValues().FindStringSubmatch(part); m != nil {
			n, err := assumedNumber(m[1])
			if err != nil {
				return wrong(part, err.Error())
			}
			s.Exponent = int(math.Ceil(math.Log2(n))) + 1
			continue
		}
		m := assumedCount().FindStringSubmatch(part)
		if m == nil {
			return wrong(part, "expected a number of entries per row, per column, per slice of axis 2 or in all")
		}
		n, err := assumedNumber(m[2])
		if err != nil {
			return wrong(part, err.Error())
		}
		axis := map[string]int{"row": 0, "column": 1}[m[3]]
		if m[4] != "" {
			axis, _ = strconv.Atoi(m[4])
		}
		switch {
		case m[5] != "" && m[1] == "":
			s.Entries = n
		case m[5] != "":
			return wrong(part, "at most goes with a row, a column or a slice")
		case axis < 0 || axis >= len(s.Axes):
			return wrong(part, fmt.Sprintf("there are %d axes", len(s.Axes)))
		case m[1] != "":
			most[axis] = n
		default:
			s.Entries = n * s.Axes[axis].Extent
		}
	}
	if s.Entries > full {
		return wrong(text, fmt.Sprintf("there are only %g elements", full))
	}
	for i := range s.Axes {
		s.Axes[i].assume(s.Entries, most[i], full)
	}
	return s.named(), nil
}

// assumedNumber reads a positive number.
func assumedNumber(text string) (float64, error) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil || !(n > 0) || n > 1<<62 {
		return 0, fmt.Errorf("expected a number above 0 and not above 2^62, found %q", text)
	}
	return n, nil
}

// assume describes an axis of which so many entries are spread evenly, but for one coordinate that has most, if most is not 0.
func (a *AxisStatistics) assume(n, most, full float64) {
	a.NonEmpty = min(a.Extent, n)
	mean := n / a.NonEmpty
	a.Longest = min(max(mean, most), full/a.Extent)
	a.Squares = n * mean
	if n < full { // at random: the counts are about those of Poisson
		a.Squares += n
		if most == 0 {
			a.Longest = min(mean+4*math.Sqrt(mean)+1, full/a.Extent)
		}
	}
	a.Squares = min(max(a.Squares, a.Longest*a.Longest), n*a.Longest)
}
