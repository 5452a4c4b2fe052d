//go:build !linux

package ondisk

// ExecutableID is not known where the file that runs cannot be found for certain:
// another may have its name by now. Nothing is kept on disk then.
func ExecutableID() string { return "" }
