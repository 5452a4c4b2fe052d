package runtime

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestMemoryUnder(t *testing.T) {
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
			m := memoryUnder(root)
			if m.total != tt.total || m.available != tt.available || !strings.Contains(m.availableSource, tt.source) {
				t.Errorf("got %+v, want total %d, available %d from %s", m, tt.total, tt.available, tt.source)
			}
		})
	}
}

func TestReadMachineMemory(t *testing.T) {
	if m := readMachineMemory(); m.total <= 0 || m.available < 0 || m.available > m.total {
		t.Errorf("this machine has %+v", m)
	}
}
