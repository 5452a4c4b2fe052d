package aot

import _ "embed"

// Header is lacuna.h: the interface that all kernels share. Offsets and codes in
// this file are the same as there; a test compiles the header and compares.
//
//go:embed lacuna.h
var Header string

// ABIVersion is LACUNA_ABI_VERSION.
const ABIVersion = 1

// Status is what the functions of a kernel return: LACUNA_OK and its kin.
type Status int32

// The statuses that are not errors.
const (
	OK      Status = 0
	Need    Status = 1
	Release Status = 2
	Chunks  Status = 3
)

// The errors.
const (
	ErrABI     Status = -1
	ErrNull    Status = -2
	ErrCount   Status = -3
	ErrRank    Status = -4
	ErrFormat  Status = -5
	ErrType    Status = -6
	ErrWidth   Status = -7
	ErrExtent  Status = -8
	ErrShape   Status = -9
	ErrLength  Status = -10
	ErrAlign   Status = -11
	ErrOverlap Status = -12
	ErrFill    Status = -13
	ErrSize    Status = -14
	ErrMemory  Status = -15
	ErrKernel  Status = -16
	ErrStopped Status = -17
	ErrState   Status = -18
)

// Roles of memory that a step needs: LACUNA_RESULT and LACUNA_TEMPORARY.
const (
	RoleResult    = 0
	RoleTemporary = 1
)

// Whether memory must be zero: LACUNA_ZERO and LACUNA_ZERO_AGAIN.
const (
	Zero      = 1
	ZeroAgain = 2
)

// Arrays of a tensor: LACUNA_POINTERS, LACUNA_INDICES and LACUNA_VALUES.
const (
	ArrayPointers = 0
	ArrayIndices  = 1
	ArrayValues   = 2
)

// Flags of a call: LACUNA_FLAG_RELEASE and LACUNA_FLAG_CHUNKS.
const (
	FlagRelease = 1
	FlagChunks  = 2
)

// The fields of the structures, by the number of their 8-byte word.
const (
	arrayData, arrayLen, arrayCap, arrayType, arrayWords = 0, 1, 2, 3, 4

	levelPointers, levelIndices, levelWords = 0, arrayWords, 2 * arrayWords

	tensorRank, tensorFormat, tensorExtents, tensorLevels = 0, 1, 2, 3
	tensorValues, tensorFill, tensorWords                 = 4, 4 + arrayWords, 5 + arrayWords

	needData, needBytes, needZero, needRole, needTensor, needLevel, needArray, needWords = 0, 1, 2, 3, 4, 5, 6, 7

	callABI, callFlags, callCount, callTensors       = 0, 1, 2, 3
	callState, callStateWords, callStop, callThreads = 4, 5, 6, 7
	callNeed, callChunks, callStage, callTensor      = 8, 8 + needWords, 9 + needWords, 10 + needWords
	callMessage, callWords                           = 11 + needWords, 12 + needWords
	argsABI, argsCount, argsTensors, argsAllocate    = 0, 1, 2, 3
	argsRelease, argsUser, argsStop, argsTensor      = 4, 5, 6, 7
	argsMessage, argsWords                           = 8, 9
)
