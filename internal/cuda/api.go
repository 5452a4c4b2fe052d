package cuda

import (
	"fmt"
	"strings"
)

// function is a function of the driver's library.
type function struct {
	name    string
	address uintptr // 0: the library does not have it
}

// api holds the functions of the driver that the package uses.
type api struct {
	init, driverGetVersion, getErrorName, getErrorString function

	deviceGetCount, deviceGet, deviceGetName, deviceGetUUID function
	deviceTotalMem, deviceGetAttribute                      function
	primaryCtxRetain, primaryCtxRelease                     function
	ctxGetCurrent, ctxSetCurrent, ctxGetDevice              function
	ctxSynchronize                                          function

	moduleLoadDataEx, moduleUnload, moduleGetFunction      function
	linkCreate, linkAddData, linkComplete, linkDestroy     function
	funcGetAttribute, funcSetAttribute, occupancyMaxBlocks function
	launchKernel, launchKernelEx                           function

	memGetInfo, memAlloc, memFree                               function
	memPoolCreate, memPoolDestroy                               function
	memPoolSetAttribute, memPoolGetAttribute, memPoolTrimTo     function
	memAllocFromPoolAsync, memFreeAsync                         function
	memHostAlloc, memFreeHost                                   function
	memsetD8Async, memsetD32Async                               function
	memcpyHtoDAsync, memcpyDtoHAsync, memcpyDtoDAsync           function
	streamCreate, streamDestroy, streamQuery, streamSynchronize function
	streamWaitEvent                                             function
	eventCreate, eventDestroy, eventRecord                      function
	eventSynchronize, eventElapsedTime                          function
}

// binding says which C function goes where.
type binding struct {
	into *function
	name string
}

