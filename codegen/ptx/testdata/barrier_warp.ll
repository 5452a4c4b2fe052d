source_filename = "barrier_warp"

@barrier_warp.s.0 = internal addrspace(3) global [32 x double] undef, align 16
@llvm.used = appending global [1 x i8*] [i8* addrspacecast (i8 addrspace(3)* bitcast ([32 x double] addrspace(3)* @barrier_warp.s.0 to i8 addrspace(3)*) to i8*)], section "llvm.metadata"

define void @barrier_warp(double* align 16 %y, double* align 16 %z, i64 %k, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%3 = zext i32 %2 to i64
	%4 = sitofp i64 %3 to double
	%5 = getelementptr inbounds [32 x double], [32 x double] addrspace(3)* @barrier_warp.s.0, i64 0, i64 %1
	store double %4, double addrspace(3)* %5
	call void @llvm.nvvm.barrier0()
	%6 = getelementptr inbounds [32 x double], [32 x double] addrspace(3)* @barrier_warp.s.0, i64 0, i64 %k
	%7 = load double, double addrspace(3)* %6
	%8 = getelementptr inbounds double, double* %y, i64 %k
	%9 = load double, double* %8
	call void @llvm.nvvm.bar.warp.sync(i32 -1)
	%10 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%11 = zext i32 %10 to i64
	%12 = icmp eq i64 %11, 0
	br i1 %12, label %if.then, label %if.end

if.then:
	%13 = getelementptr inbounds [32 x double], [32 x double] addrspace(3)* @barrier_warp.s.0, i64 0, i64 %k
	store double 5.000000e+00, double addrspace(3)* %13
	%14 = getelementptr inbounds double, double* %y, i64 %k
	store double 6.000000e+00, double* %14
	br label %if.end

if.end:
	call void @llvm.nvvm.bar.warp.sync(i32 -1)
	%15 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%16 = zext i32 %15 to i64
	%17 = fmul double %7, %9
	%18 = getelementptr inbounds [32 x double], [32 x double] addrspace(3)* @barrier_warp.s.0, i64 0, i64 %k
	%19 = load double, double addrspace(3)* %18
	%20 = getelementptr inbounds double, double* %y, i64 %k
	%21 = load double, double* %20
	%22 = fdiv double %19, %21
	%23 = fadd double %17, %22
	%24 = getelementptr inbounds double, double* %z, i64 %16
	store double %23, double* %24
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare void @llvm.nvvm.barrier0()

declare void @llvm.nvvm.bar.warp.sync(i32 %0)

!nvvm.annotations = !{!0, !1}

!0 = !{void (double*, double*, i64, i32*)* @barrier_warp, !"kernel", i32 1}
!1 = !{void (double*, double*, i64, i32*)* @barrier_warp, !"maxntidx", i32 32}
!2 = !{i32 0, i32 32}
