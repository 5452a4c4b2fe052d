package runtime

import (
	"io/fs"
	"math"
	"os"
	"path"
	godebug "runtime/debug"
	"strconv"
	"strings"
)

// machineMemory is what is known about the memory this process may use.
// Sources name where the tightest figure came from.
type machineMemory struct {
	total           int64 // never to be exceeded
	totalSource     string
	available       int64 // free or reclaimable now
	availableSource string
}

// Where nothing can be found out, as on systems without /proc, the default
// limit is a cautious guess and an explicit one is believed.
const (
	assumedMemory = 8 << 30
	assumedTotal  = 1 << 46
)

// readMachineMemory looks at this machine.
func readMachineMemory() machineMemory {
	m := memoryUnder(os.DirFS("/"))
	if total, used, ok := addressSpace(os.DirFS("/")); ok {
		m.limit(total, total-used, "the address space limit (ulimit -v)")
	}
	// The Go memory limit is the operator's word on what the process may use.
	if soft := godebug.SetMemoryLimit(-1); soft != math.MaxInt64 {
		m.limit(soft, soft, "GOMEMLIMIT")
	}
	return m
}

// limit tightens the figures.
func (m *machineMemory) limit(total, available int64, source string) {
	if total < m.total {
		m.total, m.totalSource = total, source
	}
	if available = max(available, 0); available < m.available {
		m.available, m.availableSource = available, source
	}
}

// memoryUnder reads /proc and /sys of a system whose root directory is given:
// the machine's memory and the limits of the control groups around us.
func memoryUnder(root fs.FS) machineMemory {
	m := machineMemory{assumedTotal, "an assumption", assumedMemory, "an assumption"}
	info := readText(root, "proc/meminfo")
	if total := numberAfter(info, "MemTotal:"); total > 0 {
		const kB = 1024
		m.total, m.totalSource = (total+numberAfter(info, "SwapTotal:"))*kB, "/proc/meminfo"
		m.available, m.availableSource = numberAfter(info, "MemAvailable:")*kB, "/proc/meminfo"
	}
	for line := range strings.Lines(readText(root, "proc/self/cgroup")) {
		// hierarchy:controllers:path, where version 2 has no controllers.
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, v := range cgroupVersions {
			if hasController(parts[1], v.controller) {
				v.limit(root, parts[2], &m)
			}
		}
	}
	return m
}

// cgroupVersion says where a version of control groups keeps its figures.
type cgroupVersion struct {
	controller     string // in /proc/self/cgroup
	dir            string // where it is mounted
	max, used      string // files
	reclaimableKey string // in memory.stat: page cache counted as used
}

var cgroupVersions = []cgroupVersion{
	{controller: "", dir: "sys/fs/cgroup", max: "memory.max", used: "memory.current", reclaimableKey: "inactive_file"},
	{controller: "", dir: "sys/fs/cgroup/unified", max: "memory.max", used: "memory.current", reclaimableKey: "inactive_file"},
	{controller: "memory", dir: "sys/fs/cgroup/memory", max: "memory.limit_in_bytes", used: "memory.usage_in_bytes", reclaimableKey: "total_inactive_file"},
}

// limit applies the limits of the group and of the groups around it. Inside a
// container the path may be the host's and not exist; its root still does.
func (v cgroupVersion) limit(root fs.FS, group string, m *machineMemory) {
	for {
		dir := path.Join(v.dir, path.Clean("/"+group))
		if limit, ok := readNumber(root, path.Join(dir, v.max)); ok {
			used, _ := readNumber(root, path.Join(dir, v.used))
			used -= numberAfter(readText(root, path.Join(dir, "memory.stat")), v.reclaimableKey)
			m.limit(limit, limit-used, "the control group's limit")
		}
		if group == "/" || group == "." || group == "" {
			return
		}
		group = path.Dir(group)
	}
}

func hasController(list, want string) bool {
	for c := range strings.SplitSeq(list, ",") {
		if c == want {
			return true
		}
	}
	return false
}

// readText reads a whole file; one that cannot be read is empty.
func readText(root fs.FS, name string) string {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return ""
	}
	return string(text)
}

// readNumber reads a file that holds one number. "max" is none.
func readNumber(root fs.FS, name string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(readText(root, name)), 10, 64)
	return n, err == nil
}

// numberAfter finds the line "key number …" in text and returns the number, or
// 0 if there is none.
func numberAfter(text, key string) int64 {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, key)
		if !ok || rest == strings.TrimLeft(rest, " \t") {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return 0
}
