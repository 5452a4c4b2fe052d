source_filename = "ballot"

define void @ballot(double* noalias readonly align 16 %x, i32* noalias align 16 %y, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = getelementptr inbounds double, double* %x, i64 %1
	%3 = load double, double* %2
	%4 = fcmp ogt double %3, 0.000000e+00
	%5 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %4)
	%6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%7 = zext i32 %6 to i64
	%8 = call i32 @llvm.ctpop.i32(i32 %5)
	%9 = getelementptr inbounds i32, i32* %y, i64 %7
	store i32 %8, i32* %9
	ret void
}

declare i32 @llvm.nvvm.vote.ballot.sync(i32 %0, i1 %1)

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.ctpop.i32(i32 %0)

!nvvm.annotations = !{!0, !1}

!0 = !{void (double*, i32*, i32*)* @ballot, !"kernel", i32 1}
!1 = !{void (double*, i32*, i32*)* @ballot, !"maxntidx", i32 64}
!2 = !{i32 0, i32 64}
