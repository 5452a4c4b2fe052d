package admission

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestUnder(t *testing.T) {
	const meminfo = "MemTotal: 1000 kB\nMemFree: 10 kB\nMemAvailable: 800 kB\nSwapTotal: 24 kB\n"
	for _, tt := range []struct {
		name             string
		files            map[string]string
		total, available int64
		source           string // of available
	}{
		{"nothing known", nil, assumedTotal, assumedMemory, "assumption"},
		{"machine", map[string]string{"proc/meminfo": meminfo}, 1024 << 10, 800 << 10, "/proc/meminfo"},
		{"garbage", map[string]string{"proc/meminfo": "MemTotal\n\x00 x y\n", "proc/self/cgroup": "::::\n7"}, assumedTotal, assumedMemory, "assumption"},
		{"version 2, page cache counts as available", map[string]string{
			"proc/meminfo":                      meminfo,
			"proc/self/cgroup":                  "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":      "400000\n",
			"sys/fs/cgroup/a/b/memory.current":  "300000\n",
			"sys/fs/cgroup/a/b/memory.stat":     "anon 1\ninactive_file 50000\n",
			"sys/fs/cgroup/a/memory.max":        "max\n",
			"sys/fs/cgroup/a/memory.current":    "390000\n",
			"sys/fs/cgroup/memory.max":          "max\n",
			"sys/fs/cgroup/irrelevant/mem.junk": "1",
		}, 400000, 150000, "control group"},
		{"version 2, an outer group is tighter", map[string]string{
			"proc/meminfo":                     meminfo,
			"proc/self/cgroup":                 "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max":     "400000\n",
			"sys/fs/cgroup/a/b/memory.current": "0\n",
			"sys/fs/cgroup/a/memory.max":       "390000\n",
			"sys/fs/cgroup/a/memory.current":   "380000\n",
		}, 390000, 10000, "control group"},
		{"version 1 in a container: only the root exists", map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/cgroup": "4:cpu,memory:/docker/xyz\n0::/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "500000",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "600000",
		}, 500000, 0, "control group"},
		{"version 1 without a limit", map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "5",
		}, 1024 << 10, 800 << 10, "/proc/meminfo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			m := under(root)
			if m.Total != tt.total || m.Available != tt.available || !strings.Contains(m.AvailableSource, tt.source) {
				t.Errorf("got %+v, want total %d, available %d from %s", m, tt.total, tt.available, tt.source)
			}
		})
	}
}

// TestHardLimits has limits beyond which the system ends the process: an explicit limit does not go beyond them.
func TestHardLimits(t *testing.T) {
	const meminfo = "MemTotal: 1000000 kB\nMemAvailable: 800000 kB\n"
	const limits = "Limit                     Soft Limit           Hard Limit           Units\n" +
		"Max data size             unlimited            unlimited            bytes\n" +
		"Max address space         8192000              unlimited            bytes\n"
	for _, tt := range []struct {
		name          string
		files         map[string]string
		option, limit int64
		source        string
	}{
		{"none", map[string]string{"proc/meminfo": meminfo}, 100 << 20, 100 << 20, "option"},
		{"address space in use", map[string]string{"proc/meminfo": meminfo, "proc/self/limits": limits, "proc/self/status": "VmSize:\t    4000 kB\n"},
			8000000, 4096000 / 8 * 7, "what is left of the address space limit (ulimit -v)"},
		{"data", map[string]string{"proc/meminfo": meminfo, "proc/self/limits": strings.Replace(limits, "unlimited ", "2048000   ", 1), "proc/self/status": "VmSize:\t 10 kB\nVmData:\t 600 kB\nVmStk:\t 400 kB\n"},
			2000000, 1024000 / 8 * 7, "what is left of the data size limit (ulimit -d)"},
		{"control group", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "1000000\n", "sys/fs/cgroup/memory.current": "600000\n", "sys/fs/cgroup/memory.stat": "active_file 150000\ninactive_file 50000\n"},
			900000, 600000 / 8 * 7, "what is left of the control group's limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			var c Account
			c.Settle(tt.option, under(root))
			if c.Limit != tt.limit || !strings.Contains(c.Source, tt.source) {
				t.Errorf("limit %d from %s, want %d from %s", c.Limit, c.Source, tt.limit, tt.source)
			}
		})
	}
}

func TestRead(t *testing.T) {
	if m := Read(); m.Total <= 0 || m.Available < 0 || m.Available > m.Total {
		t.Errorf("this machine has %+v", m)
	}
}