// bindings is the table of the C functions behind a. The names are those of the
// binary interface: where cuda.h redefines a function, its suffix tells which of
// the incompatible versions is meant, and each version keeps its name for good.
// That is why cuGetProcAddress, whose answer depends on a version number, is not
// needed.
func (a *api) bindings() []binding {
	return []binding{
		{&a.init, "cuInit"},
		{&a.driverGetVersion, "cuDriverGetVersion"},
		{&a.getErrorName, "cuGetErrorName"},
		{&a.getErrorString, "cuGetErrorString"},

		{&a.deviceGetCount, "cuDeviceGetCount"},
		{&a.deviceGet, "cuDeviceGet"},
		{&a.deviceGetName, "cuDeviceGetName"},
		{&a.deviceGetUUID, "cuDeviceGetUuid_v2"},
		{&a.deviceTotalMem, "cuDeviceTotalMem_v2"},
		{&a.deviceGetAttribute, "cuDeviceGetAttribute"},
		{&a.primaryCtxRetain, "cuDevicePrimaryCtxRetain"},
		{&a.primaryCtxRelease, "cuDevicePrimaryCtxRelease_v2"},
		{&a.ctxGetCurrent, "cuCtxGetCurrent"},
		{&a.ctxSetCurrent, "cuCtxSetCurrent"},
		{&a.ctxGetDevice, "cuCtxGetDevice"},
		{&a.ctxSynchronize, "cuCtxSynchronize"},

		{&a.moduleLoadDataEx, "cuModuleLoadDataEx"},
		{&a.moduleUnload, "cuModuleUnload"},
		{&a.moduleGetFunction, "cuModuleGetFunction"},
		{&a.linkCreate, "cuLinkCreate_v2"},
		{&a.linkAddData, "cuLinkAddData_v2"},
		{&a.linkComplete, "cuLinkComplete"},
		{&a.linkDestroy, "cuLinkDestroy"},
		{&a.funcGetAttribute, "cuFuncGetAttribute"},
		{&a.funcSetAttribute, "cuFuncSetAttribute"},
		{&a.occupancyMaxBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor"},
		{&a.launchKernel, "cuLaunchKernel"},
		{&a.launchKernelEx, "cuLaunchKernelEx"},

		{&a.memGetInfo, "cuMemGetInfo_v2"},
		{&a.memAlloc, "cuMemAlloc_v2"},
		{&a.memFree, "cuMemFree_v2"},
		{&a.memPoolCreate, "cuMemPoolCreate"},
		{&a.memPoolDestroy, "cuMemPoolDestroy"},
		{&a.memPoolSetAttribute, "cuMemPoolSetAttribute"},
		{&a.memPoolGetAttribute, "cuMemPoolGetAttribute"},
		{&a.memPoolTrimTo, "cuMemPoolTrimTo"},
		{&a.memAllocFromPoolAsync, "cuMemAllocFromPoolAsync"},
		{&a.memFreeAsync, "cuMemFreeAsync"},
		{&a.memHostAlloc, "cuMemHostAlloc"},
		{&a.memFreeHost, "cuMemFreeHost"},
		{&a.memsetD8Async, "cuMemsetD8Async"},
		{&a.memsetD32Async, "cuMemsetD32Async"},
		{&a.memcpyHtoDAsync, "cuMemcpyHtoDAsync_v2"},
		{&a.memcpyDtoHAsync, "cuMemcpyDtoHAsync_v2"},
		{&a.memcpyDtoDAsync, "cuMemcpyDtoDAsync_v2"},

		{&a.streamCreate, "cuStreamCreate"},
		{&a.streamDestroy, "cuStreamDestroy_v2"},
		{&a.streamQuery, "cuStreamQuery"},
		{&a.streamSynchronize, "cuStreamSynchronize"},
		{&a.streamWaitEvent, "cuStreamWaitEvent"},
		{&a.eventCreate, "cuEventCreate"},
		{&a.eventDestroy, "cuEventDestroy_v2"},
		{&a.eventRecord, "cuEventRecord"},
		{&a.eventSynchronize, "cuEventSynchronize"},
		{&a.eventElapsedTime, "cuEventElapsedTime"},
	}
}

// bind fills a from an open library. The error names every function missing.
func (a *api) bind(library uintptr) error {
	var missing []string
	for _, b := range a.bindings() {
		*b.into = function{b.name, symbolAddress(library, b.name)}
		if b.into.address == 0 {
			missing = append(missing, b.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it lacks %s: it is no driver of CUDA %s or newer", strings.Join(missing, ", "), Oldest)
	}
	return nil
}

// Numbers of the driver API (cuda.h), named as there without the prefix.
const (
	attributeMaxThreadsPerBlock     = 1
	attributeMaxSharedPerBlock      = 8
	attributeWarpSize               = 10
	attributeClockRate              = 13 // kHz
	attributeMultiprocessorCount    = 16
	attributeECCEnabled             = 32
	attributeMemoryClockRate        = 36 // kHz
	attributeMemoryBusWidth         = 37 // bits
	attributeL2CacheSize            = 38
	attributeMaxThreadsPerSM        = 39
	attributeCapabilityMajor        = 75
	attributeCapabilityMinor        = 76
	attributeMaxSharedPerSM         = 81
	attributeMaxSharedPerBlockOptin = 97
	attributeMemoryPoolsSupported   = 115

	funcMaxThreadsPerBlock = 0
	funcSharedSizeBytes    = 1
	funcLocalSizeBytes     = 3
	funcNumRegs            = 4
	funcMaxDynamicShared   = 8

	jitErrorLogBuffer     = 5
	jitErrorLogBufferSize = 6
	jitOptimizationLevel  = 7
	jitInputPTX           = 1

	launchParamBufferPointer = 1
	launchParamBufferSize    = 2

	launchAttributeProgrammaticStreamSerialization = 6

	memAllocationTypePinned = 1
	memLocationTypeDevice   = 1
	memPoolReleaseThreshold = 4
	memPoolReservedCurrent  = 5
	memPoolUsedCurrent      = 7
	memHostAllocPortable    = 1

	streamNonBlocking  = 1
	eventDisableTiming = 2
)
