package units

import (
	"math"
	"testing"
)

func TestParseBytes(t *testing.T) {
	good := map[string]int64{
		"1000": 1000, "1e9": 1e9, "512MiB": 512 << 20, "2G": 2 << 30, "2gib": 2 << 30, "1.5KB": 1500, "10 MB": 1e7, "7B": 7,
	}
	for text, want := range good {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "G", "1Q", "nan", "inf", "1e300", "1 2"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", text, got)
		}
	}
}

func TestFormatBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 3 << 29: "1.5 GiB", 3 << 40: "3.0 TiB", math.MaxInt64: "more than 8 EiB",
	} {
		if got := FormatBytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestFormatCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", -999: "-999", 1000: "1,000", -1234567: "-1,234,567", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := FormatCount(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}
