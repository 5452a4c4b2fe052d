//go:build unix

package diskcache

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// distrusted says why a file or folder may hold what another user wrote; "" if it
// cannot.
func distrusted(info os.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "has no owner"
	case int(stat.Uid) != os.Geteuid():
		return fmt.Sprintf("belongs to user %d, not to %d, who runs this", stat.Uid, os.Geteuid())
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Sprintf("may be written by others (mode %s)", info.Mode())
	}
	return ""
}

// foreign says why the administrator should not make a folder: it would lie in a user's own
// folder, as that of the one who called sudo, who then could not use it.
func foreign(dir string) string {
	if os.Geteuid() != 0 {
		return ""
	}
	for {
		if info, err := os.Stat(dir); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 {
				return fmt.Sprintf("would be made for the administrator in %s, which belongs to user %d", dir, stat.Uid)
			}
			return ""
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// openNoFollow opens a file, no link, and does not wait for the other end of a pipe.
func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
