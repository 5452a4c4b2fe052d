package runtime

import (
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// addressSpace returns the limit on this process's address space and how much
// of it is in use. It is not ok when there is none.
func addressSpace(root fs.FS) (total, used int64, ok bool) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &r); err != nil || r.Cur > math.MaxInt64 {
		return 0, 0, false
	}
	// The first field of statm is the size of the address space in pages.
	text, err := fs.ReadFile(root, "proc/self/statm")
	if err != nil {
		return int64(r.Cur), 0, true
	}
	pages, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseInt(pages, 10, 64)
	if err != nil {
		return int64(r.Cur), 0, true
	}
	return int64(r.Cur), n * int64(os.Getpagesize()), true
}
