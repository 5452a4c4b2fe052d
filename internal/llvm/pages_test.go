package llvm

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestReleasePages compiles before and after LLVM's pages are given back, and
// looks at how much of the process is in memory.
func TestReleasePages(t *testing.T) {
	l, err := Load("")
	if err != nil {
		t.Skip(err)
	}
	host, err := l.Host()
	if err != nil {
		t.Fatal(err)
	}
	compile := func() {
		if _, err := l.EmitObject("define i64 @f(i64 %x) {\n  %y = add i64 %x, 1\n  ret i64 %y\n}\n", Options{Target: host}); err != nil {
			t.Fatal(err)
		}
	}
	compile()
	before := residentFile(t)
	l.ReleasePages()
	after := residentFile(t)
	t.Logf("file pages in memory: %d kB, then %d kB", before, after)
	if before > 0 && after >= before {
		t.Errorf("%d kB of file pages before, %d kB after", before, after)
	}
	compile()
}

// residentFile is how many kB of files the process has mapped in memory, 0 where
// the system does not tell.
func residentFile(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "RssFile:"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	return 0
}
