// Package diskcache keeps what was expensive to make in files, for other processes:
// bytes under a kind, such as "object", and a key, a hash of all that they depend
// on. Processes may use a cache at the same time; one that is killed at any moment
// does no harm.
//
//	DIR/3f/object-9c41…    one entry: a header with kind, key, length and SHA-256, then the bytes
//	DIR/3f/tmp-….          an entry being written; renamed when it is complete and on the disk
//
// An entry counts only if all of its header fits and the file is this user's own.
// Whatever else lies in its place is as good as nothing there: it is made again and
// replaced. So a cache never fails; at worst it does not help.
//
// Entries are spread over folders by their keys. Each folder may hold its part of
// the limit; a write that takes it beyond that removes the entries of that folder
// that were not used for the longest time. There is nothing to lock and no
// list to keep.
package diskcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Key names an entry among those of its kind.
type Key [sha256.Size]byte

// Cache is a folder of entries. It is safe for concurrent use.
type Cache struct {
	dir string
	max int64
}

const (
	shards    = 64
	tempName  = "tmp-"
	abandoned = time.Hour        // a file still being written after that never will be
	fresh     = 10 * time.Minute // a use so soon after the last is not noted
)

// Open returns the cache in a folder, which is made if it is not there, for about max
// bytes. The folder must be this user's, and no one else may be able to write there:
// what is in it is going to run.
func Open(dir string, max int64) (*Cache, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("cache folder %q: want an absolute path", dir)
	}
	if why := foreign(dir); why != "" {
		return nil, fmt.Errorf("cache folder %s %s: name another in %s", dir, why, DirVar)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	if why := distrusted(info); why != "" {
		return nil, fmt.Errorf("cache folder %s %s: name another in %s", dir, why, DirVar)
	}
	return &Cache{dir: dir, max: max}, nil
}

// Dir is the folder.
func (c *Cache) Dir() string { return c.dir }

// Max is the limit in bytes.
func (c *Cache) Max() int64 { return c.max }

// kinds are what names of kinds look like.
var kinds = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]{1,16}$`) })

// path is the file of an entry.
func (c *Cache) path(kind string, key Key) string {
	if !kinds().MatchString(kind) {
		panic("BUG: kind of cache entry " + kind)
	}
	return filepath.Join(c.dir, shard(key), kind+"-"+hex.EncodeToString(key[:]))
}

func shard(key Key) string { return fmt.Sprintf("%02x", key[0]%shards) }

// header stands before the bytes of an entry. All of it is compared.
type header struct {
	Magic   [8]byte
	Version uint32
	Kind    [20]byte // padded with zeros
	Key     Key
	Length  uint64
	Sum     [sha256.Size]byte
}

const (
	magic   = "LACUNAC\x00"
	version = 1
)

var headerSize = binary.Size(header{})

func newHeader(kind string, key Key, data []byte) header {
	h := header{Version: version, Key: key, Length: uint64(len(data)), Sum: sha256.Sum256(data)}
	copy(h.Magic[:], magic)
	copy(h.Kind[:], kind)
	return h
}

func (h header) encode() []byte {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, h); err != nil {
		panic("BUG: " + err.Error())
	}
	return b.Bytes()
}

// Get returns the bytes of an entry; not ok if there is none, or none that is sound.
func (c *Cache) Get(kind string, key Key) (data []byte, ok bool) {
	f, info, err := openEntry(c.path(kind, key))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if info.Size() < int64(headerSize) || info.Size() > c.max {
		return nil, false
	}
	all := make([]byte, info.Size())
	if _, err := io.ReadFull(f, all); err != nil {
		return nil, false
	}
	data = all[headerSize:]
	if !bytes.Equal(all[:headerSize], newHeader(kind, key, data).encode()) {
		return nil, false
	}
	if now := time.Now(); now.Sub(info.ModTime()) > fresh {
		// The time of the last use, which is what the oldest entries are found by. Failing costs nothing.
		_ = os.Chtimes(f.Name(), now, now)
	}
	return data, true
}

// openEntry opens a file for reading if it is a plain one that only this user could
// have written. It waits for nothing, whatever lies there.
func openEntry(path string) (*os.File, os.FileInfo, error) {
	f, err := openNoFollow(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a plain file")
	}
	if err == nil {
		if why := distrusted(info); why != "" {
			err = errors.New(why)
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Put keeps data under a kind and a key, in the place of what was there. After an
// error the cache is as before. An entry that is larger than the part of the limit
// that one folder has is not kept.
func (c *Cache) Put(kind string, key Key, data []byte) error {
	path := c.path(kind, key)
	size := int64(headerSize) + int64(len(data))
	if size > c.max/shards {
		return nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := write(dir, path, newHeader(kind, key, data).encode(), data); err != nil {
		return err
	}
	return trim(dir, filepath.Base(path), c.max/shards)
}

// write makes a file of its parts, such that it is there whole or not at all.
func write(dir, path string, parts ...[]byte) (err error) {
	f, err := os.CreateTemp(dir, tempName+"*") // only this user may read or write it
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	err = os.Rename(f.Name(), path)
	if err != nil && os.RemoveAll(path) == nil { // a folder in its place
		err = os.Rename(f.Name(), path)
	}
	return err
}

// Entry is an entry as List tells of it.
type Entry struct {
	Kind string
	Key  string    // hexadecimal
	Size int64     // of the file
	Used time.Time // last, to about ten minutes
	path string
}

// unfinished reports whether the file is one being written, or left behind.
func (e Entry) unfinished() bool { return e.Kind == "" }

// fileName is what the names of entries look like.
var fileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-z0-9]{1,16})-([0-9a-f]{64})$`) })

