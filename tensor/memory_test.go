package tensor

import "testing"

func TestMemoryFields(t *testing.T) {
	stat := []byte("anon 4096\ninactive_anon 1\nactive_file 8192\ninactive_file 12345\n")
	if v, ok := statField(stat, "inactive_file"); v != 12345 || !ok {
		t.Errorf("inactive_file: %d, %v", v, ok)
	}
	if _, ok := statField(stat, "file"); ok {
		t.Error("a part of a name was found")
	}
	info := []byte("MemTotal:       24632432 kB\nMemAvailable:   21000000 kB\n")
	if v, ok := memInfoField(info, "MemAvailable"); v != 21000000<<10 || !ok {
		t.Errorf("MemAvailable: %d, %v", v, ok)
	}
}
