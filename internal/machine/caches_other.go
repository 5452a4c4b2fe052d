//go:build !amd64

package machine

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/units"
)

// readCaches asks Linux; other systems have no such files, and the caches of smallest.
func readCaches() Caches { return cachesOf("/sys/devices/system/cpu/cpu0/cache") }

// cachesOf reads a folder that has one for each cache.
func cachesOf(dir string) Caches {
	c := smallest
	caches, _ := filepath.Glob(filepath.Join(dir, "index*"))
	for _, cache := range caches {
		read := func(name string) string {
			text, _ := os.ReadFile(filepath.Join(cache, name))
			return strings.TrimSpace(string(text))
		}
		level, err := strconv.Atoi(read("level"))
		size, bad := units.ParseBytes(read("size"))
		if err == nil && bad == nil && read("type") != "Instruction" {
			c.take(level, size, processorsOf(read("shared_cpu_list")))
		}
	}
	return c
}

// processorsOf is how many processors a list such as "0-3,8" has.
func processorsOf(list string) int {
	n := 0
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		lo, err1 := strconv.Atoi(first)
		hi, err2 := strconv.Atoi(last)
		if err1 == nil && err2 == nil {
			n += max(hi-lo+1, 0)
		}
	}
	return n
}
