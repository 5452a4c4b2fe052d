//go:build unix

package diskcache

import (
	"fmt"
	"os"
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

// openNoFollow opens a file, no link, and does not wait for the other end of a pipe.
func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
