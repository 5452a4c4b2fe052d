package aot

import (
	_ "embed"
	"strings"
)

// helperSource are the functions that all drivers have, in LLVM IR. NAME stands for the
// kernel's name and words in capitals with a $ for constants of this package.
//
//go:embed helpers.ll.in
var helperSource string

// The words of an entry of the list of memory that a run's callbacks have given: address,
// size, the array of a result that has it (0: a temporary), and what that was before.
const heldData, heldBytes, heldArray, heldOldData, heldOldCap, heldWords = 0, 1, 2, 3, 4, 5

// helperNames are the constants that helperSource uses.
var helperNames = map[string]int{
	"ARRAY_DATA": arrayData, "ARRAY_LEN": arrayLen, "ARRAY_CAP": arrayCap, "ARRAY_TYPE": arrayType, "ARRAY_BYTES": 8 * arrayWords,
	"LEVEL_BYTES": 8 * levelWords,
	"TENSOR_RANK": tensorRank, "TENSOR_FORMAT": tensorFormat, "TENSOR_EXTENTS": tensorExtents, "TENSOR_LEVELS": tensorLevels,
	"TENSOR_VALUES_BYTES": 8 * tensorValues, "TENSOR_BYTES": 8 * tensorWords,
	"CALL_ABI": callABI, "CALL_FLAGS": callFlags, "CALL_COUNT": callCount, "CALL_TENSORS": callTensors, "CALL_STATE": callState,
	"CALL_STATE_WORDS": callStateWords, "CALL_STOP": callStop, "CALL_THREADS": callThreads, "CALL_TENSOR": callTensor, "CALL_MESSAGE": callMessage,
	"CALL_BYTES": 8 * callWords,
	"NEED_DATA":  callNeed + needData, "NEED_BYTES": callNeed + needBytes, "NEED_ZERO": callNeed + needZero, "NEED_ROLE": callNeed + needRole,
	"NEED_TENSOR": callNeed + needTensor, "NEED_LEVEL": callNeed + needLevel, "NEED_ARRAY": callNeed + needArray,
	"ARGS_ABI": argsABI, "ARGS_COUNT": argsCount, "ARGS_TENSORS": argsTensors, "ARGS_ALLOCATE": argsAllocate, "ARGS_RELEASE": argsRelease,
	"ARGS_USER": argsUser, "ARGS_STOP": argsStop, "ARGS_TENSOR": argsTensor, "ARGS_MESSAGE": argsMessage,
	"HELD_DATA": heldData, "HELD_BYTES": heldBytes, "HELD_ARRAY": heldArray, "HELD_OLD_DATA": heldOldData, "HELD_OLD_CAP": heldOldCap,
	"HELD_WORDS": heldWords, "ABI": ABIVersion, "VALUES": ArrayValues, "FLAG_RELEASE": FlagRelease, "NEED": int(Need), "RELEASE": int(Release),
	"ERR_ABI": int(ErrABI), "ERR_NULL": int(ErrNull), "ERR_RANK": int(ErrRank), "ERR_FORMAT": int(ErrFormat), "ERR_EXTENT": int(ErrExtent),
	"ERR_LENGTH": int(ErrLength), "ERR_ALIGN": int(ErrAlign), "ERR_OVERLAP": int(ErrOverlap), "ERR_MEMORY": int(ErrMemory),
	"NEEDS_EXTENTS": needsExtents, "NEEDS_LEVELS": needsLevels, "RUN_OVER": runOver,
}

// helpersFor are the helpers of a kernel.
func helpersFor(name string) string {
	pairs := []string{"@NAME", "@" + name}
	for constant, value := range helperNames {
		// Every use ends in a semicolon, so that no constant is the beginning of another.
		pairs = append(pairs, "$"+constant+";", integer(int64(value)))
	}
	return strings.NewReplacer(pairs...).Replace(helperSource)
}
