package spill

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Map makes a block of so many bytes, which are 0, and at least one. The error is an [*Error].
func (f *Files) Map(bytes int64) ([]byte, error) {
	bytes = max(bytes, 1)
	file, err := f.create()
	if err != nil {
		return nil, &Error{f.dir, bytes, err}
	}
	m, err := f.room(file, 0, bytes, false)
	if err != nil {
		file.Close()
		return nil, &Error{f.dir, bytes, err}
	}
	return m, nil
}

// MapResult is Map for what may well be written to a file in the end, as it is: see [Files.Adopt].
func (f *Files) MapResult(bytes int64) ([]byte, error) {
	bytes = max(bytes, 1)
	file, at := f.reserve(bytes)
	if file == nil {
		return f.Map(bytes)
	}
	m, err := f.room(file, at, bytes, true)
	if err != nil {
		return nil, &Error{f.dir, bytes, err}
	}
	return m, nil
}

// reserve is a place for so many bytes in the file of all results; nil: there is none.
func (f *Files) reserve(bytes int64) (*os.File, int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	page := int64(os.Getpagesize())
	if f.results == nil && !f.none {
		const tmpfile = 0o20000000 | syscall.O_DIRECTORY // O_TMPFILE: a file that can get a name
		file, err := os.OpenFile(f.dir, os.O_RDWR|tmpfile, 0o666)
		if f.none = err != nil; err == nil {
			f.results, f.end = file, page // where sizes and names go
		}
	}
	if at := f.end; f.results != nil && bytes <= longest()-at-page {
		f.end += (bytes + page - 1) / page * page
		return f.results, at
	}
	return nil, 0
}

// longest is how long a file may be: here, and on ext4 with pages of 4 KiB, which is the least of usual systems.
func longest() int64 {
	const most = 16 << 40
	var allowed syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_FSIZE, &allowed) != nil {
		return most
	}
	return int64(min(allowed.Cur, most))
}

// room sets a part of a file aside and maps it.
func (f *Files) room(file *os.File, at, bytes int64, result bool) ([]byte, error) {
	if bytes > math.MaxInt-int64(os.Getpagesize()) {
		return nil, syscall.EFBIG
	}
	if err := ignoringEINTR(func() error { return syscall.Fallocate(int(file.Fd()), 0, at, bytes) }); err != nil {
		return nil, err
	}
	return f.mapped(&block{file: file, at: at, used: bytes, result: result})
}

// create makes a file without a name: one that never had one, which an end at any time cannot leave, where the file system has such.
func (f *Files) create() (*os.File, error) {
	file, err := os.OpenFile(f.dir, os.O_RDWR|unix.O_TMPFILE, 0o600)
	if err != nil {
		if file, err = os.CreateTemp(f.dir, ".lacuna.*.tmp"); err != nil {
			return nil, err
		}
		if err := os.Remove(file.Name()); err != nil {
			file.Close()
			return nil, err
		}
	}
	if inMemory(file) {
		file.Close()
		return nil, errors.New("the directory is in memory itself (tmpfs); TMPDIR names another")
	}
	return file, nil
}

// Temp makes a file without a name.
func (f *Files) Temp() (*os.File, error) {
	file, err := f.create()
	if err != nil {
		return nil, &Error{f.dir, 0, err}
	}
	return file, nil
}

// WriteAt writes to a block without having it in the process's memory, and lets the system begin to bring it to the disk.
func (f *Files) WriteAt(m []byte, at int, data []byte) error {
	if len(data) == 0 {
		return nil // and perhaps no block
	}
	f.mu.Lock()
	b := f.blocks[unsafe.SliceData(m)]
	f.mu.Unlock()
	return writeOut(b.file, data, b.at+int64(at))
}

// Ahead asks for a part of a block, or of another file that is watched, that will be read soon.
func (f *Files) Ahead(part []byte) { f.advise(part, syscall.MADV_WILLNEED) }

// Behind lets go of such a part.
func (f *Files) Behind(part []byte) { f.advise(part, syscall.MADV_DONTNEED) }

// advise advises the system about the whole pages of a part. Of other memory nothing is said: it would be lost.
func (f *Files) advise(part []byte, advice int) {
	if len(part) == 0 {
		return
	}
	page := os.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(part)))) & (page - 1)
	if skip >= len(part) {
		return
	}
	whole := part[skip : skip+(len(part)-skip)/page*page]
	first, last := uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(unsafe.Pointer(&part[len(part)-1]))
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.blocks {
		from := uintptr(unsafe.Pointer(unsafe.SliceData(b.mapped)))
		if len(whole) > 0 && first >= from && last < from+uintptr(len(b.mapped)) {
			syscall.Madvise(whole, advice)
			return
		}
	}
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
	b := f.blocks[unsafe.SliceData(m)]
	delete(f.blocks, unsafe.SliceData(m))
	if b.result && b.file == f.results { // else it has become a file of its own
		f.punch(b.at, int64(len(m)))
	}
	if err := syscall.Munmap(m); err != nil {
		panic("BUG: unmapping a block: " + err.Error())
	}
	if !b.result {
		b.file.Close() // it has no name: nothing is lost
	}
}

