package units

import (
	"fmt"
	"math"
)

// Rounded writes a number of iterations, entries or bytes, or a ratio of them, with two digits.
func Rounded(x float64) string {
	if x >= 10 {
		scale := math.Pow(10, math.Floor(math.Log10(x))-1)
		x = math.Round(x/scale) * scale
	}
	unit := ""
	switch {
	case x >= 1e15:
		return fmt.Sprintf("%.0e", x)
	case x >= 1e9:
		x, unit = x/1e9, " billion"
	case x >= 1e6:
		x, unit = x/1e6, " million"
	case x >= 1e3:
		x, unit = x/1e3, " thousand"
	}
	if x < 10 {
		return fmt.Sprintf("%.2g%s", x, unit)
	}
	return fmt.Sprintf("%.0f%s", x, unit)
}
