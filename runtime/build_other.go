//go:build !linux

package runtime

// executableID is not known where the file that runs cannot be found for certain:
// another may have its name by now. Nothing is kept on disk then.
func executableID() string { return "" }
