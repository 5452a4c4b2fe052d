#include "textflag.h"

// func call(fn uintptr, args *int64, a, b, c int64) int64
//
// The frame is what the function may use of the stack.
TEXT ·call(SB), 0, $16384-48
	MOVD fn+0(FP), R8
	MOVD args+8(FP), R0
	MOVD a+16(FP), R1
	MOVD b+24(FP), R2
	MOVD c+32(FP), R3
	BL   (R8)
	MOVD R0, ret+40(FP)
	RET
