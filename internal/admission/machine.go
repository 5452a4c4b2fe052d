package admission

import (
	"io/fs"
	"math"
	"os"
	"path"
	godebug "runtime/debug"
	"strconv"
	"strings"
)

// Machine is what is known about the memory this process may use. Sources name where the tightest figure came from.
type Machine struct {
	Total           int64 // never to be exceeded
	TotalSource     string
	Available       int64 // free or reclaimable now
	AvailableSource string
	Hard            int64 // what may be allocated now before the system ends the process, of limits that make it do so
	HardSource      string
}

// Where nothing can be found out, as on systems without /proc, the default
// limit is a cautious guess and an explicit one is believed.
const (
	assumedMemory = 8 << 30
	assumedTotal  = 1 << 46
)

// Read looks at this machine.
func Read() Machine {
	m := under(os.DirFS("/"))
	// The Go memory limit is the operator's word on what the process may use.
	if soft := godebug.SetMemoryLimit(-1); soft != math.MaxInt64 {
		m.limit(soft, soft, "GOMEMLIMIT")
	}
	return m
}

// limit tightens the figures.
func (m *Machine) limit(total, available int64, source string) {
	if total < m.Total {
		m.Total, m.TotalSource = total, source
	}
	if available = max(available, 0); available < m.Available {
		m.Available, m.AvailableSource = available, source
	}
}

// ends is limit for one beyond which the system ends the process.
func (m *Machine) ends(total, available int64, source string) {
	m.limit(total, available, source)
	if available = max(available, 0); available < m.Hard {
		m.Hard, m.HardSource = available, source
	}
}

// under reads /proc and /sys of a system whose root directory is given:
// the machine's memory, the limits of the process, and those of the control groups around us.
func under(root fs.FS) Machine {
	m := Machine{assumedTotal, "an assumption", assumedMemory, "an assumption", math.MaxInt64, ""}
	info := readText(root, "proc/meminfo")
	if total := numberAfter(info, "MemTotal:"); total > 0 {
		const kB = 1024
		m.Total, m.TotalSource = (total+numberAfter(info, "SwapTotal:"))*kB, "/proc/meminfo"
		m.Available, m.AvailableSource = numberAfter(info, "MemAvailable:")*kB, "/proc/meminfo"
	}
	limits, status := readText(root, "proc/self/limits"), readText(root, "proc/self/status")
	for _, l := range processLimits {
		if total, ok := softLimit(limits, l.name); ok {
			used := int64(0)
			for _, key := range l.used {
				used += numberAfter(status, key) << 10
			}
			m.ends(total, total-used, l.source)
		}
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

// processLimits are those limits of the process that allocations run into, by their names in /proc/self/limits, and
// what of /proc/self/status counts against each.
var processLimits = []struct {
	name   string
	used   []string
	source string
}{
	{"Max address space", []string{"VmSize:"}, "the address space limit (ulimit -v)"},
	{"Max data size", []string{"VmData:", "VmStk:"}, "the data size limit (ulimit -d)"},
}

// softLimit finds a limit in the text of /proc/self/limits; there is none if it is unlimited.
func softLimit(limits, name string) (int64, bool) {
	for line := range strings.Lines(limits) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			soft, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
			n, err := strconv.ParseInt(soft, 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// cgroupVersion says where a version of control groups keeps its figures.
type cgroupVersion struct {
	controller string // in /proc/self/cgroup
	dir        string // where it is mounted
	max, used  string // files
	// reclaimable are the parts of files counted as used, mapped ones among them, which the system drops when it needs room; in memory.stat.
	reclaimable []string
}

var cgroupVersions = []cgroupVersion{
	{controller: "", dir: "sys/fs/cgroup", max: "memory.max", used: "memory.current", reclaimable: []string{"active_file", "inactive_file"}},
	{controller: "", dir: "sys/fs/cgroup/unified", max: "memory.max", used: "memory.current", reclaimable: []string{"active_file", "inactive_file"}},
	{controller: "memory", dir: "sys/fs/cgroup/memory", max: "memory.limit_in_bytes", used: "memory.usage_in_bytes", reclaimable: []string{"total_active_file", "total_inactive_file"}},
}

// limit applies the limits of the group and of the groups around it. Inside a
// container the path may be the host's and not exist; its root still does.
func (v cgroupVersion) limit(root fs.FS, group string, m *Machine) {
	for {
		dir := path.Join(v.dir, path.Clean("/"+group))
		if limit, ok := readNumber(root, path.Join(dir, v.max)); ok {
			used, _ := readNumber(root, path.Join(dir, v.used))
			stat := readText(root, path.Join(dir, "memory.stat"))
			for _, key := range v.reclaimable {
				used -= numberAfter(stat, key)
			}
			m.ends(limit, limit-max(used, 0), "the control group's limit")
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
