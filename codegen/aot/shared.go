package aot

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// LinkerError says that a shared library could not be linked.
type LinkerError struct {
	Target string
	Reason string
}

// Error names the target and what to do.
func (e *LinkerError) Error() string {
	return fmt.Sprintf("linking a shared library for %s: %s", e.Target, e.Reason)
}

// linkers are the commands that link for an architecture, best first: binutils' own, LLVM's,
// which is for all, and compilers that call one.
var linkers = map[string][]string{
	"amd64": {"x86_64-linux-gnu-ld", "ld.lld", "ld"},
	"arm64": {"aarch64-linux-gnu-ld", "ld.lld"},
}

// Shared links objects to a shared library. A library of objects that need nothing
// could be written without a linker, but one is on every machine that uses the
// library from C.
func Shared(name string, t Target, members []Member) ([]byte, error) {
	arch := t.Arch()
	linker := ""
	for _, command := range linkers[arch] {
		if path, err := exec.LookPath(command); err == nil {
			linker = path
			break
		}
	}
	if linker == "" {
		install := "binutils"
		if arch == "arm64" {
			install = "binutils-aarch64-linux-gnu"
		}
		return nil, &LinkerError{t.Triple, fmt.Sprintf("there is none of %s; install one (apt-get install %s) or build a .a", strings.Join(linkers[arch], ", "), install)}
	}
	dir, err := os.MkdirTemp("", "lacuna-link-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "library.so")
	args := []string{"-shared", "--build-id=none", "-z", "noexecstack", "-z", "relro", "-soname", name, "-o", out}
	emulation := map[string]string{"amd64": "elf_x86_64", "arm64": "aarch64linux"}[arch]
	args = append(args, "-m", emulation)
	for i, m := range members {
		// Numbered names: no member's name is one of the linker's options.
		path := filepath.Join(dir, fmt.Sprintf("%d.o", i))
		if err := os.WriteFile(path, m.Data, 0o600); err != nil {
			return nil, err
		}
		args = append(args, path)
	}
	cmd := exec.Command(linker, args...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, &LinkerError{t.Triple, fmt.Sprintf("%s: %v: %s", filepath.Base(linker), err, strings.TrimSpace(string(text)))}
	}
	return os.ReadFile(out)
}
