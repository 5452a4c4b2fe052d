package aot

import "strings"

// LLVM does not say whether it knows a processor, except on standard error, and goes on
// with another. So these are the names that all its versions from 14 on know, of
// 64-bit processors.
var processors = map[string][]string{
	"amd64": strings.Fields(`x86-64 x86-64-v2 x86-64-v3 x86-64-v4 alderlake amdfam10 athlon-fx athlon64 athlon64-sse3 atom barcelona
		bdver1 bdver2 bdver3 bdver4 bonnell broadwell btver1 btver2 cannonlake cascadelake cooperlake core-avx-i core-avx2 core2 corei7
		corei7-avx goldmont goldmont-plus haswell icelake-client icelake-server ivybridge k8 k8-sse3 nehalem nocona opteron
		opteron-sse3 penryn rocketlake sandybridge sapphirerapids silvermont skx skylake skylake-avx512 slm tigerlake tremont westmere
		znver1 znver2 znver3`),
	"arm64": strings.Fields(`generic a64fx ampere1 apple-a7 apple-a10 apple-a11 apple-a12 apple-a13 apple-a14 apple-m1 carmel
		cortex-a34 cortex-a35 cortex-a53 cortex-a55 cortex-a57 cortex-a65 cortex-a65ae cortex-a72 cortex-a73 cortex-a75 cortex-a76
		cortex-a76ae cortex-a77 cortex-a78 cortex-a78c cortex-a510 cortex-a710 cortex-r82 cortex-x1 cortex-x1c cortex-x2 cyclone
		exynos-m3 exynos-m4 exynos-m5 falkor kryo neoverse-512tvb neoverse-e1 neoverse-n1 neoverse-n2 neoverse-v1 saphira
		thunderx thunderx2t99 thunderx3t110 tsv110`),
}

// oldProcessors are those of x86-64 before SSE4.1, which have no instructions that round.
var oldProcessors = strings.Fields(`x86-64 amdfam10 athlon-fx athlon64 athlon64-sse3 atom barcelona bonnell btver1 core2 k8 k8-sse3
	nocona opteron opteron-sse3`)
