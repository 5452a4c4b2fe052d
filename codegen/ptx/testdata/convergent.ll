source_filename = "convergent"

@convergent.s.0 = internal addrspace(3) global [64 x double] undef, align 16
@llvm.used = appending global [1 x i8*] [i8* addrspacecast (i8 addrspace(3)* bitcast ([64 x double] addrspace(3)* @convergent.s.0 to i8 addrspace(3)*) to i8*)], section "llvm.metadata"

define void @convergent(double* noalias readonly align 16 %x, double* align 16 %y, i64 %n, i32* %status) nounwind {
entry:
	%a = alloca double
	%large = alloca i1
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = getelementptr inbounds double, double* %x, i64 %1
	%3 = load double, double* %2
	store double %3, double* %a
	store i1 false, i1* %large
	%4 = load double, double* %a
	%5 = fcmp ogt double %4, 1.000000e+00
	br i1 %5, label %if.then, label %if.end

if.then:
	store i1 true, i1* %large
	%6 = load double, double* %a
	%7 = fmul double %6, 3.000000e+00
	store double %7, double* %a
	br label %if.end

if.end:
	%8 = load double, double* %a
	%9 = trunc i64 1 to i32
	%10 = and i32 %9, 31
	%11 = bitcast double %8 to i64
	%12 = trunc i64 %11 to i32
	%13 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %12, i32 %10, i32 31)
	%14 = lshr i64 %11, 32
	%15 = trunc i64 %14 to i32
	%16 = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %15, i32 %10, i32 31)
	%17 = zext i32 %13 to i64
	%18 = zext i32 %16 to i64
	%19 = shl i64 %18, 32
	%20 = or i64 %17, %19
	%21 = bitcast i64 %20 to double
	%22 = load i1, i1* %large
	br i1 %22, label %if.then.1, label %if.else

if.then.1:
	%23 = getelementptr inbounds double, double* %y, i64 %1
	store double %21, double* %23
	br label %if.end.1

if.else:
	%24 = add i64 %1, 64
	%25 = fneg double %21
	%26 = getelementptr inbounds double, double* %y, i64 %24
	store double %25, double* %26
	br label %if.end.1

if.end.1:
	%27 = load i1, i1* %large
	%28 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %27)
	%29 = load i1, i1* %large
	br i1 %29, label %if.then.2, label %if.end.2

if.then.2:
	%30 = add i64 %1, 128
	%31 = uitofp i32 %28 to double
	%32 = getelementptr inbounds double, double* %y, i64 %30
	store double %31, double* %32
	br label %if.end.2

if.end.2:
	%33 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @convergent.s.0, i64 0, i64 %1
	store double 0.000000e+00, double addrspace(3)* %33
	%34 = icmp slt i64 0, %n
	br i1 %34, label %for.k, label %for.k.end

for.k:
	%k = phi i64 [ 0, %if.end.2 ], [ %k.next, %if.end.4 ]
	%35 = load i1, i1* %large
	br i1 %35, label %if.then.3, label %if.else.1

if.then.3:
	%36 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @convergent.s.0, i64 0, i64 %1
	%37 = load double, double addrspace(3)* %36
	%38 = getelementptr inbounds double, double* %x, i64 %k
	%39 = load double, double* %38
	%40 = fadd double %37, %39
	%41 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @convergent.s.0, i64 0, i64 %1
	store double %40, double addrspace(3)* %41
	br label %if.end.3

if.else.1:
	%42 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @convergent.s.0, i64 0, i64 %1
	%43 = load double, double addrspace(3)* %42
	%44 = getelementptr inbounds double, double* %x, i64 %k
	%45 = load double, double* %44
	%46 = fsub double %43, %45
	%47 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @convergent.s.0, i64 0, i64 %1
	store double %46, double addrspace(3)* %47
	br label %if.end.3

if.end.3:
	call void @llvm.nvvm.barrier0()
	%48 = load i1, i1* %large
	br i1 %48, label %if.then.4, label %if.end.4

if.then.4:
	%49 = add i64 %1, 192
	%50 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @convergent.s.0, i64 0, i64 %1
	%51 = load double, double addrspace(3)* %50
	%52 = getelementptr inbounds double, double* %y, i64 %49
	store double %51, double* %52
	br label %if.end.4

if.end.4:
	%k.next = add nuw nsw i64 %k, 1
	%53 = icmp slt i64 %k.next, %n
	br i1 %53, label %for.k, label %for.k.end, !llvm.loop !5

for.k.end:
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 %0, i32 %1, i32 %2, i32 %3)

declare i32 @llvm.nvvm.vote.ballot.sync(i32 %0, i1 %1)

declare void @llvm.nvvm.barrier0()

!nvvm.annotations = !{!0, !1}

!0 = !{void (double*, double*, i64, i32*)* @convergent, !"kernel", i32 1}
!1 = !{void (double*, double*, i64, i32*)* @convergent, !"maxntidx", i32 64}
!2 = !{i32 0, i32 64}
!3 = !{!"llvm.loop.mustprogress"}
!4 = !{!"llvm.loop.unroll.runtime.disable"}
!5 = distinct !{!5, !3, !4}
