package ondisk

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/internal/machine"
)

// Host is what machine code for this processor is made with: an LLVM, and what it
// says of the processor. Opening LLVM takes longer than running many a program, so
// what it says is remembered on disk; it is opened when there is something to
// compile.
type Host struct {
	HostRecord
	// Open opens the library, or says why that is not what it was.
	Open func() (*llvm.LLVM, error)
	// Opened is the library once it is open.
	Opened atomic.Pointer[llvm.LLVM]
}

// HostRecord is a host as remembered on disk.
type HostRecord struct {
	Path    string // of the library
	Size    int64  // of that file
	Changed int64  // when that file was, in nanoseconds
	Version llvm.Version
	Target  llvm.Target
}

// FindHost finds the host, on disk if that has it (nil for no disk). An LLVM that does not load when it is to be opened is what missing makes of that error.
func FindHost(disk *diskcache.Cache, build string, missing func(error) error) (*Host, error) {
	identity := machine.Identity()
	if disk == nil || identity == "" {
		l, r, err := askLLVM()
		if err != nil {
			return nil, err
		}
		return newHost(r, l, missing), nil
	}
	key := diskcache.Key(sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", build, identity, os.Getenv(machine.CPUEnv), llvm.Surroundings())))
	var r HostRecord
	if data, ok := disk.Get(HostKind, key); ok && json.Unmarshal(data, &r) == nil && r.current() {
		return newHost(r, nil, missing), nil
	}
	l, r, err := askLLVM()
	if err != nil {
		return nil, err
	}
	// Only the first choice is remembered. Of a file that could not be opened, or one that only the dynamic loader
	// finds, Surroundings does not say when it changes.
	if first := llvm.Find(); r.current() && len(first) > 0 && first[0].Path == r.Path {
		data, err := json.Marshal(r)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		WriteLater(disk, HostKind, key, data)
	}
	return newHost(r, l, missing), nil
}

// askLLVM opens LLVM and asks it.
func askLLVM() (*llvm.LLVM, HostRecord, error) {
	l, err := llvm.Load("")
	if err != nil {
		return nil, HostRecord{}, err
	}
	target, err := l.Host()
	if err != nil {
		return nil, HostRecord{}, err
	}
	r := HostRecord{Path: l.Path(), Version: l.Version(), Target: target}
	if info, err := os.Stat(r.Path); err == nil && filepath.IsAbs(r.Path) {
		r.Size, r.Changed = info.Size(), info.ModTime().UnixNano()
	}
	return l, r, nil
}

// current reports whether the library is the file that it was.
func (r *HostRecord) current() bool {
	if !filepath.IsAbs(r.Path) {
		return false
	}
	info, err := os.Stat(r.Path)
	return err == nil && info.Size() == r.Size && info.ModTime().UnixNano() == r.Changed
}

// newHost makes a host of what is known, and of the library if it is open.
func newHost(r HostRecord, l *llvm.LLVM, missing func(error) error) *Host {
	h := &Host{HostRecord: r}
	if l != nil {
		h.Opened.Store(l)
		h.Open = func() (*llvm.LLVM, error) { return l, nil }
		return h
	}
	h.Open = sync.OnceValues(func() (*llvm.LLVM, error) {
		l, err := llvm.LoadCandidate(llvm.Candidate{Path: r.Path, Version: r.Version})
		if err != nil {
			return nil, missing(err)
		}
		target, err := l.Host()
		if err != nil {
			return nil, missing(err)
		}
		// Minor versions may differ: of the oldest versions, which do not tell, only the name by which they were first
		// opened in this process says more than the major one.
		if l.Version().Major != r.Version.Major || target != r.Target {
			return nil, fmt.Errorf("%s is LLVM %s for %s, but was LLVM %s for %s when it was last looked at, and its file has not changed since: run %q",
				r.Path, l.Version(), target.CPU, r.Version, r.Target.CPU, "lacuna cache clean")
		}
		h.Opened.Store(l)
		return l, nil
	})
	return h
}
