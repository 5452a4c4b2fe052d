package llvm

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// ReleasePages gives the memory of LLVM's code back to the system, some tens of
// megabytes that nothing needs between compilations. The code stays in the page
// cache, from where the next compilation takes what it runs: that costs it a few
// hundred page faults without a disk. Only pages that are mapped to be executed
// and cannot be written are given back, so nothing can be lost; code that other
// goroutines are running meanwhile faults in again.
func (l *LLVM) ReleasePages() {
	for _, r := range codeOf(l.path) {
		// A failure leaves the pages where they are.
		syscall.Syscall(syscall.SYS_MADVISE, r.start, r.length, syscall.MADV_DONTNEED)
	}
}

// pages is a range of addresses.
type pages struct{ start, length uintptr }

var (
	codeMutex sync.Mutex
	codePages = map[string][]pages{} // by path; libraries are never unloaded
)

// codeOf lists the mappings of a library's code.
func codeOf(path string) []pages {
	codeMutex.Lock()
	defer codeMutex.Unlock()
	if list, ok := codePages[path]; ok {
		return list
	}
	file := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		file = real
	}
	var list []pages
	if f, err := os.Open("/proc/self/maps"); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			// 7f2c00000000-7f2c04000000 r-xp 00c00000 fe:00 1234   /usr/lib/…/libLLVM.so.22.1
			line := lines.Text()
			var start, end uintptr
			var mode string
			if _, err := fmt.Sscanf(line, "%x-%x %s", &start, &end, &mode); err != nil || mode != "r-xp" {
				continue
			}
			if _, rest, ok := strings.Cut(line, "/"); ok && "/"+rest == file {
				list = append(list, pages{start, end - start})
			}
		}
	}
	codePages[path] = list
	return list
}
