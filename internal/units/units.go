// Package units reads and writes sizes as people do.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteUnits are the units of sizes, longest spelling first. Those with an i
// and the single letters are powers of 1024.
var byteUnits = []struct {
	name   string
	factor float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"T", 1 << 40}, {"B", 1},
}

// ParseBytes reads a size in bytes such as "512MiB", "2G" or "1e9". It is at least 1.
func ParseBytes(s string) (int64, error) {
	number, factor := s, 1.0
	for _, u := range byteUnits {
		if len(s) > len(u.name) && strings.EqualFold(s[len(s)-len(u.name):], u.name) {
			number, factor = strings.TrimSpace(s[:len(s)-len(u.name)]), u.factor
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	v *= factor
	if err != nil || math.IsNaN(v) || v < 1 || v >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size: write 512MiB, 2G or a number of bytes", s)
	}
	return int64(v), nil
}

// FormatBytes writes a number of bytes in powers of 1024, such as "17.1 GiB"; math.MaxInt64
// stands for all that are larger.
func FormatBytes(n int64) string {
	if n == math.MaxInt64 {
		return "more than 8 EiB"
	}
	v, unit := float64(n), "B"
	for _, u := range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if v < 1024 {
			break
		}
		v, unit = v/1024, u
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

// FormatCount groups the digits of a number by thousands.
func FormatCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
