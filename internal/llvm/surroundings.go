package llvm

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Surroundings says, without opening a library or reading a folder, where Load("")
// would look and when each of those places last changed: as long as the text is the
// same, the files that Find lists first are. What the dynamic loader alone knows is
// not in it.
func Surroundings() string {
	spec := os.Getenv(EnvVar)
	var b strings.Builder
	fmt.Fprintf(&b, "%q\n", spec)
	places := []string{spec, filepath.Join(spec, "lib")}
	if _, _, version := parseVersion(spec); spec == "" || version {
		places = searchDirs()
	}
	for _, place := range places {
		if info, err := os.Stat(place); err == nil {
			fmt.Fprintf(&b, "%q %d %d %v\n", place, info.Size(), info.ModTime().UnixNano(), info.IsDir())
		}
	}
	return b.String()
}

// searchDirs lists the folders that searchFiles looks into.
func searchDirs() []string {
	var list []string
	variables := []string{"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
	if runtime.GOOS == "windows" {
		variables = []string{"PATH"}
	}
	for _, variable := range variables {
		for _, dir := range filepath.SplitList(os.Getenv(variable)) {
			if dir != "" {
				list = append(list, dir)
			}
		}
	}
	for _, pattern := range libraryDirs[runtime.GOOS] {
		dirs, _ := filepath.Glob(pattern) // the patterns are well formed
		list = append(list, dirs...)
	}
	return list
}
