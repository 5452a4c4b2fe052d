package runtime

import (
	"bufio"
	"bytes"
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

// assumedMemory is taken as total and available where nothing can be found
// out, as on systems without /proc.
const assumedMemory = 8 << 30

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
	m := machineMemory{assumedMemory, "an assumption", assumedMemory, "an assumption"}
	info := keyedNumbers(root, "proc/meminfo")
	if total, ok := info["MemTotal:"]; ok {
		const kB = 1024
		m.total, m.totalSource = (total+info["SwapTotal:"])*kB, "/proc/meminfo"
		m.available, m.availableSource = info["MemAvailable:"]*kB, "/proc/meminfo"
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(groups)) {
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
			used -= keyedNumbers(root, path.Join(dir, "memory.stat"))[v.reclaimableKey]
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

// readNumber reads a file that holds one number. "max" is none.
func readNumber(root fs.FS, name string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return n, err == nil
}

// keyedNumbers reads a file of lines "key number …".
func keyedNumbers(root fs.FS, name string) map[string]int64 {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return nil
	}
	numbers := map[string]int64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			numbers[fields[0]] = n
		}
	}
	return numbers
}
