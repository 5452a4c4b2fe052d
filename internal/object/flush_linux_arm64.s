#include "textflag.h"

// func flushInstructions(start, length uintptr)
//
// Lines are taken to have 16 bytes, the least that CTR_EL0 can say of them: kernels
// are small, and cleaning a line twice does no harm.
TEXT ·flushInstructions(SB), NOSPLIT, $0-16
	MOVD start+0(FP), R1
	MOVD length+8(FP), R2
	ADD  R1, R2, R2
	MOVD R1, R0

clean:
	CMP  R2, R0
	BHS  cleaned
	WORD $0xd50b7b20 // dc cvau, x0
	ADD  $16, R0
	B    clean

cleaned:
	WORD $0xd5033b9f // dsb ish
	MOVD R1, R0

invalidate:
	CMP  R2, R0
	BHS  done
	WORD $0xd50b7520 // ic ivau, x0
	ADD  $16, R0
	B    invalidate

done:
	WORD $0xd5033b9f // dsb ish
	WORD $0xd5033fdf // isb
	RET
