source_filename = "barrier"

@barrier.s.0 = internal addrspace(3) global [64 x double] undef, align 16
@llvm.used = appending global [2 x i8*] [i8* addrspacecast (i8 addrspace(3)* bitcast ([64 x double] addrspace(3)* @barrier.s.0 to i8 addrspace(3)*) to i8*), i8* addrspacecast (i8 addrspace(3)* bitcast ([64 x i8] addrspace(3)* @barrier.flags.2 to i8 addrspace(3)*) to i8*)], section "llvm.metadata"
@barrier.flags.2 = internal addrspace(3) global [64 x i8] undef, align 16

define void @barrier(double* align 16 %y, double* align 16 %z, i64 %k, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%3 = zext i32 %2 to i64
	%4 = sitofp i64 %3 to double
	%5 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @barrier.s.0, i64 0, i64 %1
	store double %4, double addrspace(3)* %5
	%6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%7 = zext i32 %6 to i64
	%8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%9 = zext i32 %8 to i64
	%10 = icmp eq i64 %9, %k
	%11 = zext i1 %10 to i8
	%12 = getelementptr inbounds [64 x i8], [64 x i8] addrspace(3)* @barrier.flags.2, i64 0, i64 %7
	store i8 %11, i8 addrspace(3)* %12
	call void @llvm.nvvm.barrier0()
	%13 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @barrier.s.0, i64 0, i64 %k
	%14 = load double, double addrspace(3)* %13
	%15 = getelementptr inbounds double, double* %y, i64 %k
	%16 = load double, double* %15
	call void @llvm.nvvm.barrier0()
	%17 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%18 = zext i32 %17 to i64
	%19 = icmp eq i64 %18, 0
	br i1 %19, label %if.then, label %if.end

if.then:
	%20 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @barrier.s.0, i64 0, i64 %k
	store double 5.000000e+00, double addrspace(3)* %20
	%21 = getelementptr inbounds double, double* %y, i64 %k
	store double 6.000000e+00, double* %21
	br label %if.end

if.end:
	call void @llvm.nvvm.barrier0()
	%22 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @barrier.s.0, i64 0, i64 %k
	%23 = load double, double addrspace(3)* %22
	%24 = getelementptr inbounds double, double* %y, i64 %k
	%25 = load double, double* %24
	%26 = fdiv double %23, %25
	call void @llvm.nvvm.bar.warp.sync(i32 -1)
	%27 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%28 = zext i32 %27 to i64
	%29 = fmul double %14, %16
	%30 = getelementptr inbounds [64 x i8], [64 x i8] addrspace(3)* @barrier.flags.2, i64 0, i64 %k
	%31 = load i8, i8 addrspace(3)* %30
	%32 = icmp ne i8 %31, 0
	%33 = getelementptr inbounds [64 x double], [64 x double] addrspace(3)* @barrier.s.0, i64 0, i64 63
	%34 = load double, double addrspace(3)* %33
	%35 = select i1 %32, double %26, double %34
	%36 = fadd double %29, %35
	%37 = getelementptr inbounds double, double* %z, i64 %28
	store double %36, double* %37
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare void @llvm.nvvm.barrier0()

declare void @llvm.nvvm.bar.warp.sync(i32 %0)

!nvvm.annotations = !{!0, !1}

!0 = !{void (double*, double*, i64, i32*)* @barrier, !"kernel", i32 1}
!1 = !{void (double*, double*, i64, i32*)* @barrier, !"maxntidx", i32 64}
!2 = !{i32 0, i32 64}
