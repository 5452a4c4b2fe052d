//go:build !unix

package diskcache

import "os"

// distrusted says nothing where files have access lists instead of owners: the
// user's folder for caches is protected by its own.
func distrusted(os.FileInfo) string { return "" }

func foreign(string) string { return "" }

func openNoFollow(path string) (*os.File, error) { return os.Open(path) }
