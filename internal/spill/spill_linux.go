package spill

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// Map makes a block of so many bytes, which are 0, and at least one. The error is an [*Error].
func (f *Files) Map(bytes int64) ([]byte, error) {
	m, err := f.create(max(bytes, 1))
	if err != nil {
		return nil, &Error{f.dir, bytes, err}
	}
	f.Watch(m)
	return m, nil
}

func (f *Files) create(bytes int64) ([]byte, error) {
	if bytes > math.MaxInt-int64(os.Getpagesize()) {
		return nil, syscall.EFBIG
	}
	file, err := os.CreateTemp(f.dir, ".lacuna.*.tmp")
	if err != nil {
		return nil, err
	}
	defer file.Close() // the mapping keeps it
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	if inMemory(file) {
		return nil, errors.New("the directory is in memory itself (tmpfs); TMPDIR names another")
	}
	if err := ignoringEINTR(func() error { return syscall.Fallocate(int(file.Fd()), 0, 0, bytes) }); err != nil {
		return nil, err
	}
	return syscall.Mmap(int(file.Fd()), 0, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// inMemory reports whether a file is of a file system without a disk.
func inMemory(f *os.File) bool {
	const tmpfs, ramfs = 0x01021994, 0x858458f6
	var st syscall.Statfs_t
	return syscall.Fstatfs(int(f.Fd()), &st) == nil && (st.Type == tmpfs || st.Type == ramfs)
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}

// Free gives a block back.
func (f *Files) Free(m []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.blocks, unsafe.SliceData(m))
	if err := syscall.Munmap(m); err != nil {
		panic("BUG: unmapping a block: " + err.Error())
	}
}

// Cut gives the disk's room for what lies beyond the first n bytes of a block back.
func (f *Files) Cut(m []byte, n int64) {
	page := int64(os.Getpagesize())
	if from := (n + page - 1) / page * page; from < int64(len(m)) {
		const remove = 9                  // MADV_REMOVE
		syscall.Madvise(m[from:], remove) // else the room stays taken
	}
}

// Watch counts a mapped file among what must not take up much memory. It must stay mapped, shared, until the end, or be a block.
func (f *Files) Watch(m []byte) {
	page := os.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (page - 1)
	if len(m) < skip {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blocks[unsafe.SliceData(m)] = m[skip:]
}

// How the memory is watched that mapped files take up.
const (
	look      = 5 * time.Millisecond
	pace      = 20       // times as long as letting go takes a processor, nothing is let go
	libraries = 64 << 20 // what LLVM and others take, at most; they are mapped, too
)

// keep lets go of mapped pages when there are many: they stay in the system's memory as long as there is room, and are the same when
// they are touched again. That takes its time where a program jumps about, so it is not done again and again.
func (f *Files) keep() {
	runtime.LockOSThread() // whose time is taken
	defer runtime.UnlockOSThread()
	defer close(f.closed)
	wait, room := look, max(f.limit, libraries) // a smaller one is lost in what varies of libraries
	for {
		select {
		case <-f.closing:
			return
		case <-time.After(wait):
		}
		wait = look
		if resident() < libraries+room/4*3 {
			continue
		}
		begun := processorTime()
		f.drop(libraries + room/4)
		wait = max(wait, pace*(processorTime()-begun))
	}
}

// processorTime is what this thread has used so far.
func processorTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if syscall.Getrusage(thread, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// drop lets go of blocks until no more than so many bytes of mapped files are in memory. Large blocks are
// gone through from end to end as a rule; small ones, such as vectors and the rows of a factor, are more likely to be touched again soon.
func (f *Files) drop(most int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	largest := slices.SortedFunc(maps.Values(f.blocks), func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	for _, m := range largest {
		syscall.Madvise(m, syscall.MADV_DONTNEED) // pages of shared mappings are the file's
		if resident() <= most {
			return
		}
	}
}

// resident is how many bytes of mapped files this process has in memory; 0 where that is not told.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 3 {
		return 0
	}
	const shared = 2
	n, err := strconv.ParseInt(string(fields[shared]), 10, 64)
	if err != nil {
		return 0
	}
	return n * int64(os.Getpagesize())
}