// punch gives the disk's room for a part of the file of results back. Where that is not possible it stays taken.
func (f *Files) punch(at, bytes int64) {
	const keepSize, punchHole = 1, 2
	syscall.Fallocate(int(f.results.Fd()), keepSize|punchHole, at, bytes)
}

// Cut gives the disk's room for what lies beyond the first n bytes of a block back.
func (f *Files) Cut(m []byte, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if b := f.blocks[unsafe.SliceData(m)]; b != nil {
		b.used = n
	}
	page := int64(os.Getpagesize())
	if from := (n + page - 1) / page * page; from < int64(len(m)) {
		const remove = 9                  // MADV_REMOVE
		syscall.Madvise(m[from:], remove) // else the room stays taken
	}
}

// Adopt makes the file of all results, if it has these arrays and nothing else that is still used, one of the given name, and tells where in it
// they begin and where it ends; -1 of arrays that are not in it. What lies there must not be read any more: it moves together, without being copied, where the file system
// can do that. Otherwise the error is [ErrApart] or that of the system, and nothing has happened.
func (f *Files) Adopt(name string, arrays [][]byte) (at []int64, end int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	mine, at := make([]*block, len(arrays)), make([]int64, len(arrays))
	var all []*block
	for k, a := range arrays {
		at[k] = -1
		if b := f.blocks[unsafe.SliceData(a)]; b != nil && b.result && b.file == f.results && len(a) > 0 && int64(len(a)) <= int64(len(b.mapped)) {
			mine[k], b.used = b, int64(len(a))
			all = append(all, b)
		}
	}
	for _, b := range f.blocks {
		if b.result && b.file == f.results && !slices.Contains(all, b) {
			return nil, 0, ErrApart
		}
	}
	if len(all) == 0 {
		return nil, 0, ErrApart
	}
	const follow = 0x400 // AT_SYMLINK_FOLLOW
	fd := int(f.results.Fd())
	if err := linkat(fmt.Sprintf("/proc/self/fd/%d", fd), name, follow); err != nil {
		return nil, 0, err
	}
	end = f.compact(all)
	for k, b := range mine {
		if b != nil {
			at[k] = b.at
		}
	}
	f.results.Close() // the mappings and the name keep it
	f.results = nil
	return at, end, nil
}

// compact takes the gaps between blocks of the file of results out, as far as the file system can, and returns where the last ends.
func (f *Files) compact(all []*block) int64 {
	const collapse = 8 // FALLOC_FL_COLLAPSE_RANGE
	fd, page := int(f.results.Fd()), int64(os.Getpagesize())
	slices.SortFunc(all, func(a, b *block) int { return cmp.Compare(a.at, b.at) })
	last := all[len(all)-1]
	end := last.at + last.used
	syscall.Ftruncate(fd, end) // else some bytes stay that nobody needs
	for k := len(all) - 1; k >= 0; k-- {
		from := page
		if k > 0 {
			from = all[k-1].at + (all[k-1].used+page-1)/page*page
		}
		gap := all[k].at - from
		if gap <= 0 || syscall.Fallocate(fd, collapse, from, gap) != nil {
			continue // a hole takes no room
		}
		for _, b := range all[k:] {
			b.at -= gap
		}
		end -= gap
	}
	return end
}

func linkat(from, to string, flags int) error {
	a, err := syscall.BytePtrFromString(from)
	if err != nil {
		return err
	}
	b, err := syscall.BytePtrFromString(to)
	if err != nil {
		return err
	}
	const here = -100 // AT_FDCWD
	dir := here
	if _, _, no := syscall.Syscall6(syscall.SYS_LINKAT, uintptr(dir), uintptr(unsafe.Pointer(a)), uintptr(dir), uintptr(unsafe.Pointer(b)), uintptr(flags), 0); no != 0 {
		return no
	}
	return nil
}

// Watch counts a mapped file among what must not take up much memory. It must stay mapped, shared, until the end.
func (f *Files) Watch(m []byte) { f.keepWatch(&block{mapped: m}) }

func (f *Files) keepWatch(b *block) {
	page, m := os.Getpagesize(), b.mapped
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (page - 1)
	if len(m) < skip {
		return
	}
	b.pages = m[skip:]
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blocks[unsafe.SliceData(m)] = b
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
	largest := slices.SortedFunc(maps.Values(f.blocks), func(a, b *block) int { return cmp.Compare(len(b.pages), len(a.pages)) })
	for _, b := range largest {
		syscall.Madvise(b.pages, syscall.MADV_DONTNEED) // pages of shared mappings are the file's
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
