package llvm

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Candidate is a libLLVM that may be loaded.
type Candidate struct {
	// Path is the file, with symbolic links resolved, or a plain library name
	// that is left to the dynamic loader.
	Path string
	// Version is what the file's name or folder says; zero when they say nothing.
	Version Version
}

// newestGuess is the newest major version whose plain library names are offered
// to the dynamic loader. Files found in the known folders have no such limit.
const newestGuess = 29

// libraryDirs are the patterns of folders that are searched for libLLVM.
var libraryDirs = map[string][]string{
	"linux": {
		"/usr/lib/*-linux-gnu*", "/usr/lib/llvm-*/lib", "/usr/lib64", "/usr/lib64/llvm*/lib*",
		"/usr/lib", "/usr/lib/llvm*/lib", "/usr/local/lib", "/usr/local/lib64",
		"/usr/local/llvm*/lib", "/opt/llvm*/lib",
	},
	"darwin": {"/opt/homebrew/opt/llvm*/lib", "/usr/local/opt/llvm*/lib", "/opt/local/libexec/llvm-*/lib"},
	// LLVM's own installer, MSYS2, Scoop, Chocolatey's and conda's folders.
	"windows": {
		`C:\Program Files\LLVM\bin`, `C:\msys64\ucrt64\bin`, `C:\msys64\clang64\bin`, `C:\msys64\clangarm64\bin`, `C:\msys64\mingw64\bin`,
		`C:\Users\*\scoop\apps\llvm\current\bin`, `C:\tools\llvm\bin`, `C:\ProgramData\*conda3\Library\bin`,
	},
}

// Find lists the LLVM libraries that Load would try for the environment
// variable EnvVar as it is, best first: newest first, and those found as files
// before names that only the dynamic loader can judge.
func Find() []Candidate {
	return candidates(os.Getenv(EnvVar))
}

// candidates lists the libraries that spec allows: anything (""), nothing
// ("none"), one file, the files of a directory, or one version.
func candidates(spec string) []Candidate {
	switch {
	case spec == "":
		return append(searchFiles(), loaderNames()...)
	case spec == "none":
		return nil
	}
	if want, parts, ok := parseVersion(spec); ok {
		return ofVersion(append(searchFiles(), loaderNames()...), want, parts)
	}
	if info, err := os.Stat(spec); err == nil && info.IsDir() {
		return newestFirst(slices.Concat(filesIn(spec), filesIn(filepath.Join(spec, "lib"))))
	}
	return []Candidate{{Path: spec, Version: versionOf(spec)}}
}

// searchFiles lists the libraries in the known folders and those of the dynamic
// loader's path.
func searchFiles() []Candidate {
	var found []Candidate
	for _, dir := range searchDirs() {
		found = append(found, filesIn(dir)...)
	}
	return newestFirst(found)
}

// fileName matches the names under which libLLVM is installed and nothing like
// libLLVMCore.a or libLLVM-C.so. On Windows the C API has a library of its own.
var fileName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(libLLVM(-\d+(\.\d+)*)?\.(so(\.\d+)*|dylib|dll)|LLVM-C\.dll)$`)
})

// filesIn lists the LLVM libraries in one folder, with links resolved. A folder
// that cannot be read holds none.
func filesIn(dir string) []Candidate {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var found []Candidate
	for _, entry := range entries {
		if !fileName().MatchString(entry.Name()) {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // a dangling link
		}
		version := versionOf(target)
		if named := versionOf(path); named.compare(version) > 0 {
			version = named // libLLVM-14.0.6.so.1 -> libLLVM-14.so.1
		}
		found = append(found, Candidate{Path: target, Version: version})
	}
	return found
}

// newestFirst sorts by version and drops files that are listed twice and files
// known to be too old. Of a file's names the one that tells most is kept.
func newestFirst(found []Candidate) []Candidate {
	slices.SortStableFunc(found, func(a, b Candidate) int { return b.Version.compare(a.Version) })
	var kept []Candidate
	for _, c := range found {
		known := slices.ContainsFunc(kept, func(k Candidate) bool { return k.Path == c.Path })
		tooOld := c.Version != Version{} && c.Version.Major < Oldest
		if !known && !tooOld {
			kept = append(kept, c)
		}
	}
	return kept
}

// loaderNames lists the names by which the dynamic loader may know a library
// outside the known folders.
func loaderNames() []Candidate {
	switch runtime.GOOS {
	case "darwin":
		return []Candidate{{Path: "libLLVM.dylib"}}
	case "windows": // which searchFiles looks for on the PATH
		return nil
	}
	var names []Candidate
	for major := newestGuess; major >= Oldest; major-- {
		text := strconv.Itoa(major)
		for _, name := range []string{"libLLVM.so." + text + ".1", "libLLVM-" + text + ".so.1", "libLLVM-" + text + ".so"} {
			names = append(names, Candidate{Path: name, Version: Version{Major: major}})
		}
	}
	return names
}

// ofVersion keeps the candidates whose version starts with the given number of
// parts of want.
func ofVersion(all []Candidate, want Version, parts int) []Candidate {
	return slices.DeleteFunc(all, func(c Candidate) bool {
		got := c.Version
		if parts < 3 {
			got.Patch = want.Patch
		}
		if parts < 2 {
			got.Minor = want.Minor
		}
		return got != want
	})
}

// parseVersion reads "19", "19.1" or "19.1.7" and says how many parts it had.
func parseVersion(s string) (v Version, parts int, ok bool) {
	fields := strings.Split(s, ".")
	if len(fields) > 3 {
		return Version{}, 0, false
	}
	for i, into := range []*int{&v.Major, &v.Minor, &v.Patch}[:len(fields)] {
		n, err := strconv.ParseUint(fields[i], 10, 16)
		if err != nil {
			return Version{}, 0, false
		}
		*into = int(n)
	}
	return v, len(fields), true
}

// The places where a path tells the version, most telling first.
var versionInPath = []*regexp.Regexp{
	regexp.MustCompile(`libLLVM-(\d+(?:\.\d+){0,2})\.`),           // libLLVM-14.0.6.so.1, libLLVM-22.so
	regexp.MustCompile(`libLLVM\.so\.(\d\d+(?:\.\d+){0,2})$`),     // libLLVM.so.19.1
	regexp.MustCompile(`llvm[-@]?(\d+(?:\.\d+){0,2})[/\\]lib\d*`), // llvm-14/lib, llvm@19/lib, llvm19/lib64
}

// versionOf reads the version from the name of a library or its folder.
func versionOf(path string) Version {
	for _, pattern := range versionInPath {
		if m := pattern.FindStringSubmatch(path); m != nil {
			if v, _, ok := parseVersion(m[1]); ok {
				return v
			}
		}
	}
	return Version{}
}
