package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/units"
)

// FormatDuration writes a duration with three digits or so.
func FormatDuration(d time.Duration) string {
	for _, u := range []struct {
		size time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if d >= u.size {
			return fmt.Sprintf("%.3g %s", float64(d)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d ns", d.Nanoseconds())
}

// FormatShape writes extents as "3x4"; a tensor of rank 0 is a "scalar".
func FormatShape(shape []int64) string {
	if len(shape) == 0 {
		return "scalar"
	}
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = strconv.FormatInt(n, 10)
	}
	return strings.Join(parts, "x")
}

// Elements is the number of elements of a shape, which may exceed 64 bits.
func Elements(shape []int64) float64 {
	n := 1.0
	for _, d := range shape {
		n *= float64(d)
	}
	return n
}

// Printable is a text of a file without what would change a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, text)
}

// FormatElements writes how many elements a shape has, whatever its size.
func FormatElements(shape []int64) string {
	n := Elements(shape)
	if n < 1<<53 {
		return units.FormatCount(int64(n))
	}
	return fmt.Sprintf("%.3g", n)
}
