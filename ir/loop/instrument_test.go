package loop

import (
	"fmt"
	"strings"
	"testing"
)

func TestInstrumentedLoops(t *testing.T) {
	f, err := ParseFunc(`func f(a: []i64; n: i64) chunk c, lo, hi {
  for i = lo to hi {
    for u = 0 to 8 {
      if a[i] > 0 {
        for j = 0 to n {
          a[j] = u
        }
      } else {
        while a[i] < n {
          a[i] = a[i] + 1
        }
      }
    }
  }
  for k = 0 to 65 {
    a[k] = 0
  }
}
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range InstrumentedLoops(f) {
		got = append(got, fmt.Sprintf("%d: %s", l.Around, l.Text))
	}
	want := "-1: for i = lo to hi\n0: for j = 0 to n\n0: while a[i] < n\n-1: for k = 0 to 65"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("loops are\n%s\nwant\n%s", text, want)
	}
}
