package cuda

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// function is a function of the driver's library.
type function = dl.Function

// api holds the functions of the driver that the package uses.
type api struct {
	init, driverGetVersion, getErrorName, getErrorString function

	deviceGetCount, deviceGet, deviceGetName, deviceGetUUID function
	deviceTotalMem, deviceGetAttribute                      function
	primaryCtxRetain, primaryCtxRelease                     function
	ctxGetCurrent, ctxSetCurrent, ctxGetDevice              function
	ctxSynchronize, deviceCanAccessPeer                     function

	moduleLoadDataEx, moduleUnload, moduleGetFunction  function
	linkCreate, linkAddData, linkComplete, linkDestroy function
	funcGetAttribute                                   function
	launchKernel, launchKernelEx                       function

	memGetInfo, memAlloc, memFree                               function
	memPoolCreate, memPoolDestroy                               function
	memPoolSetAttribute, memPoolGetAttribute, memPoolTrimTo     function
	memPoolSetAccess                                            function
	memAllocFromPoolAsync, memFreeAsync                         function
	memHostAlloc, memFreeHost                                   function
	memsetD8Async                                               function
	memcpyHtoDAsync, memcpyDtoHAsync, memcpyDtoDAsync           function
	memcpyPeerAsync                                             function
	streamCreate, streamDestroy, streamQuery, streamSynchronize function
	streamWaitEvent, streamBeginCapture, streamEndCapture       function
	graphInstantiate, graphLaunch                               function
	graphDestroy, graphExecDestroy                              function
	eventCreate, eventDestroy, eventRecord                      function
	eventQuery, eventSynchronize, eventElapsedTime              function
}

// bindings is the table of the C functions behind a. The names are those of the
// binary interface: where cuda.h redefines a function, its suffix tells which of
// the incompatible versions is meant, and each version keeps its name for good.
// That is why cuGetProcAddress, whose answer depends on a version number, is not
// needed.
func (a *api) bindings() dl.Bindings {
	return dl.Bindings{
		"cuInit":             &a.init,
		"cuDriverGetVersion": &a.driverGetVersion,
		"cuGetErrorName":     &a.getErrorName,
		"cuGetErrorString":   &a.getErrorString,

		"cuDeviceGetCount":             &a.deviceGetCount,
		"cuDeviceGet":                  &a.deviceGet,
		"cuDeviceGetName":              &a.deviceGetName,
		"cuDeviceGetUuid_v2":           &a.deviceGetUUID,
		"cuDeviceTotalMem_v2":          &a.deviceTotalMem,
		"cuDeviceGetAttribute":         &a.deviceGetAttribute,
		"cuDevicePrimaryCtxRetain":     &a.primaryCtxRetain,
		"cuDevicePrimaryCtxRelease_v2": &a.primaryCtxRelease,
		"cuCtxGetCurrent":              &a.ctxGetCurrent,
		"cuCtxSetCurrent":              &a.ctxSetCurrent,
		"cuCtxGetDevice":               &a.ctxGetDevice,
		"cuCtxSynchronize":             &a.ctxSynchronize,
		"cuDeviceCanAccessPeer":        &a.deviceCanAccessPeer,

		"cuModuleLoadDataEx":  &a.moduleLoadDataEx,
		"cuModuleUnload":      &a.moduleUnload,
		"cuModuleGetFunction": &a.moduleGetFunction,
		"cuLinkCreate_v2":     &a.linkCreate,
		"cuLinkAddData_v2":    &a.linkAddData,
		"cuLinkComplete":      &a.linkComplete,
		"cuLinkDestroy":       &a.linkDestroy,
		"cuFuncGetAttribute":  &a.funcGetAttribute,
		"cuLaunchKernel":      &a.launchKernel,
		"cuLaunchKernelEx":    &a.launchKernelEx,

		"cuMemGetInfo_v2":         &a.memGetInfo,
		"cuMemAlloc_v2":           &a.memAlloc,
		"cuMemFree_v2":            &a.memFree,
		"cuMemPoolCreate":         &a.memPoolCreate,
		"cuMemPoolDestroy":        &a.memPoolDestroy,
		"cuMemPoolSetAttribute":   &a.memPoolSetAttribute,
		"cuMemPoolGetAttribute":   &a.memPoolGetAttribute,
		"cuMemPoolTrimTo":         &a.memPoolTrimTo,
		"cuMemPoolSetAccess":      &a.memPoolSetAccess,
		"cuMemAllocFromPoolAsync": &a.memAllocFromPoolAsync,
		"cuMemFreeAsync":          &a.memFreeAsync,
		"cuMemHostAlloc":          &a.memHostAlloc,
		"cuMemFreeHost":           &a.memFreeHost,
		"cuMemsetD8Async":         &a.memsetD8Async,
		"cuMemcpyHtoDAsync_v2":    &a.memcpyHtoDAsync,
		"cuMemcpyDtoHAsync_v2":    &a.memcpyDtoHAsync,
		"cuMemcpyDtoDAsync_v2":    &a.memcpyDtoDAsync,
		"cuMemcpyPeerAsync":       &a.memcpyPeerAsync,

		"cuStreamCreate":      &a.streamCreate,
		"cuStreamDestroy_v2":  &a.streamDestroy,
		"cuStreamQuery":       &a.streamQuery,
		"cuStreamSynchronize": &a.streamSynchronize,
		"cuStreamWaitEvent":   &a.streamWaitEvent,

		"cuStreamBeginCapture_v2":     &a.streamBeginCapture,
		"cuStreamEndCapture":          &a.streamEndCapture,
		"cuGraphInstantiateWithFlags": &a.graphInstantiate,
		"cuGraphLaunch":               &a.graphLaunch,
		"cuGraphDestroy":              &a.graphDestroy,
		"cuGraphExecDestroy":          &a.graphExecDestroy,

		"cuEventCreate":      &a.eventCreate,
		"cuEventDestroy_v2":  &a.eventDestroy,
		"cuEventRecord":      &a.eventRecord,
		"cuEventSynchronize": &a.eventSynchronize,
		"cuEventQuery":       &a.eventQuery,
		"cuEventElapsedTime": &a.eventElapsedTime,
	}
}

// bind fills a from an open library. The error names every function missing.
func (a *api) bind(library dl.Library) error {
	if missing := library.Bind(a.bindings()); missing != "" {
		return fmt.Errorf("it lacks %s: it is no driver of CUDA %s or newer", missing, Oldest)
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
	memAccessReadWrite      = 3
	memHostAllocPortable    = 1

	streamNonBlocking  = 1
	captureRelaxed     = 2
	eventDisableTiming = 2
)
