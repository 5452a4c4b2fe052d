package llvm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// runSelf runs the calling test alone in a new process with one more
// environment variable.
func runSelf(t *testing.T, env string) (string, error) {
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$")
	cmd.Env = append(os.Environ(), env)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestVersionOf(t *testing.T) {
	tests := []struct {
		path string
		want Version
	}{
		{"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", Version{Major: 14}},
		{"/usr/lib/x86_64-linux-gnu/libLLVM-14.0.6.so.1", Version{14, 0, 6}},
		{"/usr/lib/llvm-19/lib/libLLVM.so.19.1", Version{19, 1, 0}},
		{"/usr/lib/llvm-19/lib/libLLVM.so.1", Version{Major: 19}},
		{"/opt/homebrew/opt/llvm@18/lib/libLLVM.dylib", Version{Major: 18}},
		{"/usr/lib64/llvm17/lib64/libLLVM.so", Version{Major: 17}},
		{"libLLVM.so.22.1", Version{22, 1, 0}},
		{"libLLVM.so", Version{}},
		{`C:\msys64\ucrt64\bin\libLLVM-19.dll`, Version{Major: 19}},
		{`C:\Program Files\LLVM\bin\LLVM-C.dll`, Version{}},
	}
	for _, test := range tests {
		if got := versionOf(test.path); got != test.want {
			t.Errorf("versionOf(%q) = %v, want %v", test.path, got, test.want)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for _, good := range []string{"14", "19.1", "19.1.7"} {
		if _, parts, ok := parseVersion(good); !ok || parts != strings.Count(good, ".")+1 {
			t.Errorf("parseVersion(%q) fails", good)
		}
	}
	for _, bad := range []string{"", ".", "19.", "1.2.3.4", "-1", "x", "99999999999"} {
		if _, _, ok := parseVersion(bad); ok {
			t.Errorf("parseVersion(%q) succeeds", bad)
		}
	}
}

func TestCandidatesInDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"libLLVM-14.so.1", "libLLVM.so.19.1", "libLLVM-13.so.1",
		"libLLVMCore.a", "libLLVM-C.so", "libLLVM.so.19.1.debug", "README",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"libLLVM-19.so": "libLLVM.so.19.1", "libLLVM-14.0.6.so.1": "libLLVM-14.so.1", "libLLVM-18.so": "gone"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Candidate{
		{filepath.Join(real, "libLLVM.so.19.1"), Version{19, 1, 0}},
		{filepath.Join(real, "libLLVM-14.so.1"), Version{14, 0, 6}},
	}
	got := candidates(dir)
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("candidate %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestCandidatesOfVersion(t *testing.T) {
	for _, c := range candidates("19") {
		if c.Version.Major != 19 {
			t.Errorf("%v for version 19", c)
		}
	}
	if got := candidates("none"); got != nil {
		t.Errorf("none gives %v", got)
	}
}

func TestLoadErrors(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "libLLVM.so")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		spec string
		want []string
	}{
		{"none", []string{"switched off", EnvVar}},
		{"/no/such/libLLVM.so", []string{"/no/such/libLLVM.so", Install, EnvVar}},
		{empty, []string{empty, "cannot open"}},
		{"libc.so.6", []string{"libc.so.6", "it lacks", "LLVMContextCreate"}},
		{"13", []string{`"13"`, Install}},
		{t.TempDir(), []string{Install}},
	}
	for _, test := range tests {
		l, err := Load(test.spec)
		if err == nil {
			t.Errorf("Load(%q) gives LLVM %s", test.spec, l.Version())
			continue
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Load(%q): %q not in\n%v", test.spec, want, err)
			}
		}
	}
}

func TestLoadObeysEnvironment(t *testing.T) {
	t.Setenv(EnvVar, "none")
	if _, err := Load(""); err == nil {
		t.Error("an LLVM was loaded in spite of none")
	}
	if found := Find(); len(found) != 0 {
		t.Errorf("found %v in spite of none", found)
	}
	eachLLVM(t, func(t *testing.T, l *LLVM) {
		t.Setenv(EnvVar, l.Path())
		again, err := Load("")
		if err != nil || again != l {
			t.Errorf("loading %s again gives another library, %v", l.Path(), err)
		}
	})
}
