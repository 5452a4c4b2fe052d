package spill

import (
	"os"
	"syscall"
)

// Growing is a block that is written from its beginning on, before it is known how long it becomes.
type Growing struct {
	files  *Files
	file   *os.File // nil: it is mapped, or closed
	at     int64
	n      int64 // bytes so far
	most   int64
	result bool // it is in the file of all results
}

// Grow begins a block that may well be written to a file in the end, as those of [Files.MapResult]: there is a place for it in the same file,
// as long as the disk has room now. Places take no room until they are written to.
func (f *Files) Grow() (*Growing, error) {
	g := &Growing{files: f, result: true}
	var err error
	if g.most, err = f.unused(); err != nil {
		return nil, &Error{f.dir, 0, err}
	}
	if g.file, g.at = f.reserve(g.most); g.file == nil {
		g.result = false
		if g.file, err = f.create(); err != nil {
			return nil, &Error{f.dir, 0, err}
		}
	}
	return g, nil
}

// unused is how much room the disk has, but no more than files of usual systems can have a few times.
func (f *Files) unused() (int64, error) {
	const most = 4 << 40
	var st syscall.Statfs_t
	if err := ignoringEINTR(func() error { return syscall.Statfs(f.dir, &st) }); err != nil {
		return 0, err
	}
	return int64(min(st.Bavail, uint64(most/st.Bsize))) * st.Bsize, nil
}

// Append writes what comes next. The error is an [*Error].
func (g *Growing) Append(data []byte) error {
	n := int64(len(data))
	if n > g.most-g.n {
		return &Error{g.files.dir, g.n + n, syscall.ENOSPC}
	}
	if err := writeOut(g.file, data, g.at+g.n); err != nil {
		return &Error{g.files.dir, g.n + n, err}
	}
	g.n += n
	return nil
}

// Map ends the block, of which something was written.
func (g *Growing) Map() ([]byte, error) {
	m, err := g.files.mapped(&block{file: g.file, at: g.at, used: g.n, result: g.result})
	if err != nil {
		return nil, &Error{g.files.dir, g.n, err}
	}
	g.file = nil
	return m, nil
}

// Close gives a block up that was not mapped.
func (g *Growing) Close() {
	switch {
	case g == nil || g.file == nil:
	case g.result:
		g.files.mu.Lock()
		defer g.files.mu.Unlock()
		g.files.punch(g.at, g.n)
	default:
		g.file.Close()
	}
}

// mapped maps a block.
func (f *Files) mapped(b *block) ([]byte, error) {
	m, err := syscall.Mmap(int(b.file.Fd()), b.at, int(b.used), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	b.mapped = m
	f.keepWatch(b)
	return m, nil
}

// writeOut writes to a file and lets the system begin to bring it to the disk.
func writeOut(file *os.File, data []byte, at int64) error {
	if _, err := file.WriteAt(data, at); err != nil || len(data) == 0 {
		return err
	}
	const begin = 2 // SYNC_FILE_RANGE_WRITE
	syscall.SyncFileRange(int(file.Fd()), at, int64(len(data)), begin)
	return nil
}
