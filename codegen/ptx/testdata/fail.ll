source_filename = "fail"

define void @failing(i64* noalias readonly align 16 %x, double* noalias align 16 %y, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = getelementptr inbounds i64, i64* %x, i64 %1
	%3 = load i64, i64* %2
	%4 = icmp slt i64 %3, 0
	br i1 %4, label %if.then, label %if.end

if.then:
	%5 = atomicrmw umax i32* %status, i32 2 monotonic
	ret void

if.end:
	%6 = getelementptr inbounds i64, i64* %x, i64 %1
	%7 = load i64, i64* %6
	%8 = icmp eq i64 %7, 0
	br i1 %8, label %if.then.1, label %if.end.1

if.then.1:
	%9 = atomicrmw umax i32* %status, i32 1 monotonic
	ret void

if.end.1:
	%10 = getelementptr inbounds i64, i64* %x, i64 %1
	%11 = load i64, i64* %10
	%12 = sitofp i64 %11 to double
	%13 = fdiv double 1.000000e+00, %12
	%14 = getelementptr inbounds double, double* %y, i64 %1
	store double %13, double* %14
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

!nvvm.annotations = !{!0, !1}

!0 = !{void (i64*, double*, i32*)* @failing, !"kernel", i32 1}
!1 = !{void (i64*, double*, i32*)* @failing, !"maxntidx", i32 64}
!2 = !{i32 0, i32 64}
