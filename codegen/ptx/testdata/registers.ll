source_filename = "registers"

define void @registers(i64* noalias align 16 %y, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = mul i64 %1, 128
	%3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !3
	%4 = zext i32 %3 to i64
	%5 = add i64 %2, %4
	%6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !3
	%7 = lshr i32 %6, 5
	%8 = zext i32 %7 to i64
	%9 = mul i64 %8, 1000
	%10 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !3
	%11 = and i32 %10, 31
	%12 = zext i32 %11 to i64
	%13 = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x(), !range !4
	%14 = zext i32 %13 to i64
	%15 = mul i64 %12, %14
	%16 = add i64 %9, %15
	%17 = getelementptr inbounds i64, i64* %y, i64 %5
	store i64 %16, i64* %17
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

!nvvm.annotations = !{!0, !1}

!0 = !{void (i64*, i32*)* @registers, !"kernel", i32 1}
!1 = !{void (i64*, i32*)* @registers, !"maxntidx", i32 128}
!2 = !{i32 0, i32 u0x7FFFFFFF}
!3 = !{i32 0, i32 128}
!4 = !{i32 1, i32 u0x7FFFFFFF}
