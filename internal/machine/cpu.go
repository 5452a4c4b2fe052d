package machine

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// CPUEnv is the environment variable that names the processor to make code for, such as
// "haswell" or "x86-64-v3"; "" and "native" are this one.
const CPUEnv = "LACUNA_CPU"

// processors are the names that CPUEnv may have, LLVM's own, for each architecture of Go's.
// LLVM takes a name that it does not know for the simplest processor there is, with no word
// to the program; these are in all versions that we support.
var processors = map[string][]string{
	"amd64": {
		"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4",
		"nehalem", "westmere", "sandybridge", "ivybridge", "haswell", "broadwell", "skylake", "skylake-avx512",
		"cascadelake", "icelake-client", "icelake-server", "tigerlake", "alderlake", "sapphirerapids",
		"btver2", "bdver4", "znver1", "znver2", "znver3",
	},
	"arm64": {
		"generic", "cortex-a53", "cortex-a72", "cortex-a76", "neoverse-n1", "neoverse-n2", "neoverse-v1",
		"apple-m1", "a64fx",
	},
}

// Restricted is what CPUEnv asks code to be made for of the architecture we run on: the name, or "" for this
// processor itself. An error, a *SettingError, says which names there are.
func Restricted() (string, error) {
	name := os.Getenv(CPUEnv)
	if name == "" || name == "native" {
		return "", nil
	}
	if names := processors[runtime.GOARCH]; !slices.Contains(names, name) {
		return "", &SettingError{CPUEnv, name, " is no processor known here: write native or one of " + strings.Join(names, ", ")}
	}
	return name, nil
}

// Without is the features that code for another processor must do without on this one: of LLVM's
// list for this processor, those that it lacks, such as "-avx512f".
func Without(features string) string {
	lacking := slices.DeleteFunc(strings.Split(features, ","), func(f string) bool { return !strings.HasPrefix(f, "-") })
	return strings.Join(lacking, ",")
}

// March is gcc's option for the processor that code is made for, so that benchmarks compare like with like.
func March() string {
	if name, err := Restricted(); err == nil && name != "" {
		return "-march=" + name
	}
	return "-march=native"
}
