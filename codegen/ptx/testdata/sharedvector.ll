source_filename = "sharedvector"

@sharedvector.s.0 = internal addrspace(3) global [128 x float] undef, align 16
@llvm.used = appending global [1 x i8*] [i8* addrspacecast (i8 addrspace(3)* bitcast ([128 x float] addrspace(3)* @sharedvector.s.0 to i8 addrspace(3)*) to i8*)], section "llvm.metadata"

define void @sharedvector(float* noalias readonly align 16 %x, float* align 16 %y, i32* %status) nounwind {
entry:
	%0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%1 = zext i32 %0 to i64
	%2 = mul i64 %1, 4
	%3 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%4 = zext i32 %3 to i64
	%5 = getelementptr inbounds float, float* %x, i64 %4
	%6 = load float, float* %5
	%7 = getelementptr inbounds [128 x float], [128 x float] addrspace(3)* @sharedvector.s.0, i64 0, i64 %2
	store float %6, float addrspace(3)* %7
	%8 = add i64 %2, 1
	%9 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%10 = zext i32 %9 to i64
	%11 = add i64 %10, 32
	%12 = getelementptr inbounds float, float* %x, i64 %11
	%13 = load float, float* %12
	%14 = getelementptr inbounds [128 x float], [128 x float] addrspace(3)* @sharedvector.s.0, i64 0, i64 %8
	store float %13, float addrspace(3)* %14
	%15 = add i64 %2, 2
	%16 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%17 = zext i32 %16 to i64
	%18 = add i64 %17, 64
	%19 = getelementptr inbounds float, float* %x, i64 %18
	%20 = load float, float* %19
	%21 = getelementptr inbounds [128 x float], [128 x float] addrspace(3)* @sharedvector.s.0, i64 0, i64 %15
	store float %20, float addrspace(3)* %21
	%22 = add i64 %2, 3
	%23 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%24 = zext i32 %23 to i64
	%25 = add i64 %24, 96
	%26 = getelementptr inbounds float, float* %x, i64 %25
	%27 = load float, float* %26
	%28 = getelementptr inbounds [128 x float], [128 x float] addrspace(3)* @sharedvector.s.0, i64 0, i64 %22
	store float %27, float addrspace(3)* %28
	call void @llvm.nvvm.barrier0()
	%29 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%30 = zext i32 %29 to i64
	%31 = sub i64 31, %30
	%32 = mul i64 %31, 4
	%33 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !range !2
	%34 = zext i32 %33 to i64
	%35 = getelementptr inbounds [128 x float], [128 x float] addrspace(3)* @sharedvector.s.0, i64 0, i64 %32
	%36 = load float, float addrspace(3)* %35
	%37 = add i64 %32, 1
	%38 = getelementptr inbounds [128 x float], [128 x float] addrspace(3)* @sharedvector.s.0, i64 0, i64 %37
	%39 = load float, float addrspace(3)* %38
	%40 = add i64 %32, 2
	%41 = getelementptr inbounds [128 x float], [128 x float] addrspace(3)* @sharedvector.s.0, i64 0, i64 %40
	%42 = load float, float addrspace(3)* %41
	%43 = fmul float %39, %42
	%44 = add i64 %32, 3
	%45 = getelementptr inbounds [128 x float], [128 x float] addrspace(3)* @sharedvector.s.0, i64 0, i64 %44
	%46 = load float, float addrspace(3)* %45
	%47 = fdiv float %43, %46
	%48 = fadd float %36, %47
	%49 = getelementptr inbounds float, float* %y, i64 %34
	store float %48, float* %49
	ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare void @llvm.nvvm.barrier0()

!nvvm.annotations = !{!0, !1}

!0 = !{void (float*, float*, i32*)* @sharedvector, !"kernel", i32 1}
!1 = !{void (float*, float*, i32*)* @sharedvector, !"maxntidx", i32 32}
!2 = !{i32 0, i32 32}
