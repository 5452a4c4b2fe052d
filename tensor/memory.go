package tensor

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// smallAllocation is the size in bytes up to which an allocation is made
// without asking what memory is left.
const smallAllocation = 256 << 20

// checkMemory refuses an allocation that the machine cannot serve. A Go
// program that runs out of memory dies without a chance to report it, so large
// requests are compared with what is left beforehand.
func checkMemory(size int) error {
	if size <= smallAllocation {
		return nil
	}
	if left := availableMemory(); uint64(size) > left {
		return fmt.Errorf("it takes %s and %s of memory are available", formatBytes(uint64(size)), formatBytes(left))
	}
	return nil
}

// availableMemory is an estimate of the memory in bytes that can still be
// allocated without swapping, obeying the limit of the control group; where
// the system does not tell, 64 GiB.
func availableMemory() uint64 {
	available := uint64(64 << 30)
	if info, err := os.ReadFile("/proc/meminfo"); err == nil {
		if v, ok := memInfoField(info, "MemAvailable"); ok {
			available = v
		}
	}
	limit, ok1 := readNumber("/sys/fs/cgroup/memory.max")
	used, ok2 := readNumber("/sys/fs/cgroup/memory.current")
	if ok1 && ok2 {
		used -= min(used, fileCache())
		available = min(available, limit-min(limit, used))
	}
	return available
}

// fileCache is how much of the memory that is charged to the control group holds
// parts of files, mapped ones among them, which the system drops when it needs room.
func fileCache() uint64 {
	stat, err := os.ReadFile("/sys/fs/cgroup/memory.stat")
	if err != nil {
		return 0
	}
	active, _ := statField(stat, "active_file")
	inactive, _ := statField(stat, "inactive_file")
	return active + inactive
}

// statField finds a field of a memory.stat file, in bytes.
func statField(stat []byte, name string) (uint64, bool) {
	for line := range bytes.Lines(stat) {
		if rest, ok := strings.CutPrefix(string(line), name+" "); ok {
			v, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// memInfoField finds a field of /proc/meminfo, in bytes.
func memInfoField(info []byte, name string) (uint64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(info))
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name+":")
		if !ok {
			continue
		}
		kib, err := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 50)
		return kib << 10, err == nil
	}
	return 0, false
}

// readNumber reads a file that holds one decimal number.
func readNumber(path string) (uint64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	v, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return v, err == nil
}

// formatBytes writes a number of bytes in the unit a reader expects.
func formatBytes(n uint64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n)/1024, 0
	for v >= 1024 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	return fmt.Sprintf("%.1f %ciB", v, units[unit])
}
