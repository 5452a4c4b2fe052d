#include "textflag.h"

// func call(fn uintptr, args *int64, a, b, c int64) int64
//
// The frame is what the function may use of the stack.
TEXT ·call(SB), 0, $16384-48
	MOVQ fn+0(FP), AX
	MOVQ args+8(FP), DI
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), DX
	MOVQ c+32(FP), CX
	MOVQ SP, BX
	LEAQ 16384(SP), SP
	ANDQ $~15, SP
	CALL AX
	MOVQ BX, SP
	MOVQ AX, ret+40(FP)
	RET