// filesIn lists the entries of a folder and the files being written, which have no kind.
func filesIn(dir string) ([]Entry, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, n := range names {
		m := fileName().FindStringSubmatch(n.Name())
		if m == nil && !strings.HasPrefix(n.Name(), tempName) {
			continue // not ours
		}
		info, err := n.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue // gone meanwhile
		}
		e := Entry{Size: info.Size(), Used: info.ModTime(), path: filepath.Join(dir, n.Name())}
		if m != nil {
			e.Kind, e.Key = m[1], m[2]
		}
		list = append(list, e)
	}
	return list, nil
}

// trim removes the files that a folder holds too much, and those that were never
// finished. The file called newest stays.
func trim(dir, newest string, max int64) error {
	list, err := filesIn(dir)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b Entry) int { return b.Used.Compare(a.Used) })
	var size int64
	keep := func(e Entry) bool {
		size += e.Size
		if e.unfinished() {
			return time.Since(e.Used) < abandoned
		}
		return size <= max
	}
	for i, e := range list {
		if filepath.Base(e.path) == newest {
			keep(e)
			list = slices.Delete(list, i, i+1)
			break
		}
	}
	var failed error
	for _, e := range list {
		if keep(e) {
			continue
		}
		if err := os.Remove(e.path); err == nil || errors.Is(err, os.ErrNotExist) {
			size -= e.Size
		} else {
			failed = err
		}
	}
	return failed
}

// List lists the entries, those used last first.
func (c *Cache) List() ([]Entry, error) {
	all, err := c.files()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e Entry) bool { return e.unfinished() })
	slices.SortFunc(all, func(a, b Entry) int { return b.Used.Compare(a.Used) })
	return all, nil
}

// files lists all files of the cache.
func (c *Cache) files() ([]Entry, error) {
	var all []Entry
	for i := range shards {
		list, err := filesIn(filepath.Join(c.dir, shard(Key{byte(i)})))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// Clean removes all entries, and files that were never finished, and returns how many
// bytes in how many files that were. Files of other names stay, and so do folders and
// files that are being written: other processes may be using the cache.
func (c *Cache) Clean() (files int, size int64, err error) {
	all, err := c.files()
	if err != nil {
		return 0, 0, err
	}
	for _, e := range all {
		if e.unfinished() && time.Since(e.Used) < abandoned {
			continue
		}
		if err := os.Remove(e.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return files, size, err
		}
		files, size = files+1, size+e.Size
	}
	return files, size, nil
}
